// A session's files and terminals for host tools: the client's where it has them, else our own workspace.
import { failure } from '../../errors.ts';
import type { Ability, ExitStatus, TerminalOutput, Terminals, Workspace } from '../../mcp/server/tool.ts';
import { createDescriptors } from '../../workspace/descriptors.ts';
import type { Roots } from '../../workspace/roots.ts';
import { listDirectory, searchFiles } from '../../workspace/search.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import { askClient, ClientRefusal } from '../requests/ask-client.ts';
import { isServedHere } from '../requests/serve-workspace.ts';
import type { Session } from '../sessions/session.ts';

type ClientCapabilities = {
  fs?: { readTextFile?: unknown; writeTextFile?: unknown } | null;
  terminal?: unknown;
};

const capabilitiesOf = (proxy: Parts<'pool'>): ClientCapabilities =>
  (proxy.pool.initializeParams?.clientCapabilities ?? {}) as ClientCapabilities;

/** The client's capabilities, with the ones that our workspace adds. */
function offered(proxy: Parts<'pool'>) {
  const { fs, terminal } = capabilitiesOf(proxy);
  return { canRead: fs?.readTextFile === true, canWrite: fs?.writeTextFile === true, hasTerminals: terminal === true };
}

/** Whether our workspace answers a request of a host tool, because the client cannot, or would not see the agent's layer. */
function isOurs(proxy: Parts<'context' | 'pool'>, session: Session, method: string, terminalId?: unknown): boolean {
  if (session.agent.layer !== undefined || isServedHere(proxy, session, method, () => terminalId as string)) return true;
  const { canRead, canWrite, hasTerminals } = offered(proxy);
  const canClient = method === 'fs/read_text_file' ? canRead : method === 'fs/write_text_file' ? canWrite : hasTerminals;
  return !canClient && proxy.context.workspace !== undefined;
}

/** What host tools can do in a session of the agent. */
export function abilitiesOf(proxy: Parts<'context' | 'pool'>, agent: Agent): Set<Ability> {
  const { canRead, canWrite, hasTerminals } = offered(proxy);
  // Files are those of the project, and an agent on a layer has others. Its commands run on the layer.
  if (agent.layer !== undefined)
    return new Set<Ability>([
      'ask',
      ...(proxy.context.workspace ? ['terminal' as const] : []),
      ...(proxy.pool.single ? [] : ['delegate' as const]),
    ]);
  const abilities = new Set<Ability>(['ask', 'list', 'search']);
  if (canRead || proxy.context.workspace) abilities.add('read');
  if (canWrite || proxy.context.workspace) abilities.add('write');
  if (hasTerminals || proxy.context.workspace) abilities.add('terminal');
  if (!proxy.pool.single) abilities.add('delegate');
  return abilities;
}

export function workspaceOf(proxy: Parts<'context' | 'pool' | 'requests'>, session: Session, roots: Roots): Workspace {
  const descriptors = createDescriptors();
  const abilities = abilitiesOf(proxy, session.agent);
  const ask = (method: string, params: object & { readonly terminalId?: unknown }, signal: AbortSignal, evaluatedPath?: string) =>
    isOurs(proxy, session, method, params.terminalId)
      ? unless(signal, served(proxy, session, session.roots ?? roots, method, { sessionId: session.publicId, ...params }, evaluatedPath))
      : askClient(proxy, method, { sessionId: session.publicId, ...params }, signal);
  return {
    // ACP has no client method for these two.
    listDirectory: ({ path }) => listDirectory(descriptors, roots, path),
    searchFiles: (params, signal) =>
      searchFiles(descriptors, roots, { ...params, mayRead: (file) => proxy.context.enforcement?.mayRead(session, file) ?? true }, signal),
    ...(abilities.has('read') && {
      async readTextFile({ evaluatedPath, ...params }, signal) {
        const { content } = (await ask('fs/read_text_file', params, signal, evaluatedPath)) as { content?: unknown };
        if (typeof content !== 'string') throw new ClientRefusal('the editor gave no content');
        return { content };
      },
    }),
    ...(abilities.has('write') && {
      async writeTextFile({ evaluatedPath, ...params }, signal) {
        await ask('fs/write_text_file', params, signal, evaluatedPath);
      },
    }),
    ...(abilities.has('terminal') && { terminals: clientTerminals(session, ask) }),
  };
}

/** Our workspace serves it. Its terminals end with the session, like those of the agent. */
function served(
  proxy: Parts<'context'>,
  session: Session,
  roots: Roots,
  method: string,
  params: object,
  evaluatedPath: string | undefined,
): Promise<unknown> {
  if (!proxy.context.workspace || roots.real.length === 0) return Promise.reject(failure('ROOTS_UNKNOWN', [method]));
  const contain = method === 'terminal/create' ? session.agent.containCommand : undefined;
  const requester = { owner: session, roots, evaluatedPath, graceMs: session.agent.spec.timeouts.stopGraceMs, contain };
  return proxy.context.workspace.serve(method, params, requester);
}

/** Stops waiting once `signal` is aborted; the work itself runs on to its end. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelled = () => reject(new DOMException('cancelled', 'AbortError'));
    if (signal.aborted) cancelled();
    signal.addEventListener('abort', cancelled, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancelled));
  });
}

/** The session has ended: releases the terminals of its tools at the client. */
export function releaseTerminals(proxy: Parts<'context' | 'pool' | 'requests'>, session: Session): void {
  for (const terminalId of session.usedServers?.terminals ?? [])
    if (!isOurs(proxy, session, 'terminal/release', terminalId))
      proxy.requests.send('terminal/release', JSON.stringify({ sessionId: session.publicId, terminalId }));
  session.usedServers?.terminals.clear();
}

/** Long enough for any client; a terminal that does not answer must not block a call forever. */
const ANSWER_MS = 30_000;

function clientTerminals(session: Session, ask: (method: string, params: object, signal: AbortSignal) => Promise<unknown>): Terminals {
  const answerLimit = () => AbortSignal.timeout(ANSWER_MS);
  /** The client knows terminals only by id and would give out one of another session. */
  const own = (terminalId: string) => {
    if (!session.servers.terminals.has(terminalId)) throw new ClientRefusal('this session has no such terminal');
    return { terminalId };
  };
  return {
    async create({ command, args, cwd, outputByteLimit }, signal) {
      const { terminalId } = (await ask('terminal/create', { command, args, env: [], cwd, outputByteLimit }, signal)) as {
        terminalId?: unknown;
      };
      if (typeof terminalId !== 'string') throw new ClientRefusal('the editor gave no terminal');
      session.servers.terminals.add(terminalId);
      return { terminalId };
    },
    output: async ({ terminalId }) => (await ask('terminal/output', own(terminalId), answerLimit())) as TerminalOutput,
    waitForExit: async ({ terminalId }, signal) => (await ask('terminal/wait_for_exit', own(terminalId), signal)) as ExitStatus,
    async kill({ terminalId }) {
      await ask('terminal/kill', own(terminalId), answerLimit());
    },
    async release({ terminalId }) {
      await ask('terminal/release', own(terminalId), answerLimit());
      session.servers.terminals.delete(terminalId);
    },
  };
}
