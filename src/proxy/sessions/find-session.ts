// Finds the owner of a session: among the live ones, in the records of earlier processes, or by asking the agents.
import { failure } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import { catchingBugs } from './frame-queue.ts';
import type { Found } from './session-registry.ts';

/**
 * Asks the agents that can list their sessions for an unknown one, then passes on the owner. Requests for the same id share one lookup, and
 * keep their order.
 */
export function findOwner(
  proxy: Parts<'context' | 'pool' | 'registry' | 'client'>,
  sessionId: string,
  request: ClientRequest,
  done: (found: Found) => void,
): void {
  const waiting = (found: () => Found) => catchingBugs(proxy.client, request, request.method, () => done(found()))();
  if (!proxy.registry.beginLookup(sessionId, waiting)) return;
  const nextAgents = proxy.pool.all();
  const listers = nextAgents.filter(({ handshake }) => offers(handshake?.result, 'sessionCapabilities', 'list'));
  const candidates = nextAgents.filter(
    ({ handshake }) => !offers(handshake?.result, 'sessionCapabilities', 'list') && offers(handshake?.result, 'loadSession'),
  );
  const owners: { agent: Agent; cwd: string | undefined }[] = [];
  let open = listers.length;
  const found = (): Found => {
    // Another request for it, or a list, may have found it first.
    const known = proxy.registry.find(sessionId);
    if (known) return { owner: known, candidates };
    // The agent may have opened the session under another id since its list came.
    const [owner, another] = owners.filter(({ agent }) => !hasAnotherPublicId(proxy, agent, sessionId));
    if (owner && another)
      return {
        owner: failure('SESSION_AMBIGUOUS', [sessionId, owners.map(({ agent }) => agent.name).join(', ')], { sessionId }),
        candidates: [],
      };
    if (!owner) return { owner: undefined, candidates };
    return { owner: proxy.registry.use(sessionId, owner.agent, owner.cwd), candidates };
  };
  const settle = () => proxy.registry.endLookup(sessionId, found);
  if (open === 0) return settle();
  for (const agent of listers)
    findInList(proxy, agent, sessionId, (found) => {
      if (found) owners.push({ agent, cwd: found.cwd });
      if (--open === 0) settle();
    });
}

/** For an unknown id: the agent's own session of that id has another public id, so it is not the requested one. */
export function hasAnotherPublicId({ registry }: Parts<'registry'>, agent: Agent, nativeId: string): boolean {
  return registry.bindingAt(agent, nativeId) !== undefined || registry.bindingElsewhere(agent, nativeId) !== undefined;
}

const MAX_PAGES = 20;
const PROBE_MS = 5000;

function findInList(
  proxy: Parts<'context'>,
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
        const entry = listEntries(frame).find((span) => stringAt(frame.bytes, member(frame.bytes, span.start, 'sessionId')) === sessionId);
        if (entry) return finish({ cwd: stringAt(frame.bytes, member(frame.bytes, entry.start, 'cwd')) });
        const next = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'nextCursor'));
        if (next === undefined || pagesLeft === 0 || isDone) return finish();
        page(next, pagesLeft - 1);
      },
    });
  };
  page(undefined, MAX_PAGES);
}

/** The entries of a `session/list` response; none for an error. */
export function listEntries(frame: Frame) {
  const sessions = frame.outcome === 'result' ? memberAt(frame.bytes, frame.body, 'sessions') : undefined;
  return sessions ? elements(frame.bytes, sessions.start) : [];
}
