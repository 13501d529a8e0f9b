// What must end once nobody needs it: requests, sessions at agents, delegations, and their display.

import { type AgentFrame, type AgentSession, clientsOwn } from './ledger.ts';
import { type Evidence, isDiscarded, isExpired, isThere, nameOf, runOf } from './observations.ts';

/** Sessions that agents have just opened for a cancelled change, and those that have given up their ids. */
export function noOrphanRequests(seen: Evidence): void {
  if (seen.isStopping) return;
  for (const { session, about, fate } of seen.arrived) {
    if (!session || about.change === undefined || about.opened !== true || fate === 'never' || !isDiscarded(seen, session)) continue;
    if (seen.blindLoads.has(session.native)) continue; // the client may have found it
    for (const [id, agentRequest] of seen.atClient)
      if (agentRequest.session === session)
        seen.problem(`${nameOf(agentRequest)} is open at the client as ${id} though nobody wants its session`);
  }
  for (const [id, agentRequest] of seen.atClient) {
    const holder = seen.bound.get(seen.shownUnder.get(agentRequest) as string);
    if (
      holder?.isLive &&
      agentRequest.session &&
      !isOf(agentRequest, holder.session) &&
      seen.requestedFor.get(agentRequest) !== holder.session
    )
      seen.problem(
        `${nameOf(agentRequest)} is open at the client as ${id} in a session that is ${holder.session.agent}/${holder.session.native}`,
      );
  }
}

/**
 * The client's pending requests of an ended session are answered or cancelled. A single agent's requests that nobody has answered for the
 * client are between the two, as they would be without the proxy.
 */
export function endedSessionsAskNothing(seen: Evidence): void {
  for (const [id, agentRequest] of seen.endedWith) {
    const isOurs = seen.standIns.get(id) === agentRequest;
    const isBetweenThem = seen.agents.length === 1 && !isOurs && !seen.answered.has(agentRequest);
    if ((isOurs || seen.atClient.get(id) === agentRequest) && !isBetweenThem && !seen.isStopping)
      seen.problem(`${nameOf(agentRequest)} is open at the client as ${id} though its session has ended`);
  }
  seen.endedWith.clear();
}

/** The client has cancelled it with its session: its call is answered in time. */
export function cancelDelegations(seen: Evidence, own: AgentSession, deadlineMs: number): void {
  for (const session of seen.atWork)
    if (session.delegationFor && clientsOwn(session) === own && isAtWork(seen, session) && !seen.calledOff.has(session))
      seen.calledOff.set(session, deadlineMs);
}

/** It has not answered its prompt, and is alive. */
function isAtWork(seen: Evidence, session: AgentSession): boolean {
  const answers = seen.ledger.agentFrames.filter(({ kind, session: of, about }) => of === session && kind === 'answer' && !about.opened);
  const isAnswered = answers.some(({ isDelivered, fate, about }) => isDelivered && (fate !== 'never' || about.isRefused === true));
  const isThereStill = !isAnswered && seen.runs.some((run) => run.agent === session.agent && run.open.has(session) && isThere(run));
  if (!isThereStill) seen.atWork.delete(session);
  return isThereStill;
}

/**
 * Nobody works for a call that is answered, was cancelled, or whose process is over; and no request is made for an agent that was told to
 * stop.
 */
