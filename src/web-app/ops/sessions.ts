// Sessions and threads: `session.new`, `session.last`, `session.select`, `session.delete`, `sessions.list`, `threads.list`, `thread.get`.
import * as z from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { mcpServers, toAcpServers } from '../mcp-servers.ts';
import { refusals } from '../refusal.ts';
import { modesOf, type StoredSession } from '../sessions.ts';
import { toPageUpdate } from '../updates.ts';
import { type Op, type OpContext, op } from './op.ts';

const named = z.object({ sessionId: z.string().min(1) });
const ANY = z.object({});
const thread = z
  .object({ id: z.string().optional(), sessionId: z.string().optional(), threadId: z.string().optional() })
  .transform(({ id, sessionId, threadId }) => id ?? sessionId ?? threadId)
  .pipe(z.string('id is missing').min(1));

const shown = ({ sessionId, agent, cwd, title, turns, at }: StoredSession) => ({
  ...{ sessionId, id: sessionId, agent, cwd, title, turns },
  updatedAt: new Date(at).toISOString(),
});

async function remove({ principal }: OpContext, sessionId: string): Promise<void> {
  // Its agent deletes it, so it must be connected; the session need not be open.
  const { sessions } = principal;
  const row = sessions.find(sessionId);
  if (!row) throw refusals.unknownSession(sessionId);
  const { client } = await principal.linkOf(row.agent, sessionId);
  await client.request('session/delete', { sessionId });
  sessions.forget(sessionId);
}

export const sessionOps: Readonly<Record<string, Op>> = {
  'session.new': op(z.object({ cwd: z.string().min(1).optional(), mcpServers }), async ({ principal, page }, payload) => {
    const { deps, sessions } = principal;
    const cwd = payload.cwd ?? page.cwd ?? deps.cwd;
    const servers = toAcpServers(payload.mcpServers, deps.allowsPrograms);
    const refused = deps.refusesDirectory(cwd);
    if (refused !== undefined) throw new ClientError(-32602, `cwd ${refused}`);
    return sessions.create(await principal.agentOf(page), cwd, servers);
  }),
  'session.last': op(ANY, ({ principal }) => ({ sessionId: principal.sessions.lastId() ?? null })),
  'session.select': op(named, async ({ principal }, { sessionId }) => {
    const { settings, cwd, link } = await principal.sessions.use(sessionId);
    return { sessionId, cwd, agent: link.name, modes: modesOf(settings) };
  }),
  'session.delete': op(named, async (context, { sessionId }) => {
    await remove(context, sessionId);
    return { sessionId };
  }),
  'sessions.list': op(ANY, ({ principal: { deps, sessions } }) => {
    deps.settle();
    return { sessions: deps.stored().map(shown).reverse(), lastSessionId: sessions.lastId() ?? null };
  }),
  'threads.list': op(ANY, ({ principal: { deps } }) => {
    if (!deps.hasTranscripts) throw refusals.noThreads();
    deps.settle();
    const threads = deps.stored().filter(({ turns }) => turns > 0);
    return { threads: threads.map(shown).reverse() };
  }),
  'thread.get': op(thread, ({ principal: { deps, sessions } }, sessionId) => {
    if (!deps.hasTranscripts) throw refusals.noThreads();
    const row = sessions.find(sessionId);
    const updates = row && (sessions.get(sessionId)?.link.proxy.transcript(sessionId) ?? deps.transcript(sessionId));
    if (!updates) throw refusals.unknownThread(sessionId);
    return { ...shown(row), updates: updates.map(toPageUpdate) };
  }),
};
