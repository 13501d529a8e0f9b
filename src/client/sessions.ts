// Sessions for callers that are no editor (`mcp`, `compare`): send a prompt, get the whole turn as one result.
import type { Readable, Writable } from 'node:stream';
import type { Capabilities } from './acp-methods.ts';
import { type Client, createClient } from './client.ts';
import { ClientError } from './client-error.ts';

export type ToolCallSeen = { readonly toolCallId: string; title: string; kind: string; status: string };

export type Turn = {
  readonly text: string;
  readonly toolCalls: readonly ToolCallSeen[];
  readonly changedFiles: readonly string[];
  readonly stopReason: string;
  readonly usage: Usage;
};

/** As the agent reported it: for the turn, or else for the session so far. */
export type Usage = {
  readonly tokens?: number;
  /** The size of the context window. */
  readonly size?: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
};

export type PermissionOption = { readonly optionId: string; readonly name: string; readonly kind: string };
export type PermissionRequest = { readonly title: string; readonly options: readonly PermissionOption[] };

/** The caller's side of a turn. */
export type TurnHandlers = {
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  /** Resolves to the id of the chosen option; undefined rejects the request. */
  permission(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
};

export type Opened = { readonly sessionId: string; readonly agent: string | undefined };
export type AgentShown = { readonly name: string; readonly title: string };

export type AgentSessions = {
  agents(): Promise<readonly AgentShown[]>;
  open(cwd: string, agent: string | undefined): Promise<Opened>;
  /** Reopens an earlier session, by `session/resume` if the agent supports it. */
  reopen(sessionId: string, cwd: string): Promise<void>;
  isOpen(sessionId: string): boolean;
  prompt(sessionId: string, text: string, handlers: TurnHandlers): Promise<Turn>;
  cancel(sessionId: string): void;
  list(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The transcript of a session of this process. */
  transcript(sessionId: string): string | undefined;
  readonly closed: Promise<void>;
  close(): void;
};

/** The client methods that this caller serves. */
export type ServedMethods = {
  readonly capabilities: Capabilities;
  serve(sessionId: string, method: string, params: unknown): Promise<unknown>;
};

const NOTHING_SERVED: ServedMethods = {
  capabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  async serve(_, method) {
    throw new ClientError(-32601, `Method not found: ${method}`);
  },
};

const CANCELLED = { outcome: { outcome: 'cancelled' } };
const MAX_TRANSCRIPT = 4 * 1024 * 1024;

type Live = { words: string; turn: Running | undefined };
type Running = {
  text: string;
  readonly calls: Map<string, ToolCallSeen>;
  readonly files: Set<string>;
  usage: Usage;
  readonly handlers: TurnHandlers;
  readonly over: Promise<void>;
};

export function openAgentSessions(
  input: Readable,
  output: Writable,
  clientInfo: { readonly name: string; readonly version: string },
  served: ServedMethods = NOTHING_SERVED,
): AgentSessions {
  const live = new Map<string, Live>();
  const client: Client = createClient(input, output, { request, notification });
  const ready = client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: served.capabilities,
    clientInfo,
  }) as Promise<InitializeResult>;
  ready.catch(() => {}); // the first request reports the failure

  function liveOf(sessionId: string): Live {
    const known = live.get(sessionId) ?? { words: '', turn: undefined };
    live.set(sessionId, known);
    return known;
  }
  function note(session: Live, words: string): void {
    if (session.words.length < MAX_TRANSCRIPT) session.words += words;
  }
  function notification(method: string, params: unknown): void {
    const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: Update };
    if (method !== 'session/update' || typeof sessionId !== 'string' || !update) return;
    const session = liveOf(sessionId);
    const { turn } = session;
    if (update.sessionUpdate === 'agent_message_chunk' && update.content?.type === 'text') {
      const words = update.content.text ?? '';
      note(session, words);
      if (!turn) return;
      turn.text += words;
      turn.handlers.progress(words);
    }
    if (update.sessionUpdate === 'usage_update' && turn) turn.usage = usageOf(update);
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      const summary = turn && noteCall(turn, update);
      if (!summary) return;
      note(session, `\n[${summary}]\n`);
      turn?.handlers.progress(summary);
    }
  }
  async function request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const { sessionId, toolCall, options } = (params ?? {}) as {
      sessionId: string;
      toolCall?: { title?: string };
      options?: PermissionOption[];
    };
    if (method !== 'session/request_permission') return served.serve(String(sessionId), method, params);
    const handlers = live.get(sessionId)?.turn?.handlers;
    if (!handlers || !options) return CANCELLED;
    const chosen = await handlers.permission({ title: toolCall?.title ?? 'a tool', options }, signal);
    return chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen } };
  }

  return {
    closed: client.closed,
    close: client.close,
    isOpen: (sessionId) => live.has(sessionId),
    async agents() {
      const { agentInfo, agentCapabilities } = await ready;
      const listed = agentCapabilities?._meta?.['acp-switchboard']?.agents;
      if (listed) return Object.entries(listed).map(([name, { title }]) => ({ name, title: title ?? name }));
      return [{ name: agentInfo?.name ?? 'agent', title: agentInfo?.title ?? agentInfo?.name ?? 'agent' }];
    },
    async open(cwd, agent) {
      await ready;
      const meta = agent === undefined ? {} : { _meta: { 'acp-switchboard': { agent } } };
      const { sessionId, configOptions } = (await client.request('session/new', { cwd, mcpServers: [], ...meta })) as NewSession;
      liveOf(sessionId);
      return { sessionId, agent: configOptions?.find(({ category }) => category === '_agent')?.currentValue ?? agent };
    },
    async reopen(sessionId, cwd) {
      const { agentCapabilities } = await ready;
      const method = agentCapabilities?.sessionCapabilities?.resume ? 'session/resume' : 'session/load';
      await client.request(method, { sessionId, cwd, mcpServers: [] });
      liveOf(sessionId);
    },
    async prompt(sessionId, text, handlers) {
      const session = liveOf(sessionId);
      // A cancelled turn is about to end, so wait for it.
      while (session.turn?.handlers.signal.aborted) await session.turn.over;
      if (session.turn)
        throw new ClientError(-32600, `Session "${sessionId}" is still busy with another prompt; wait for it, or cancel it`);
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const turn: Running = { text: '', calls: new Map(), files: new Set(), usage: {}, handlers, over };
      session.turn = turn;
      note(session, `${session.words === '' ? '' : '\n\n'}> ${text.replaceAll('\n', '\n> ')}\n\n`);
      const cancel = () => client.notify('session/cancel', { sessionId });
      handlers.signal.addEventListener('abort', cancel, { once: true });
      try {
        const answer = (await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })) as {
          stopReason?: unknown;
          usage?: { totalTokens?: unknown } | null;
        };
        const { totalTokens } = answer.usage ?? {};
        return {
          ...{ text: turn.text, toolCalls: [...turn.calls.values()], changedFiles: [...turn.files] },
          stopReason: String(answer.stopReason),
          usage: typeof totalTokens === 'number' ? { ...turn.usage, tokens: totalTokens } : turn.usage,
        };
      } finally {
        handlers.signal.removeEventListener('abort', cancel);
        session.turn = undefined;
        end();
      }
    },
    cancel: (sessionId) => client.notify('session/cancel', { sessionId }),
    async list() {
      await ready;
      const { sessions } = (await client.request('session/list', {})) as { sessions?: Record<string, unknown>[] };
      return sessions ?? [];
    },
    transcript: (sessionId) => live.get(sessionId)?.words,
  };
}

