// Diagnostics: messages about the switchboard itself, by level. One logger, pino, writes them as text to stderr or as JSON lines to `log.file`. It is
// loaded with the first message: a proxy that has nothing to report does without it.
import path from 'node:path';
import type { DestinationStream, Logger } from 'pino';
import { makeDirectory } from '../private-files.ts';
import type { Redactor } from '../redaction/redact.ts';
import { LEVELS, type Level } from '../store/defaults.ts';

export type MessageLevel = Exclude<Level, 'silent'>;

export type Diagnostics = {
  log(level: MessageLevel, message: string, details?: Readonly<Record<string, unknown>>): void;
  readonly level: Level;
  setLevel(level: Level): void;
  /** Resolves when every message is written. */
  close(): Promise<void>;
};

export type DiagnosticsOptions = {
  readonly level: Level;
  readonly file: string | undefined;
  readonly redact: Redactor;
  /** Shows a message to people: on stderr, or to the program that embeds us. */
  readonly notify: (text: string, level: MessageLevel) => void;
};

export function createDiagnostics({ level: first, file, redact, notify }: DiagnosticsOptions): Diagnostics {
  let level = first;
  let logger: Promise<Logger | undefined> | undefined;
  const isOn = (wanted: MessageLevel): boolean => LEVELS.indexOf(wanted) <= LEVELS.indexOf(level);

  const asText = (wanted: string, message: string): string =>
    wanted === 'debug' || wanted === 'trace' ? `${wanted}: ${message}` : message;

  async function open(): Promise<Logger> {
    const { default: pino } = await import('pino');
    const toStderr: DestinationStream = {
      write(line) {
        const { level: number, msg } = JSON.parse(line);
        const label = pino.levels.labels[number] as MessageLevel;
        notify(asText(label, msg), label);
      },
    };
    const toFile = file === undefined ? undefined : await openFile(pino.destination, file).catch(unusable);
    return pino({ level: 'trace', base: { pid: process.pid } }, toFile ?? toStderr);
  }
  /** A log file that cannot be written must not fail a session. */
  function unusable(error: Error): undefined {
    notify(`log.file ${file} cannot be written, so diagnostics go to stderr: ${error.message}`, 'warn');
  }
  /** The program was replaced while it ran, and pino is gone with it. */
  const unloadable = (): undefined => undefined;

  return {
    get level() {
      return level;
    },
    setLevel(next) {
      level = next;
    },
    log(wanted, message, details = {}) {
      if (!isOn(wanted)) return;
      const clean = redact(message);
      logger ??= open().catch(unloadable);
      void logger.then((opened) => (opened ? opened[wanted](details, clean) : notify(asText(wanted, clean), wanted)));
    },
    async close() {
      (await logger)?.flush();
    },
  };
}

type Destination = typeof import('pino').destination;

async function openFile(destination: Destination, file: string): Promise<DestinationStream> {
  makeDirectory(path.dirname(file));
  const opened = destination({ dest: file, append: true, mode: 0o600, sync: true });
  return new Promise((resolve, reject) => {
    opened.on('error', reject);
    opened.on('ready', () => resolve(opened));
  });
}
