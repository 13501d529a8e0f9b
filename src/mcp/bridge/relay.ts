// One agent's connection to one server of the client's, message by message. Everything passes as it is, in both directions and in either era of MCP;
// only calls of tools wait for a verdict, and tools that are not to be seen are taken out of the list.
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/client';
import { failed } from '../server/call-tool.ts';
import { type GateVerdict, passGate } from '../server/gate.ts';
import type { ToolArgs } from '../server/tool.ts';

export type RelayDeps = {
  /** The server's name, as the client gave it. */
  readonly server: string;
  mayCall(tool: string, args: ToolArgs, signal: AbortSignal): Promise<GateVerdict>;
  exposes(tool: string): boolean;
  /** Resolves when nothing of the server is left that was started for this. */
  onEnding(done: Promise<void>): void;
  /** It ended by itself, or never began. */
  onDied(why: string): void;
};

/** Beyond this an agent does not wait for answers any more, it floods. */
const MAX_PENDING = 64;
const SERVER_GONE = -32000;
const METHOD_NOT_FOUND = -32601;

type Pending = { readonly method: string; readonly progressToken: unknown; readonly taken: AbortController };

/** Returns what ends it; `onEnding` has been told of that when it returns, whenever the front says that it is closed. */
export function relay(front: Transport, back: Transport & { readonly exit?: string | undefined }, deps: RelayDeps): () => void {
  const pending = new Map<RequestId, Pending>();
  let isOver = false;

  const toFront = (message: JSONRPCMessage, relatedRequestId?: RequestId) =>
    void front.send(message, relatedRequestId === undefined ? {} : { relatedRequestId }).catch(() => {}); // it has gone, and its end is told elsewhere
  function answer(id: RequestId, body: { result: Record<string, unknown> } | { error: { code: number; message: string } }): void {
    if (pending.delete(id)) toFront({ jsonrpc: '2.0', id, ...body }, id);
  }
  function over(why: string | undefined): void {
    if (isOver) return;
    isOver = true;
    for (const { taken } of pending.values()) taken.abort();
    if (why !== undefined) {
      deps.onDied(why);
      const error = { code: SERVER_GONE, message: `The MCP server "${deps.server}" is not available: ${why}` };
      for (const id of [...pending.keys()]) answer(id, { error });
    }
    void front.close().catch(() => {});
    deps.onEnding(back.close().catch(() => {}));
  }

  async function request(message: JSONRPCRequest): Promise<void> {
    const { id, method, params } = message;
    if (pending.size >= MAX_PENDING || pending.has(id)) {
      const error = { code: SERVER_GONE, message: `There are already ${MAX_PENDING} requests under way, or one with this id` };
      return toFront({ jsonrpc: '2.0', id, error }, id);
    }
    const taken = new AbortController();
    pending.set(id, { method, progressToken: params?._meta?.progressToken, taken });
    if (method === 'tools/call') {
      const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
      const tool = String(name);
      const given = (typeof args === 'object' && args !== null ? args : {}) as ToolArgs;
      const verdict = await passGate(() => deps.mayCall(tool, given, taken.signal), taken.signal);
      if (taken.signal.aborted) return; // nobody waits for an answer to what was taken back
      if (!verdict.allow) return answer(id, { result: { ...failed(`${tool} was not allowed: ${verdict.reason}`) } });
    }
    try {
      await back.send(message, { requestSignal: taken.signal });
    } catch (error) {
      // A server of the 2025 era may refuse to be asked which eras it knows; whoever asks goes on with the handshake.
      const isProbe = method === 'server/discover';
      const why = wordsOf(error);
      if (!isProbe && !taken.signal.aborted) deps.onDied(`it did not take ${method}: ${why}`);
      const message = `The MCP server "${deps.server}" did not take ${method}: ${why}`;
      answer(id, { error: { code: isProbe ? METHOD_NOT_FOUND : SERVER_GONE, message } });
    }
  }
  /** Servers say nothing more of a request that was taken back, so it is no longer waited for. */
  function takeBack(id: RequestId): void {
    pending.get(id)?.taken.abort();
    pending.delete(id);
  }
  function fromFront(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) return void request(message);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId !== undefined) takeBack(requestId);
    }
    // A request without an id would be a call that nobody has judged, and there are servers that do not look for one.
    if ('method' in message && !message.method.startsWith('notifications/')) return;
    void back.send(message).catch(() => {});
  }
  function fromBack(message: JSONRPCMessage): void {
    if ('method' in message) return toFront(message, relatedTo(message));
    const { id } = message;
    const one = id === undefined ? undefined : pending.get(id);
    if (id === undefined || !one) return;
    pending.delete(id);
    if (!('result' in message)) return toFront(message, id);
    if (one.method === 'initialize') back.setProtocolVersion?.(String(message.result.protocolVersion));
    toFront(one.method === 'tools/list' ? { ...message, result: withoutHidden(message.result) } : message, id);
  }
  /** Over HTTP everything travels in the answer to some request. */
  function relatedTo(message: { readonly method: string; readonly params?: Record<string, unknown> | undefined }): RequestId | undefined {
    const token = message.method === 'notifications/progress' ? message.params?.progressToken : undefined;
    if (token !== undefined) return [...pending].find(([, { progressToken }]) => progressToken === token)?.[0];
    return pending.size === 1 ? [...pending.keys()][0] : undefined;
  }
  function withoutHidden(result: Record<string, unknown>): Record<string, unknown> {
    if (!Array.isArray(result.tools)) return result;
    return { ...result, tools: result.tools.filter((tool: { name?: unknown } | null) => deps.exposes(String(tool?.name))) };
  }

  /** What the agent says before the server is there. */
  let early: JSONRPCMessage[] | undefined = [];
  front.onmessage = (message: JSONRPCMessage) => {
    if (!early) return fromFront(message);
    if (early.length < MAX_PENDING) return void early.push(message);
    if (!('method' in message && 'id' in message)) return;
    const words = `The MCP server "${deps.server}" has not started yet, and ${MAX_PENDING} messages wait for it already`;
    toFront({ jsonrpc: '2.0', id: message.id, error: { code: SERVER_GONE, message: words } }, message.id);
  };
  front.onclose = () => over(undefined);
  back.onmessage = fromBack;
  back.onclose = () => over(back.exit ?? 'it has ended');
  void front.start();
  back.start().then(
    () => {
      const waiting = early ?? [];
      early = undefined;
      for (const message of waiting) fromFront(message);
    },
    (error: unknown) => {
      for (const message of early ?? [])
        if ('method' in message && 'id' in message)
          pending.set(message.id, { method: message.method, progressToken: undefined, taken: new AbortController() });
      over(wordsOf(error));
    },
  );
  return () => over(undefined);
}

/** `fetch failed` is all that Node says of a server that is not there; the rest is in the cause. */
function wordsOf(error: unknown): string {
  const { message, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  return code === undefined ? message : `${message} (${code})`;
}
