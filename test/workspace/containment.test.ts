// No path, link or race leads outside the session's directories.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProxyError } from '../../src/errors.ts';
import { type Descriptors, elsewhere, linux, type Open } from '../../src/workspace/descriptors.ts';
import { readTextFile } from '../../src/workspace/read-file.ts';
import { rootsOf } from '../../src/workspace/roots.ts';
import { writeTextFile } from '../../src/workspace/write-file.ts';
import { createSandbox, SECRET } from './sandbox.ts';

type Sandbox = ReturnType<typeof createSandbox>;

/** The same list of cases for both ways of finding the path of a descriptor. */
const WAYS: readonly (readonly [string, (opens?: Open) => Descriptors])[] = [
  ['by descriptor', (opens = open) => linux(opens)],
  ['by path, where descriptors have none', (opens = open) => elsewhere(opens)],
];

/** Nothing outside was changed or added. */
function expectOutsideUntouched({ at }: Sandbox): void {
  for (const file of ['outside/a.txt', 'outside/sub/b.txt', 'root-evil/a.txt']) expect(readFileSync(at(file), 'utf8')).toBe(SECRET);
  expect(readdirSync(at('outside')).sort()).toEqual(['a.txt', 'sub']);
  expect(readdirSync(at('outside/sub'))).toEqual(['b.txt']);
  expect(readdirSync(at('root-evil'))).toEqual(['a.txt']);
}

