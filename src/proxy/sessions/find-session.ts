// Whose session is this? Live ones are known, earlier processes wrote theirs down, and what nobody wrote down the agents may know.
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import { agentOf } from '../agents/agent-pool.ts';
import type { ProxyParts } from '../parts.ts';
import { revokeAttachment } from '../tools/host-tools.ts';
import { createSession, type Session } from './session.ts';
import { end } from './session-state.ts';

/** A session this connection or an earlier process knows. With one agent, any id is a session of that agent. */
export function knownSession(proxy: ProxyParts, publicId: string): Session | ProxyError | undefined {
  const live = proxy.registry.sessions.get(publicId);
  if (live) return live;
  const binding = proxy.registry.table.find(publicId) ?? recall(proxy, publicId);
  const agent = binding && proxy.pool.get(agentOf(binding.agent));
  if (binding && agent) return track(proxy, createSession(publicId, proxy.pool.place(agent), binding.nativeId, binding.cwd));
  if (proxy.pool.single) return track(proxy, createSession(publicId, proxy.pool.place(proxy.pool.single), publicId, undefined));
  if (binding) return failure('SESSION_ORPHANED', [publicId, binding.agent], { sessionId: publicId, agent: binding.agent });
  return undefined;
}

export function track(proxy: ProxyParts, session: Session): Session {
  const before = session.agent.sessions.get(session.nativeId);
  if (before && before !== session) takeOver(proxy, before, session);
  proxy.registry.sessions.set(session.publicId, session);
  session.agent.sessions.set(session.nativeId, session);
  proxy.registry.table.claim(session.publicId, session.agent.id, session.nativeId, session.cwd);
  return session;
}

/** It was met under a name of its own before it turned out to be this one: what is open on it is this one's. */
export function takeOver(proxy: ProxyParts, discovered: Session, session: Session): void {
  discovered.advance(end);
  if (isTracked(proxy, discovered)) proxy.registry.sessions.delete(discovered.publicId);
  for (const asked of discovered.agentRequests) {
    asked.session = session;
    session.agentRequests.add(asked);
  }
  for (const terminalId of discovered.terminals) {
    proxy.registry.terminals.set(terminalId, { agent: session.agent, sessionId: session.publicId });
    session.terminals.add(terminalId);
  }
  for (const asked of proxy.client.answeredIn(discovered)) asked.session = session;
  discovered.agentRequests.clear();
  discovered.terminals.clear();
}

export function untrack(proxy: ProxyParts, session: Session): void {
  const { publicId, nativeId, agent } = session;
  for (const terminalId of session.terminals) proxy.registry.terminals.delete(terminalId);
  proxy.context.workspace?.endOf(session);
  // It may have ended already, and its ids may be another's.
  if (isTracked(proxy, session)) {
    proxy.registry.sessions.delete(publicId);
    proxy.registry.table.release(publicId);
  }
  if (agent.sessions.get(nativeId) === session) {
    agent.sessions.delete(nativeId);
    markEnded(agent, nativeId);
  }
  revokeAttachment(session);
  proxy.context.enforcement?.ended(session);
  session.advance(end);
  proxy.pool.vacate(agent);
}

/** It has not ended since. */
const isTracked = (proxy: ProxyParts, session: Session): boolean => proxy.registry.sessions.get(session.publicId) === session;

/** What the agent still says of it is for nobody, until it has answered that it is open again. */
export function markEnded(agent: Agent, nativeId: string): void {
  forgetBeyond(agent.ended, MAX_ENDED);
  agent.ended.set(nativeId, agent.generation);
}

const MAX_ENDED = 10_000;
const MAX_SESSIONS = 10_000;

/** An agent that speaks of ever new sessions of its own: those it spoke of first are forgotten, and met again if need be. */
export function forgetDiscovered(proxy: ProxyParts, agent: Agent): void {
  for (const [nativeId, discovered] of agent.sessions) {
    if (agent.sessions.size < MAX_SESSIONS) return;
    if (!discovered.isDiscovered || discovered.agentRequests.size > 0) continue;
    agent.sessions.delete(nativeId);
    discovered.advance(end);
    if (!isTracked(proxy, discovered)) continue;
    proxy.registry.sessions.delete(discovered.publicId);
    proxy.registry.table.release(discovered.publicId);
  }
}

/** The oldest go first. */
function forgetBeyond(ids: Map<string, unknown>, most: number): void {
  for (const id of ids.keys()) {
    if (ids.size < most) return;
    ids.delete(id);
  }
}

function recall(proxy: ProxyParts, publicId: string) {
  const record = proxy.context.log.records().get(publicId);
  if (!record) return undefined;
  proxy.registry.table.remember({ publicId, agent: record.agent, nativeId: record.nativeId, cwd: record.cwd });
  return proxy.registry.table.find(publicId);
}

/**
 * Asks the agents that can list their sessions for one that nobody here has heard of, then hands over the owner.
 * `candidates` are agents that cannot list but can load: for them there is only trying.
 */
export function probe(
  proxy: ProxyParts,
  sessionId: string,
  done: (found: { readonly owner: Session | ProxyError | undefined; readonly candidates: readonly Agent[] }) => void,
): void {
  const nextAgents = proxy.pool.all();
  const listers = nextAgents.filter(({ handshake }) => offers(handshake?.result, 'sessionCapabilities', 'list'));
  const candidates = nextAgents.filter(
    ({ handshake }) => !offers(handshake?.result, 'sessionCapabilities', 'list') && offers(handshake?.result, 'loadSession'),
  );
  const owners: { agent: Agent; cwd: string | undefined }[] = [];
  let open = listers.length;
  const settle = () => {
    // Another request for it, or a list, may have found it first.
    const found = knownSession(proxy, sessionId);
    if (found) return done({ owner: found, candidates });
    const [owner, another] = owners;
    if (owner && another)
      return done({
        owner: failure('SESSION_AMBIGUOUS', [sessionId, owners.map(({ agent }) => agent.name).join(', ')], { sessionId }),
        candidates: [],
      });
    if (!owner) return done({ owner: undefined, candidates });
    done({ owner: track(proxy, createSession(sessionId, proxy.pool.place(owner.agent), sessionId, owner.cwd)), candidates });
  };
  if (open === 0) return settle();
  for (const agent of listers)
    findInList(proxy, agent, sessionId, (found) => {
      if (found && !goesByAnotherName(proxy, agent, sessionId)) owners.push({ agent, cwd: found.cwd });
      if (--open === 0) settle();
    });
}

/** For an id that is nobody's here: the agent's own session of that id is known under another one, so it is not the one that is meant. */
export function goesByAnotherName(proxy: ProxyParts, { id, name }: Agent, nativeId: string): boolean {
  const isElsewhere = (agent: Agent) => proxy.registry.table.findNative(agent.id, nativeId) !== undefined;
  return proxy.registry.table.findNative(id, nativeId) !== undefined || proxy.pool.processesOf(name).some(isElsewhere);
}

const MAX_PAGES = 20;
const PROBE_MS = 5000;

function findInList(
  proxy: ProxyParts,
  agent: Agent,
  sessionId: string,
  done: (found: { cwd: string | undefined } | undefined) => void,
): void {
  let isDone = false;
  const finish = (found?: { cwd: string | undefined }) => {
    if (isDone) return;
    isDone = true;
    abandon();
    done(found);
  };
  const abandon = proxy.context.clock.after(PROBE_MS, () => finish());
  const page = (cursor: string | undefined, pagesLeft: number) => {
    agent.request('session/list', JSON.stringify(cursor === undefined ? {} : { cursor }), {
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
