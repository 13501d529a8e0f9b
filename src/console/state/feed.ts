// Numbered events, so that a page that lost its connection can resume. A bounded number is kept as text, because every page gets the same.
import { randomUUID } from 'node:crypto';
import type { Delta } from '../protocol/messages.ts';

export type Numbered = { readonly seq: number; readonly sessionId: string | undefined; readonly text: string };

export type Feed = {
  /** Identifies this feed: numbers of another one mean nothing here. */
  readonly epoch: string;
  readonly seq: number;
  publish(event: Delta['event'], sessionId?: string): void;
  /** Events after this number; undefined when some were dropped. */
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

  /** Drops a quarter at a time, so that not every event moves the whole array. */
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
      // Without a page there is nobody to resume.
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
