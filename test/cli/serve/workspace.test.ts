// Files that the console serves for its sessions.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHost } from '../../../src/cli/serve/workspace.ts';

function stage() {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-host-'));
  const host = createHost('a-test', () => process.env);
  onTestFinished(async () => {
    await host.stop();
    rmSync(root, { recursive: true, force: true });
  });
  for (const name of ['cwd', 'more', 'other']) {
    mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, name, 'a.txt'), `of ${name}\n`);
  }
  const at = (...names: string[]) => path.join(root, ...names);
  const read = (...names: string[]) => host.serve('s', 'fs/read_text_file', { sessionId: 's', path: at(...names) });
  return { host, at, read };
}
const OUTSIDE = 'outside the session directories';

test('a session reaches files in all of its directories and no others, not even through a link', async () => {
  const { host, at, read } = stage();
  symlinkSync(at('other'), at('more', 'way-out'));
  host.look([at('cwd'), at('more')])('s');
  expect(await read('cwd', 'a.txt')).toEqual({ content: 'of cwd\n' });
  expect(await read('more', 'a.txt')).toEqual({ content: 'of more\n' });
  expect(await host.edit('s', at('more', 'a.txt'), () => 'new\n')).toEqual({ isWritten: true });
  expect(readFileSync(at('more', 'a.txt'), 'utf8')).toBe('new\n');
  await expect(read('other', 'a.txt')).rejects.toThrow(OUTSIDE);
  await expect(read('more', 'way-out', 'a.txt')).rejects.toThrow(OUTSIDE);
  await expect(host.edit('s', at('more', 'way-out', 'a.txt'), () => 'no\n')).rejects.toThrow(OUTSIDE);
  expect(readFileSync(at('other', 'a.txt'), 'utf8')).toBe('of other\n');
});

test('a directory that was replaced by a link after the check cannot be reached', async () => {
  const { host, at, read } = stage();
  const attach = host.look([at('cwd'), at('more')]);
  renameSync(at('more'), at('before'));
  symlinkSync(at('other'), at('more'));
  attach('s');
  await expect(read('more', 'a.txt')).rejects.toThrow(OUTSIDE);
});

test('a session that is not open or has ended has no files', async () => {
  const { host, at, read } = stage();
  await expect(read('cwd', 'a.txt')).rejects.toThrow('not open here');
  host.look([at('cwd')])('s');
  expect(await read('cwd', 'a.txt')).toEqual({ content: 'of cwd\n' });
  host.endOf('s');
  await expect(read('cwd', 'a.txt')).rejects.toThrow('not open here');
});
