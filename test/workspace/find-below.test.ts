// Looking for a file below a directory: bounded, without links, and again only where something changed.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBelow } from '../../src/workspace/find-below.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-below-'));
  for (const directory of ['src/deep', 'node_modules/x', '.hidden', 'many']) mkdirSync(path.join(root, directory), { recursive: true });
  for (const file of ['src/deep/a.pem', 'node_modules/x/b.pem', '.hidden/c.pem', '.env']) writeFileSync(path.join(root, file), 'x');
  symlinkSync(path.join(root, '.hidden'), path.join(root, 'src', 'link'));
});
afterAll(() => rmSync(root, { recursive: true }));

const endsWith = (end: string) => (file: string) => file.endsWith(end);

test('finds a file in any depth, hidden ones only if they are seen', () => {
  expect(findBelow(root, false, endsWith('a.pem'))).toEqual({ file: path.join(root, 'src/deep/a.pem') });
  expect(findBelow(root, false, endsWith('.env'))).toBeUndefined();
  expect(findBelow(root, true, endsWith('.env'))).toEqual({ file: path.join(root, '.env') });
});

test('leaves out dependencies and what a link leads to', () => {
  expect(findBelow(root, true, endsWith('b.pem'))).toBeUndefined();
  expect(findBelow(path.join(root, 'src'), true, endsWith('c.pem'))).toBeUndefined();
});

test('says what is a link, and which directories it does not look into', () => {
  const seen: string[] = [];
  findBelow(root, true, (file, kind) => {
    seen.push(`${kind} ${path.relative(root, file)}`);
    return false;
  });
  expect(seen.sort()).toEqual(['file .env', 'file .hidden/c.pem', 'file src/deep/a.pem', 'link src/link', 'skipped node_modules']);
});

test('a file, or nothing, holds nothing', () => {
  expect(findBelow(path.join(root, '.env'), true, () => true)).toBeUndefined();
  expect(findBelow(path.join(root, 'absent'), true, () => true)).toBeUndefined();
});

test('notices a new file', () => {
  const directory = path.join(root, 'src');
  expect(findBelow(directory, false, endsWith('new.pem'))).toBeUndefined();
  writeFileSync(path.join(directory, 'new.pem'), 'x');
  // Where the clock of the file system is coarse, the change could fall into the same tick.
  utimesSync(directory, new Date(), new Date(Date.now() + 5000));
  expect(findBelow(directory, false, endsWith('new.pem'))).toEqual({ file: path.join(directory, 'new.pem') });
});

test('gives up where there are too many', () => {
  for (let index = 0; index <= 5000; index++) writeFileSync(path.join(root, 'many', `${index}`), '');
  expect(findBelow(path.join(root, 'many'), false, () => false)).toBe('too many');
});
