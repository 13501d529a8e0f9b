// Frames from an agent to the client, in the order of arrival.
import { failure } from '../errors.ts';
import { routeFromAgent } from '../router/route.ts';
import { detach, type Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Agent } from './agents/agent.ts';
import { modernRequest, modernUpdateFrame } from './agents/legacy-frames.ts';
import { skipLine } from './context.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { duplicateId } from './requests/duplicate-ids.ts';
import { completeElicitation } from './requests/elicitation.ts';
import { receiveRequest, withdrawRequest } from './requests/receive-request.ts';
import { toPublic } from './rewrite.ts';
import { passUpdate } from './sessions/config-options.ts';
import type { Session } from './sessions/session.ts';
import { operationOf } from './sessions/session-state.ts';
import { noteTakenByUs } from './tools/acp-messages.ts';
import { lookForTools } from './tools/confirm-tools.ts';
import type { DelegatedSession } from './tools/delegation.ts';
import { isNeverActedOn, kindActedOn } from './turns/session-update.ts';

/** The limit of held frames per agent. Beyond it frames pass: holding the rest would also hold the answer. */
const MAX_EARLY_BYTES = 16 * 1024 * 1024;

export function fromAgent(proxy: ProxyParts, agent: Agent, came: Frame): void {
  const frame = came.kind === 'request' ? modernRequest(agent, came) : came;
  const known = agent.sessions.of(frame);
  if (known && !known.isDiscovered && agent.refused.size === 0) return pass(proxy, agent, known, frame); // nearly all of them
  const nativeId = sessionIdOf(frame);
  if (nativeId === undefined) return pass(proxy, agent, undefined, frame);
  const isUnheardOf = !known || known.isDiscovered;
  // A request passes at once: the agent may need its answer before it answers us.
  if (isUnheardOf && agent.openings > 0 && frame.kind === 'notification' && hold(agent, nativeId, frame)) return;
  if (agent.refused.has(nativeId)) return forNobody(proxy, agent, frame);
  if (isUnheardOf && isEnded(agent, nativeId) && !isAsIfDirect(proxy, agent)) return forNobody(proxy, agent, frame);
  pass(proxy, agent, known ?? discover(proxy, agent, nativeId), frame);
}

/**
 * Passes frames on at once that nothing here looks at one by one: pieces of a message, without a policy, in a session that the client knows by
 * the agent's own id. False if `fromAgent` must take each of them.
 */
export function batchFromAgent(proxy: Parts<'context' | 'client'>, agent: Agent, batch: FrameBatch): boolean {
  const { first } = batch;
  if (first.method !== 'session/update' || proxy.context.enforcement || agent.refused.size > 0) return false;
  const session = agent.sessions.of(first);
  if (!session || session.isDiscovered || session.publicId !== session.nativeId) return false;
  if (session.delegation || session.withholdsUpdates || !isNeverActedOn(first)) return false;
  session.stallWatch?.heard();
  proxy.client.notifyBatch(batch);
  return true;
}

function pass(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame): void {
  const route = routeFromAgent(frame);
  const receiver = proxy.pool.single ? route.singleAgent : route.several;
  if (receiver === 'nobody') return unroutable(proxy, agent, frame);
  if (frame.kind === 'request') return receiveRequest(proxy, agent, session, frame, route.key);
  if (frame.method === 'session/update') return update(proxy, session, frame);
  const twice = duplicateId(proxy, frame);
  if (twice !== undefined) return skipLine(proxy.context, agent.name, twice);
  if (frame.method === 'mcp/message' && noteTakenByUs(proxy, agent, frame)) return;
  if (proxy.context.enforcement?.refusesNotification(agent, session, frame)) return void proxy.context.counters.refusedFromAgents++;
  if (receiver === 'requester') return noteTakenByUs(proxy, agent, frame) ? undefined : withdrawRequest(proxy, agent, frame);
  if (route.key === 'elicitationId') return completeElicitation(proxy, agent, frame);
  proxy.client.notify(frame, toPublic(session, frame));
}

function unroutable(proxy: Parts<'context'>, agent: Agent, frame: Frame): void {
  const method = frame.method as string;
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('METHOD_UNKNOWN', [method], { method }));
  else proxy.context.counters.refusedFromAgents++;
}

/** Holds updates of unknown sessions: clients drop them, and agents send some before the answer that opens the session. */
function hold(agent: Agent, nativeId: string, frame: Frame): boolean {
  if (agent.earlyBytes > MAX_EARLY_BYTES) return false;
  const held = agent.early.get(nativeId) ?? [];
  held.push(detach(frame));
  agent.earlyBytes += frame.end - frame.start;
  agent.early.set(nativeId, held);
  return true;
}

/** The client left the session, or never opened it. A request still needs an answer, or its agent waits forever. */
function forNobody(proxy: Parts<'context'>, agent: Agent, frame: Frame): void {
  proxy.context.counters.lateUpdates++;
  const sessionId = sessionIdOf(frame) ?? '';
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
}

/** An agent may reuse session ids after each start: an id that ended on an earlier connection may be the session it is opening now.
 * One that ended on this connection stays ended until the agent has opened it again. */
function isEnded({ ended, openings, generation }: Agent, nativeId: string): boolean {
  const endedIn = ended.get(nativeId);
  return endedIn !== undefined && (openings === 0 || endedIn === generation);
}

/** With one agent, one process and no policy, sessions that the client did not open do not concern the proxy. */
const isAsIfDirect = (proxy: Parts<'context' | 'pool'>, agent: Agent): boolean =>
  proxy.pool.single !== undefined && !proxy.context.enforcement && !agent.isIsolated;

/** Registers a session that the agent created itself, for a subagent for example, under a unique id. */
function discover(proxy: Parts<'context' | 'pool' | 'registry'>, agent: Agent, nativeId: string): Session | undefined {
  if (isAsIfDirect(proxy, agent)) return undefined;
  return proxy.registry.discover(agent, nativeId);
}

function update(proxy: ProxyParts, session: Session | undefined, frame: Frame, isOfToday = false): void {
  if (!session) return proxy.client.notify(frame);
  session.stallWatch?.heard();
  const kind = kindActedOn(frame);
  if (!isOfToday && proxy.context.enforcement?.refusesUpdate(session, kind, frame)) return;
  if (session.delegation) return forDelegation(proxy, session, session.delegation, kind, frame);
  if (session.withholdsUpdates) {
    operationOf(session.state, 'recovery')?.op.heard();
    proxy.context.counters.lateUpdates++;
    return;
  }
  if (!isOfToday && (kind === 'diff' || kind === 'current_mode_update'))
    return update(proxy, session, modernUpdateFrame(frame, session.cwd, kind), true);
  const isToolCall = kind === 'tool_call' || kind === 'tool_call_update';
  if (isToolCall) {
    session.toolCalls.read(frame);
    lookForTools(proxy, session);
  }
  const visible = proxy.context.enforcement && kind === 'config_option_update' ? proxy.context.enforcement.narrowed(session, frame) : frame;
  if (proxy.pool.single) proxy.client.notify(visible, toPublic(session, visible));
  else passUpdate(proxy, session, kind, visible);
  if (!proxy.context.enforcement) return;
  if (isToolCall) proxy.context.enforcement.toolCall(session, frame);
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
  delegation.hear(frame);
  if (!proxy.context.enforcement) return;
  if (kind === 'tool_call' || kind === 'tool_call_update') proxy.context.enforcement.toolCall(session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') proxy.context.enforcement.modeUpdate(session, frame);
}
