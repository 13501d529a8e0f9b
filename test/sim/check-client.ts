// Checks the proxy's output to the client against what the peers sent.

import { completed, elicited, shownCall, toolCall } from './check-shown.ts';
import { idTextIn } from './frame-text.ts';
import { type AgentFrame, type AgentSession, type ClientFrame, clientsOwn } from './ledger.ts';
import { isOf } from './nothing-left.ts';
import {
  type Evidence,
  endOf,
  isChanging,
  isDiscarded,
  isLoad,
  isThere,
  isWithdrawn,
  leaveBehind,
  letGo,
  listedAs,
  mayBeExpired,
  nameOf,
  runOf,
  speakOf,
} from './observations.ts';
import { type Body, type Message, serialIn } from './sim.ts';
import type { Run } from './sim-agent.ts';
import { decided, isRefusal, modesOnOffer, noticed, standIn, waitsForMode } from './under-policy.ts';

/** A line as the client has it. */
export type Received = {
  readonly message: Message;
  readonly idText: string | undefined;
  /** The agent's frame behind it; undefined for one of the proxy's own. */
  readonly frame: AgentFrame | undefined;
  /** The request that it answers. */
  readonly request: ClientFrame | undefined;
  /** A request of the proxy's own; `frame` is what it is about. */
  readonly isStandIn: boolean;
};

export function checkClient(seen: Evidence, line: string): Received {
  const message = JSON.parse(line) as Message;
  const idText = idTextIn(line);
  const serial = serialIn(message);
  const frame = seen.ledger.agentFrame(serial);
  if (serial !== undefined && !frame && message.method !== undefined)
    seen.problem(`the client hears a frame that no agent has said: ${line}`);
  if (frame) passed(seen, frame, line, idText, message);
  if (message.method === undefined)
    return { message, idText, frame, request: response(seen, message, idText as string, frame), isStandIn: false };
  const about = idText !== undefined && !frame ? standIn(seen, message, idText) : undefined;
  if (about) return { message, idText, frame: about, request: undefined, isStandIn: true };
  if (idText !== undefined) pending(seen, message, idText, frame, line);
  else notification(seen, message, frame, line);
  return { message, idText, frame, request: undefined, isStandIn: false };
}

/** An agent's frame has come through: once, complete, in order, and with the right session id. */
function passed(seen: Evidence, frame: AgentFrame, line: string, idText: string | undefined, message: Message): void {
  if (frame.fate === 'never') seen.problem(`the client hears what must not pass: ${nameOf(frame)}`);
  if (!frame.isDelivered) seen.problem(`the client hears what has not been said to the end: ${nameOf(frame)}`);
  if (frame.isReceived) seen.problem(`the client hears twice: ${nameOf(frame)}`);
  frame.isReceived = true;
  inPlace(seen, frame);
  const publicId = frame.kind === 'answer' ? undefined : (message.params?.sessionId as string | undefined);
  if (frame.about.isPatched !== true) {
    const expected = frame.writing.rewritten(idText, publicId);
    // A list has the ids that the client knows.
    const isList = Array.isArray((message.result as { sessions?: unknown } | undefined)?.sessions);
    const known = isList ? line.replace(/("sessionId":"[^"~]+)~[^"]*"/g, '$1"') : line;
    if (expected !== known) seen.problem(`${nameOf(frame)} was changed on its way:\n    ${expected}\n    ${line}`);
  }
  // The session a delegation is for is known when its agent is prompted, which may be written behind its earlier output.
  const isUnderWay = frame.session?.isDelegation && !frame.session.delegationFor;
  if (publicId !== undefined) seen.spokenOf.add(publicId);
  if (frame.session && publicId !== undefined && !isUnderWay) underItsName(seen, publicId, clientsOwn(frame.session), frame);
  if (frame.kind === 'update' && frame.session && isTooEarly(seen, frame.session, publicId))
    seen.problem(`the client hears what it cannot place, since its session is still being opened: ${nameOf(frame)}`);
  // The client may have found the session meanwhile, and asked for it.
  if (frame.kind === 'update' && frame.session?.delegationFor && !isBeingLoaded(seen, publicId ?? ''))
    seen.problem(`the client gets an update of a delegated session: ${nameOf(frame)}`);
  if (frame.kind === 'answer') modesOnOffer(seen, frame, message);
  else noticed(seen, frame);
}

