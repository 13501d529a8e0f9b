// Calls of tools by agents of the 2025 era, which is most of what agents send: answered here, without the way through the SDK and its checks of what
// is checked anyhow. Everything else, and every call that is not as plain as can be, goes to the SDK, which knows the protocol in full.
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/server';
import { isObject } from '../../json-object.ts';
import type { ToolArgs } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

export type PlainCall = { readonly id: RequestId; readonly name: string; readonly args: ToolArgs; readonly progressToken: unknown };

export type Message = Readonly<Record<string, unknown>>;

/** Undefined for anything but a call of a tool with nothing special about it. */
export function plainCall({ jsonrpc, id, method, params }: Message): PlainCall | undefined {
  if (method !== 'tools/call' || jsonrpc !== '2.0' || !isRequestId(id) || !isObject(params)) return undefined;
  const { name, arguments: args = {}, task, _meta = {} } = params;
  if (typeof name !== 'string' || !isObject(args) || task !== undefined || !isObject(_meta)) return undefined;
  if (`${META}protocolVersion` in _meta) return undefined; // of the 2026 era
  return { id, name, args, progressToken: _meta.progressToken };
}

const META = 'io.modelcontextprotocol/';

const isRequestId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

/** The id of the request that a message takes back. */
export function takenBack({ method, params }: Message): RequestId | undefined {
  if (method !== 'notifications/cancelled' || !isObject(params)) return undefined;
  return isRequestId(params.requestId) ? params.requestId : undefined;
}

const BROKEN = { error: { code: -32603, message: 'Internal error' } };

/** One call by itself, where its answer is a message of its own. */
export const answerPlainCall = ({ id, name, args }: PlainCall, toolServer: ToolServer, abort: AbortController): Promise<object> =>
  toolServer.call(name, args, { abort, progress: () => {} }).then(
    (result) => ({ jsonrpc: '2.0', id, result }),
    () => ({ jsonrpc: '2.0', id, ...BROKEN }),
  );

/** `inner` need not have looked at the messages it hands over. */
export function withQuickCalls(inner: Transport, toolServer: ToolServer): Transport {
  const underWay = new Map<RequestId, AbortController>();
  /** Before it has been opened, and in the other era, a connection is the SDK's. */
  let hasShakenHands = false;

  function take(message: Message): boolean {
    if (message.method === 'initialize') hasShakenHands = true;
    const cancelled = takenBack(message);
    if (cancelled !== undefined) return forget(cancelled);
    const call = hasShakenHands ? plainCall(message) : undefined;
    if (!call || underWay.has(call.id)) return false;
    answer(call);
    return true;
  }
  /** There is no answer to what was taken back. */
  function forget(id: RequestId): boolean {
    underWay.get(id)?.abort();
    return underWay.delete(id);
  }
  function answer({ id, name, args, progressToken }: PlainCall): void {
    const abort = new AbortController();
    underWay.set(id, abort);
    const send = (message: JSONRPCMessage) => void inner.send(message, { relatedRequestId: id }).catch(() => {}); // it has gone
    let steps = 0;
    const progress = (words: string) => {
      if (progressToken === undefined || underWay.get(id) !== abort) return;
      const params = { progressToken: progressToken as RequestId, progress: ++steps, message: words };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    };
    const over = (body: { result: object } | typeof BROKEN) => {
      if (underWay.get(id) !== abort) return;
      underWay.delete(id);
      send({ jsonrpc: '2.0', id, ...body } as JSONRPCMessage);
    };
    toolServer.call(name, args, { abort, progress }).then(
      (result) => over({ result }),
      () => over(BROKEN),
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
        outer.onmessage?.(known, extra);
      };
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onclose = () => {
        for (const id of [...underWay.keys()]) forget(id);
        outer.onclose?.();
      };
      return inner.start();
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  return outer;
}
