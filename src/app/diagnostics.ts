// What the switchboard has to say about itself, by level: words on stderr, or JSON lines in a file by way of pino, which is loaded with
// the first of them and not before.
import path from 'node:path';
import type { Logger } from 'pino';
import { makeDirectory } from '../private-files.ts';
import type { Redactor } from '../redaction/redact.ts';
import { LEVELS, type Level } from '../store/defaults.ts';

export type MessageLevel = Exclude<Level, 'silent'>;

export type Diagnostics = {
  say(level: MessageLevel, text: string, about?: Readonly<Record<string, unknown>>): void;
  readonly level: Level;
  setLevel(level: Level): void;
  /** Everything is where it belongs. */
  close(): Promise<void>;
};

export type DiagnosticsOptions = {
  readonly level: Level;
  readonly file: string | undefined;
  readonly redact: Redactor;
  /** Words for people. */
  readonly words: (text: string) => void;
};

export function createDiagnostics({ level: first, file, redact, words }: DiagnosticsOptions): Diagnostics {
  let level = first;
  let logger: Promise<Logger | undefined> | undefined;
  const isOn = (wanted: MessageLevel): boolean => LEVELS.indexOf(wanted) <= LEVELS.indexOf(level);

  /** A file that cannot be written must not cost anybody a session. */
  function unusable(error: Error): undefined {
    words(`log.file ${file} cannot be written, so diagnostics go to stderr: ${error.message}`);
  }
  async function open(to: string): Promise<Logger | undefined> {
    const { default: pino } = await import('pino');
    makeDirectory(path.dirname(to));
    const destination = pino.destination({ dest: to, append: true, mode: 0o600, sync: true });
    return new Promise((resolve) => {
      destination.on('error', (error: Error) => resolve(unusable(error)));
      destination.on('ready', () => resolve(pino({ level: 'trace', base: { pid: process.pid } }, destination)));
    });
  }
  const toWords = (wanted: MessageLevel, text: string): void =>
    words(wanted === 'debug' || wanted === 'trace' ? `${wanted}: ${text}` : text);

  return {
    get level() {
      return level;
    },
    setLevel(next) {
      level = next;
    },
    say(wanted, text, about = {}) {
      if (!isOn(wanted)) return;
      const clean = redact(text);
      if (file === undefined) return toWords(wanted, clean);
      logger ??= open(file).catch(unusable);
      void logger.then((opened) => {
        if (opened) opened[wanted](about, clean);
        else toWords(wanted, clean);
      });
    },
    async close() {
      (await logger)?.flush();
    },
  };
}