/** The client waits for the response that will name the session, and has used neither that name nor one from a list. */
function isTooEarly({ ledger, open }: Evidence, session: AgentSession, publicId: string | undefined): boolean {
  const isOpening = [...open.values()].flat().some((request) => request.opens === session.lineage);
  const names: unknown[] = [session.native, listedAs(session), publicId];
  return isOpening && !ledger.clientFrames.some(({ publicId, isDelivered }) => names.includes(publicId) && isDelivered);
}

function inPlace(seen: Evidence, frame: AgentFrame): void {
  const stream = frame.stream === undefined ? undefined : seen.streams.get(frame.stream);
  // A request about a session that is still being opened passes at once, before the frames held for it: its agent may wait for the answer.
  if (!stream || (frame.kind === 'request' && frame.session && !isAnnounced(seen, frame.session, runOf(seen, frame)))) return;
  const at = stream.frames.indexOf(frame);
  if (frame.session && seen.loose.has(frame.session)) {
    stream.next = Math.max(stream.next, at + 1);
    return;
  }
  if (at < stream.next && waitsForMode(seen, frame)) return;
  if (at < stream.next) return seen.problem(`${nameOf(frame)} comes behind what was said after it`);
  for (const skipped of stream.frames.slice(stream.next, at)) if (!skipped.isReceived) seen.overtaken.push({ frame: skipped, by: frame });
  stream.next = at + 1;
}

/** By the current process, unless the one that opened it is over. */
function isAnnounced({ bound }: Evidence, session: AgentSession, run?: Run): boolean {
  const isElsewhere = (opened: Run | undefined) => run !== undefined && opened !== undefined && opened !== run && isThere(opened);
  return [...bound.values()].some((holder) => holder.session === session && holder.isLive && !isElsewhere(holder.run));
}

function underItsName(seen: Evidence, publicId: string, session: AgentSession, frame: AgentFrame): void {
  const holder = seen.bound.get(publicId);
  if (!holder) seen.bound.set(publicId, { session, isLive: false });
  // While the owner of an unknown session is looked up, each agent that is tried may send updates for it.
  else if (!holder.isLive && isBeingLoaded(seen, publicId)) seen.bound.set(publicId, { session, isLive: false });
  else if (!holder.isLive && isFreeAgain(seen, holder.session)) seen.bound.set(publicId, { session, isLive: false });
  else if (holder.session !== session)
    seen.problem(`${nameOf(frame)} reaches session ${publicId}, which is ${holder.session.agent}/${holder.session.native}`);
  // An agent with a process for each session may use one id in two of them.
  else if (holder.isLive && holder.run && isThere(holder.run) && holder.run !== runOf(seen, frame) && frame.session === session)
    seen.problem(`${nameOf(frame)} reaches session ${publicId}, which is in ${holder.run.agent}#${holder.run.number}`);
}

/**
 * Of an id that the client never opened: its process is over, or its session has another name by now (in a list, or because the client has
 * it open), or it was opened for a cancelled change of agent and has been closed.
 */
function isFreeAgain(seen: Evidence, session: AgentSession): boolean {
  if (!isOpenSomewhere(seen, session) || isBeingLoaded(seen, listedAs(session)) || isAnnounced(seen, session)) return true;
  return session.openedBy !== undefined && isDiscarded(seen, session);
}

const isOpenSomewhere = ({ runs }: Evidence, session: AgentSession): boolean => runs.some((run) => run.open.has(session) && isThere(run));

function isBeingLoaded({ open }: Evidence, publicId: string): boolean {
  return [...open.values()].flat().some((request) => isLoad(request) && request.publicId === publicId);
}

