// The last lines that an agent wrote to stderr: the first thing people want to see when it fails.
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { withoutControls } from '../control-characters.ts';

const MAX_LINES = 200;
const MAX_LINE_CHARACTERS = 2000;

/** Redacts text that comes in chunks: `push` returns the text that is certain, `pending` the end that may begin a secret. */
export type Cleaner = { push(text: string): string; pending(): string };

const AS_IT_IS: Cleaner = { push: (text) => text, pending: () => '' };

export type StderrTail = {
  /** The last lines. `withinMs`: only those of the last milliseconds, counted back from the exit once the process has exited. */
  lines(withinMs?: number): readonly string[];
  exited(): void;
};

/** `onLine` gets whole lines at once, unredacted. Kept lines are redacted before they are cut: half a secret would not be recognised. */
export function createStderrTail(
  stderr: Readable,
  clean: Cleaner = AS_IT_IS,
  onLine: (line: string) => void = () => {},
  nowMs: () => number = () => performance.now(),
): StderrTail {
  const lines: string[] = [];
  /** When each of them came. */
  const times: number[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  let exitedMs: number | undefined;
  let rest = '';
  let partial = '';
  stderr.setEncoding('utf8');
  stderr.on('error', () => {});
  stderr.on('data', (text: string) => {
    const complete = (partial + text).split('\n');
    partial = (complete.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
    for (const line of complete) onLine(cut(line));
    const parts = (rest + clean.push(text)).split('\n');
    rest = (parts.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
    lastMs = nowMs();
    for (const line of parts) {
      lines.push(cut(line));
      times.push(lastMs);
    }
    if (lines.length > MAX_LINES) for (const list of [lines, times]) list.splice(0, list.length - MAX_LINES);
  });
  return {
    lines(withinMs = Number.POSITIVE_INFINITY) {
      const sinceMs = (exitedMs ?? nowMs()) - withinMs;
      if (lastMs < sinceMs) return [];
      const unsure = (rest + clean.pending()).split('\n');
      const last = (unsure.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
      const recent = lines.slice(times.filter((ms) => ms < sinceMs).length);
      return [...recent, ...unsure.map(cut), ...(last === '' ? [] : [last])].slice(-MAX_LINES);
    },
    exited() {
      exitedMs ??= nowMs();
    },
  };
}

const MAX_SUMMARY = 200;

/** The most informative of the last lines: not a stack frame, nor the version line that Node adds. */
export function summaryLine(lines: readonly string[]): string | undefined {
  const clean = lines.map((line) => withoutControls(stripVTControlCharacters(line))).filter((line) => line.trim() !== '');
  const found = clean.findLast((line) => !/^(\s|[\]})]+$|Node\.js v)/.test(line)) ?? clean.at(-1);
  const line = found?.trim();
  return line !== undefined && line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY - 1)}…` : line;
}

const cut = (line: string): string => line.slice(0, MAX_LINE_CHARACTERS).trimEnd();
