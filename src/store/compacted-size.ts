// How long sessions.jsonl was when it was last compacted: its first line says so. That is looked at with every start, and the rest seldom.
import { closeSync, lstatSync, openSync } from 'node:fs';
import { headOf } from './append-lines.ts';

const FIRST = /^\{"compacted":(\d+),"at":"[^"]*"\}\n/;
export const firstLine = (text: string): string =>
  `${JSON.stringify({ compacted: Buffer.byteLength(text), at: new Date().toISOString() })}\n`;
export const isFirstLine = (line: string): boolean => FIRST.test(`${line}\n`);

/** Whether it is long enough, and has doubled since. */
export function isDue(file: string, fromBytes: number): boolean {
  const { size } = lstatSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size < fromBytes) return false;
  const fd = openSync(file, 'r');
  try {
    return size >= 2 * Number(FIRST.exec(headOf(fd))?.[1] ?? 0);
  } finally {
    closeSync(fd);
  }
}