function response(seen: Evidence, message: Message, idText: string, frame: AgentFrame | undefined): ClientFrame | undefined {
  const own = frame?.answerTo === undefined ? undefined : seen.ledger.clientFrame(frame.answerTo);
  if (idText === 'null') {
    // A client that disconnects may leave half a line.
    if (seen.nullOwed-- <= 0 && !seen.isStopping)
      seen.problem(`an answer with the id null that nothing led to: ${JSON.stringify(message)}`);
    if (own) own.answers++;
    return own;
  }
  const waiting = seen.open.get(idText) ?? [];
  const isInUse = message.error?.code === -32600 && String(message.error.message).includes('is still open; use another id');
  // Of several requests with the same id, an unnumbered answer may be for any; a numbered one shows which was not meant.
  const wasGuessed = own !== undefined && seen.guessed.has(own) && !waiting.includes(own);
  const request = wasGuessed ? waiting[0] : (own ?? (isInUse ? (waiting[1] ?? waiting[0]) : waiting[0]));
  if (request && !own && waiting.length > 1) seen.guessed.add(request);
  if (!request || !waiting.includes(request)) {
    const before = seen.ledger.clientFrames.findLast((candidate) => candidate.idText === idText && candidate.isDelivered);
    seen.problem(
      `an answer nobody waits for, id ${idText}${before ? `, after ${nameOf(before)}` : ''}: ${JSON.stringify(message).slice(0, 300)}`,
    );
    return undefined;
  }
  waiting.splice(waiting.indexOf(request), 1);
  if (waiting.length === 0) seen.open.delete(idText);
  request.answers++;
  seen.answeredIn.set(request, seen.event);
  seen.deadlines.delete(request);
  seen.changes.delete(request);
  if (request.method === 'initialize') seen.isInitialized = true;
  blamed(seen, request, message);
  isRefusal(seen, request, message);
  if (isLoad(request) && message.error?.code === -32002) notOpened(seen, request);
  if (message.error === undefined) outcome(seen, request, message, frame);
  // What was opened all the same is closed there.
  else if (request.opens !== undefined && !frame) for (const session of seen.ledger.sessionsOf(request.opens)) loosen(seen, session);
  // A session that was not recovered belongs to nobody, and its id is free.
  else if (isLoad(request) && !seen.bound.get(request.publicId as string)?.isLive) seen.bound.delete(request.publicId as string);
  if (request.about.changesTo !== undefined) changeSettled(seen, request);
  return request;
}

/** Nobody would end a session that an agent has just opened and that is reported as missing. */
function notOpened(seen: Evidence, request: ClientFrame): void {
  const opened = seen.arrived.find(({ answerTo, about }) => answerTo === request.serial && about.backSince !== undefined);
  // Unless the client has it under another name, for example one that an agent made of the requested id.
  const isHeld = [...seen.bound.values()].some((holder) => holder.isLive && holder.session === opened?.session);
  if (opened && opened.fate === 'must' && !isHeld) seen.problem(`${nameOf(request)} is refused though ${opened.agent} has opened it`);
}

/** An agent's failure must not be reported to the sessions of another. */
function blamed(seen: Evidence, request: ClientFrame, { error }: Message): void {
  const blame = error?.data?.agent;
  const target = seen.targets.get(request);
  if (blame === undefined || !target || request.about.changesTo !== undefined) return;
  if (String(error?.message).includes('the session has since moved to agent')) return;
  if (blame !== target.agent && !isChanging(seen, request.lineage))
    seen.problem(`${nameOf(request)} is for ${target.agent} and hears of ${blame}: ${error?.message}`);
}

/** What a successful response means for the ownership of sessions. */
function outcome(seen: Evidence, request: ClientFrame, message: Message, frame: AgentFrame | undefined): void {
  const { method, publicId } = request;
  switch (method) {
    case 'session/new':
    case 'session/fork':
      if (!frame?.session || typeof message.result?.sessionId !== 'string') return;
      bind(seen, message.result.sessionId, frame.session, runOf(seen, frame));
      // The agent was asked for a session of this name before it made one: its frames meanwhile may have been attributed to that.
      if (seen.blindLoads.has(frame.session.native)) loosen(seen, frame.session);
      return;
    case 'session/load':
    case 'session/resume':
      if (publicId !== undefined && !frame) takenUp(seen, publicId, message);
      if (!frame?.session || publicId === undefined) return;
      bind(seen, publicId, frame.session, runOf(seen, frame));
      seen.backIn.set(frame.session, frame.run);
      return;
    case 'session/close':
    case 'session/delete': {
      const holder = publicId === undefined ? undefined : seen.bound.get(publicId);
      // The proxy found the session without a load, and this was all the client wanted of it.
      if (!holder && frame?.session) loosen(seen, frame.session);
      if (publicId === undefined || !holder) return;
      for (const [id, agentRequest] of [...seen.atClient, ...seen.standIns])
        if (seen.shownUnder.get(agentRequest) === publicId && isOf(agentRequest, holder.session)) seen.endedWith.set(id, agentRequest);
      seen.bound.delete(publicId);
      loosen(seen, holder.session);
      // A later frame may have opened it again.
      if (!seen.ledger.clientFrames.some((later) => later.publicId === publicId && later.serial > request.serial && later.isDelivered))
        seen.left.set(holder.session, { publicId, event: seen.event });
      // Or it now means the session that had the id before.
      else speakOf(seen, publicId);
      for (const [terminalId, owner] of seen.terminals) if (owner.session === holder.session) seen.terminals.delete(terminalId);
      for (const [key, call] of seen.toolCalls) if (call.publicId === publicId) seen.toolCalls.delete(key);
      if (method === 'session/close' && request.lineage !== undefined)
        for (const left of [...seen.open.values()].flat())
          if (
            left.method === 'session/prompt' &&
            left.lineage === request.lineage &&
            left.publicId === publicId &&
            left.serial < request.serial &&
            left.isDelivered
          )
            seen.problem(`${nameOf(left)} is still open behind the answer to session/close`);
      return;
    }
  }
  const { changesTo } = request.about;
  if (typeof changesTo !== 'string' || publicId === undefined || request.lineage === undefined) return;
  if (frame) return; // the agent's own option with the same id as ours
  const session = seen.ledger.sessionsOf(request.lineage).find(({ openedBy }) => isAnswerTo(seen, openedBy, request));
  if (!session) return;
  // The response to `/agent` is the same whether it worked or not; the text before it differs.
  if (method === 'session/prompt' && seen.movedTo.get(publicId) !== changesTo) return;
  const before = seen.bound.get(publicId)?.session;
  if (before) {
    loosen(seen, before);
    seen.left.set(before, { publicId, event: seen.event });
  }
  seen.bound.set(publicId, { session, isLive: true });
}

