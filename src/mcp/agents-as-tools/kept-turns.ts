// The last turn of each session: it runs, or its result is kept for a while. A client that lost its connection finds it here.
import type { CallToolResult } from '@modelcontextprotocol/server';

/** How long results are kept after the start of their turn, and at least after its end. */
export const KEPT_MS = 24 * 3_600_000;
const KEPT_AFTER_END_MS = 3_600_000;

export type KeptTurn = {
  readonly sessionId: string;
  readonly turn: number;
  readonly startedAt: Date;
  readonly endedAt: Date | undefined;
  readonly keptUntil: Date | undefined;
  readonly result: CallToolResult | undefined;
  readonly error: string | undefined;
};

export type KeptTurns = {
  /** Runs a turn and keeps how it ends. */
  run(sessionId: string, turn: number, work: () => Promise<CallToolResult>): Promise<CallToolResult>;
  last(sessionId: string): KeptTurn | undefined;
  /** Resolves when the last turn has ended, or the wait is over. */
  ended(sessionId: string, waitMs: number, signal: AbortSignal): Promise<void>;
};

export function createKeptTurns(now: () => number = Date.now): KeptTurns {
  const turns = new Map<string, KeptTurn & { readonly over: Promise<unknown> }>();

  function prune(): void {
    for (const [sessionId, { keptUntil }] of turns) if (keptUntil !== undefined && keptUntil.getTime() < now()) turns.delete(sessionId);
  }
  function end(begun: KeptTurn & { readonly over: Promise<unknown> }, how: Pick<KeptTurn, 'result' | 'error'>): void {
    if (turns.get(begun.sessionId)?.turn !== begun.turn) return;
    const endedAt = new Date(now());
    const keptUntil = new Date(Math.max(begun.startedAt.getTime() + KEPT_MS, now() + KEPT_AFTER_END_MS));
    turns.set(begun.sessionId, { ...begun, ...how, endedAt, keptUntil });
  }

  return {
    async run(sessionId, turn, work) {
      prune();
      const outcome = Promise.resolve().then(work);
      const over = outcome.catch(() => {});
      const begun = {
        ...{ sessionId, turn, startedAt: new Date(now()), endedAt: undefined, keptUntil: undefined, over },
        ...{ result: undefined, error: undefined },
      };
      turns.set(sessionId, begun);
      try {
        const result = await outcome;
        end(begun, { result, error: undefined });
        return result;
      } catch (error) {
        end(begun, { result: undefined, error: error instanceof Error ? error.message : String(error) });
        throw error;
      }
    },
    last(sessionId) {
      prune();
      return turns.get(sessionId);
    },
    async ended(sessionId, waitMs, signal) {
      const one = turns.get(sessionId);
      if (!one || one.endedAt !== undefined || waitMs === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        signal.addEventListener('abort', () => resolve(), { once: true });
        void one.over.then(() => resolve());
        void one.over.finally(() => clearTimeout(timer));
      });
    },
  };
}
