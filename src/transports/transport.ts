// What carries the connection to an agent. Every transport keeps this contract, so the proxy does not see which one it has.
import type { Readable, Writable } from 'node:stream';
import type { Unstartable } from './start-error.ts';

/** The peer ran and exited, or it could not be started. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | ({ readonly kind: 'unstartable' } & Unstartable);

export type Transport = {
  readonly fromAgent: Readable;
  readonly toAgent: Writable;
  readonly pid: number | undefined;
  stderrTail(): readonly string[];
  /** Calls back once, also for an exit in the past. */
  onExit(listener: (exit: Exit) => void): void;
  /** Stops the peer cleanly; resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Ends the peer at once. */
  kill(): void;
};
