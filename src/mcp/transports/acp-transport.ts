// The way in through the ACP connection itself: MCP messages travel as `mcp/message` (and, in an older draft, behind `mcp/connect`).
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

export type McpReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** A transport whose other end is whoever passes messages on. */
export type Pipe = Transport & {
  /** A request of the agent's; `onNote` hears what the server says of it meanwhile. The returned function takes it back, and then it has no answer. */
  request(method: string, params: unknown, done: (reply: McpReply) => void, onNote: (method: string, params: unknown) => void): () => void;
  notify(method: string, params: unknown): void;
  /** There is no server: whoever has asked, or asks from now on, is told why. */
  refuse(why: string): void;
  /** Whether a request was taken back that the server has yet to begin with: it takes up one message after the other, and hears of that too late. */
  isTakenBack(id: unknown): boolean;
};

type Open = { readonly done: (reply: McpReply) => void; readonly onNote: (method: string, params: unknown) => void };

export function createPipe(): Pipe {
  const open = new Map<number, Open>();
  let nextId = 0;
  /** What comes before the server listens. */
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
        if ('id' in message) return; // this way there are no requests from the server
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
    isTakenBack: (id) => !open.has(Number(id)),
  };
  return pipe;
}
