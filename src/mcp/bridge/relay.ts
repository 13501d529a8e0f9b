// One agent's connection to one of the client's servers, message by message. Everything passes unchanged in both directions and both eras
// of MCP; only tool calls wait for a verdict, hidden tools are removed from the list, and tools that a model API would refuse are adapted.
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/client';
import { isObject } from '../../json-object.ts';
import { failed } from '../server/call-tool.ts';
import { type GateVerdict, passGate } from '../server/gate.ts';
import { portableTool } from '../server/portable-tool.ts';
import type { ToolArgs } from '../server/tool.ts';

export type RelayDeps = {
  /** The server's name, as the client gave it. */
  readonly server: string;
  mayCall(tool: string, args: ToolArgs, signal: AbortSignal): Promise<GateVerdict>;
  exposes(tool: string): boolean;
  /** The server's own names of tools that agents see under another. Kept for all connections of a bridge: an agent may list in one and call in another. */
  readonly ownNames: Map<string, string>;
  /** The promise resolves when every process started for this connection has exited. */
  onEnding(done: Promise<void>): void;
  /** The server exited by itself, or never started. */
  onDied(why: string): void;
};

/** More unanswered requests than this are a flood. */
const MAX_PENDING = 64;
const SERVER_UNAVAILABLE = -32000;
const METHOD_NOT_FOUND = -32601;

type Pending = { readonly method: string; readonly progressToken: unknown; readonly taken: AbortController };

