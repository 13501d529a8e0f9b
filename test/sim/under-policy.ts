// What must hold under a policy: nothing passes undecided, no refused mode is set or offered, and observe mode changes nothing.

import { isEvaluatedMethod } from './agent-requests.ts';
import { type AgentFrame, type AgentSession, type ClientFrame, clientsOwn } from './ledger.ts';
import { type Evidence, isThere, letGo, nameOf, runOf } from './observations.ts';
import type { Message } from './sim.ts';
import type { Run } from './sim-agent.ts';

/** Those a policy logs, whatever becomes of them. */
const RECORDED = new Set([
  'session/request_permission',
  'elicitation/create',
  'fs/read_text_file',
  'fs/write_text_file',
  'terminal/create',
]);

/** An agent's request reaches the client: by a rule, by the user's own allow, or because nothing is blocked. */
export function decided(seen: Evidence, frame: AgentFrame): void {
  const { policyModel } = seen;
  if (!policyModel || !RECORDED.has(frame.method as string)) return;
  const entries = policyModel.decided(frame.serial);
  if (policyModel.isObserving) {
    if (!entries.some(({ option, mode }) => option === 'passed' && mode === 'observe'))
      seen.problem(`${nameOf(frame)} reaches the client, and nobody has written it down`);
    return;
  }
  const isAllowed = entries.some(
    ({ verdict, isWritten, answeredBy, answerIn, option }) =>
      (verdict === 'allow' && isWritten) ||
      (answeredBy === 'user' && option?.startsWith('allow')) ||
      (answerIn !== undefined && isWritten && wasAllowedBefore(seen, frame)),
  );
  if (isEvaluatedMethod(frame.method) && !isAllowed) seen.problem(`${nameOf(frame)} reaches the client, and nobody has allowed it`);
}

/** The user allowed the agent's own request about this file, sent by the same process in the same session; no two files share a name. */
function wasAllowedBefore(seen: Evidence, write: AgentFrame): boolean {
  return seen.ledger.agentFrames.some(
    (agentRequest) =>
      agentRequest.about.toWrite === write.about.key &&
      agentRequest.session === write.session &&
      runOf(seen, agentRequest) === runOf(seen, write) &&
      ['yes', 'always'].includes(String(seen.answeredByClient.get(agentRequest)?.about.optionId)),
  );
}

type RawInput = { readonly path?: string; readonly prompt?: string; readonly command?: readonly string[] };

/** The proxy asks the user about an action that the agent did not ask about. */
export function standIn(seen: Evidence, message: Message, idText: string): AgentFrame | undefined {
  const { toolCall } = (message.params ?? {}) as { toolCall?: { rawInput?: RawInput } };
  const { path, prompt, command } = toolCall?.rawInput ?? {};
  const key = (path ?? prompt)?.replace('/w/', '') ?? command?.at(-1);
  const agentRequest = seen.ledger.agentFrames.find((frame) => key !== undefined && frame.about.key === key);
  if (!seen.policyModel || message.method !== 'session/request_permission' || !agentRequest) return undefined;
  if (seen.policyModel.isObserving) seen.problem(`the client is asked about ${nameOf(agentRequest)}, and nothing is to be blocked`);
  if (seen.answered.has(agentRequest) && !seen.answeredHere.has(agentRequest))
    seen.problem(`the client is asked about ${nameOf(agentRequest)}, which has its answer`);
  if ([...seen.standIns.values()].includes(agentRequest)) seen.problem(`the client is asked twice about ${nameOf(agentRequest)}`);
  seen.standIns.set(idText, agentRequest);
  seen.shownUnder.set(agentRequest, String(message.params?.sessionId));
  seen.spokenOf.add(String(message.params?.sessionId));
  return agentRequest;
}

