// Sessions for callers that are no editor (`mcp`, `compare`): send a prompt, get the whole turn as one result.
import type { Readable, Writable } from 'node:stream';
import { isOffered } from '../acp/shapes.ts';
import { fields, type JsonObject } from '../json-object.ts';
import type { Capabilities, PromptBlocks } from './acp-methods.ts';
import { type AgentShown, agentsIn, type ListPage, listPage } from './agents-shown.ts';
import { type Client, createClient } from './client.ts';
import { ClientError } from './client-error.ts';
import { type DescribedPermission, describePermission, type PolicyView } from './describe-permission.ts';
import { createLiveSession, type LiveSession, type SessionShown } from './live-session.ts';
import { type Block, createTurnRecord, type PlanEntry, type Step, type ToolCallSeen, type Usage } from './turn-record.ts';

export type Turn = {
  readonly text: string;
  readonly content: readonly Block[];
  readonly toolCalls: readonly ToolCallSeen[];
  readonly changedFiles: readonly string[];
  readonly plan: readonly PlanEntry[];
  readonly notices: readonly string[];
  readonly stopReason: string;
  readonly usage: Usage;
};

export type ElicitationReply = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
  readonly _meta?: JsonObject;
};

/** The caller's side of an operation that may need the user. */
export type OperationHandlers = {
  /** Answers `elicitation/create`; without it, the answer is `decline`. */
  elicit?(params: JsonObject, signal: AbortSignal): Promise<ElicitationReply>;
};

/** The caller's side of a turn. */
export type TurnHandlers = OperationHandlers & {
  readonly signal: AbortSignal;
  readonly progress: (step: Step) => void;
  /** Resolves to the id of the chosen option; undefined rejects the request. */
  permission(request: DescribedPermission, signal: AbortSignal, params: unknown, id: string): Promise<string | undefined>;
};

export type Change =
  | { readonly kind: 'sessions' }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'commands' }
  | { readonly kind: 'elicitation'; readonly elicitationId: string };

export type AgentSessions = {
  agents(): Promise<readonly AgentShown[]>;
  open(cwd: string, agent: string | undefined, handlers?: OperationHandlers): Promise<SessionShown>;
  /** Reopens an earlier session, by `session/resume` if the agent supports it. */
  reopen(sessionId: string, cwd: string, handlers?: OperationHandlers): Promise<SessionShown>;
  fork(sessionId: string, cwd: string): Promise<SessionShown>;
  closeSession(sessionId: string): Promise<void>;
  deleteSession(sessionId: string): Promise<void>;
  isOpen(sessionId: string): boolean;
  /** A session that is open here. */
  session(sessionId: string): SessionShown | undefined;
  sessions(): readonly SessionShown[];
  /** Undefined if the session has no such setting. */
  set(sessionId: string, id: string, value: string | boolean): Promise<SessionShown | undefined>;
  prompt(sessionId: string, prompt: string | PromptBlocks, handlers: TurnHandlers): Promise<Turn>;
  cancel(sessionId: string): void;
  authenticate(method: string, handlers?: OperationHandlers): Promise<void>;
  list(query?: { readonly cursor?: string | undefined; readonly cwd?: string | undefined }): Promise<ListPage>;
  /** The transcript of a session of this process, or of one turn. */
  transcript(sessionId: string, turn?: number): string | undefined;
  onChange(listener: (change: Change) => void): () => void;
  readonly closed: Promise<void>;
  close(): void;
};

/** The client methods that this caller serves. */
export type ServedMethods = {
  readonly capabilities: Capabilities;
  serve(sessionId: string, method: string, params: unknown): Promise<unknown>;
  /** The configured name of the agent, if there is one agent only; its own name may differ. */
  onlyAgent?(): string | undefined;
  /** The policy's view of a permission request, by the request's id. */
  policy?(requestId: string): PolicyView | undefined;
  /** Other clients use the same sessions: requests that belong to their turns are theirs to answer. */
  readonly isShared?: boolean;
};

const NOTHING_SERVED: ServedMethods = {
  capabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  async serve(_, method) {
    throw new ClientError(-32601, `Method not found: ${method}`);
  },
};

/** What every client of a session is asked. */
const FOR_ALL: ReadonlySet<string> = new Set(['session/request_permission', 'elicitation/create']);
const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => (signal.aborted ? resolve(undefined) : signal.addEventListener('abort', resolve, { once: true })));

