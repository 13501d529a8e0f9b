// Runs a session's requests one after the other: two writes to a file must keep their order, and memory holds one file at a time.

import { failure } from '../errors.ts';
import { createSerialQueue, type SerialQueue } from '../serial-queue.ts';

export type Turns = {
  /** Runs `work` after everything queued by this owner; rejects if the owner has ended by then. */
  take<T>(owner: object, method: string, work: () => Promise<T>): Promise<T>;
  endOf(owner: object): void;
  /** Starts nothing more; resolves when running work is done. */
  stop(): Promise<void>;
};

/** Far more than an agent sends before it waits for an answer. */
const MAX_WAITING = 1000;

type Line = { readonly queue: SerialQueue; waiting: number; isOver: boolean };

export function createTurns(): Turns {
  const lines = new Map<object, Line>();
  const begun = new Set<Promise<unknown>>();
  return {
    async take(owner, method, work) {
      const line = lines.get(owner) ?? { queue: createSerialQueue(), waiting: 0, isOver: false };
      if (line.waiting >= MAX_WAITING) throw failure('TOO_MANY_OPEN', ['file and terminal requests', MAX_WAITING]);
      lines.set(owner, line);
      line.waiting++;
      const turn = line.queue.run(() => {
        if (line.isOver) throw failure('CANCELLED', [method]);
        const working = work();
        begun.add(working);
        return working.finally(() => begun.delete(working));
      });
      try {
        return await turn;
      } finally {
        if (--line.waiting === 0 && lines.get(owner) === line) lines.delete(owner);
      }
    },
    endOf(owner) {
      const line = lines.get(owner);
      if (line) line.isOver = true;
      lines.delete(owner);
    },
    async stop() {
      for (const line of lines.values()) line.isOver = true;
      await Promise.allSettled(begun);
    },
  };
}
