// The prompt turns of `run`, and the exit code that tells how they ended.
import type { PromptBlocks } from '../../client/acp-methods.ts';
import type { Client } from '../../client/client.ts';
import { stopReasonOf } from '../../client/sessions.ts';
import type { TurnOutput } from './text-output.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, timeout: 3, unknown: 4, denied: 5, interrupted: 130 } as const;

/** What became of a turn besides its stop reason. */
export type TurnFacts = {
  /** The user pressed Ctrl-C. */
  isInterrupted: boolean;
  /** The policy or a missing answer refused something. */
  isRefused: boolean;
  /** The turn or the agent was ended because of `on_violation`. */
  isViolation: boolean;
  /** The turn was cancelled because of `on_stall`. */
  isStalled: boolean;
};

export const createTurnFacts = (): TurnFacts => ({ isInterrupted: false, isRefused: false, isViolation: false, isStalled: false });

/** The exit code of a turn with this stop reason. */
export function exitCodeOf(stopReason: string, { isInterrupted, isRefused, isViolation, isStalled }: TurnFacts): number {
  const isCancelled = stopReason === 'cancelled';
  if (isInterrupted) return EXIT.interrupted;
  if (isViolation) return EXIT.denied;
  if (isStalled && isCancelled) return EXIT.timeout;
  if (isRefused) return EXIT.denied;
  return isCancelled ? EXIT.failed : EXIT.ok;
}

export type Turns = {
  /** Whether a prompt was sent. */
  hasBegun(): boolean;
  /** Resolves to the exit code. */
  prompt(sessionId: string, blocks: PromptBlocks): Promise<number>;
  /** For Ctrl-C: whether there was a turn to cancel that was not already cancelled. */
  interrupt(): boolean;
};

export function createTurns(client: Client, output: TurnOutput, facts: TurnFacts): Turns {
  let current: string | undefined;
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    async prompt(sessionId, blocks) {
      current = sessionId;
      hasBegun = true;
      Object.assign(facts, createTurnFacts());
      try {
        const stopReason = stopReasonOf(await client.request('session/prompt', { sessionId, prompt: blocks }));
        output.end();
        if (stopReason !== 'end_turn') output.tagged('stopped', stopReason);
        return exitCodeOf(stopReason, facts);
      } finally {
        current = undefined;
      }
    },
    interrupt() {
      if (current === undefined) return false;
      facts.isInterrupted = true;
      client.notify('session/cancel', { sessionId: current });
      current = undefined;
      return true;
    },
  };
}
