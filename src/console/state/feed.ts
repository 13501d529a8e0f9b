// What has happened, numbered, so that a page that lost its connection can go on where it was. A bounded stretch of it is kept, as text:
// every page gets the same.
import { randomUUID } from 'node:crypto';
import type { Delta } from '../protocol/messages.ts';

export type Numbered = { readonly seq: number; readonly sessionId: string | undefined; readonly text: string };

export type Feed = {
  /** Numbers of one feed mean nothing to another. */
  readonly epoch: string;
  readonly seq: number;
  publish(event: Delta['event'], sessionId?: string): void;
  /** What came after that number; undefined when it is not all there any more. */
  since(seq: number): readonly Numbered[] | undefined;
  listen(listener: (delta: Numbered) => void): () => void;
};

const MAX_DELTAS = 8000;
const MAX_CHARACTERS = 4_000_000;

export function createFeed(maxDeltas = MAX_DELTAS): Feed {
  const listeners = new Set<(delta: Numbered) => void>();
  let kept: Numbered[] = [];
  let size = 0;
  let seq = 0;

  /** A quarter at once, so that not every event moves all of them. */
  function letGo(): void {
    if (kept.length <= maxDeltas && size <= MAX_CHARACTERS) return;
    let gone = 0;
    while (gone < kept.length && (kept.length - gone > maxDeltas * 0.75 || size > MAX_CHARACTERS * 0.75))
      size -= (kept[gone++] as Numbered).text.length;
    kept = kept.slice(gone);
  }

  return {
    epoch: randomUUID(),
    get seq() {
      return seq;
    },
    publish(event, sessionId) {
      seq++;
      // Nobody can lack what came before the first page.
      if (listeners.size === 0 && kept.length === 0) return;
      const delta: Delta = { seq, ...(sessionId !== undefined && { sessionId }), event };
      const numbered = { seq, sessionId, text: JSON.stringify(delta) };
      kept.push(numbered);
      size += numbered.text.length;
      letGo();
      for (const listener of listeners) listener(numbered);
    },
    since(from) {
      if (from === seq) return [];
      const first = kept[0]?.seq;
      if (first === undefined || from < first - 1 || from > seq) return undefined;
      return kept.slice(from - first + 1);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