/** Returns a function that ends the relay; `onEnding` has been called when it returns. */
export function relay(downstream: Transport, upstream: Transport & { readonly exit?: string | undefined }, deps: RelayDeps): () => void {
  const pending = new Map<RequestId, Pending>();
  let isOver = false;

  const toDownstream = (message: JSONRPCMessage, relatedRequestId?: RequestId) =>
    void downstream.send(message, relatedRequestId === undefined ? {} : { relatedRequestId }).catch(() => {}); // the agent disconnected, which is reported elsewhere
  function answer(id: RequestId, body: { result: Record<string, unknown> } | { error: { code: number; message: string } }): void {
    if (pending.delete(id)) toDownstream({ jsonrpc: '2.0', id, ...body }, id);
  }
  function over(why: string | undefined): void {
    if (isOver) return;
    isOver = true;
    for (const { taken } of pending.values()) taken.abort();
    if (why !== undefined) {
      deps.onDied(why);
      const error = { code: SERVER_UNAVAILABLE, message: `The MCP server "${deps.server}" is not available: ${why}` };
      for (const id of [...pending.keys()]) answer(id, { error });
    }
    void downstream.close().catch(() => {});
    deps.onEnding(upstream.close().catch(() => {}));
  }

  async function request(message: JSONRPCRequest): Promise<void> {
    const { id, method, params } = message;
    if (pending.size >= MAX_PENDING || pending.has(id)) {
      const error = { code: SERVER_UNAVAILABLE, message: `There are already ${MAX_PENDING} requests under way, or one with this id` };
      return toDownstream({ jsonrpc: '2.0', id, error }, id);
    }
    const taken = new AbortController();
    let sent = message;
    pending.set(id, { method, progressToken: params?._meta?.progressToken, taken });
    if (method === 'tools/call') {
      const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
      const tool = deps.ownNames.get(String(name)) ?? String(name);
      const given = (typeof args === 'object' && args !== null ? args : {}) as ToolArgs;
      const verdict = await passGate(() => deps.mayCall(tool, given, taken.signal), taken.signal);
      if (taken.signal.aborted) return; // nobody waits for the answer to a cancelled call
      if (!verdict.allow) return answer(id, { result: { ...failed(`${tool} was not allowed: ${verdict.reason}`) } });
      if (tool !== name) sent = { ...message, params: { ...params, name: tool } };
    }
    try {
      await upstream.send(sent, { requestSignal: taken.signal });
    } catch (error) {
      // A server of the 2025 era may refuse this probe; the client then continues with the handshake.
      const isProbe = method === 'server/discover';
      const why = reasonOf(error);
      if (!isProbe && !taken.signal.aborted) deps.onDied(`it did not take ${method}: ${why}`);
      const message = `The MCP server "${deps.server}" did not take ${method}: ${why}`;
      answer(id, { error: { code: isProbe ? METHOD_NOT_FOUND : SERVER_UNAVAILABLE, message } });
    }
  }
  /** Servers do not answer a cancelled request, so stop waiting for it. */
  function cancel(id: RequestId): void {
    pending.get(id)?.taken.abort();
    pending.delete(id);
  }
  function fromDownstream(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) return void request(message);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId !== undefined) cancel(requestId);
    }
    // A request without an id would bypass the policy, and some servers run it anyway.
    if ('method' in message && !message.method.startsWith('notifications/')) return;
    void upstream.send(message).catch(() => {});
  }
  function fromUpstream(message: JSONRPCMessage): void {
    if ('method' in message) return toDownstream(message, relatedTo(message));
    const { id } = message;
    const one = id === undefined ? undefined : pending.get(id);
    if (id === undefined || !one) return;
    pending.delete(id);
    if (!('result' in message)) return toDownstream(message, id);
    if (one.method === 'initialize') upstream.setProtocolVersion?.(String(message.result.protocolVersion));
    toDownstream(one.method === 'tools/list' ? { ...message, result: offered(message.result) } : message, id);
  }
  /** Over HTTP every message travels in the response to some request. */
  function relatedTo(message: { readonly method: string; readonly params?: Record<string, unknown> | undefined }): RequestId | undefined {
    const token = message.method === 'notifications/progress' ? message.params?.progressToken : undefined;
    if (token !== undefined) return [...pending].find(([, { progressToken }]) => progressToken === token)?.[0];
    return pending.size === 1 ? [...pending.keys()][0] : undefined;
  }
  function offered(result: Record<string, unknown>): Record<string, unknown> {
    if (!Array.isArray(result.tools)) return result;
    const exposed = result.tools.filter((tool: { name?: unknown } | null) => deps.exposes(String(tool?.name)));
    return { ...result, tools: exposed.map(portable) };
  }
  /** Unchanged if every model API takes it. */
  function portable(tool: unknown): unknown {
    if (!isObject(tool) || typeof tool.name !== 'string' || !isObject(tool.inputSchema)) return tool;
    const { name, description, inputSchema } = tool;
    const shown = portableTool({ name, description: typeof description === 'string' ? description : '', inputSchema }, deps.server);
    if (shown.name !== name) deps.ownNames.set(shown.name, name);
    const isSame = shown.name === name && shown.inputSchema === inputSchema && shown.description === (description ?? '');
    return isSame ? tool : { ...tool, ...shown };
  }

  /** Messages from the agent before the server is ready. */
  let early: JSONRPCMessage[] | undefined = [];
  downstream.onmessage = (message: JSONRPCMessage) => {
    if (!early) return fromDownstream(message);
    if (early.length < MAX_PENDING) return void early.push(message);
    if (!('method' in message && 'id' in message)) return;
    const reason = `The MCP server "${deps.server}" has not started yet, and ${MAX_PENDING} messages already wait for it`;
    toDownstream({ jsonrpc: '2.0', id: message.id, error: { code: SERVER_UNAVAILABLE, message: reason } }, message.id);
  };
  downstream.onclose = () => over(undefined);
  upstream.onmessage = fromUpstream;
  upstream.onclose = () => over(upstream.exit ?? 'it has ended');
  void downstream.start();
  upstream.start().then(
    () => {
      const waiting = early ?? [];
      early = undefined;
      for (const message of waiting) fromDownstream(message);
    },
    (error: unknown) => {
      for (const message of early ?? [])
        if ('method' in message && 'id' in message)
          pending.set(message.id, { method: message.method, progressToken: undefined, taken: new AbortController() });
      over(reasonOf(error));
    },
  );
  return () => over(undefined);
}

/** Node reports only `fetch failed` for an unreachable server; the cause has the details. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  return code === undefined ? message : `${message} (${code})`;
}
