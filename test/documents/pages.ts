// The pages that users read, and what is in them.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

const inDocs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));

/** Everything under `docs/` but the decisions. */
export const pages = inDocs.filter((file) => !file.startsWith('decisions')).map((file) => path.join('docs', file));
export const decisions = inDocs.filter((file) => file.startsWith('decisions')).map((file) => path.join('docs', file));
export const frontPages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md'];

export const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');

export type Snippet = { readonly file: string; readonly line: number; readonly language: string; readonly code: string };

/** The fenced blocks of a page. */
export function snippetsOf(file: string): Snippet[] {
  const text = textOf(file);
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(({ index, 1: language = '', 2: code = '' }) => ({
    file,
    line: text.slice(0, index).split('\n').length,
    language,
    code,
  }));
}

/** The text without its fenced blocks. */
export const proseOf = (file: string): string => textOf(file).replace(/^```\w*\n.*?^```$/gms, '');

/** Splits a command line as a shell does, up to the first operator or comment. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, single, double, bare = ''] of line.matchAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|(\S+)/g)) {
    if (single === undefined && double === undefined && /^(?:[|&;#<>].*|\d?>.*)$/.test(bare)) break;
    words.push(single ?? double ?? bare);
  }
  return words;
}