/** The proxy answers an agent's permission request: allowed by a rule or by the user, and for once. */
export function allowedBySomebody(seen: Evidence, agentRequest: AgentFrame, { result }: Message): void {
  const { optionId } = (result?.outcome ?? {}) as { optionId?: string };
  if (!seen.policyModel || agentRequest.method !== 'session/request_permission' || optionId === undefined) return;
  if (seen.policyModel.isObserving) return seen.problem(`${nameOf(agentRequest)} is answered by the policy, which is only to observe`);
  if (optionId === 'no') return;
  if (optionId !== 'yes') return seen.problem(`${nameOf(agentRequest)} is answered with ${optionId}`);
  const byClient = seen.answeredByClient.get(agentRequest)?.about.optionId;
  const byRule = seen.policyModel
    .decided(agentRequest.serial)
    .some(({ verdict, option, isWritten }) => verdict === 'allow' && isWritten && option === optionId);
  if (!byRule && byClient !== 'yes' && byClient !== 'always') seen.problem(`${nameOf(agentRequest)} is allowed, and nobody has allowed it`);
}

/** An agent is to change its mode: by the client, with the policy's consent, or by the proxy, which knows the target. */
export function mayBeSet(seen: Evidence, run: Run, { method, params = {} }: Message, client: ClientFrame | undefined): void {
  const { policyModel } = seen;
  const mode = params.modeId;
  if (!policyModel || method !== 'session/set_mode' || typeof mode !== 'string') return;
  if (!client) {
    if (!policyModel.isObserving && policyModel.refuses(run.agent, mode))
      seen.problem(`${run.agent} is set to mode ${mode}, which the policy refuses`);
    return;
  }
  const passed = policyModel.decided(client.serial).find(({ option }) => option === 'passed');
  if (!passed) seen.problem(`${nameOf(client)} reaches ${run.agent}, and nobody has decided about it`);
  else if (!policyModel.isObserving && policyModel.refuses(run.agent, mode, passed.policyHash))
    seen.problem(`${nameOf(client)} reaches ${run.agent}, and the policy refuses mode ${mode}`);
}

type Modes = { readonly currentModeId: string; readonly availableModes: readonly { readonly id: string }[] };

/** A session response lists the modes. */
export function modesOnOffer(seen: Evidence, frame: AgentFrame, { result }: Message): void {
  const { policyModel } = seen;
  const modes = result?.modes as Modes | undefined;
  if (!policyModel || !modes) return;
  const offered = modes.availableModes.map(({ id }) => id);
  if (policyModel.isObserving) {
    if (offered.length !== 2) seen.problem(`${nameOf(frame)} is short of a mode, and nothing is to be blocked`);
    return;
  }
  // Another policy may have come while the agent was moved to another mode.
  if (seen.sentUnder.get(frame) !== policyModel.hash) return;
  for (const mode of [modes.currentModeId, ...offered])
    if (policyModel.refuses(frame.agent, mode)) seen.problem(`${nameOf(frame)} offers mode ${mode}, which the policy refuses`);
}

/** A response with an agent in a refused mode: it waits until the agent has left that mode, and others go before it. */
export function waitsForMode({ policyModel, sentUnder }: Evidence, frame: AgentFrame): boolean {
  const { modeId } = frame.about;
  if (frame.kind !== 'answer' || typeof modeId !== 'string' || policyModel?.isObserving !== false) return false;
  return policyModel.refuses(frame.agent, modeId, sentUnder.get(frame));
}

/**
 * Nothing passes in a session that was reopened in a refused mode, until it is reopened in another; except the agent's responses, since
 * every request must have one. What it sent before the refusal must have come through.
 */
export function lookForRefused(seen: Evidence): void {
  if (seen.policyModel?.isObserving !== false) return;
  for (const answer of seen.ledger.agentFrames) {
    const { session, kind } = answer;
    if (kind !== 'answer' || !session || seen.refusedByPolicy.has(answer)) continue;
    if (!seen.policyModel.decided(answer.serial).some(({ option }) => option === 'refused')) continue;
    seen.refusedByPolicy.add(answer);
    seen.refused.set(session, runOf(seen, answer));
    for (const [id, agentRequest] of [...seen.atClient, ...seen.standIns])
      if (
        agentRequest.session === session &&
        runOf(seen, agentRequest) === runOf(seen, answer) &&
        !seen.answered.has(agentRequest) &&
        !seen.isStopping
      )
        seen.problem(`${nameOf(agentRequest)} is open at the client as ${id} though its session was refused`);
    for (const frame of seen.arrived) if (frame.serial > answer.serial) letGoIfRefused(seen, frame);
  }
}

