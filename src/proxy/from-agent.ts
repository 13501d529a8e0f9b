// Frames from an agent on their way to the editor, in the order in which they came.
import { failure } from '../errors.ts';
import { routeFromAgent } from '../router/route.ts';
import { detach, type Frame } from '../wire/frame.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { AgentLeg } from './agents/agent.ts';
import { modernRequest, modernUpdateFrame } from './agents/legacy-frames.ts';
import type { Hub } from './hub.ts';
import { namedTwice } from './named-twice.ts';
import { completeElicitation, putQuestion, withdraw } from './requests/agent-requests.ts';
import { passUpdate } from './sessions/config-options.ts';
import { forgetMet, track } from './sessions/find-session.ts';
import { createSession, type Session, toPublic } from './sessions/session.ts';
import { skipLine } from './skip-line.ts';
import { noteTakenByUs } from './tools/acp-messages.ts';
import { lookForTools } from './tools/confirm-tools.ts';
import type { DelegatedSession } from './tools/delegation.ts';
import { kindActedOn } from './turns/session-update.ts';
import { noteToolCall } from './turns/tool-calls.ts';

/** What is held back for one agent; beyond it frames pass, since holding back the rest would hold back the answer too. */
const MAX_EARLY_BYTES = 16 * 1024 * 1024;

export function fromAgent(hub: Hub, leg: AgentLeg, came: Frame): void {
  const frame = came.kind === 'request' ? modernRequest(leg, came) : came;
  const known = leg.sessions.of(frame);
  if (known && !known.isMet && leg.refused.size === 0) return pass(hub, leg, known, frame); // nearly all of them
  const nativeId = sessionIdOf(frame);
  if (nativeId === undefined) return pass(hub, leg, undefined, frame);
  const isUnheardOf = !known || known.isMet;
  // A question passes at once: the agent may want its answer before it answers us.
  if (isUnheardOf && leg.openings > 0 && frame.kind === 'notification' && hold(leg, nativeId, frame)) return;
  if (leg.refused.has(nativeId)) return forNobody(hub, leg, frame);
  if (isUnheardOf && isEnded(leg, nativeId) && !isAsIfDirect(hub, leg)) return forNobody(hub, leg, frame);
  pass(hub, leg, known ?? meet(hub, leg, nativeId), frame);
}

function pass(hub: Hub, leg: AgentLeg, session: Session | undefined, frame: Frame): void {
  const route = routeFromAgent(frame);
  const receiver = hub.alone ? route.alone : route.several;
  if (receiver === 'nobody') return unroutable(hub, leg, frame);
  if (frame.kind === 'request') return putQuestion(hub, leg, session, frame, route.key);
  if (frame.method === 'session/update') return update(hub, session, frame);
  const twice = namedTwice(hub, frame);
  if (twice !== undefined) return skipLine(hub, leg, twice);
  if (frame.method === 'mcp/message' && noteTakenByUs(hub, leg, frame)) return;
  if (hub.guard?.refusesNotification(hub, leg, session, frame)) return void hub.counters.refusedFromAgents++;
  if (receiver === 'asker') return noteTakenByUs(hub, leg, frame) ? undefined : withdraw(hub, leg, frame);
  if (route.key === 'elicitationId') return completeElicitation(hub, leg, frame);
  hub.editor.notify(frame, toPublic(session, frame));
}

function unroutable(hub: Hub, leg: AgentLeg, frame: Frame): void {
  const method = frame.method as string;
  if (frame.kind === 'request') leg.fail(idTextOf(frame), failure('METHOD_UNKNOWN', [method], { method }));
  else hub.counters.refusedFromAgents++;
}

/** Editors drop updates of sessions they have not heard of, and agents send some before the answer that would tell. */
function hold(leg: AgentLeg, nativeId: string, frame: Frame): boolean {
  if (leg.earlyBytes > MAX_EARLY_BYTES) return false;
  const held = leg.early.get(nativeId) ?? [];
  held.push(detach(frame));
  leg.earlyBytes += frame.end - frame.start;
  leg.early.set(nativeId, held);
  return true;
}

/** The editor has left the session, or was never let into it. A question must still be answered, or its agent waits for ever. */
function forNobody(hub: Hub, leg: AgentLeg, frame: Frame): void {
  hub.counters.lateUpdates++;
  const sessionId = sessionIdOf(frame) ?? '';
  if (frame.kind === 'request') leg.fail(idTextOf(frame), failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
}

/** An agent may number its sessions anew in each life: one of an earlier life may be the one that it is just opening. One that ended in this
 * life stays ended until the agent has answered that it is open again: better a question refused than one asked where nobody is. */
function isEnded({ ended, openings, lives }: AgentLeg, nativeId: string): boolean {
  const endedIn = ended.get(nativeId);
  return endedIn !== undefined && (openings === 0 || endedIn === lives);
}

/** One agent in one process, and nobody to judge it: sessions that the editor has not opened are between the two. */
const isAsIfDirect = (hub: Hub, leg: AgentLeg): boolean => hub.alone !== undefined && !hub.guard && !leg.isIsolated;

/** A session of the agent's own making (a subagent's, say): it passes, under an id that no session of another agent or process has. */
function meet(hub: Hub, leg: AgentLeg, nativeId: string): Session | undefined {
  if (isAsIfDirect(hub, leg)) return undefined;
  const { publicId } = leg.openings > 0 ? hub.table.mint(leg.id, nativeId, undefined) : hub.table.adopt(leg.id, nativeId, undefined);
  const session = createSession(publicId, leg, nativeId, undefined);
  session.isMet = true;
  session.isAgentsOwn = true;
  forgetMet(hub, leg);
  track(hub, session);
  return session;
}

function update(hub: Hub, session: Session | undefined, frame: Frame, isOfToday = false): void {
  if (!session) return hub.editor.notify(frame);
  session.isHeard = true;
  const kind = kindActedOn(frame);
  if (!isOfToday && hub.guard?.refusesUpdate(hub, session, kind, frame)) return;
  if (session.delegation) return forErrand(hub, session, session.delegation, kind, frame);
  if (session.withheldReplay) {
    if (session.returning) session.returning.isHeard = true;
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
  const told = hub.guard && kind === 'config_option_update' ? hub.guard.narrowed(session, frame) : frame;
  if (hub.alone) hub.editor.notify(told, toPublic(session, told));
  else passUpdate(hub, session, kind, told);
  if (!hub.guard) return;
  if (isToolCall) hub.guard.toolCall(hub, session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') hub.guard.modeUpdate(hub, session, frame);
}

/** The editor does not know this session; whoever opened it does. */
function forErrand(hub: Hub, session: Session, delegation: DelegatedSession, kind: string | undefined, frame: Frame): void {
  delegation.hear(frame);
  if (!hub.guard) return;
  if (kind === 'tool_call' || kind === 'tool_call_update') hub.guard.toolCall(hub, session, frame);
  if (kind === 'current_mode_update' || kind === 'config_option_update') hub.guard.modeUpdate(hub, session, frame);
}
