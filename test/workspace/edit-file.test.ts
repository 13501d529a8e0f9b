// Editing a file: inside the directories, and never over another program's change.
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ProxyError } from '../../src/errors.ts';
import { createDescriptors } from '../../src/workspace/descriptors.ts';
import { type Edit, editTextFile } from '../../src/workspace/edit-file.ts';
import type { Roots } from '../../src/workspace/roots.ts';
import { createSandbox, SECRET } from './sandbox.ts';

const edit = (roots: Roots, file: string, by: Edit, evaluatedPath?: string) =>
  editTextFile(createDescriptors(), roots, file, by, evaluatedPath).then(
    ({ isWritten }) => (isWritten ? 'written' : 'left'),
    (error) => (error instanceof ProxyError ? error.key : Promise.reject(error)),
  );

describe('an edit', () => {
  test('receives the text and replaces it, keeping the mode', async () => {
    const { at, roots } = createSandbox();
    writeFileSync(at('root/run.sh'), 'one\n', { mode: 0o755 });
    expect(await edit(roots, at('root/run.sh'), (text) => `${text}two\n`)).toBe('written');
    expect(readFileSync(at('root/run.sh'), 'utf8')).toBe('one\ntwo\n');
    expect(statSync(at('root/run.sh')).mode & 0o777).toBe(0o755);
  });

  test('of a missing file creates it, with its directories', async () => {
    const { at, roots } = createSandbox();
    expect(await edit(roots, at('root/new/deep.txt'), (text) => String(text))).toBe('written');
    expect(readFileSync(at('root/new/deep.txt'), 'utf8')).toBe('undefined');
  });

  test('that changes nothing, or fails, writes nothing', async () => {
    const { at, roots } = createSandbox();
    const before = statSync(at('root/a.txt'), { bigint: true }).mtimeNs;
    expect(await edit(roots, at('root/a.txt'), () => undefined)).toBe('left');
    expect(await edit(roots, at('root/a.txt'), () => '\ud800')).toBe('PARAMS');
    expect(statSync(at('root/a.txt'), { bigint: true }).mtimeNs).toBe(before);
    expect(readdirSync(at('root')).sort()).toEqual(['a.txt', 'sub']);
  });

  test('reaches nothing outside, by name or by link, nor another path than the evaluated one', async () => {
    const { at, roots } = createSandbox();
    symlinkSync(at('outside/a.txt'), at('root/link'));
    symlinkSync(at('root/sub/b.txt'), at('root/inner'));
    for (const file of ['outside/a.txt', 'root/link', 'root-evil/a.txt', 'root/../outside/a.txt'])
      expect(await edit(roots, at(file), () => 'mine')).toBe('PATH_OUTSIDE');
    expect(await edit(roots, at('root/inner'), () => 'mine', at('root/a.txt'))).toBe('PATH_MOVED');
    expect(readFileSync(at('outside/a.txt'), 'utf8')).toBe(SECRET);
    expect(readFileSync(at('root/sub/b.txt'), 'utf8')).toBe('inside');
  });

  test.each<[string, (at: (name: string) => string) => void]>([
    ['written to', (at) => writeFileSync(at('root/a.txt'), 'theirs')],
    ['touched', (at) => utimesSync(at('root/a.txt'), 1, 1)],
  ])('does not replace a file that was %s meanwhile', async (_, meddle) => {
    const { at, roots } = createSandbox();
    const key = await edit(roots, at('root/a.txt'), () => {
      meddle(at);
      return 'mine';
    });
    expect(key).toBe('FILE_CHANGED');
    expect(readFileSync(at('root/a.txt'), 'utf8')).not.toBe('mine');
    expect(readdirSync(at('root')).sort()).toEqual(['a.txt', 'sub']);
  });

  test('does not replace a file that another program created in the meantime', async () => {
    const { at, roots } = createSandbox();
    const make = () => {
      writeFileSync(at('root/new.txt'), 'theirs');
      return 'mine';
    };
    expect(await edit(roots, at('root/new.txt'), make)).toBe('FILE_CHANGED');
    expect(readFileSync(at('root/new.txt'), 'utf8')).toBe('theirs');
  });

  test.each<[string, (at: (name: string) => string) => void, string]>([
    ['a directory', (at) => mkdirSync(at('root/odd')), 'FILE_UNUSABLE'],
    ['no UTF-8', (at) => writeFileSync(at('root/odd'), Buffer.from([0xff, 0xfe])), 'FILE_UNUSABLE'],
    ['too large', (at) => writeFileSync(at('root/odd'), 'x'.repeat(5 * 1024 * 1024 + 1)), 'FILE_TOO_LARGE'],
    ['a file with another name', (at) => linkSync(at('outside/a.txt'), at('root/odd')), 'FILE_UNUSABLE'],
  ])('of %s is refused', async (_, make, key) => {
    const { at, roots } = createSandbox();
    make(at);
    expect(await edit(roots, at('root/odd'), () => 'mine')).toBe(key);
    expect(existsSync(at('root/odd'))).toBe(true);
    expect(readFileSync(at('outside/a.txt'), 'utf8')).toBe(SECRET);
  });
});