const CANCELLED = { outcome: { outcome: 'cancelled' } };
const DECLINED: ElicitationReply = { action: 'decline' };

export function openAgentSessions(
  input: Readable,
  output: Writable,
  clientInfo: { readonly name: string; readonly version: string },
  served: ServedMethods = NOTHING_SERVED,
): AgentSessions {
  const live = new Map<string, LiveSession<TurnHandlers>>();
  const listeners = new Set<(change: Change) => void>();
  /** Operations without a session that may need the user. */
  const operations = new Set<OperationHandlers>();
  const client: Client = createClient(input, output, { request, notification });
  const ready = client.request('initialize', { protocolVersion: 1, clientCapabilities: served.capabilities, clientInfo }).then(fields);
  ready.catch(() => {}); // the first request reports the failure

  const changed = (change: Change) => {
    for (const listener of [...listeners]) listener(change);
  };
  function liveOf(sessionId: string): LiveSession<TurnHandlers> {
    const known = live.get(sessionId) ?? createLiveSession<TurnHandlers>(sessionId);
    live.set(sessionId, known);
    return known;
  }
  function notification(method: string, params: unknown): void {
    const { sessionId, update, elicitationId } = fields(params);
    if (method === 'elicitation/complete' && typeof elicitationId === 'string') changed({ kind: 'elicitation', elicitationId });
    if (method !== 'session/update' || typeof sessionId !== 'string') return;
    const session = liveOf(sessionId);
    if (session.update(fields(update))) changed({ kind: 'commands' });
    const step = session.turn?.record.update(fields(update));
    if (!step) return;
    if (step.kind === 'message') session.note(step.text);
    if (step.kind === 'tool' || step.kind === 'notice') {
      session.note(`\n[${step.text}]\n`);
      changed({ kind: 'session', sessionId });
    }
    session.turn?.handlers.progress(step);
  }
  async function request(method: string, given: unknown, signal: AbortSignal, id: string): Promise<unknown> {
    const params = fields(given);
    const session = live.get(String(params.sessionId));
    const turn = session?.turn;
    if (served.isShared && !turn && FOR_ALL.has(method) && params.sessionId !== undefined) await aborted(signal);
    if (method === 'elicitation/create') {
      const [only, ...others] = operations;
      const handlers = turn?.handlers ?? (params.sessionId === undefined && others.length === 0 ? only : undefined);
      return (await handlers?.elicit?.(params, signal)) ?? DECLINED;
    }
    if (method !== 'session/request_permission') return served.serve(String(params.sessionId), method, params);
    if (!session || !turn || !Array.isArray(params.options)) return CANCELLED;
    const { agent, cwd } = session.shown();
    const known = turn.record.call(fields(params.toolCall).toolCallId);
    const described = describePermission(params, { agent, cwd, known, policy: served.policy?.(id) });
    const chosen = await turn.handlers.permission(described, signal, params, id);
    return chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen } };
  }
  async function during<T>(handlers: OperationHandlers | undefined, work: () => Promise<T>): Promise<T> {
    if (handlers) operations.add(handlers);
    try {
      return await work();
    } finally {
      if (handlers) operations.delete(handlers);
    }
  }
  function opened(result: unknown, about: { readonly agent?: string | undefined; readonly cwd: string }, id?: string): SessionShown {
    const session = liveOf(id ?? String(fields(result).sessionId));
    session.opened(about, result);
    changed({ kind: 'sessions' });
    return session.shown();
  }
  async function only(): Promise<string | undefined> {
    const [first, ...others] = await self.agents();
    return others.length === 0 ? first?.name : undefined;
  }
  function forget(sessionId: string): void {
    if (live.delete(sessionId)) changed({ kind: 'commands' });
    changed({ kind: 'sessions' });
  }
  function find(sessionId: string): LiveSession<TurnHandlers> {
    const session = live.get(sessionId);
    if (!session) throw new ClientError(-32002, `Session "${sessionId}" is not open here`);
    return session;
  }
  async function take(session: LiveSession<TurnHandlers>, blocks: PromptBlocks, handlers: TurnHandlers): Promise<Turn> {
    const { sessionId } = session;
    const record = createTurnRecord();
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    session.turn = { record, handlers, over };
    session.begin(blocks.map((block) => (block.type === 'text' ? String(fields(block).text) : `[${block.type}]`)).join('\n'));
    changed({ kind: 'session', sessionId });
    const cancel = () => client.notify('session/cancel', { sessionId });
    handlers.signal.addEventListener('abort', cancel, { once: true });
    try {
      const answer = await client.request('session/prompt', { sessionId, prompt: blocks });
      const { usage } = fields(answer);
      const { totalTokens } = fields(usage);
      return {
        ...{ text: record.text(), content: record.content(), toolCalls: record.toolCalls() },
        ...{ changedFiles: record.changedFiles(), plan: record.plan(), notices: record.notices(), stopReason: stopReasonOf(answer) },
        usage: typeof totalTokens === 'number' ? { ...record.usage(), tokens: totalTokens } : record.usage(),
      };
    } finally {
      handlers.signal.removeEventListener('abort', cancel);
      session.turn = undefined;
      end();
      changed({ kind: 'session', sessionId });
    }
  }

  const self: AgentSessions = {
    closed: client.closed,
    close: client.close,
    isOpen: (sessionId) => live.has(sessionId),
    session: (sessionId) => live.get(sessionId)?.shown(),
    sessions: () => [...live.values()].map((session) => session.shown()),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    agents: async () => agentsIn(await ready, served.onlyAgent?.()),
    async open(cwd, agent, handlers) {
      const name = agent ?? (await only());
      const meta = agent === undefined ? {} : { _meta: { 'acp-switchboard': { agent } } };
      return during(handlers, async () =>
        opened(await client.request('session/new', { cwd, mcpServers: [], ...meta }), { agent: name, cwd }),
      );
    },
    async reopen(sessionId, cwd, handlers) {
      const capabilities = fields((await ready).agentCapabilities);
      const method = isOffered(fields(capabilities.sessionCapabilities).resume) ? 'session/resume' : 'session/load';
      const agent = await only();
      return during(handlers, async () =>
        opened(await client.request(method, { sessionId, cwd, mcpServers: [] }), { agent, cwd }, sessionId),
      );
    },
    async fork(sessionId, cwd) {
      await ready;
      const { agent } = live.get(sessionId)?.shown() ?? { agent: await only() };
      return opened(await client.request('session/fork', { sessionId, cwd, mcpServers: [] }), { agent, cwd });
    },
    async closeSession(sessionId) {
      const { sessionCapabilities } = fields((await ready).agentCapabilities);
      // An agent without it keeps the session open; it is closed for this client.
      if (isOffered(fields(sessionCapabilities).close)) await client.request('session/close', { sessionId });
      else client.notify('session/cancel', { sessionId });
      forget(sessionId);
    },
    async deleteSession(sessionId) {
      await client.request('session/delete', { sessionId });
      forget(sessionId);
    },
    async set(sessionId, id, value) {
      const session = find(sessionId);
      const change = session.settings.change(sessionId, id, value);
      if (!change) return undefined;
      const result = await client.request<string>(change.method, change.params);
      session.settings.changed(id, value);
      session.settings.read(result);
      changed({ kind: 'session', sessionId });
      return session.shown();
    },
    async prompt(sessionId, prompt, handlers) {
      const session = liveOf(sessionId);
      // A cancelled turn is about to end, so wait for it.
      while (session.turn?.handlers.signal.aborted) await session.turn.over;
      if (session.turn)
        throw new ClientError(-32600, `Session "${sessionId}" is still busy with another prompt; wait for it, or cancel it`);
      return take(session, typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt, handlers);
    },
    cancel: (sessionId) => client.notify('session/cancel', { sessionId }),
    async authenticate(methodId, handlers) {
      await ready;
      await during(handlers, () => client.request('authenticate', { methodId }));
    },
    async list(query = {}) {
      await ready;
      return listPage(await client.request('session/list', query));
    },
    transcript: (sessionId, turn) => live.get(sessionId)?.words(turn),
  };
  return self;
}

/** Without one, the agent breaks the protocol, and nothing is known about how the turn ended. */
export function stopReasonOf(answer: unknown): string {
  const { stopReason } = fields(answer);
  if (typeof stopReason === 'string' && stopReason !== '') return stopReason;
  throw new ClientError(-32603, 'The agent broke the protocol: its answer to session/prompt has no stopReason', {
    reason: 'no_stop_reason',
    retryable: false,
  });
}
