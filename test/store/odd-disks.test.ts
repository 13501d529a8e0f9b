// Line files on unusual disks: full, without hard links, or with another inode number for an open file.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { compactSessionLog } from '../../src/store/sessions/compact.ts';
import { createSessionStore } from '../../src/store/sessions/session-store.ts';
import { appendStats, compactStats, readStats, removeStats } from '../../src/store/transcripts/session-stats.ts';
import { newStateDir, noProblem } from './state.ts';

const disk = vi.hoisted(() => ({
  hasLinks: true,
  numbersByName: false,
  beforeRename: (_to: string) => {},
  /** Appends that fail from now on. */
  isFull: false,
}));
const failed = vi.hoisted(() => (code: string) => {
  throw Object.assign(new Error(code), { code });
});
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    linkSync: (from: string, to: string) => (disk.hasLinks ? fs.linkSync(from, to) : failed('EPERM')),
    statSync(file: string, options: object) {
      const found = fs.statSync(file, options) as import('node:fs').Stats | undefined;
      return found && disk.numbersByName ? Object.assign(found, { ino: found.ino + 1 }) : found;
    },
    renameSync(from: string, to: string) {
      disk.beforeRename(to);
      fs.renameSync(from, to);
    },
    writeSync: (fd: number, bytes: Buffer, from = 0) => (disk.isFull ? failed('ENOSPC') : fs.writeSync(fd, bytes, from)),
  };
});

beforeEach(() => {
  Object.assign(disk, { hasLinks: true, numbersByName: false, beforeRename: () => {}, isFull: false });
});

const line = (sessionId: string) => ({ sessionId, agent: 'a', nativeId: sessionId, at: '2026-01-01T00:00:00Z' });
function plant(...ids: readonly string[]): { readonly dir: string; readonly file: string } {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, 'sessions.jsonl');
  writeFileSync(file, ids.map((id) => `${JSON.stringify(line(id))}\n`).join(''), { mode: 0o600 });
  return { dir, file };
}
const idsIn = (file: string) => Array.from(readFileSync(file, 'utf8').matchAll(/"sessionId":"([^"]*)"/g), ([, id]) => id);

test('each line is written once if the inode number of a path differs from that of the open file', () => {
  const { dir, file } = plant('s-0');
  disk.numbersByName = true;
  createSessionStore(dir, noProblem).append(line('s-1'));
  expect(idsIn(file)).toEqual(['s-0', 's-1']);
});

test.each([true, false])('a line written just before the file is replaced is carried over (hard links: %s)', async (hasLinks) => {
  const { dir, file } = plant('s-0', 's-0', 's-0', 's-0');
  disk.hasLinks = hasLinks;
  disk.beforeRename = () => createSessionStore(dir, noProblem).append(line('meanwhile'));
  expect(await compactSessionLog(dir, 0)).toBe(true);
  expect(idsIn(file)).toEqual(['s-0', 'meanwhile']);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test('a line that does not fit on a full disk stays in the old file until there is room', async () => {
  const { dir, file } = plant('s-0', 's-0', 's-0', 's-0');
  disk.beforeRename = () => {
    createSessionStore(dir, noProblem).append(line('meanwhile'));
    disk.isFull = true;
  };
  await expect(compactSessionLog(dir, 0)).rejects.toThrow('ENOSPC');
  expect(idsIn(file)).toEqual(['s-0']);
  await expect(compactSessionLog(dir, 0)).rejects.toThrow('ENOSPC');
  disk.isFull = false;
  expect(await compactSessionLog(dir, 1e9)).toBe(false);
  expect(idsIn(file)).toEqual(['s-0', 'meanwhile']);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test('a compacted draft that cannot be renamed leaves everything unchanged', async () => {
  const { dir, file } = plant('s-0', 's-0', 's-0', 's-0');
  const before = readFileSync(file, 'utf8');
  disk.beforeRename = () => failed('ENOSPC');
  await expect(compactSessionLog(dir, 0)).rejects.toThrow('ENOSPC');
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test.each([
  ['compacted', (dir: string) => compactStats(dir, 0)],
  ['rid of a session', (dir: string) => removeStats(dir, 'gone')],
])('a turn that ends while the list of turns is %s counts once', (_, rewrite) => {
  const dir = newStateDir();
  const turn = (sessionId: string, t: number) => appendStats(dir, [{ sessionId, t, title: sessionId, stopReason: 'end_turn' }]);
  for (const t of [1, 2, 3]) turn('s', t);
  turn('gone', 4);
  disk.beforeRename = () => {
    turn('s', 5);
    turn('gone', 6);
  };
  rewrite(dir);
  disk.beforeRename = () => {};
  expect(readStats(dir).get('s')).toMatchObject({ turns: 4, t: 5, stopReasons: { end_turn: 4 } });
  turn('s', 5); // like a writer that found the file replaced
  expect(readStats(dir).get('s')).toMatchObject({ turns: 4 });
  expect(readdirSync(dir)).toEqual(['index.jsonl']);
  removeStats(dir, 'gone');
  expect(readFileSync(path.join(dir, 'index.jsonl'), 'utf8')).not.toContain('gone');
});