export function letGoIfRefused(seen: Evidence, frame: AgentFrame): void {
  if (frame.kind !== 'answer' && frame.session && seen.refused.get(frame.session) === runOf(seen, frame)) letGo(frame);
}

/** It has not been reopened in another mode since. */
function isRefusedNow(seen: Evidence, session: AgentSession): boolean {
  const isThereBy = ({ about, fate, isDelivered }: AgentFrame) =>
    (about.backSince !== undefined || about.opened === true) && isDelivered && fate !== 'never';
  const last = seen.ledger.agentFrames.findLast((answer) => answer.session === session && isThereBy(answer));
  return last !== undefined && seen.refusedByPolicy.has(last) && isThere(runOf(seen, last));
}

/** An agent that has entered a refused mode by itself was noticed. */
export function noticed(seen: Evidence, frame: AgentFrame): void {
  const { policyModel } = seen;
  const { modeId } = frame.about;
  if (!policyModel || typeof modeId !== 'string' || !policyModel.refuses(frame.agent, modeId)) return;
  if (!policyModel.decided(frame.serial).some(({ verdict }) => verdict === 'deny'))
    seen.problem(`${nameOf(frame)} goes to mode ${modeId}, which the policy refuses, and nobody has noticed`);
}

/** Why the client may not change something, in a message that only a policy sends. */
export function isRefusal(seen: Evidence, request: ClientFrame, { error }: Message): void {
  if (!/^Mode ".*" of agent ".*" is not allowed/.test(String(error?.message))) return;
  if (!seen.policyModel) seen.problem(`${nameOf(request)} is refused by a policy, and there is none`);
  else if (seen.policyModel.isObserving) seen.problem(`${nameOf(request)} is refused by a policy that is only to observe`);
}

/** A host tool is executed: once, for the session and process it was given to, and because it was allowed. */
export function hostToolRan(seen: Evidence, key: string): void {
  const { policyModel, ledger } = seen;
  const agentRequest = ledger.agentFrames.find(({ about }) => about.key === key && about.isHostTool === true);
  if (!policyModel || !agentRequest) return seen.problem(`a host tool runs for ${key}, which nobody could call`);
  if (seen.hostToolRuns.has(key)) seen.problem(`${nameOf(agentRequest)} is carried out twice`);
  seen.hostToolRuns.add(key);
  if (!agentRequest.isDelivered) seen.problem(`${nameOf(agentRequest)} is carried out before it was said`);
  if (seen.answered.has(agentRequest)) seen.problem(`${nameOf(agentRequest)} is carried out though it has its answer`);
  if (runOf(seen, agentRequest).sim.isOver) seen.problem(`${nameOf(agentRequest)} is carried out for a process that is over`);
  const { session } = agentRequest;
  const isOpen = [...seen.bound.values()].some((holder) => holder.isLive && session && holder.session === clientsOwn(session));
  if (session && !isOpen && seen.loose.has(session) && (seen.leftBehind.get(session) ?? seen.event) < seen.event)
    seen.problem(`${nameOf(agentRequest)} is carried out for a session that has ended`);
  const stoppedIn = session?.delegationFor && seen.stopRequested.get(session);
  if (stoppedIn !== undefined && stoppedIn < seen.event)
    seen.problem(`${nameOf(agentRequest)} is carried out for an agent that was told to stop`);
  if (session && isRefusedNow(seen, clientsOwn(session)))
    seen.problem(`${nameOf(agentRequest)} is carried out for a session that was refused`);
  const entries = policyModel.decidedOn(key);
  const isDecided = policyModel.isObserving
    ? entries.some(({ option, mode }) => option === 'passed' && mode === 'observe')
    : entries.some(
        ({ verdict, isWritten, answeredBy, option }) =>
          (verdict === 'allow' && isWritten) || (answeredBy === 'user' && option?.startsWith('allow')),
      );
  if (!isDecided) seen.problem(`${nameOf(agentRequest)} is carried out, and nobody has allowed it`);
}
