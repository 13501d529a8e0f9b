// MCP over the ACP connection: messages travel as `mcp/message` (and, in an older draft, behind `mcp/connect`).
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

export type McpReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** A transport whose other end is the proxy's message handling. */
export type Pipe = Transport & {
  /**
   * A request from the agent; `onNote` receives the server's notifications about it. The returned function cancels it; it then has no
   * answer.
   */
  request(method: string, params: unknown, done: (reply: McpReply) => void, onNote: (method: string, params: unknown) => void): () => void;
  notify(method: string, params: unknown): void;
  /** There is no server: all requests, pending and later, fail with this reason. */
  refuse(why: string): void;
  /**
   * Whether a request was cancelled before the server started it: the server takes one message at a time, so its own notice comes too late.
   */
  isCancelled(id: unknown): boolean;
};

type Open = { readonly done: (reply: McpReply) => void; readonly onNote: (method: string, params: unknown) => void };

export function createPipe(): Pipe {
  const open = new Map<number, Open>();
  let nextId = 0;
  /** Messages before the server listens. */
  let waiting: JSONRPCMessage[] | undefined = [];
  let refusal: McpReply | undefined;
  const deliver = (message: JSONRPCMessage) => {
    if (refusal) return;
    if (waiting) waiting.push(message);
    else pipe.onmessage?.(message);
  };
  const paramsOf = (params: unknown) => (typeof params === 'object' && params !== null ? { params: { ...params } } : {});
  const pipe: Pipe = {
    async start() {
      const early = waiting ?? [];
      waiting = undefined;
      for (const message of early) pipe.onmessage?.(message);
    },
    async send(message, options) {
      if ('method' in message) {
        if ('id' in message) return; // the server cannot send requests over this transport
        const related = options?.relatedRequestId;
        const one = typeof related === 'number' ? open.get(related) : undefined;
        one?.onNote(message.method, message.params ?? {});
        return;
      }
      const id = Number(message.id);
      const one = open.get(id);
      open.delete(id);
      one?.done('result' in message ? { result: message.result } : { error: message.error });
    },
    async close() {
      for (const { done } of open.values()) done({ error: { code: -33001, message: 'The session this server belonged to has ended' } });
      open.clear();
      pipe.onclose?.();
    },
    refuse(why) {
      const reply: McpReply = { error: { code: -32603, message: why } };
      refusal = reply;
      waiting = undefined;
      for (const { done } of open.values()) done(reply);
      open.clear();
    },
    request(method, params, done, onNote) {
      const reply = refusal;
      if (reply) {
        queueMicrotask(() => done(reply));
        return () => {};
      }
      const id = nextId++;
      open.set(id, { done, onNote });
      deliver({ jsonrpc: '2.0', id, method, ...paramsOf(params) });
      return () => {
        if (open.delete(id)) deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      };
    },
    notify: (method, params) => deliver({ jsonrpc: '2.0', method, ...paramsOf(params) }),
    isCancelled: (id) => !open.has(Number(id)),
  };
  return pipe;
}
