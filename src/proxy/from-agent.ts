// Frames from an agent to the client, in the order of arrival.
import { failure } from '../errors.ts';
import { routeFromAgent } from '../router/route.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Agent } from './agents/agent.ts';
import { modernRequest, modernUpdate, modernUpdateFrame } from './agents/legacy-frames.ts';
import { skipLine } from './context.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { duplicateId } from './requests/duplicate-ids.ts';
import { completeElicitation } from './requests/elicitation.ts';
import { receiveRequest, withdrawRequest } from './requests/receive-request.ts';
import { withholdsFiles } from './requests/serve-workspace.ts';
import { toPublic } from './rewrite.ts';
import { passUpdate } from './sessions/config-options.ts';
import type { Session } from './sessions/session.ts';
import { operationOf } from './sessions/session-state.ts';
import { passedToToolServer } from './tools/acp-messages.ts';
import { checkToolUse } from './tools/check-tool-use.ts';
import type { DelegatedSession } from './tools/delegation.ts';
import { asHostCall } from './tools/report-host-call.ts';
import { noteRefusals } from './turns/sandbox-refusals.ts';
import { BARE, isNeverActedOn, kindActedOn } from './turns/session-update.ts';

export function fromAgent(proxy: ProxyParts, agent: Agent, received: Frame): void {
  const frame = received.kind === 'request' ? modernRequest(agent, received) : received;
  const { sessions } = agent;
  const known = sessions.forFrame(frame);
  if (known && !known.isDiscovered && !sessions.hasRefused) return pass(proxy, agent, known, frame); // nearly all of them
  const nativeId = sessionIdOf(frame);
  if (nativeId === undefined) return withoutSessionId(proxy, agent, frame);
  const isUnknown = !known || known.isDiscovered;
  // Clients drop updates of unknown sessions, and agents send some before the answer that opens the session. A request passes at once: the
  // agent may need its answer before it answers us.
  if (isUnknown && sessions.isOpening && frame.kind === 'notification' && sessions.holdEarly(nativeId, frame)) return;
  if (sessions.whyRefused(nativeId)) return drop(proxy, agent, frame);
  if (isUnknown && sessions.hasEnded(nativeId, agent.generation) && !isTransparent(proxy, agent)) return drop(proxy, agent, frame);
  pass(proxy, agent, known ?? discover(proxy, agent, nativeId), frame);
}

function withoutSessionId(proxy: ProxyParts, agent: Agent, frame: Frame): void {
  const owned = frame.method === 'session/update' ? modernUpdate(agent, frame) : frame;
  if (owned.sessionId) fromAgent(proxy, agent, owned);
  else pass(proxy, agent, undefined, frame);
}

/**
 * Passes a batch on as a whole: pieces of messages, without a policy, in sessions that the client knows by the agent's own ids. False if
 * `fromAgent` must handle each frame.
 */
export function batchFromAgent(proxy: Parts<'context' | 'client'>, agent: Agent, batch: FrameBatch): boolean {
  const { first, sessions = ONE } = batch;
  if (first.method !== 'session/update' || proxy.context.enforcement || agent.sessions.hasRefused || !isNeverActedOn(first)) return false;
  for (let k = 0; k < sessions.length; k++) {
    const id = sessions[k];
    const session = id ? agent.sessions.forInternedId(id) : agent.sessions.forFrame(first);
    if (!session || session.isDiscovered || session.publicId !== session.nativeId) return false;
    if (session.delegation || session.withholdsUpdates || session.lateReplay || session.shown) return false;
    session.stallWatch?.noteActivity();
  }
  proxy.client.notifyBatch(batch);
  return true;
}

/** The sessions of a batch of one session. */
const ONE: readonly undefined[] = [undefined];

function pass(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame): void {
  const route = routeFromAgent(frame);
  const receiver = proxy.pool.single ? route.singleAgent : route.several;
  if (receiver === 'nobody') return unroutable(proxy, agent, frame);
  if (frame.kind === 'request' && withholdsFiles(proxy, agent, frame.method)) return withheld(agent, frame);
  if (frame.kind === 'request') return receiveRequest(proxy, agent, session, frame, route.key);
  if (frame.method === 'session/update') return update(proxy, session, frame);
  const twice = duplicateId(proxy, frame);
  if (twice !== undefined) return skipLine(proxy.context, agent.name, twice);
  if (frame.method === 'mcp/message' && passedToToolServer(proxy, agent, frame)) return;
  if (proxy.context.enforcement?.refusesNotification(agent, session, frame)) return void proxy.context.counters.refusedFromAgents++;
  if (receiver === 'requester') return passedToToolServer(proxy, agent, frame) ? undefined : withdrawRequest(proxy, agent, frame);
  if (route.key === 'elicitationId') return completeElicitation(proxy, agent, frame);
  proxy.client.notify(frame, toPublic(session, frame));
}