/** The proxy reports by itself that the session continues: its process still has it. */
function takenUp(seen: Evidence, publicId: string, { result }: Message): void {
  const { agent, canContinue } = ((result?._meta as Body | undefined)?.['acp-switchboard'] ?? {}) as Body;
  if (canContinue !== true || seen.bound.get(publicId)?.isLive) return;
  for (const run of seen.runs)
    for (const session of run.open)
      if (isThere(run) && run.agent === agent && !isAnnounced(seen, session) && [session.native, listedAs(session)].includes(publicId))
        bind(seen, publicId, session, run);
}

const isAnswerTo = ({ ledger }: Evidence, answer: number | undefined, change: ClientFrame): boolean =>
  ledger.agentFrame(answer)?.about.change === change.serial;

function changeSettled(seen: Evidence, request: ClientFrame): void {
  seen.settledChanges.add(request);
  for (const frame of seen.ledger.agentFrames) if (frame.session && isDiscarded(seen, frame.session)) letGo(frame);
}

function loosen(seen: Evidence, session: AgentSession): void {
  seen.loose.add(session);
  leaveBehind(seen, session, endOf(seen.event));
  for (const frame of seen.ledger.agentFrames) if (frame.session === session) letGo(frame);
}

function bind(seen: Evidence, publicId: string, session: AgentSession, run: Run): void {
  seen.loose.delete(session);
  seen.left.delete(session);
  seen.refused.delete(session);
  const holder = seen.bound.get(publicId);
  if (holder?.isLive && holder.session !== session)
    seen.problem(
      `public id ${publicId} is given to ${session.agent}/${session.native} while ${holder.session.agent}/${holder.session.native} has it`,
    );
  seen.spokenOf.add(publicId);
  seen.bound.set(publicId, { session, isLive: true, run });
}

function pending(seen: Evidence, message: Message, idText: string, frame: AgentFrame | undefined, line: string): void {
  // The proxy itself releases the terminals of a dead agent, and those that come too late.
  if (!frame && message.method === 'terminal/release') {
    seen.unwantedTerminals.delete(String(message.params?.terminalId));
    return void seen.terminals.delete(String(message.params?.terminalId));
  }
  if (!frame) return seen.problem(`the client is asked what no agent has asked: ${line}`);
  decided(seen, frame);
  // The client may be loading it under the agent's id, since before it left the alias.
  if (isLeft(seen, frame) && !isBeingLoaded(seen, String(message.params?.sessionId)))
    seen.problem(`${nameOf(frame)} reaches the client, which has left that session`);
  if (seen.atClient.has(idText)) seen.problem(`two open questions with the id ${idText}: ${nameOf(frame)}`);
  seen.atClient.set(idText, frame);
  seen.askedAt.set(frame, seen.clock.nowMs);
  const publicId = String(message.params?.sessionId);
  seen.shownUnder.set(frame, publicId);
  if (frame.session) seen.requestedFor.set(frame, clientsOwn(frame.session));
  if (seen.bound.get(publicId)?.isLive) seen.requestedIn.set(frame, publicId);
  const { about } = frame;
  const owner = typeof about.terminalId === 'string' ? seen.terminals.get(about.terminalId) : undefined;
  // With one agent, sessions that the client has not opened are not distinguished: they all belong to that agent.
  const isDistinct = seen.agents.length > 1 || seen.bound.get(String(message.params?.sessionId))?.isLive;
  if (owner && isDistinct && !owner.run.sim.isOver && (owner.session !== frame.session || owner.run !== runOf(seen, frame)))
    seen.problem(`${nameOf(frame)} reaches terminal ${about.terminalId} of ${owner.run.agent}/${owner.session?.native}`);
  // Also by another session of a single agent, where the two are not distinguished.
  if (frame.method === 'terminal/release') seen.terminals.delete(String(about.terminalId));
  if (about.aboutClient !== undefined) {
    const request = seen.ledger.clientFrame(about.aboutClient);
    if (!line.includes(`"requestId":${request?.idText}`))
      seen.problem(`${nameOf(frame)} does not speak of request ${request?.idText}: ${line}`);
  }
  if (frame.method === 'mcp/message') seen.mcpNames.set(frame.serial, message.params?.requestId);
  if (typeof about.elicitationId === 'string') elicited(seen, frame, about.elicitationId, String(message.params?.elicitationId));
}

