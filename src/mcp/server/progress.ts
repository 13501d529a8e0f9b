// Sends progress to a client that wants it: in order, and all of it before the answer.
import type { ServerContext } from '@modelcontextprotocol/server';
import { createSerialQueue } from '../../serial-queue.ts';

export type Progress = { readonly progress: (text: string) => void; flushed(): Promise<void> };

export function progressOf({ _meta, notify }: ServerContext['mcpReq']): Progress {
  const progressToken = _meta?.progressToken;
  let steps = 0;
  const sent = createSerialQueue();
  return {
    progress(message) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++steps, message };
      void sent.run(() => notify({ method: 'notifications/progress', params })).catch(() => {}); // the client may have disconnected
    },
    flushed: sent.idle,
  };
}
