// Lists the sessions of all agents. An agent that fails or is slow is left out and named; the others are listed.
import { META_KEY } from '../../acp/shapes.ts';
import { failure } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { type Cursor, type Listed, mergePage, readCursor, writeCursor } from '../../router/list-page.ts';
import type { Binding } from '../../router/session-table.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { isDuplicate, member, memberAt, members, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { agentOf } from '../agents/agent-pool.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import { listEntries } from './find-session.ts';

const LIST_MS = 5000;
/** In place of an agent's cursor: our records were listed, and the agent has not been asked yet. */
const REST = 'switchboard:rest';

type Page = {
  readonly agent: string;
  readonly entries: readonly Listed[];
  readonly next: string | undefined;
  readonly problem: string | undefined;
};

export function listSessions(proxy: Parts<'context' | 'pool' | 'registry' | 'client'>, request: ClientRequest, frame: Frame): void {
  const params = readBody(frame);
  if (!params.ok) return proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
  const { cursor: cursorText, ...filter } = (params.value ?? {}) as { cursor?: unknown; cwd?: unknown };
  const cwd = typeof filter.cwd === 'string' ? filter.cwd : undefined;
  const cursor = typeof cursorText === 'string' ? readCursor(cursorText, cwd) : undefined;
  if (typeof cursorText === 'string' && !cursor) return proxy.client.fail(request, failure('CURSOR_UNKNOWN', []));
  // Sessions of earlier processes keep the ids that clients know.
  for (const stored of proxy.context.log.records().values()) proxy.registry.remember(stored.sessionId, stored);
  const listed = proxy.pool.all().filter(({ name }) => !cursor || Object.hasOwn(cursor.next, name));
  const pages: Page[] = [];
  const arrived = (page: Page) => {
    pages.push(page);
    if (pages.length === listed.length) proxy.client.succeed(request, listText(proxy, pages, cwd));
  };
  if (listed.length === 0) proxy.client.succeed(request, '{"sessions":[]}');
  for (const agent of listed) askForPage(proxy, agent, { ...filter, ...(cursor && { cursor: cursor.next[agent.name] }) }, arrived);
}

type ListParams = { readonly cwd?: unknown; readonly cursor?: unknown };

function askForPage(proxy: Parts<'context' | 'registry'>, agent: Agent, params: ListParams, arrived: (page: Page) => void): void {
  if (!offers(agent.handshake?.result, 'sessionCapabilities', 'list'))
    return arrived({ agent: agent.name, ...recordedPage(proxy, agent, params), problem: undefined });
  if (params.cursor === REST) return askForRest(proxy, agent, params, arrived);
  const isPlain = Object.keys(params).every((key) => key === 'cwd' || key === '_meta'); // our records know no other filter
  const own = agent.isReady || !isPlain ? undefined : recordedPage(proxy, agent, params, true);
  if (own === undefined || own.entries.length === 0) return askAgent(proxy, agent, params, LIST_MS, arrived);
  // It starts now, so that it can tell the rest on the next page.
  agent.start();
  arrived({ agent: agent.name, entries: own.entries, next: REST, problem: undefined });
}

/** The agent's own list, after a page from our records: without the sessions on that page. */
function askForRest(proxy: Parts<'context' | 'registry'>, agent: Agent, params: ListParams, arrived: (page: Page) => void): void {
  const { cursor: _, ...filter } = params;
  const listed = new Set(recordedPage(proxy, agent, filter).entries.map(({ sessionId }) => sessionId));
  askAgent(proxy, agent, filter, agent.spec.timeouts.initializeMs, (page) =>
    arrived({ ...page, entries: page.entries.filter(({ sessionId }) => !listed.has(sessionId)) }),
  );
}

function askAgent(
  proxy: Parts<'context' | 'registry'>,
  agent: Agent,
  params: ListParams,
  limitMs: number,
  arrived: (page: Page) => void,
): void {
  let isDone = false;
  const finish = (page: Omit<Page, 'agent'>) => {
    if (isDone) return;
    isDone = true;
    abandon();
    arrived({ agent: agent.name, ...page });
  };
  const failed = (problem: string) => finish({ entries: [], next: undefined, problem });
  const abandon = proxy.context.clock.after(limitMs, () => failed(`no answer within ${limitMs} ms`));
  agent.request('session/list', JSON.stringify(params), {
    onFail: (error) => failed(error.message),
    onAnswer(answer) {
      if (answer.outcome === 'error')
        return failed(stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message')) ?? 'an error without a message');
      const next = stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'nextCursor'));
      finish({ entries: listEntries(answer).flatMap((span) => entryOf(proxy, agent, answer, span) ?? []), next, problem: undefined });
    },
  });
}

/** An agent's entry as written, with the session's public id and its owner. */
function entryOf(proxy: Parts<'context' | 'registry'>, agent: Agent, { bytes }: Frame, span: Span): Listed | undefined {
  if (isDuplicate(bytes, span, 'sessionId')) return undefined; // the client could read either
  const id = member(bytes, span.start, 'sessionId');
  const nativeId = stringAt(bytes, id);
  if (!id || nativeId === undefined || proxy.context.log.isHidden(agent.name, nativeId)) return undefined;
  const cwd = stringAt(bytes, member(bytes, span.start, 'cwd'));
  const sessionId = publicIdOf(proxy, agent, nativeId, cwd);
  const text = Buffer.from(
    `${bytes.toString('utf8', span.start, id.start)}${JSON.stringify(sessionId)}${bytes.toString('utf8', id.end, span.end)}`,
  );
  return { sessionId, updatedAt: stringAt(bytes, member(bytes, span.start, 'updatedAt')), text: withAgentName(text, agent.name) };
}