function isLeft({ left, bound, arrived, event, agents, policyModel }: Evidence, frame: AgentFrame): boolean {
  const { session } = frame;
  // Two processes of an agent may have one session under two public ids. The client has left it when it has left both.
  for (const { session: held, isLive } of bound.values()) if (isLive && held === session) return false;
  const endedIn = session && left.get(session)?.event;
  return endedIn !== undefined && endedIn < event && arrived.includes(frame) && (agents.length > 1 || policyModel !== undefined);
}

function notification(seen: Evidence, message: Message, frame: AgentFrame | undefined, line: string): void {
  const { params = {} } = message;
  if (message.method === '$/cancel_request') return withdrawn(seen, String(params.requestId), frame, line);
  if (message.method === 'elicitation/complete' && frame) completed(seen, frame, String(params.elicitationId));
  if (message.method === 'session/update') toolCall(seen, params, frame);
  if (message.method === 'session/update' && !frame) shownCall(seen, params);
  const moved = frame ? null : /This session's agent is now (\w+)\./.exec(line);
  if (moved) seen.movedTo.set(String(params.sessionId), moved[1] as string);
  if (!frame && message.method !== 'session/update') seen.problem(`the client is told what no agent has said: ${line}`);
  if (!frame && !seen.spokenOf.has(String(params.sessionId)))
    seen.problem(`the proxy sends an update for a session that the client does not know: ${line}`);
}

/** By the agent that asked, or by the proxy for one that is gone. */
function withdrawn(seen: Evidence, idText: string, frame: AgentFrame | undefined, line: string): void {
  const agentRequest = seen.standIns.get(idText) ?? seen.atClient.get(idText) ?? seen.answeredNow.get(idText);
  if (frame) {
    if (agentRequest?.serial !== frame.about.withdraws) seen.problem(`${nameOf(frame)} cancels a request that is not its own: ${line}`);
    return;
  }
  if (!agentRequest) return seen.problem(`a request is withdrawn that is not open: ${line}`);
  const entries =
    agentRequest.about.isHostTool === true
      ? seen.policyModel?.decidedOn(String(agentRequest.about.key))
      : seen.policyModel?.decided(agentRequest.serial);
  const isLate = seen.policyModel?.isObserving === false && entries?.some(({ answeredBy }) => answeredBy === 'timeout');
  const isHostTool = agentRequest.about.isHostTool === true && isCutOff(seen, agentRequest);
  if (!runOf(seen, agentRequest).sim.isOver && !isLate && !isHostTool && !mayBeExpired(seen, agentRequest))
    seen.takenBack.push({ agentRequest, line });
  if (agentRequest.method === 'terminal/create') {
    const answer = seen.answeredNow.has(idText) ? seen.answeredByClient.get(agentRequest) : undefined;
    if (!answer) seen.withdrawnCreates.add(idText);
    else if (typeof answer.about.terminalId === 'string' && answer.fate === 'must') seen.unwantedTerminals.add(answer.about.terminalId);
  }
  seen.atClient.delete(idText);
  seen.standIns.delete(idText);
}

/** For a host tool call: cancelled, or its session has ended or was reopened with another server. */
function isCutOff(seen: Evidence, agentRequest: AgentFrame): boolean {
  const isOpenedAgain = ({ session, serial, about, isDelivered }: AgentFrame) =>
    session === agentRequest.session && about.backSince !== undefined && serial > agentRequest.serial && isDelivered;
  return (
    isWithdrawn(seen, agentRequest) ||
    agentRequest.session?.delegationFor !== undefined ||
    seen.loose.has(agentRequest.session as AgentSession) ||
    seen.ledger.agentFrames.some(isOpenedAgain)
  );
}
