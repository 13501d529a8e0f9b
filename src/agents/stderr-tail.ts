// The last lines an agent wrote to stderr: what a person wants to see when it failed.
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

const MAX_LINES = 200;
const MAX_LINE_CHARACTERS = 2000;

/** Takes secrets out of text that comes in pieces: passes on what is sure by now, holds back what may be the beginning of one. */
export type Cleaner = { push(text: string): string; pending(): string };

const AS_IT_IS: Cleaner = { push: (text) => text, pending: () => '' };

/** `heard` gets whole lines at once, as they are. What is kept is cleaned before it is cut to length: half a secret would not be known for one. */
export function createStderrTail(
  stderr: Readable,
  clean: Cleaner = AS_IT_IS,
  heard: (line: string) => void = () => {},
): { lines(): readonly string[] } {
  const lines: string[] = [];
  let rest = '';
  let unheard = '';
  stderr.setEncoding('utf8');
  stderr.on('error', () => {});
  stderr.on('data', (text: string) => {
    const said = (unheard + text).split('\n');
    unheard = (said.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
    for (const line of said) heard(shown(line));
    const parts = (rest + clean.push(text)).split('\n');
    rest = (parts.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
    for (const line of parts) lines.push(shown(line));
    if (lines.length > MAX_LINES) lines.splice(0, lines.length - MAX_LINES);
  });
  return {
    lines() {
      const unsure = (rest + clean.pending()).split('\n');
      const last = (unsure.pop() ?? '').slice(-MAX_LINE_CHARACTERS);
      return [...lines, ...unsure.map(shown), ...(last === '' ? [] : [last])].slice(-MAX_LINES);
    },
  };
}

const LAST_WORDS = 200;

/** Of its last lines the one that tells most: not the stack behind an error, nor the version that Node adds. */
export function lastWords(lines: readonly string[]): string | undefined {
  const clean = lines.map((line) => stripVTControlCharacters(line).replace(/\p{Cc}/gu, ' ')).filter((line) => line.trim() !== '');
  const found = clean.findLast((line) => !/^(\s|[\]})]+$|Node\.js v)/.test(line)) ?? clean.at(-1);
  const words = found?.trim();
  return words !== undefined && words.length > LAST_WORDS ? `${words.slice(0, LAST_WORDS - 1)}…` : words;
}

const shown = (line: string): string => line.slice(0, MAX_LINE_CHARACTERS).trimEnd();
