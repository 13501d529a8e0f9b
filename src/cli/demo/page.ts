// Prints the tour: plain lines, in colour on a terminal that supports it, and slowly enough for a person to read.
import { setTimeout as delay } from 'node:timers/promises';
import { createSerialQueue } from '../../serial-queue.ts';
import { createPaint, type Paint } from '../run/paint.ts';

export type Page = {
  title(text: string): void;
  heading(text: string): void;
  /** A line of the current step, with a mark for its subject. */
  line(mark: string, text: string): void;
  /** A line of a diff. */
  diff(sign: '+' | '-' | ' ', text: string): void;
  plain(text: string): void;
  /** A command to type, and what it is for. */
  command(line: string, what: string): void;
  /** Resolves when everything is printed and there was time to read it. */
  shown(): Promise<void>;
};

export type PageOptions = {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Whether lines appear one by one, with a pause after each step. */
  readonly isPaced: boolean;
  readonly signal: AbortSignal;
};

const LINE_MS = 110;
const REST_MS = 1900;
/** Some terminals report a width of 0. */
const UNKNOWN_COLUMNS = 80;
const MARK_WIDTH = 10;
const INDENT = '   ';

const MARKS: Readonly<Record<string, keyof Omit<Paint, 'foreign'>>> = {
  sketcher: 'cyan',
  builder: 'yellow',
  allow: 'green',
  ask: 'yellow',
  deny: 'red',
  you: 'bold',
  'kill -9': 'red',
  error: 'red',
};

export function createPage({ write, isTerminal, columns, env, isPaced, signal }: PageOptions): Page {
  const paint = createPaint(isTerminal, env);
  let step = 0;
  const lines = createSerialQueue();

  function put(text: string): void {
    if (signal.aborted) return;
    if (!isPaced) return write(`${text}\n`);
    const written = lines.run(() => {
      if (!signal.aborted) write(`${text}\n`);
      return delay(LINE_MS, undefined, { signal });
    });
    written.catch(() => {}); // interrupted; `shown` reports it
  }

  const body = (mark: string, text: string, colour: (text: string) => string = (plain) => plain) => {
    const room = (columns || UNKNOWN_COLUMNS) - INDENT.length - MARK_WIDTH - 1;
    const isTooLong = isTerminal && text.length > room;
    put(`${INDENT}${mark}${colour(isTooLong ? `${text.slice(0, room - 1)}…` : text)}`);
  };

  return {
    title: (text) => put(paint.bold(text)),
    heading(text) {
      step += 1;
      put(`\n${paint.bold(`${step}. ${text}`)}`);
    },
    line: (mark, text) => body(paint[MARKS[mark] ?? 'dim'](mark.padEnd(MARK_WIDTH)), paint.foreign(text)),
    diff: (sign, text) =>
      body(' '.repeat(MARK_WIDTH), `${sign} ${paint.foreign(text)}`, sign === '+' ? paint.green : sign === '-' ? paint.red : paint.dim),
    plain: (text) => put(text),
    command: (line, what) => put(`${INDENT}${paint.cyan(line)}  ${paint.dim(what)}`),
    async shown() {
      if (isPaced) await lines.run(() => delay(REST_MS, undefined, { signal }));
    },
  };
}
