// Whose session is this? Live ones are known, earlier processes wrote theirs down, and what nobody wrote down the agents may know.
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';
import type { AgentLeg } from '../agents/agent.ts';
import { agentOf, legForSession, vacate } from '../agents/agent-pool.ts';
import type { Hub } from '../hub.ts';
import { revokeLoan } from '../tools/host-tools.ts';
import { createSession, type Session } from './session.ts';

/** A session this connection or an earlier process knows. With one agent, any id is a session of that agent. */
export function knownSession(hub: Hub, publicId: string): Session | ProxyError | undefined {
  const live = hub.sessions.get(publicId);
  if (live) return live;
  const binding = hub.table.find(publicId) ?? recall(hub, publicId);
  const leg = binding && hub.agents.get(agentOf(binding.agent));
  if (binding && leg) return track(hub, createSession(publicId, legForSession(hub, leg), binding.nativeId, binding.cwd));
  if (hub.alone) return track(hub, createSession(publicId, legForSession(hub, hub.alone), publicId, undefined));
  if (binding) return failure('SESSION_ORPHANED', [publicId, binding.agent], { sessionId: publicId, agent: binding.agent });
  return undefined;
}

export function track(hub: Hub, session: Session): Session {
  const before = session.leg.sessions.get(session.nativeId);
  if (before && before !== session) takeOver(hub, before, session);
  hub.sessions.set(session.publicId, session);
  session.leg.sessions.set(session.nativeId, session);
  hub.table.claim(session.publicId, session.leg.id, session.nativeId, session.cwd);
  return session;
}

/** It was met under a name of its own before it turned out to be this one: what is open on it is this one's. */
export function takeOver(hub: Hub, met: Session, session: Session): void {
  if (isTracked(hub, met)) hub.sessions.delete(met.publicId);
  for (const asked of met.questions) {
    asked.session = session;
    session.questions.add(asked);
  }
  for (const terminalId of met.terminals) {
    hub.terminals.set(terminalId, { leg: session.leg, sessionId: session.publicId });
    session.terminals.add(terminalId);
  }
  for (const asked of hub.editor.answeredIn(met)) asked.session = session;
  met.questions.clear();
  met.terminals.clear();
}

export function untrack(hub: Hub, session: Session): void {
  const { publicId, nativeId, leg } = session;
  for (const terminalId of session.terminals) hub.terminals.delete(terminalId);
  hub.workspace?.endOf(session);
  // It may have ended already, and its ids may be another's.
  if (isTracked(hub, session)) {
    hub.sessions.delete(publicId);
    hub.table.release(publicId);
  }
  if (leg.sessions.get(nativeId) === session) {
    leg.sessions.delete(nativeId);
    markEnded(leg, nativeId);
  }
  revokeLoan(session);
  hub.guard?.ended(session);
  vacate(hub, leg);
}

/** It has not ended since. */
export const isTracked = (hub: Hub, session: Session): boolean => hub.sessions.get(session.publicId) === session;

/** What the agent still says of it is for nobody, until it has answered that it is open again. */
export function markEnded(leg: AgentLeg, nativeId: string): void {
  forgetBeyond(leg.ended, MAX_ENDED);
  leg.ended.set(nativeId, leg.lives);
}

const MAX_ENDED = 10_000;
const MAX_SESSIONS = 10_000;

/** An agent that speaks of ever new sessions of its own: those it spoke of first are forgotten, and met again if need be. */
export function forgetMet(hub: Hub, leg: AgentLeg): void {
  for (const [nativeId, met] of leg.sessions) {
    if (leg.sessions.size < MAX_SESSIONS) return;
    if (!met.isMet || met.questions.size > 0) continue;
    leg.sessions.delete(nativeId);
    if (!isTracked(hub, met)) continue;
    hub.sessions.delete(met.publicId);
    hub.table.release(met.publicId);
  }
}

/** The oldest go first. */
function forgetBeyond(ids: Map<string, unknown>, most: number): void {
  for (const id of ids.keys()) {
    if (ids.size < most) return;
    ids.delete(id);
  }
}

