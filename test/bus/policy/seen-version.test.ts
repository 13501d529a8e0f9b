// The highest version of a bundle outlives the process, and what cannot be read or written is not guessed.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { seenVersions } from '../../../src/bus/policy/seen-version.ts';
import { draftOf } from '../../../src/private-files.ts';
import { removeDirectory } from '../../remove-directory.ts';

function temporaryDirectory(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-bundle-'));
  onTestFinished(() => removeDirectory(dir));
  return dir;
}
const seen = (version: number) => ({ version, sha256: `of-${version}` });

test('is remembered for each tenant, and never falls', () => {
  const dir = path.join(temporaryDirectory(), 'state');
  expect(seenVersions(dir, 'a').highest()).toBeUndefined();
  seenVersions(dir, 'a').raise(seen(7));
  seenVersions(dir, 'b').raise(seen(3));
  seenVersions(dir, 'a').raise(seen(6));
  seenVersions(dir, 'a').raise({ version: 7, sha256: 'another' });
  expect([seenVersions(dir, 'a').highest(), seenVersions(dir, 'b').highest()]).toEqual([seen(7), seen(3)]);
});

test('a damaged file is an error, and so is one that cannot be read or written', () => {
  const dir = temporaryDirectory();
  const file = path.join(dir, 'policy-bundles.json');
  for (const text of ['', '{"a":7}', '{"a":']) {
    writeFileSync(file, text);
    expect(() => seenVersions(dir, 'a').highest()).toThrow(`${file} is damaged`);
    expect(() => seenVersions(dir, 'a').raise(seen(1))).toThrow(`${file} is damaged`);
  }
  const other = temporaryDirectory();
  mkdirSync(path.join(other, 'policy-bundles.json'));
  expect(() => seenVersions(other, 'a').highest()).toThrow('cannot be read (EISDIR)');
  const taken = path.join(temporaryDirectory(), 'file');
  writeFileSync(taken, '');
  expect(() => seenVersions(path.join(taken, 'below'), 'a').highest()).toThrow('cannot be read (ENOTDIR)');
  const full = temporaryDirectory();
  mkdirSync(draftOf(path.join(full, 'policy-bundles.json')));
  expect(() => seenVersions(full, 'a').raise(seen(1))).toThrow('cannot be written (EISDIR)');
});
