// Signals for commands that prompt agents: Ctrl-C cancels the turn, other signals end the command.
import type { ChildProcess } from 'node:child_process';
import os from 'node:os';
import { CommandFailure } from './failure.ts';

const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];
const codeOf = (signal: NodeJS.Signals): number => 128 + os.constants.signals[signal];

export type Interrupts = {
  /** Rejects when the command must end, so that it can shut down cleanly. */
  readonly ended: Promise<never>;
  stop(): void;
};

/** `cancel` returns whether it cancelled a turn. If it did not, or on a second signal, everything ends at once. */
export function onInterrupts(cancel: () => boolean, kill: () => void): Interrupts {
  let isEnding = false;
  let end: (failure: CommandFailure) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  ended.catch(() => {}); // there may be no listener
  function atOnce(signal: NodeJS.Signals): never {
    kill();
    process.exit(codeOf(signal));
  }
  const interrupted = () => void (isEnding || !cancel() ? atOnce('SIGINT') : undefined);
  const onSignal = (signal: NodeJS.Signals) => {
    if (isEnding) atOnce(signal);
    isEnding = true;
    end(new CommandFailure(codeOf(signal), `ended by ${signal}`));
  };
  process.on('SIGINT', interrupted);
  for (const signal of ENDING) process.on(signal, onSignal);
  return {
    ended,
    stop() {
      process.off('SIGINT', interrupted);
      for (const signal of ENDING) process.off(signal, onSignal);
    },
  };
}

/**
 * Starts a program that uses our terminal. The terminal sends Ctrl-C to it directly; we forward other signals, and Ctrl-C without a terminal.
 * Handlers are installed first, so that a signal during the start does not end only us.
 */
export function startUnderSignals(start: () => ChildProcess): { readonly child: ChildProcess; check(): void; stop(): void } {
  let received: NodeJS.Signals | undefined;
  const pass = (signal: NodeJS.Signals) => {
    received = signal;
    if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', ...ENDING];
  for (const signal of signals) process.on(signal, pass);
  const stop = () => {
    for (const signal of signals) process.off(signal, pass);
  };
  let child: ChildProcess;
  try {
    child = start();
  } catch (error) {
    stop();
    throw error;
  }
  return {
    child,
    /** Throws if a signal ended the program. */
    check() {
      const isUnharmed = received === 'SIGINT' && child.exitCode === 0;
      if (received !== undefined && !isUnharmed) throw new CommandFailure(codeOf(received), `ended by ${received}`);
    },
    stop,
  };
}