function recall(hub: Hub, publicId: string) {
  const record = hub.log.records().get(publicId);
  if (!record) return undefined;
  hub.table.remember({ publicId, agent: record.agent, nativeId: record.nativeId, cwd: record.cwd });
  return hub.table.find(publicId);
}

/**
 * Asks the agents that can list their sessions for one that nobody here has heard of, then hands over the owner.
 * `candidates` are agents that cannot list but can load: for them there is only trying.
 */
export function probe(
  hub: Hub,
  sessionId: string,
  done: (found: { readonly owner: Session | ProxyError | undefined; readonly candidates: readonly AgentLeg[] }) => void,
): void {
  const legs = [...hub.agents.values()];
  const listers = legs.filter(({ handshake }) => offers(handshake?.result, 'sessionCapabilities', 'list'));
  const candidates = legs.filter(
    ({ handshake }) => !offers(handshake?.result, 'sessionCapabilities', 'list') && offers(handshake?.result, 'loadSession'),
  );
  const owners: { leg: AgentLeg; cwd: string | undefined }[] = [];
  let open = listers.length;
  const settle = () => {
    // Another request for it, or a list, may have found it first.
    const found = knownSession(hub, sessionId);
    if (found) return done({ owner: found, candidates });
    const [owner, another] = owners;
    if (owner && another)
      return done({
        owner: failure('SESSION_AMBIGUOUS', [sessionId, owners.map(({ leg }) => leg.name).join(', ')], { sessionId }),
        candidates: [],
      });
    if (!owner) return done({ owner: undefined, candidates });
    done({ owner: track(hub, createSession(sessionId, legForSession(hub, owner.leg), sessionId, owner.cwd)), candidates });
  };
  if (open === 0) return settle();
  for (const leg of listers)
    findInList(hub, leg, sessionId, (found) => {
      if (found && !goesByAnotherName(hub, leg, sessionId)) owners.push({ leg, cwd: found.cwd });
      if (--open === 0) settle();
    });
}

/** For an id that is nobody's here: the agent's own session of that id is known under another one, so it is not the one that is meant. */
export function goesByAnotherName(hub: Hub, { id, name }: AgentLeg, nativeId: string): boolean {
  const isElsewhere = (leg: AgentLeg) => leg.name === name && hub.table.findNative(leg.id, nativeId) !== undefined;
  return hub.table.findNative(id, nativeId) !== undefined || [...hub.isolated].some(isElsewhere);
}

const MAX_PAGES = 20;
const PROBE_MS = 5000;

function findInList(hub: Hub, leg: AgentLeg, sessionId: string, done: (found: { cwd: string | undefined } | undefined) => void): void {
  let isDone = false;
  const finish = (found?: { cwd: string | undefined }) => {
    if (isDone) return;
    isDone = true;
    callOff();
    done(found);
  };
  const callOff = hub.clock.after(PROBE_MS, () => finish());
  const page = (cursor: string | undefined, pagesLeft: number) => {
    leg.request('session/list', JSON.stringify(cursor === undefined ? {} : { cursor }), {
      onFail: () => finish(),
      onAnswer(frame) {
        const entry = listed(frame).find((span) => stringAt(frame.bytes, member(frame.bytes, span.start, 'sessionId')) === sessionId);
        if (entry) return finish({ cwd: stringAt(frame.bytes, member(frame.bytes, entry.start, 'cwd')) });
        const next = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'nextCursor'));
        if (next === undefined || pagesLeft === 0 || isDone) return finish();
        page(next, pagesLeft - 1);
      },
    });
  };
  page(undefined, MAX_PAGES);
}

/** The entries of a `session/list` answer; none when it is an error. */
export function listed(frame: Frame) {
  const sessions = frame.outcome === 'result' ? memberAt(frame.bytes, frame.body, 'sessions') : undefined;
  return sessions ? elements(frame.bytes, sessions.start) : [];
}
