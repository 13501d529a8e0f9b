// Creating private directories.
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../src/private-files.ts';

function place(): string {
  const dir = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-dir-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a directory is created private with its parents, and creating it again is no error', () => {
  const root = place();
  const dir = path.join(root, 'a', 'b');
  makeDirectory(dir);
  makeDirectory(dir);
  for (const made of [dir, path.dirname(dir)]) expect(statSync(made).mode & 0o777).toBe(0o700);
});

test('if something else is in its place or nothing can be created, the system error is thrown', () => {
  const file = path.join(place(), 'file');
  writeFileSync(file, '');
  expect(() => makeDirectory(file)).toThrow('EEXIST');
  expect(() => makeDirectory(path.join(file, 'below'))).toThrow('ENOTDIR');
});

test.skipIf(process.platform !== 'linux')('below /proc it fails instead of trying forever', () => {
  expect(() => makeDirectory('/proc/none/below')).toThrow("ENOENT: no such file or directory, mkdir '/proc/none'");
});
