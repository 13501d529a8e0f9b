// Resolving symlinks of paths that may not exist.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { canonicalPath } from '../../src/workspace/canonical.ts';

let base = '';
const at = (...names: string[]) => path.join(base, ...names);

beforeAll(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-canonical-')));
  for (const name of ['project', 'project/src', 'outside']) mkdirSync(at(name));
  writeFileSync(at('project/src/a.ts'), '');
  writeFileSync(at('outside/b.ts'), '');
  symlinkSync(at('outside'), at('project/away'));
  symlinkSync('../outside/b.ts', at('project/b'));
  symlinkSync('src', at('project/sources'));
  symlinkSync(at('outside/new.ts'), at('project/dangling'));
  symlinkSync('../../outside/other/new.ts', at('project/src/dangling'));
  symlinkSync('dangling', at('project/chain'));
  symlinkSync('away/../project/new.ts', at('project/dotted'));
  symlinkSync('away/../elsewhere.ts', at('project/dotted-out'));
  symlinkSync('circle-b', at('project/circle-a'));
  symlinkSync('circle-a', at('project/circle-b'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

test.each([
  ['a plain file is itself', 'project/src/a.ts', 'project/src/a.ts'],
  ['a link to a file is the file', 'project/b', 'outside/b.ts'],
  ['a link to a directory is looked through', 'project/sources/a.ts', 'project/src/a.ts'],
  ['a missing file lies in the real directory', 'project/away/new/deep.ts', 'outside/new/deep.ts'],
  ['a missing directory is taken as it is named', 'project/x/y/z', 'project/x/y/z'],
  ['a name behind a file is taken as it is named', 'project/src/a.ts/x', 'project/src/a.ts/x'],
  ['a link that leads nowhere is what it names: a write would create that', 'project/dangling', 'outside/new.ts'],
  ['likewise when it is relative', 'project/src/dangling', 'outside/other/new.ts'],
  ['likewise by way of a link to its directory', 'project/sources/dangling', 'outside/other/new.ts'],
  ['likewise when a link leads to it', 'project/chain', 'outside/new.ts'],
  ['".." in a link counts from where the name before it leads', 'project/dotted', 'project/new.ts'],
  ['also when it leads out', 'project/dotted-out', 'elsewhere.ts'],
  ['likewise with names behind it', 'project/dangling/x', 'outside/new.ts/x'],
  ['a link that is reached by way of a missing name is followed', 'project/none/../b', 'outside/b.ts'],
  ['also one that leads nowhere', 'project/none/deeper/../../dangling', 'outside/new.ts'],
])('%s', (_, file, expected) => {
  expect(canonicalPath(`${base}/${file}`)).toBe(at(expected)); // as written, including `..`
});

test('a deep missing path needs only a few lookups', () => {
  const deep = Array(1900).fill('x').join('/');
  for (let n = 0; n < 200; n++) expect(canonicalPath(`${at('project')}/${n}/${deep}`)).toBe(`${at('project')}/${n}/${deep}`);
});

test('a path that no system accepts has no canonical path', () => {
  expect(() => canonicalPath(at('x'.repeat(5000)))).toThrow(/ENAMETOOLONG/);
});

test('links in a circle are an error', () => {
  expect(() => canonicalPath(at('project/circle-a'))).toThrow(/ELOOP/);
  expect(() => canonicalPath(at('project/circle-a/x'))).toThrow(/ELOOP/);
});
