// Sends items in batches, one request at a time. The queue is bounded: what does not fit is dropped and counted. A batch that the collector
// cannot take now is sent again later.
import type { Post } from './post.ts';

export type ExporterOptions<T> = {
  readonly post: Post;
  readonly encode: (items: readonly T[]) => object;
  readonly maxQueue: number;
  readonly maxBatch: number;
  /** How long the first item of a batch waits for others. */
  readonly delayMs: number;
  readonly onSent: (count: number) => void;
  readonly onDropped: (count: number, reason: DropReason) => void;
  /** The collector does not take items; called once until it does. */
  readonly onProblem: (why: string) => void;
};

export type DropReason = 'queue_full' | 'rejected' | 'shutdown';

export type Exporter<T> = {
  add(item: T): void;
  /** Items that wait, or are on their way. */
  length(): number;
  /** Sends what it can within this time. */
  close(withinMs: number): Promise<void>;
};

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

export function createExporter<T>(options: ExporterOptions<T>): Exporter<T> {
  const { post, encode, maxQueue, maxBatch, delayMs, onSent, onDropped, onProblem } = options;
  const queue: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let retryMs = 0;
  let isClosed = false;
  let isProblemReported = false;

  function reportProblem(why: string): void {
    if (!isProblemReported) onProblem(why);
    isProblemReported = true;
  }
  function plan(ms: number): void {
    if (isClosed || sending || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      sending = sendBatch().then((isTaken) => {
        sending = undefined;
        if (queue.length > 0) plan(isTaken ? (queue.length >= maxBatch ? 0 : delayMs) : retryMs);
      });
    }, ms);
    timer.unref();
  }
  /** The items stay in the queue until it is known what becomes of them. False if they must be sent again. */
  async function sendBatch(timeoutMs?: number): Promise<boolean> {
    const batch = queue.slice(0, maxBatch);
    const posted = await post(encode(batch), timeoutMs);
    if (posted.kind === 'retry') {
      reportProblem(posted.why);
      const { afterMs = spread(Math.min(Math.max(retryMs * 2, FIRST_RETRY_MS), MAX_RETRY_MS)) } = posted;
      retryMs = Math.max(afterMs, FIRST_RETRY_MS);
      return false;
    }
    queue.splice(0, batch.length);
    retryMs = 0;
    const rejected = posted.kind === 'rejected' ? batch.length : Math.min(posted.rejected, batch.length);
    if (rejected > 0) {
      onDropped(rejected, 'rejected');
      reportProblem(posted.kind === 'rejected' ? posted.why : `it rejected ${rejected} of ${batch.length}`);
    } else isProblemReported = false;
    if (batch.length > rejected) onSent(batch.length - rejected);
    return true;
  }

  return {
    add(item) {
      if (isClosed || queue.length >= maxQueue) return onDropped(1, isClosed ? 'shutdown' : 'queue_full');
      queue.push(item);
      if (queue.length === maxBatch && retryMs === 0) {
        clearTimeout(timer);
        timer = undefined;
        plan(0);
      } else plan(delayMs);
    },
    length: () => queue.length,
    async close(withinMs) {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      const deadline = performance.now() + withinMs;
      const leftMs = () => Math.ceil(deadline - performance.now());
      if (sending) await Promise.race([sending, new Promise<void>((resolve) => setTimeout(resolve, withinMs).unref())]);
      if (sending === undefined) while (queue.length > 0 && leftMs() > 0 && (await sendBatch(leftMs())));
      if (queue.length > 0) onDropped(queue.length, 'shutdown');
      queue.length = 0;
    },
  };
}

/** Several processes must not come back at the same moment. */
const spread = (ms: number): number => ms * (0.8 + Math.random() * 0.4);