export function delegationsEnd(seen: Evidence): void {
  if (seen.isStopping) return;
  const callOf = (session: AgentSession) => seen.delegations.get(session) as AgentFrame;
  const isOver = (call: AgentFrame) => seen.answered.has(call) || runOf(seen, call).sim.isOver;
  for (const session of seen.atWork) {
    const call = callOf(session);
    const isStopped = seen.calledOff.has(session) || seen.stopRequested.has(call.session as AgentSession) || isOver(call);
    if (session.delegationFor && isStopped && !seen.stopRequested.has(session) && isAtWork(seen, session))
      seen.problem(`${session.agent} works on in ${session.native} for ${nameOf(call)}, and nobody waits for it`);
  }
  for (const [session, deadlineMs] of seen.calledOff)
    if (seen.clock.nowMs > deadlineMs && !isOver(callOf(session)))
      seen.problem(`${nameOf(callOf(session))} was cancelled, and has no answer in time`);
  for (const [id, agentRequest] of [...seen.atClient, ...seen.standIns]) {
    const call = agentRequest.session?.delegationFor && seen.delegations.get(agentRequest.session);
    const isEnded = call && (seen.answered.has(call) || seen.stopRequested.has(agentRequest.session as AgentSession));
    if (isEnded && !seen.answered.has(agentRequest) && isThere(runOf(seen, agentRequest)))
      seen.problem(`${nameOf(agentRequest)} is open at the client as ${id} though nobody waits for ${nameOf(call)}`);
  }
}

/** A prompt or a permission request with a limit does not outlast it. A policy has its own limit for permissions. */
export function limitsHold(seen: Evidence): void {
  for (const [prompt, deadlineMs] of seen.promptLimits) {
    if (prompt.answers > 0) seen.promptLimits.delete(prompt);
    else if (seen.clock.nowMs > deadlineMs && !seen.isStopping) seen.problem(`${nameOf(prompt)} has exceeded timeouts.prompt_ms`);
  }
  // Timers that are due together run one after the other.
  for (const agentRequest of seen.policyModel ? [] : seen.atClient.values())
    if (isExpired(seen, agentRequest, 1) && !seen.answered.has(agentRequest) && isThere(runOf(seen, agentRequest)) && !seen.isStopping)
      seen.problem(`${nameOf(agentRequest)} has exceeded timeouts.permission_ms`);
}

/** The client answered a withdrawn request: nobody else can release what it has created. */
export function noUnwantedTerminal(seen: Evidence): void {
  for (const terminalId of seen.unwantedTerminals)
    if (!seen.isStopping) seen.problem(`terminal ${terminalId} was created for nobody and is not released`);
  seen.unwantedTerminals.clear();
}

/** Terminals of a delegation are released when it is over. */
export function delegationsLeaveNoTerminal(seen: Evidence): void {
  for (const [terminalId, { session }] of seen.terminals) {
    const call = session?.delegationFor && seen.delegations.get(session);
    if (call && seen.answered.has(call)) seen.problem(`terminal ${terminalId} is left behind by ${nameOf(call)}`);
  }
}

/** Sessions that belong to nobody are closed, at an agent that can close. */
export function nothingIsLeftOpen(seen: Evidence): void {
  for (const answer of seen.ledger.agentFrames) {
    const { session, about, isDelivered, fate } = answer;
    const isThereSince = about.backSince ?? (about.opened === true ? 0 : undefined);
    if (!session || !isDelivered || fate === 'never' || typeof isThereSince !== 'number' || seen.refusedByPolicy.has(answer)) continue;
    const run = runOf(seen, answer);
    const isHeld = [...seen.bound.values()].some((holder) => holder.isLive && holder.session === session);
    const isClosed = (seen.closedIn.get(run)?.get(session) ?? -1) >= Math.floor(isThereSince);
    // A session that an agent lists before it responds can be found, and is then the client's to close.
    if (isThere(run) && run.model.traits.close && !isHeld && !isClosed && !seen.foundByName.has(session))
      seen.problem(`${session.native} is still open at ${run.agent}#${run.number}, since ${nameOf(answer)}, and nobody has it`);
  }
}

/** Everything the proxy itself displays has an end. */
export function shownCallsEnd(seen: Evidence): void {
  for (const [toolCallId, publicId] of seen.shownCalls)
    if (seen.bound.get(publicId)?.isLive) seen.problem(`tool call ${toolCallId} is shown in ${publicId} as if it went on`);
}

/** In this session of the client, or in a delegation for it. */
export const isOf = ({ session }: AgentFrame, own: AgentSession): boolean => session !== undefined && clientsOwn(session) === own;
