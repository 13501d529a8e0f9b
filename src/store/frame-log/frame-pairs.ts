// Pairs the two records of a forwarded request or response, received and sent, and measures how long the proxy held it.
import type { Frame } from '../../wire/frame.ts';
import { patchedId } from '../../wire/observer.ts';
import type { Patch } from '../../wire/writer.ts';

/** `addedMs` is set for the sent record. */
export type Passage = { readonly pair: number; readonly addedMs?: number };

export type FramePairs = {
  received(connection: string, frame: Frame): void;
  /** How long the proxy held the frame, if the received one is known. */
  sent(connection: string, frame: Frame, patches: readonly Patch[]): number | undefined;
  /** The pairing of a recorded frame; call it once per record. */
  take(connection: string, isReceived: boolean, id: unknown): Passage | undefined;
};

const MOST = 10_000;

export function createFramePairs(monotonicMs: () => number): FramePairs {
  const passing = new WeakMap<Frame, { readonly pair: number; readonly atMs: number }>();
  const passages = new Map<string, Passage>();
  let pairs = 0;

  function note(key: string, passage: Passage): void {
    // Entries whose records never arrived.
    if (passages.size >= MOST) passages.clear();
    passages.set(key, passage);
  }
  return {
    received(connection, frame) {
      if (frame.id === undefined) return;
      const pair = ++pairs;
      passing.set(frame, { pair, atMs: monotonicMs() });
      note(keyOf(connection, true, patchedId(frame, [])), { pair });
    },
    sent(connection, frame, patches) {
      const came = frame.id === undefined ? undefined : passing.get(frame);
      if (!came) return undefined;
      const addedMs = monotonicMs() - came.atMs;
      note(keyOf(connection, false, patchedId(frame, patches)), { pair: came.pair, addedMs });
      return addedMs;
    },
    take(connection, isReceived, id) {
      const key = keyOf(connection, isReceived, JSON.stringify(id));
      const passage = passages.get(key);
      passages.delete(key);
      return passage;
    },
  };
}

const keyOf = (connection: string, isReceived: boolean, idText: string | undefined): string =>
  `${isReceived ? 'from' : 'to'} ${idText} ${connection}`;