function usageOf({ used, size, cost }: Update): Usage {
  const isCost = typeof cost?.amount === 'number' && typeof cost.currency === 'string';
  return {
    ...(typeof used === 'number' && { tokens: used }),
    ...(typeof size === 'number' && { size }),
    ...(isCost && { cost: { amount: cost.amount as number, currency: cost.currency as string } }),
  };
}

/** Records a tool call update; returns a line of text if the call is new or has ended. */
function noteCall(turn: Running, update: Update): string | undefined {
  const { toolCallId, title, kind, status, content, locations } = update;
  if (toolCallId === undefined) return undefined;
  const known = turn.calls.get(toolCallId);
  const call = known ?? { toolCallId, title: title ?? 'a tool', kind: kind ?? 'other', status: status ?? 'pending' };
  const before = known?.status;
  turn.calls.set(toolCallId, call);
  call.title = title ?? call.title;
  call.kind = kind ?? call.kind;
  call.status = status ?? call.status;
  for (const block of content ?? []) if (block.type === 'diff' && block.path !== undefined) turn.files.add(block.path);
  if (call.kind === 'edit' && call.status === 'completed')
    for (const { path } of locations ?? []) if (path !== undefined) turn.files.add(path);
  return before === call.status ? undefined : `${call.title}: ${call.status}`;
}

type InitializeResult = {
  readonly agentInfo?: { readonly name?: string; readonly title?: string } | null;
  readonly agentCapabilities?: {
    readonly sessionCapabilities?: { readonly resume?: unknown };
    readonly _meta?: { readonly 'acp-switchboard'?: { readonly agents?: Readonly<Record<string, { readonly title?: string }>> } };
  };
};
type NewSession = {
  readonly sessionId: string;
  readonly configOptions?: readonly { readonly category?: string; readonly currentValue?: string }[];
};
type Update = {
  readonly sessionUpdate?: string;
  readonly toolCallId?: string;
  readonly title?: string | null;
  readonly kind?: string | null;
  readonly status?: string | null;
  readonly content?: { readonly type?: string; readonly text?: string } & readonly { readonly type?: string; readonly path?: string }[];
  readonly locations?: readonly { readonly path?: string }[] | null;
  readonly used?: unknown;
  readonly size?: unknown;
  readonly cost?: { readonly amount?: unknown; readonly currency?: unknown } | null;
};
