// A session's directories in a temporary place: `root` is served, `outside` and `root-evil` next to it hold secrets.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { ProxyError } from '../../src/errors.ts';
import { createDescriptors, type Descriptors } from '../../src/workspace/descriptors.ts';
import { readTextFile } from '../../src/workspace/read-file.ts';
import { type Roots, rootsOf } from '../../src/workspace/roots.ts';
import { writeTextFile } from '../../src/workspace/write-file.ts';

export const SECRET = 'the secret';

export function createSandbox() {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-jail-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const at = (...names: readonly string[]) => path.join(base, ...names);
  for (const name of ['root', 'root/sub', 'outside', 'outside/sub', 'root-evil']) mkdirSync(at(name));
  writeFileSync(at('root/a.txt'), 'inside');
  writeFileSync(at('root/sub/b.txt'), 'inside');
  for (const name of ['outside/a.txt', 'outside/sub/b.txt', 'root-evil/a.txt']) writeFileSync(at(name), SECRET);
  const roots = rootsOf([at('root')]);
  return {
    at,
    roots,
    /** The text, or the key of the error. */
    read: (file: string, more: object = {}, own: Roots = roots, by?: Descriptors) => read({ path: file, ...more }, own, by),
    write: (file: string, content: unknown = 'new', own: Roots = roots, by?: Descriptors) => write({ path: file, content }, own, by),
  };
}

const read = (params: object, roots: Roots, by = createDescriptors()): Promise<string> =>
  readTextFile(by, roots, params).then(({ content }) => content, keyOf);

const write = (params: object, roots: Roots, by = createDescriptors()): Promise<string> =>
  writeTextFile(by, roots, params).then((answer) => JSON.stringify(answer), keyOf);

function keyOf(error: unknown): string {
  if (error instanceof ProxyError) return error.key;
  throw error;
}
