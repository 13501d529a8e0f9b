// How a call goes, told to a client that wants to know, in order, and all of it before the answer.
import type { ServerContext } from '@modelcontextprotocol/server';

export type Progress = { readonly progress: (text: string) => void; flushed(): Promise<void> };

export function progressOf({ _meta, notify }: ServerContext['mcpReq']): Progress {
  const progressToken = _meta?.progressToken;
  let steps = 0;
  let sent = Promise.resolve();
  return {
    progress(message) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++steps, message };
      sent = sent.then(() => notify({ method: 'notifications/progress', params })).catch(() => {}); // who has gone need not know
    },
    flushed: () => sent,
  };
}