/** A session whose id another agent uses too gets an alias, which is recorded so that a later load finds it. */
function publicIdOf(proxy: Parts<'context' | 'registry'>, agent: Agent, nativeId: string, cwd: string | undefined): string {
  const elsewhere = proxy.registry.bindingElsewhere(agent, nativeId);
  if (elsewhere) return elsewhere.publicId;
  const { publicId } = proxy.registry.adopt(agent, nativeId, cwd);
  if (publicId !== nativeId) {
    // Record both: a later process could not tell which agent the plain id belongs to.
    for (const binding of [proxy.registry.binding(nativeId), proxy.registry.binding(publicId)]) if (binding) recordBinding(proxy, binding);
  }
  return publicId;
}

function recordBinding(proxy: Parts<'context' | 'registry'>, { publicId, agent, nativeId, cwd }: Binding): void {
  const inUse = proxy.registry.get(publicId);
  const isOnlyTried = inUse?.isLoading && inUse.openParams === undefined; // its agent may not have it
  if (isOnlyTried || proxy.context.log.records().has(publicId)) return;
  proxy.context.log.append({
    sessionId: publicId,
    agent: agentOf(agent),
    nativeId,
    ...(cwd !== undefined && { cwd }),
    at: proxy.context.clock.now(),
  });
}

function withAgentName(entry: Buffer, agent: string): string {
  const ours = `"${META_KEY}":${JSON.stringify({ agent })}`;
  const meta = member(entry, 0, '_meta');
  if (!meta) return `${entry.toString('utf8', 0, entry.lastIndexOf(0x7d))},"_meta":{${ours}}}`;
  if (entry[meta.start] !== 0x7b) return `${entry.toString('utf8', 0, meta.start)}{${ours}}${entry.toString('utf8', meta.end)}`;
  const separator = members(entry, meta.start).length > 0 ? ',' : '';
  return `${entry.toString('utf8', 0, meta.start + 1)}${ours}${separator}${entry.toString('utf8', meta.start + 1)}`;
}

/** A single agent's own list: only the ids that clients know by another name are replaced. */
export function listPatches({ context, registry }: Parts<'context' | 'registry'>, agent: Agent, answer: Frame): readonly Patch[] {
  const aliases = new Map<string, string>();
  for (const { agent: owner, nativeId, sessionId } of context.log.records().values())
    if (owner === agent.name) aliases.set(nativeId, sessionId); // the newest record comes last
  return listEntries(answer).flatMap(({ start }) => {
    const span = member(answer.bytes, start, 'sessionId');
    const nativeId = stringAt(answer.bytes, span);
    const publicId = nativeId === undefined ? undefined : (registry.bindingAt(agent, nativeId)?.publicId ?? aliases.get(nativeId));
    return !span || publicId === undefined || publicId === nativeId ? [] : [{ span, text: JSON.stringify(publicId) }];
  });
}

const OWN_PAGE = 200;

/** Our own records, newest first, page by page: for an agent that cannot list, or has not started yet. */
function recordedPage(
  proxy: Parts<'context'>,
  agent: Agent,
  { cwd, cursor }: ListParams,
  isPreliminary = false,
): Omit<Page, 'agent' | 'problem'> {
  const stats = proxy.context.transcripts?.stats();
  const all = [...proxy.context.log.records().values()]
    .filter((record) => record.agent === agent.name && record.cwd !== undefined && (typeof cwd !== 'string' || record.cwd === cwd))
    .map(({ sessionId, cwd: where, additionalDirectories: more, at }) => {
      const { t, title } = stats?.get(sessionId) ?? {};
      const directories = { cwd: where, ...(more && { additionalDirectories: more }) };
      return {
        sessionId,
        ...directories,
        ...(title !== undefined && { title }),
        updatedAt: t === undefined ? at : new Date(t).toISOString(),
      };
    })
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
  const from = typeof cursor === 'string' ? all.findIndex(({ sessionId }) => sessionId === cursor) + 1 : 0;
  const page = all.slice(from, from + OWN_PAGE);
  return {
    entries: page.map((entry) => ({
      ...{ sessionId: entry.sessionId, updatedAt: entry.updatedAt },
      text: JSON.stringify({ ...entry, _meta: { [META_KEY]: { agent: agent.name, ...(isPreliminary && { fromRecord: true }) } } }),
    })),
    next: from + OWN_PAGE < all.length ? page.at(-1)?.sessionId : undefined,
  };
}

function listText(proxy: Parts<'pool'>, pages: readonly Page[], cwd: string | undefined): string {
  const inAgentOrder = proxy.pool.choice.agents.flatMap((name) => pages.filter(({ agent }) => agent === name));
  const sessions = mergePage(inAgentOrder.map(({ entries }) => entries)).map(({ text }) => text);
  const next: Cursor['next'] = Object.fromEntries(
    inAgentOrder.flatMap((page) => (page.next === undefined ? [] : [[page.agent, page.next]])),
  );
  const nextCursor = writeCursor({ next, cwd });
  const failed = Object.fromEntries(pages.flatMap(({ agent, problem }) => (problem === undefined ? [] : [[agent, problem]])));
  const meta = Object.keys(failed).length > 0 ? `,"_meta":${JSON.stringify({ [META_KEY]: { failed } })}` : '';
  return `{"sessions":[${sessions.join(',')}]${nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`}${meta}}`;
}
