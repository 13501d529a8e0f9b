// Frames from an agent on their way to the editor, in the order in which they came.
import { failure } from '../errors.ts';
import { routeFromAgent } from '../router/route.ts';
import { detach, type Frame } from '../wire/frame.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Agent } from './agents/agent.ts';
import { modernRequest, modernUpdateFrame } from './agents/legacy-frames.ts';
import type { Hub } from './hub.ts';
import { duplicateKeys } from './named-twice.ts';
import { completeElicitation, putRequest, withdraw } from './requests/agent-requests.ts';
import { passUpdate } from './sessions/config-options.ts';
import { forgetDiscovered, track } from './sessions/find-session.ts';
import { createSession, type Session, toPublic } from './sessions/session.ts';
import { skipLine } from './skip-line.ts';
import { noteTakenByUs } from './tools/acp-messages.ts';
import { lookForTools } from './tools/confirm-tools.ts';
import type { DelegatedSession } from './tools/delegation.ts';
import { kindActedOn } from './turns/session-update.ts';
import { noteToolCall } from './turns/tool-calls.ts';

/** What is held back for one agent; beyond it frames pass, since holding back the rest would hold back the answer too. */
const MAX_EARLY_BYTES = 16 * 1024 * 1024;

export function fromAgent(hub: Hub, agent: Agent, came: Frame): void {
  const frame = came.kind === 'request' ? modernRequest(agent, came) : came;
  const known = agent.sessions.of(frame);
  if (known && !known.isDiscovered && agent.refused.size === 0) return pass(hub, agent, known, frame); // nearly all of them
  const nativeId = sessionIdOf(frame);
  if (nativeId === undefined) return pass(hub, agent, undefined, frame);
  const isUnheardOf = !known || known.isDiscovered;
  // A question passes at once: the agent may want its answer before it answers us.
  if (isUnheardOf && agent.openings > 0 && frame.kind === 'notification' && hold(agent, nativeId, frame)) return;
  if (agent.refused.has(nativeId)) return forNobody(hub, agent, frame);
  if (isUnheardOf && isEnded(agent, nativeId) && !isAsIfDirect(hub, agent)) return forNobody(hub, agent, frame);
  pass(hub, agent, known ?? meet(hub, agent, nativeId), frame);
}

function pass(hub: Hub, agent: Agent, session: Session | undefined, frame: Frame): void {
  const route = routeFromAgent(frame);
  const receiver = hub.singleAgent ? route.singleAgent : route.several;
  if (receiver === 'nobody') return unroutable(hub, agent, frame);
  if (frame.kind === 'request') return putRequest(hub, agent, session, frame, route.key);
  if (frame.method === 'session/update') return update(hub, session, frame);
  const twice = duplicateKeys(hub, frame);
  if (twice !== undefined) return skipLine(hub, agent, twice);
  if (frame.method === 'mcp/message' && noteTakenByUs(hub, agent, frame)) return;
  if (hub.enforcement?.refusesNotification(hub, agent, session, frame)) return void hub.counters.refusedFromAgents++;
  if (receiver === 'asker') return noteTakenByUs(hub, agent, frame) ? undefined : withdraw(hub, agent, frame);
  if (route.key === 'elicitationId') return completeElicitation(hub, agent, frame);
  hub.client.notify(frame, toPublic(session, frame));
}

function unroutable(hub: Hub, agent: Agent, frame: Frame): void {
  const method = frame.method as string;
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('METHOD_UNKNOWN', [method], { method }));
  else hub.counters.refusedFromAgents++;
}

/** Editors drop updates of sessions they have not heard of, and agents send some before the answer that would tell. */
function hold(agent: Agent, nativeId: string, frame: Frame): boolean {
  if (agent.earlyBytes > MAX_EARLY_BYTES) return false;
  const held = agent.early.get(nativeId) ?? [];
  held.push(detach(frame));
  agent.earlyBytes += frame.end - frame.start;
  agent.early.set(nativeId, held);
  return true;
}

/** The editor has left the session, or was never let into it. A question must still be answered, or its agent waits for ever. */
function forNobody(hub: Hub, agent: Agent, frame: Frame): void {
  hub.counters.lateUpdates++;
  const sessionId = sessionIdOf(frame) ?? '';
  if (frame.kind === 'request') agent.fail(idTextOf(frame), failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
}

/** An agent may number its sessions anew in each life: one of an earlier life may be the one that it is just opening. One that ended in this
 * life stays ended until the agent has answered that it is open again: better a question refused than one asked where nobody is. */
function isEnded({ ended, openings, generation }: Agent, nativeId: string): boolean {
  const endedIn = ended.get(nativeId);
  return endedIn !== undefined && (openings === 0 || endedIn === generation);
}

/** One agent in one process, and nobody to judge it: sessions that the editor has not opened are between the two. */
const isAsIfDirect = (hub: Hub, agent: Agent): boolean => hub.singleAgent !== undefined && !hub.enforcement && !agent.isIsolated;

/** A session of the agent's own making (a subagent's, say): it passes, under an id that no session of another agent or process has. */
function meet(hub: Hub, agent: Agent, nativeId: string): Session | undefined {
  if (isAsIfDirect(hub, agent)) return undefined;
  const { publicId } = agent.openings > 0 ? hub.table.mint(agent.id, nativeId, undefined) : hub.table.adopt(agent.id, nativeId, undefined);
  const session = createSession(publicId, agent, nativeId, undefined);
  session.isDiscovered = true;
  session.isAgentsOwn = true;
  forgetDiscovered(hub, agent);
  track(hub, session);
  return session;
}

function update(hub: Hub, session: Session | undefined, frame: Frame, isOfToday = false): void {
  if (!session) return hub.client.notify(frame);
  session.isActive = true;
  const kind = kindActedOn(frame);
  if (!isOfToday && hub.enforcement?.refusesUpdate(hub, session, kind, frame)) return;
  if (session.delegation) return forErrand(hub, session, session.delegation, kind, frame);
  if (session.withheldReplay) {
    if (session.returning) session.returning.isActive = true;
    hub.counters.lateUpdates++;
    return;
  }
  if (!isOfToday && (kind === 'diff' || kind === 'current_mode_update'))
    return update(hub, session, modernUpdateFrame(frame, session.cwd, kind), true);
  const isToolCall = kind === 'tool_call' || kind === 'tool_call_update';
  if (isToolCall) {
    noteToolCall(session, frame);
    lookForTools(hub, session);
  }
  const told = hub.enforcement && kind === 'config_option_update' ? hub.enforcement.narrowed(session, frame) : frame;
  if (hub.singleAgent) hub.client.notify(told, toPublic(session, told));
  else passUpdate(hub, session, kind, told);
  if (!hub.enforcement) return;
  if (isToolCall) hub.enforcement.toolCall(hub, session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') hub.enforcement.modeUpdate(hub, session, frame);
}

/** The editor does not know this session; whoever opened it does. */
function forErrand(hub: Hub, session: Session, delegation: DelegatedSession, kind: string | undefined, frame: Frame): void {
  delegation.hear(frame);
  if (!hub.enforcement) return;
  if (kind === 'tool_call' || kind === 'tool_call_update') hub.enforcement.toolCall(hub, session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') hub.enforcement.modeUpdate(hub, session, frame);
}
