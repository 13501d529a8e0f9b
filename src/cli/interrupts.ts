// Signals to a command that prompts agents. Ctrl-C is a word to the turn; the others are the end.
import type { ChildProcess } from 'node:child_process';
import os from 'node:os';
import { CommandFailure } from './failure.ts';

const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP'];
const codeOf = (signal: NodeJS.Signals): number => 128 + os.constants.signals[signal];

export type Interrupts = {
  /** Rejects when the command is to end; whoever waits then ends in good order. */
  readonly ended: Promise<never>;
  stop(): void;
};

/** `cancel` says whether there was something to cancel that had not been; if not, and with any second signal, everything ends at once. */
export function onInterrupts(cancel: () => boolean, kill: () => void): Interrupts {
  let isEnding = false;
  let end: (failure: CommandFailure) => void = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = reject;
  });
  ended.catch(() => {}); // nobody may be waiting any more
  function atOnce(signal: NodeJS.Signals): never {
    kill();
    process.exit(codeOf(signal));
  }
  const interrupted = () => void (isEnding || !cancel() ? atOnce('SIGINT') : undefined);
  const told = (signal: NodeJS.Signals) => {
    if (isEnding) atOnce(signal);
    isEnding = true;
    end(new CommandFailure(codeOf(signal), `ended by ${signal}`));
  };
  process.on('SIGINT', interrupted);
  for (const signal of ENDING) process.on(signal, told);
  return {
    ended,
    stop() {
      process.off('SIGINT', interrupted);
      for (const signal of ENDING) process.off(signal, told);
    },
  };
}

/**
 * Starts a program that has our terminal: it hears Ctrl-C from there, and may know what to do with it; without one, and what else would end us, it hears from us. We end when it does.
 * We listen before it is there: a signal that came while it is being started would end us alone.
 */
export function startUnderSignals(start: () => ChildProcess): { readonly child: ChildProcess; check(): void; stop(): void } {
  let told: NodeJS.Signals | undefined;
  const pass = (signal: NodeJS.Signals) => {
    told = signal;
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
    /** Throws when it was not left to end by itself. */
    check() {
      const isUnharmed = told === 'SIGINT' && child.exitCode === 0;
      if (told !== undefined && !isUnharmed) throw new CommandFailure(codeOf(told), `ended by ${told}`);
    },
    stop,
  };
}