describe.each(existsSync('/proc/self/fd') ? WAYS : WAYS.slice(1))('%s', (_, way) => {
  const by = way();

  test.each<[string, (sandbox: Sandbox) => string]>([
    ['a path next to the root', ({ at }) => at('outside/a.txt')],
    ['a path that only begins like the root', ({ at }) => at('root-evil/a.txt')],
    ['".."', ({ at }) => `${at('root')}/../outside/a.txt`],
    ['".." from below', ({ at }) => `${at('root/sub')}/../../outside/a.txt`],
    ['".." behind a name that is not there', ({ at }) => `${at('root')}/no/../../outside/a.txt`],
    ['doubled slashes and dots', ({ at }) => `/${at('root')}//.//..///outside/./a.txt`],
    ['the root of this process', ({ at }) => `/proc/self/root${at('outside/a.txt')}`],
    ['the working directory of this process', () => '/proc/self/cwd/package.json'],
    ['the environment of this process', () => '/proc/self/environ'],
    ['a descriptor of this process', () => '/dev/fd/0'],
    ['a device', () => '/dev/zero'],
    ['the parent of the root', ({ at }) => at()],
  ])('%s is outside', async (_, file) => {
    const sandbox = createSandbox();
    expect(await sandbox.read(file(sandbox), {}, sandbox.roots, by)).toBe('PATH_OUTSIDE');
    expect(await sandbox.write(file(sandbox), 'mine', sandbox.roots, by)).toBe('PATH_OUTSIDE');
    expectOutsideUntouched(sandbox);
  });

  test('existing and missing files outside cannot be distinguished', async () => {
    const { at, read, roots } = createSandbox();
    symlinkSync(at('outside/none.txt'), at('root/to-none'));
    symlinkSync(at('outside/a.txt'), at('root/to-one'));
    for (const name of ['to-none', 'to-one']) expect(await read(at('root', name), {}, roots, by)).toBe('PATH_OUTSIDE');
    for (const name of ['none.txt', 'a.txt']) expect(await read(at('outside', name), {}, roots, by)).toBe('PATH_OUTSIDE');
  });

  test.each<[string, (sandbox: Sandbox) => string]>([
    ['to a file, absolute', ({ at }) => link(at('outside/a.txt'), at('root/link'))],
    ['to a file, relative', ({ at }) => link('../outside/a.txt', at('root/link'))],
    ['to a directory', ({ at }) => path.join(link(at('outside'), at('root/link')), 'a.txt')],
    ['to a directory, in the middle', ({ at }) => path.join(link('../outside', at('root/link')), 'sub/b.txt')],
    ['to the parent of the root', ({ at }) => path.join(link('..', at('root/link')), 'outside/a.txt')],
    ['to the system root', ({ at }) => path.join(link('/', at('root/link')), at('outside/a.txt'))],
    ['to this process', ({ at }) => path.join(link('/proc/self/root', at('root/link')), at('outside/a.txt'))],
    ['to a link', ({ at }) => link(link('../outside/a.txt', at('root/first')), at('root/link'))],
    ['to a file that is not there', ({ at }) => link(at('outside/new.txt'), at('root/link'))],
    ['to a link to a file that is not there', ({ at }) => link(link('../outside/new.txt', at('root/first')), at('root/link'))],
    ['to a directory, and a file that is not there', ({ at }) => path.join(link('../outside', at('root/link')), 'new/new.txt')],
    ['with ".." behind a link', ({ at }) => link('away/../root-evil/a.txt', path.join(link(at('outside'), at('root/away')), '../link'))],
  ])('a link %s leads outside', async (_, file) => {
    const sandbox = createSandbox();
    const named = file(sandbox);
    expect(await sandbox.read(named, {}, sandbox.roots, by)).toBe('PATH_OUTSIDE');
    expect(await sandbox.write(named, 'mine', sandbox.roots, by)).toBe('PATH_OUTSIDE');
    expectOutsideUntouched(sandbox);
  });

  test('links that stay inside are followed, and stay links', async () => {
    const { at, read, write, roots } = createSandbox();
    symlinkSync('sub', at('root/dir'));
    symlinkSync(at('root/sub/b.txt'), at('root/file'));
    symlinkSync('sub/new.txt', at('root/dangling'));
    expect(await read(at('root/dir/b.txt'), {}, roots, by)).toBe('inside');
    expect(await read(at('root/file'), {}, roots, by)).toBe('inside');
    expect(await write(at('root/file'), 'through a link', roots, by)).toBe('{}');
    expect(await write(at('root/dangling'), 'made', roots, by)).toBe('{}');
    expect(readFileSync(at('root/sub/b.txt'), 'utf8')).toBe('through a link');
    expect(readFileSync(at('root/sub/new.txt'), 'utf8')).toBe('made');
    expect(await read(at('root/dangling'), {}, roots, by)).toBe('made');
  });

  test('a loop of links is an error', async () => {
    const { at, read, write, roots } = createSandbox();
    symlinkSync('b', at('root/a'));
    symlinkSync('a', at('root/b'));
    for (const file of [at('root/a'), at('root/a/x')]) {
      expect(await read(file, {}, roots, by)).toBe('FILE_UNUSABLE');
      expect(await write(file, 'x', roots, by)).toBe('FILE_UNUSABLE');
    }
  });

  test('a link that replaces a directory just before it is opened is not followed', async () => {
    for (const target of ['outside', 'outside/sub', 'root-evil']) {
      const sandbox = createSandbox();
      const { at, read, write, roots } = sandbox;
      const swap = once(() => {
        renameSync(at('root/sub'), at('root/was'));
        symlinkSync(at(target), at('root/sub'));
      });
      const file = at('root/sub', target === 'outside/sub' ? 'b.txt' : 'a.txt');
      writeFileSync(file, 'inside');
      const raced = way(swap.before(open));
      expect(await read(file, {}, roots, raced)).toBe('PATH_OUTSIDE');
      swap.again(() => {
        rmSync(at('root/sub'));
        renameSync(at('root/was'), at('root/sub'));
      });
      expect(await write(file, 'mine', roots, raced)).toMatch(/PATH_OUTSIDE|FILE_MISSING|FILE_UNUSABLE/);
      expectOutsideUntouched(sandbox);
    }
  });

  test('a link that replaces a file just before it is opened is not followed', async () => {
    const sandbox = createSandbox();
    const { at, read, roots } = sandbox;
    const swap = once(() => {
      rmSync(at('root/a.txt'));
      symlinkSync(at('outside/a.txt'), at('root/a.txt'));
    });
    expect(await read(at('root/a.txt'), {}, roots, way(swap.before(open)))).toBe('FILE_UNUSABLE');
  });

  test('a directory that is moved out while it is open is not written to', async () => {
    const sandbox = createSandbox();
    const { at, write, roots } = sandbox;
    const moved = once(() => renameSync(at('root/sub'), at('moved')));
    expect(await write(at('root/sub/b.txt'), 'mine', roots, way(moved.after(open)))).toMatch(/PATH_OUTSIDE|FILE_MISSING/);
    expect(readFileSync(at('moved/b.txt'), 'utf8')).toBe('inside');
    expectOutsideUntouched(sandbox);
  });

  test('the opened path is the one the policy evaluated, even if a link changes in between', async () => {
    const { at, roots } = createSandbox();
    const keyOf = (error: ProxyError) => error.key;
    symlinkSync('a.txt', at('root/link'));
    mkdirSync(at('root/dir'));
    symlinkSync('dir', at('root/way'));
    const [file, nested] = [at('root/link'), at('root/way/new/x')];
    const read = (evaluatedPath: string) => readTextFile(by, roots, { path: file }, evaluatedPath).then(({ content }) => content, keyOf);
    const write = (evaluatedPath: string) =>
      writeTextFile(by, roots, { path: nested, content: 'x' }, evaluatedPath).then(() => 'written', keyOf);
    expect(await read(at('root/a.txt'))).toBe('inside');
    expect(await read(at('root/sub/b.txt'))).toBe('PATH_MOVED');
    expect(await read(at('outside/a.txt'))).toBe('PATH_MOVED');
    expect(await write(at('root/sub/new/x'))).toBe('PATH_MOVED');
    expect(await write(at('root/dir/new/y'))).toBe('PATH_MOVED');
    expect(existsSync(at('root/dir/new'))).toBe(false);
    expect(await write(at('root/dir/new/x'))).toBe('written');
    expect(await write(at('root/dir/new/x'))).toBe('written');
    expect(readFileSync(at('root/dir/new/x'), 'utf8')).toBe('x');
  });

  test('a link that changes between the last check and the open is not followed', async () => {
    const { at, roots } = createSandbox();
    const swap = once(() => {
      renameSync(at('root/sub'), at('root/was'));
      symlinkSync('.', at('root/sub'));
    });
    writeFileSync(at('root/b.txt'), 'denied');
    const file = at('root/sub/b.txt');
    const raced = readTextFile(way(swap.before(open)), roots, { path: file }, file);
    await expect(raced).rejects.toMatchObject({ key: expect.stringMatching(/PATH_MOVED|PATH_OUTSIDE/) });
  });

  test('a file that is replaced while it is opened is read as it was', async () => {
    const { at, roots, read } = createSandbox();
    const replaced = once(() => {
      writeFileSync(at('root/new'), 'new');
      renameSync(at('root/new'), at('root/a.txt'));
    });
    const outcome = await read(at('root/a.txt'), {}, roots, way(replaced.after(open)));
    expect(outcome).toMatch(/inside|PATH_OUTSIDE/); // by path it is another file by then, and is refused
  });

  test('the root itself, directories, FIFOs, sockets and devices are not files, and opening them never blocks', async () => {
    const { at, read, write, roots } = createSandbox();
    execFileSync('mkfifo', [at('root/fifo')]);
    const server = net.createServer().listen(at('root/socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    for (const name of ['', 'sub', 'fifo', 'socket']) {
      expect(await read(at('root', name), {}, roots, by)).toBe('FILE_UNUSABLE');
      expect(await write(at('root', name), 'x', roots, by)).toBe('FILE_UNUSABLE');
    }
    expect(await read(`${at('root')}/`, {}, roots, by)).toBe('FILE_UNUSABLE');
    for (const name of ['a.txt/', 'new/']) expect(await write(`${at('root')}/${name}`, 'x', roots, by)).toBe('FILE_UNUSABLE');
    expect(await read(`${at('root')}/a.txt/`, {}, roots, by)).toBe('FILE_UNUSABLE');
    expect(statSync(at('root/fifo')).isFIFO()).toBe(true);
  });

  test('a hard link can be read but is not written to, because its other name may be outside', async () => {
    const sandbox = createSandbox();
    const { at, read, write, roots } = sandbox;
    linkSync(at('outside/a.txt'), at('root/hard'));
    expect(await read(at('root/hard'), {}, roots, by)).toBe(SECRET);
    expect(await write(at('root/hard'), 'mine', roots, by)).toBe('FILE_UNUSABLE');
    expectOutsideUntouched(sandbox);
  });

  test('a root that is a link stays the directory it pointed to when the session was opened', async () => {
    const sandbox = createSandbox();
    const { at, read, write } = sandbox;
    symlinkSync('root', at('cwd'));
    const roots = rootsOf([at('cwd')]);
    expect(await read(at('cwd/a.txt'), {}, roots, by)).toBe('inside');
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('inside');
    expect(await write(at('cwd/new.txt'), 'x', roots, by)).toBe('{}');
    rmSync(at('cwd'));
    symlinkSync('outside', at('cwd'));
    expect(await read(at('cwd/a.txt'), {}, roots, by)).toBe('PATH_OUTSIDE');
    expect(await write(at('cwd/a.txt'), 'mine', roots, by)).toBe('PATH_OUTSIDE');
    expectOutsideUntouched(sandbox);
  });

  test('a root that was renamed, deleted or replaced by a link serves nothing from elsewhere', async () => {
    const sandbox = createSandbox();
    const { at, read, write, roots } = sandbox;
    renameSync(at('root'), at('renamed'));
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('FILE_MISSING');
    expect(await read(at('renamed/a.txt'), {}, roots, by)).toBe('PATH_OUTSIDE');
    expect(await write(at('root/a.txt'), 'x', roots, by)).toBe('PATH_OUTSIDE');
    expect(existsSync(at('root'))).toBe(false);
    symlinkSync('outside', at('root'));
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('PATH_OUTSIDE');
    expect(await write(at('root/a.txt'), 'mine', roots, by)).toBe('PATH_OUTSIDE');
    rmSync(at('root'));
    mkdirSync(at('root'));
    expect(await write(at('root/a.txt'), 'a new one', roots, by)).toBe('{}');
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('a new one');
    expectOutsideUntouched(sandbox);
  });

  test('each of several roots is served, and the directories between them are not', async () => {
    const { at, read, write } = createSandbox();
    const roots = rootsOf([at('root'), at('outside/sub'), 'relative', 42, undefined, at('missing')]);
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('inside');
    expect(await read(at('outside/sub/b.txt'), {}, roots, by)).toBe(SECRET);
    expect(await read(at('outside/a.txt'), {}, roots, by)).toBe('PATH_OUTSIDE');
    expect(await write(at('outside/sub/new.txt'), 'x', roots, by)).toBe('{}');
    expect(await read(at('missing/x'), {}, roots, by)).toBe('FILE_MISSING');
    expect(await write(at('missing/x'), 'x', roots, by)).toBe('PATH_OUTSIDE');
  });

  test('without roots nothing is served', async () => {
    const { at, read, write } = createSandbox();
    for (const roots of [rootsOf([]), rootsOf(['relative']), rootsOf([`${at('root')}\0`])]) {
      expect(await read(at('root/a.txt'), {}, roots, by)).toBe('PATH_OUTSIDE');
      expect(await write(at('root/a.txt'), 'x', roots, by)).toBe('PATH_OUTSIDE');
    }
  });

  test('a session in the root directory has no access to the state of the system and of this process', async () => {
    const { at, read } = createSandbox();
    const roots = rootsOf(['/']);
    expect(await read(at('root/a.txt'), {}, roots, by)).toBe('inside');
    for (const file of ['/proc/self/environ', '/proc/version', '/dev/null', '/sys/kernel/mm', `/proc/self/root${at('outside/a.txt')}`])
      expect(await read(file, {}, roots, by)).toBe('PATH_OUTSIDE');
  });

  test('encoded, invisible, composed or case-folded names are different names', async () => {
    const { at, read, write, roots } = createSandbox();
    writeFileSync(at('root/caf\u00e9'), 'composed');
    const elsewise = process.platform === 'linux' ? ['A.TXT', 'cafe\u0301'] : []; // the same file on some systems, and then no escape
    writeFileSync(at('root/line\nfeed'), 'inside');
    for (const name of ['%2e%2e/outside/a.txt', '..%2foutside%2fa.txt', 'a\u200b.txt', '\u202ea.txt', ...elsewise])
      expect(await read(at('root', name), {}, roots, by)).toBe('FILE_MISSING');
    expect(await read(at('root/line\nfeed'), {}, roots, by)).toBe('inside');
    expect(await write(at('root/%2e%2e/x'), 'x', roots, by)).toBe('{}');
    expect(readFileSync(at('root/%2e%2e/x'), 'utf8')).toBe('x');
  });

  test('a deep path is served, and one that no system accepts is refused with a message', async () => {
    const { at, read, write, roots } = createSandbox();
    const deep = at('root', ...Array.from({ length: 64 }, (_, n) => `d${n}`), 'x');
    expect(await write(deep, 'deep', roots, by)).toBe('{}');
    expect(await read(deep, {}, roots, by)).toBe('deep');
    for (const file of [
      at('root', 'x'.repeat(4096)),
      at('root', 'é'.repeat(128)),
      `${at('root')}/a\0.txt`,
      'a.txt',
      './a.txt',
      '',
      `file://${at('root/a.txt')}`,
      `${at('root')}/\ud800`,
    ])
      for (const answer of [await read(file, {}, roots, by), await write(file, 'x', roots, by)]) expect(answer).toBe('PARAMS');
  });
});

function link(target: string, at: string): string {
  symlinkSync(target, at);
  return at;
}

/** Runs an action around the first call of `open`, as a very fast other process would. */
function once(act: () => void) {
  let next: (() => void) | undefined = act;
  const happen = () => {
    const now = next;
    next = undefined;
    now?.();
  };
  return {
    before:
      (opens: Open): Open =>
      (...args) => {
        happen();
        return opens(...args);
      },
    after:
      (opens: Open): Open =>
      async (...args) => {
        const handle = await opens(...args);
        happen();
        return handle;
      },
    /** Restores it, to run once more. */
    again(undo: () => void) {
      undo();
      next = act;
    },
  };
}
