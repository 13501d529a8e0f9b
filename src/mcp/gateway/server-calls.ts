// Calls of the tools of a server that is a child of ours, in the words of the 2025 era: asked and heard without the way through the SDK, whose
// connection it is otherwise.
import type { RequestId } from '@modelcontextprotocol/client';
import { type CallContext, type ToolArgs, ToolFailure, type ToolOutcome } from '../server/tool.ts';
import type { ServerProcess } from './server-process.ts';

type Pending = { readonly progress: (text: string) => void; readonly done: (outcome: ToolOutcome | Error) => void };
type Message = {
  readonly id?: RequestId;
  readonly method?: unknown;
  readonly params?: { readonly progressToken?: RequestId; readonly message?: unknown } | null;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown } | null;
};

export type ServerCalls = {
  call(tool: string, args: ToolArgs, context: Pick<CallContext, 'signal' | 'progress'>): Promise<ToolOutcome>;
  /** The server has ended. */
  over(why: string): void;
};

export function serverCalls(server: ServerProcess): ServerCalls {
  const pending = new Map<RequestId, Pending>();
  let nextId = 0;

  server.take = (message) => {
    if (typeof message !== 'object' || message === null) return false;
    const { id, method, params, result, error } = message as Message;
    if (method === 'notifications/progress') {
      const one = pending.get(params?.progressToken ?? '');
      if (one && typeof params?.message === 'string') one.progress(params.message);
      return one !== undefined;
    }
    const one = method === undefined && id !== undefined ? pending.get(id) : undefined;
    if (!one) return false;
    one.done(error ? new ToolFailure(String(error.message)) : readOutcome(result));
    return true;
  };

  return {
    call: (tool, args, { signal, progress }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new DOMException('cancelled', 'AbortError'));
        const id = `call-${nextId++}`; // of no form that the SDK uses
        const takeBack = () => {
          const params = { requestId: id, reason: 'cancelled' };
          void server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {}); // its end is told by itself
          done(new DOMException('cancelled', 'AbortError'));
        };
        const done = (outcome: ToolOutcome | Error) => {
          pending.delete(id);
          signal.removeEventListener('abort', takeBack);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        };
        pending.set(id, { progress, done });
        signal.addEventListener('abort', takeBack, { once: true });
        const params = { name: tool, arguments: args, _meta: { progressToken: id } };
        server.send({ jsonrpc: '2.0', id, method: 'tools/call', params }).catch((error: Error) => done(new ToolFailure(error.message)));
      }),
    over(why) {
      for (const { done } of [...pending.values()]) done(new ToolFailure(why));
    },
  };
}

function readOutcome(result: unknown): ToolOutcome | Error {
  const { content = [] } = (result ?? {}) as { content?: unknown };
  const isUsable = Array.isArray(content) && content.every((block) => typeof block?.type === 'string');
  return isUsable ? ({ ...(result as object), content } as ToolOutcome) : new ToolFailure('its answer is not that of a tool');
}
