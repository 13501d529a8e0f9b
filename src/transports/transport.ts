// What carries the connection to an agent. Every transport keeps this contract, so the proxy does not see which one it has.
import type { Sink, Source } from '../wire/byte-stream.ts';
import type { Unstartable } from './start-error.ts';

/** The peer ran and exited, its connection broke, or it could not be started or reached. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'disconnected'; readonly why: string }
  | ({ readonly kind: 'unstartable' } & Unstartable)
  | ({ readonly kind: 'unreachable' } & Unstartable);

export type Transport = {
  readonly fromAgent: Source;
  readonly toAgent: Sink;
  /** Undefined for a remote agent, and for a program that did not start. */
  readonly pid: number | undefined;
  /** Its last lines. `withinMs`: only those of the last milliseconds, or of the last ones before its exit. */
  stderrTail(withinMs?: number): readonly string[];
  /** Calls back once, also for an exit in the past. */
  onExit(listener: (exit: Exit) => void): void;
  /** Calls back when a remote peer is reached; never for a program. */
  readonly onOpen?: ((listener: () => void) => void) | undefined;
  /** Stops the peer cleanly; resolves when nothing of it is left. */
  stop(): Promise<void>;
  /** Ends the peer at once. */
  kill(): void;
  /** Why the peer's sandbox refuses a path; undefined if it does not. */
  readonly refusal?: ((path: string, isWrite: boolean) => string | undefined) | undefined;
  /** Paths that the peer's sandbox should cover and does not any more. `isThorough` also looks for new ones. */
  readonly uncovered?: ((isThorough: boolean) => readonly string[]) | undefined;
  /** Makes a loopback port of this machine reachable for a peer with a network of its own; calls back when it is. */
  readonly reach?: ((port: number, done: () => void) => void) | undefined;
};

/** Remembers the first exit and reports it once to each listener. */
export function onceExited(): { happened(exit: Exit): void; listen(listener: (exit: Exit) => void): void } {
  let exit: Exit | undefined;
  const listeners: ((exit: Exit) => void)[] = [];
  return {
    happened(how) {
      if (exit) return;
      exit = how;
      for (const listener of listeners) listener(how);
    },
    listen: (listener) => void (exit ? listener(exit) : listeners.push(listener)),
  };
}
