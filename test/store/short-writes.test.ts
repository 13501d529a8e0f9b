// A nearly full disk accepts the start of a line without an error: the rest must not be lost silently.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { appendLines } from '../../src/store/append-lines.ts';
import { newStateDir } from './state.ts';

/** How many bytes fit. */
const disk = vi.hoisted(() => ({ room: 0 }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const writeSync = (fd: number, bytes: Buffer, from = 0): number => {
    if (disk.room === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const written = fs.writeSync(fd, bytes, from, Math.min(disk.room, 4, bytes.length - from));
    disk.room -= written;
    return written;
  };
  return { ...fs, writeSync };
});

test('short writes are continued; a write that fails is an error, and the next line starts on a new line', () => {
  const file = path.join(newStateDir(), 'a.jsonl');
  disk.room = 100;
  appendLines(file, '{"n":"first"}\n');
  disk.room = 6;
  expect(() => appendLines(file, '{"n":"second"}\n')).toThrow('ENOSPC');
  disk.room = 100;
  appendLines(file, '{"n":"third"}\n');
  expect(readFileSync(file, 'utf8')).toBe('{"n":"first"}\n{"n":"\n{"n":"third"}\n');
});
