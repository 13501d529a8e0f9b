// What a scenario can do in one prompt turn: send text, think, plan, show tool calls and send requests to the client.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AgentContext,
  type ClientCapabilities,
  type ClientRequestMethod,
  type ClientRequestParamsByMethod,
  type ClientRequestResponsesByMethod,
  methods,
  type PlanEntry,
  type SessionUpdate,
  type ToolCall,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { AgentProfile } from './agents.ts';
import type { LiveSession } from './live-sessions.ts';
import { addToTranscript } from './session-store.ts';

const CHUNKS_PER_MESSAGE = 3;
const CHUNK_PAUSE_MS = 5;

export type Turn = {
  readonly profile: AgentProfile;
  readonly session: LiveSession;
  readonly clientCapabilities: ClientCapabilities;
  readonly client: AgentContext;
  readonly signal: AbortSignal;
  /** Ends the turn as cancelled. */
  cancel(): never;
  send(text: string): Promise<void>;
  /** Sends one chunk unchanged. */
  sendChunk(text: string): Promise<void>;
  think(text: string): Promise<void>;
  plan(entries: PlanEntry[]): Promise<void>;
  toolCall(call: Omit<ToolCall, 'toolCallId'>): Promise<ShownToolCall>;
  /** Sends a request to the client; a cancelled turn cancels it and stops waiting. */
  request<Method extends ClientRequestMethod>(
    method: Method,
    params: ClientRequestParamsByMethod[Method],
  ): Promise<ClientRequestResponsesByMethod[Method]>;
  /** No tool call may look busy after its turn. Protocol version 1 has no status `cancelled`. */
  failOpenToolCalls(): Promise<void>;
};

export type ShownToolCall = {
  readonly toolCallId: string;
  update(change: Omit<ToolCallUpdate, 'toolCallId'>): Promise<void>;
};

export type TurnSetting = Pick<Turn, 'profile' | 'session' | 'clientCapabilities' | 'client' | 'signal'> & { abort(): void };

export function createTurn({ profile, session, clientCapabilities, client, signal, abort }: TurnSetting): Turn {
  const { record } = session;
  const openToolCalls = new Map<string, ShownToolCall>();
  let toolCalls = 0;

  const notify = async (update: SessionUpdate) => {
    addToTranscript(record.transcript, update);
    await client.notify(methods.client.session.update, { sessionId: record.sessionId, update });
  };
  const sendChunk = async (text: string) => {
    signal.throwIfAborted();
    await notify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  };

  return {
    profile,
    session,
    clientCapabilities,
    client,
    signal,
    cancel() {
      abort();
      throw signal.reason;
    },
    sendChunk,
    async send(text) {
      for (const chunk of chunksOf(text)) {
        await sendChunk(chunk);
        await delay(CHUNK_PAUSE_MS, undefined, { signal });
      }
    },
    async think(text) {
      signal.throwIfAborted();
      await notify({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } });
    },
    async plan(entries) {
      signal.throwIfAborted();
      await notify({ sessionUpdate: 'plan', entries });
    },
    async toolCall(call) {
      signal.throwIfAborted();
      toolCalls += 1;
      const toolCallId = `call-${record.turns}-${toolCalls}`;
      const shown: ShownToolCall = {
        toolCallId,
        async update(change) {
          if (change.status === 'completed' || change.status === 'failed') openToolCalls.delete(toolCallId);
          await notify({ sessionUpdate: 'tool_call_update', toolCallId, ...change });
        },
      };
      openToolCalls.set(toolCallId, shown);
      await notify({ sessionUpdate: 'tool_call', toolCallId, ...call });
      return shown;
    },
    async request(method, params) {
      signal.throwIfAborted();
      return await client.request(method, params, { cancellationSignal: signal, stopWaitingOnCancel: true });
    },
    async failOpenToolCalls() {
      for (const shown of openToolCalls.values()) await shown.update({ status: 'failed' });
    },
  };
}

/** Cuts before a word, so that the chunks join to the original text. */
function chunksOf(text: string): string[] {
  const words = text.split(/(?<=\s)(?=\S)/);
  const wordsPerChunk = Math.ceil(words.length / CHUNKS_PER_MESSAGE);
  return Array.from({ length: Math.ceil(words.length / wordsPerChunk) }, (_, index) =>
    words.slice(index * wordsPerChunk, (index + 1) * wordsPerChunk).join(''),
  );
}
