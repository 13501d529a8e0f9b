// Answers plain tool calls of the 2025 era, which are most requests of agents, without the SDK's overhead. Everything else goes to the SDK.
// Goal G14 (a call takes at most 3 times the direct call): 1.2 to 2.0 by the shim and 1.1 to 1.8 over ACP; without this file 1.9 to 2.8 and 1.9 to 4.9.
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/server';
import { fields, isObject } from '../../json-object.ts';
import { isPlain } from '../gateway/mcp-client.ts';
import { ServerError, type ToolArgs } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

export type PlainCall = { readonly id: RequestId; readonly name: string; readonly args: ToolArgs; readonly progressToken: unknown };

export type Message = Readonly<Record<string, unknown>>;

/** Undefined for anything but a plain tool call. */
export function plainCall({ jsonrpc, id, method, params }: Message): PlainCall | undefined {
  if (method !== 'tools/call' || jsonrpc !== '2.0' || !isRequestId(id) || !isObject(params)) return undefined;
  const { name, arguments: args = {}, task, _meta = {} } = params;
  if (typeof name !== 'string' || !isObject(args) || task !== undefined || !isObject(_meta)) return undefined;
  if (`${META}protocolVersion` in _meta) return undefined; // 2026 era
  return { id, name, args, progressToken: _meta.progressToken };
}

const META = 'io.modelcontextprotocol/';

const isRequestId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

/** The id of the request that a message cancels. */
export function cancelledId({ method, params }: Message): RequestId | undefined {
  if (method !== 'notifications/cancelled' || !isObject(params)) return undefined;
  return isRequestId(params.requestId) ? params.requestId : undefined;
}

/** A bug has no words for the agent. */
const errorOf = (error: unknown) => ({
  error: error instanceof ServerError ? { code: error.code, message: error.message } : { code: -32603, message: 'Internal error' },
});

/** Answers one call whose response is a message of its own. */
export const answerPlainCall = ({ id, name, args }: PlainCall, toolServer: ToolServer, abort: AbortController): Promise<object> =>
  toolServer.call(name, args, { abort, progress: () => {} }).then(
    (result) => ({ jsonrpc: '2.0', id, result }),
    (error: unknown) => ({ jsonrpc: '2.0', id, ...errorOf(error) }),
  );

export type PlainCallEvents = {
  /** Whether requests reach the client over this transport. */
  readonly canAsk: boolean;
  /** Sees every message that the SDK gets. */
  onMessage(message: Message): void;
  onClose(): void;
};

/** `inner` may deliver messages that were not validated. */
export function withPlainCalls(inner: Transport, toolServer: ToolServer, on: PlainCallEvents): Transport {
  const inFlight = new Map<RequestId, AbortController>();
  /** The client can be asked or wants log messages, so calls of other servers' tools are not plain. */
  let isPlainClient = true;
  /** Before the handshake, and in the 2026 era, a connection belongs to the SDK. */
  let isInitialized = false;

  function take(message: Message): boolean {
    if (message.method === 'initialize') {
      isInitialized = true;
      const { capabilities } = fields(message.params);
      isPlainClient = !on.canAsk || isPlain({ era: '2025', capabilities: fields(capabilities), logLevel: undefined });
    }
    if (message.method === 'logging/setLevel') isPlainClient = false;
    const cancelled = cancelledId(message);
    if (cancelled !== undefined) return forget(cancelled);
    const call = isInitialized ? plainCall(message) : undefined;
    if (!call || inFlight.has(call.id) || !(isPlainClient || toolServer.hasOwn(call.name))) return false;
    answer(call);
    return true;
  }
  /** A cancelled request gets no answer. */
  function forget(id: RequestId): boolean {
    inFlight.get(id)?.abort();
    return inFlight.delete(id);
  }
  function answer({ id, name, args, progressToken }: PlainCall): void {
    const abort = new AbortController();
    inFlight.set(id, abort);
    const send = (message: JSONRPCMessage) => void inner.send(message, { relatedRequestId: id }).catch(() => {}); // the agent may have disconnected
    let steps = 0;
    const progress = (message: string) => {
      if (progressToken === undefined || inFlight.get(id) !== abort) return;
      const params = { progressToken: progressToken as RequestId, progress: ++steps, message: message };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    };
    const over = (body: { result: object } | ReturnType<typeof errorOf>) => {
      if (inFlight.get(id) !== abort) return;
      inFlight.delete(id);
      send({ jsonrpc: '2.0', id, ...body } as JSONRPCMessage);
    };
    toolServer.call(name, args, { abort, progress }).then(
      (result) => over({ result }),
      (error: unknown) => over(errorOf(error)),
    );
  }

  const outer: Transport = {
    start() {
      inner.onmessage = (message, extra) => {
        if (isObject(message) && take(message)) return;
        let known: JSONRPCMessage;
        try {
          known = parseJSONRPCMessage(message);
        } catch (error) {
          return outer.onerror?.(error as Error);
        }
        on.onMessage(message as Message);
        outer.onmessage?.(known, extra);
      };
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onclose = () => {
        for (const id of [...inFlight.keys()]) forget(id);
        on.onClose();
        outer.onclose?.();
      };
      return inner.start();
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  return outer;
}
