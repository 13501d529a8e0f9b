// Sends progress to a client that wants it: in order, and all of it before the answer.
import type { ServerContext } from '@modelcontextprotocol/server';
import { createSerialQueue } from '../../serial-queue.ts';

/** How many steps of a plan are complete, and how many it has. */
export type Planned = { readonly completed?: number | undefined; readonly total?: number | undefined };
export type Progress = { readonly progress: (text: string, plan?: Planned) => void; flushed(): Promise<void> };

/** Messages between two steps of a plan count as parts of a step: the value must grow with each message. */
const PART = 0.001;

/** `each` is what a message counts. */
export function progressOf({ _meta, notify }: ServerContext['mcpReq'], each: 1 | typeof PART = 1): Progress {
  const progressToken = _meta?.progressToken;
  let value = 0;
  const sent = createSerialQueue();
  return {
    progress(message, { completed = 0, total } = {}) {
      if (progressToken === undefined) return;
      value = Math.max(Math.round((value + each) / PART) * PART, completed);
      // The answer is the last step.
      const params = { progressToken, progress: value, ...(total !== undefined && { total: total + 1 }), message };
      void sent.run(() => notify({ method: 'notifications/progress', params })).catch(() => {}); // the client may have disconnected
    },
    flushed: sent.idle,
  };
}

/** Progress of a turn, which may have a plan. */
export const turnProgressOf = (mcpReq: ServerContext['mcpReq']): Progress => progressOf(mcpReq, PART);
