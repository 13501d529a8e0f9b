// Sends all metrics at intervals. The values are cumulative: after a failure, the next push has everything.
import type { Post } from './post.ts';

export type MetricsPush = { close(withinMs: number): Promise<void> };

export type PushOptions = {
  readonly post: Post;
  readonly everyMs: number;
  readonly payload: () => object;
  readonly onSent: () => void;
  readonly onProblem: (why: string) => void;
};

export function pushMetrics({ post, everyMs, payload, onSent, onProblem }: PushOptions): MetricsPush {
  let sending: Promise<void> | undefined;
  let isProblemReported = false;
  async function push(timeoutMs?: number): Promise<void> {
    const posted = await post(payload(), timeoutMs);
    if (posted.kind === 'accepted') onSent();
    const why = posted.kind !== 'accepted' ? posted.why : posted.rejected > 0 ? `it rejected ${posted.rejected} values` : undefined;
    if (why !== undefined && !isProblemReported) onProblem(why);
    isProblemReported = why !== undefined;
  }
  const timer = setInterval(() => {
    // A slow collector is not asked again before it has answered.
    sending ??= push().finally(() => {
      sending = undefined;
    });
  }, everyMs);
  timer.unref();
  return {
    async close(withinMs) {
      clearInterval(timer);
      const deadline = performance.now() + withinMs;
      if (sending) await Promise.race([sending, new Promise<void>((resolve) => setTimeout(resolve, withinMs).unref())]);
      const leftMs = Math.ceil(deadline - performance.now());
      if (!sending && leftMs > 0) await push(leftMs);
    },
  };
}