function withheld(agent: Agent, frame: Frame): void {
  const method = frame.method as string;
  agent.fail(idTextOf(frame), failure('FILES_WITHHELD', [method, agent.name], { method, agent: agent.name }));
}

function unroutable(proxy: Parts<'context'>, agent: Agent, frame: Frame): void {
  const method = frame.method as string;
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('METHOD_UNKNOWN', [method], { method }));
  else proxy.context.counters.refusedFromAgents++;
}

/** The client left the session, or never opened it. A request still needs an answer, or its agent waits forever. */
function drop(proxy: Parts<'context'>, agent: Agent, frame: Frame): void {
  proxy.context.counters.lateUpdates++;
  const sessionId = sessionIdOf(frame) ?? '';
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
}

/** With one agent, one process and no policy, sessions that the client did not open do not concern the proxy. */
const isTransparent = (proxy: Parts<'context' | 'pool'>, agent: Agent): boolean =>
  proxy.pool.single !== undefined && !proxy.context.enforcement && !agent.isIsolated;

/** Registers a session that the agent created itself, for a subagent for example, under a unique id. */
function discover(proxy: Parts<'context' | 'pool' | 'registry'>, agent: Agent, nativeId: string): Session | undefined {
  if (isTransparent(proxy, agent)) return undefined;
  return proxy.registry.discover(agent, nativeId);
}

function update(
  proxy: Parts<'context' | 'pool' | 'registry' | 'client' | 'tools'>,
  session: Session | undefined,
  frame: Frame,
  isModern = false,
): void {
  if (!session) return proxy.client.notify(frame);
  session.stallWatch?.noteActivity();
  const known = kindActedOn(frame);
  const wrapped = known === BARE ? modernUpdate(session.agent, frame, session.cwd) : frame;
  if (wrapped !== frame) return update(proxy, session, wrapped);
  const kind = known === BARE ? undefined : known;
  if (!isModern && proxy.context.enforcement?.refusesUpdate(session, kind, frame)) return;
  if (session.delegation) return forDelegation(proxy, session, session.delegation, kind, frame);
  if (session.withholdsUpdates) {
    if (session.isLoading) session.shown?.update(frame); // a resume by session/load: the client has seen this before
    operationOf(session.state, 'recovery')?.op.noteActivity();
    proxy.context.counters.lateUpdates++;
    return;
  }
  const { lateReplay } = session;
  const isReplay = lateReplay?.isReplay(frame, session.turns.size > 0) === true;
  const isWithheld = isReplay && lateReplay?.isWithheld === true;
  if (!isWithheld || !lateReplay.isHistoryKnown) session.shown?.update(frame);
  if (isWithheld) return void proxy.context.counters.lateUpdates++;
  if (!isModern && (kind === 'diff' || kind === 'current_mode_update'))
    return update(proxy, session, modernUpdateFrame(frame, session.cwd, kind), true);
  const isToolCall = kind === 'tool_call' || kind === 'tool_call_update';
  const shown = isToolCall && !isReplay ? asHostCall(session, frame) : frame;
  if (isToolCall && shown === frame) {
    session.toolCalls.read(frame, kind); // also of a replay: the client sees a call go on that its agent cannot end once it has exited
    if (session.agent.isContained && !isReplay) noteRefusals(proxy, session, frame);
    if (!isReplay) proxy.context.activity?.toolCall(session.publicId, frame);
    if (!isReplay) checkToolUse(proxy, session);
  }
  if (kind === 'usage_update' && !isReplay)
    proxy.context.activity?.usage(session.publicId, session.agent.name, shown, session.turns.size > 0);
  const visible =
    proxy.context.enforcement && kind === 'config_option_update' ? proxy.context.enforcement.narrowUpdate(session, frame) : shown;
  if (proxy.pool.single) proxy.client.notify(visible, toPublic(session, visible));
  else passUpdate(proxy, session, kind, visible);
  if (!proxy.context.enforcement) return;
  // Without a prompt, a session that was just loaded does nothing: what its agent reports is history, on record or not.
  const isHistory = isReplay || (session.lateReplay !== undefined && session.turns.size === 0);
  if (isToolCall && !isHistory) proxy.context.enforcement.toolCall(session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') proxy.context.enforcement.modeUpdate(session, frame);
}

/** The client does not know a delegated session; its delegation gets the updates. */
function forDelegation(
  proxy: Parts<'context'>,
  session: Session,
  delegation: DelegatedSession,
  kind: string | undefined,
  frame: Frame,
): void {
  delegation.onUpdate(frame);
  const isToolCall = kind === 'tool_call' || kind === 'tool_call_update';
  if (isToolCall) proxy.context.activity?.toolCall(delegation.id, frame);
  if (kind === 'usage_update') proxy.context.activity?.usage(delegation.id, session.agent.name, frame, true);
  if (!proxy.context.enforcement) return;
  if (isToolCall) proxy.context.enforcement.toolCall(session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') proxy.context.enforcement.modeUpdate(session, frame);
}
