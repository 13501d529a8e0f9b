// Replacing a file atomically.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkState } from '../src/cli/doctor/check-state.ts';
import { draftOf, replaceFile } from '../src/private-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-replace-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Makes the next write of this file find the disk full. */
const fullDiskFor = (name: string) => symlinkSync('/dev/full', path.join(dir, draftOf(name)));

test('a file is replaced as a whole and is private', () => {
  const file = path.join(dir, 'x.json');
  replaceFile(file, 'one');
  replaceFile(file, 'two');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777, readdirSync(dir)]).toEqual(['two', 0o600, ['x.json']]);
});

test.runIf(process.platform === 'linux')('on a full disk the file is unchanged, and no temporary file is left', () => {
  const file = path.join(dir, 'x.json');
  replaceFile(file, 'one');
  fullDiskFor('x.json');
  expect(() => replaceFile(file, 'two')).toThrow('ENOSPC');
  expect([readFileSync(file, 'utf8'), readdirSync(dir)]).toEqual(['one', ['x.json']]);
});

test.runIf(process.platform === 'linux')('doctor reports a full disk with advice', async () => {
  fullDiskFor('doctor.probe');
  const [found] = await checkState(dir, 'linux');
  expect(found).toMatchObject({ check: 'state.writable', status: 'problem', what: `the disk of ${dir} is full (ENOSPC)` });
  expect(found?.next).toBe(`free some space (df -h ${dir}), or set SWITCHBOARD_HOME to a writable directory`);
  expect((await checkState(dir, 'linux'))[0]).toMatchObject({ status: 'ok' });
  expect(readdirSync(dir)).toEqual([]);
});
