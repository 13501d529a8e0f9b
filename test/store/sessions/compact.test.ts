// Compaction of sessions.jsonl: the same state in fewer lines, even if other processes write or the process is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as nextEvent } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { draftOf } from '../../../src/private-files.ts';
import { compactSessionLog, linesOf } from '../../../src/store/sessions/compact.ts';
import { createSessionState, markLate, parseRecord, type SessionRecord } from '../../../src/store/sessions/session-records.ts';
import { createSessionStore, isCompactionDue } from '../../../src/store/sessions/session-store.ts';
import { newStateDir, noProblem } from '../state.ts';

const fileIn = (dir: string) => path.join(dir, 'sessions.jsonl');
const linesIn = (dir: string) => readFileSync(fileIn(dir), 'utf8').trimEnd().split('\n');
const compact = (dir: string) => compactSessionLog(dir, 0);
const line = (sessionId: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  ...{ sessionId, agent: 'a', nativeId: sessionId, at: '2026-01-01T00:00:00Z' },
  ...more,
});

/** Four lines for each session, like one with host tools; every tenth session is deleted. */
function used(sessions: number): string {
  const dir = newStateDir();
  const log = createSessionStore(dir, noProblem);
  for (let n = 0; n < sessions; n++) {
    for (const state of ['offered', 'connected', 'listed', 'called'])
      log.append(line(`s-${n}`, { cwd: '/w', at: `2026-01-01T00:00:0${state.length % 10}Z`, tools: { transport: 'http', state } }));
    if (n % 10 === 0) log.append(line(`s-${n}`, { isGone: true }));
  }
  return dir;
}
const recordsIn = (dir: string) => [...createSessionStore(dir, noProblem).records()];

test('the file has the same state in fewer lines, for old and new readers, and is private', async () => {
  const dir = used(100);
  const reader = createSessionStore(dir, noProblem);
  const before = [...reader.records()];
  const bytes = statSync(fileIn(dir)).size;
  expect(await compact(dir)).toBe(true);
  expect(linesIn(dir)).toHaveLength(101); // one header line, and one line per session
  expect(statSync(fileIn(dir)).size).toBeLessThan(bytes / 3);
  for (const log of [reader, createSessionStore(dir, noProblem)]) {
    expect([...log.records()]).toEqual(before);
    expect([log.isHidden('a', 's-0'), log.isHidden('a', 's-1')]).toEqual([true, false]);
  }
  reader.append(line('s-0'));
  expect(recordsIn(dir).at(-1)).toEqual(['s-0', line('s-0')]);
  expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test('a reader that knew another file with this inode number reads it from the start', async () => {
  const dir = used(3);
  const reader = createSessionStore(dir, noProblem);
  expect(reader.records().size).toBe(2);
  const { size } = statSync(fileIn(dir));
  // Written in place, so that the inode number stays, as when a new file reuses a freed number.
  writeFileSync(
    fileIn(dir),
    `{"compacted":1,"at":"now"}\n${Array.from({ length: 99 }, (_, n) => `${JSON.stringify(line(`t-${n}`))}\n`).join('')}`,
  );
  expect(statSync(fileIn(dir)).size).toBeGreaterThan(size);
  expect([...reader.records().keys()]).toEqual(Array.from({ length: 99 }, (_, n) => `t-${n}`));
});

test('the file is left alone while it is small, and until it has doubled', async () => {
  const dir = used(100);
  expect(await compactSessionLog(dir)).toBe(false);
  expect(await compact(dir)).toBe(true);
  expect(await compact(dir)).toBe(false);
  const text = readFileSync(fileIn(dir), 'utf8');
  const log = createSessionStore(dir, noProblem);
  for (let n = 0; n < 50; n++) log.append(line('new'));
  expect(await compact(dir)).toBe(false);
  expect(readFileSync(fileIn(dir), 'utf8').startsWith(text)).toBe(true);
  for (let n = 0; n < 500; n++) log.append(line('new'));
  expect(await compact(dir)).toBe(true);
  expect(recordsIn(dir)).toHaveLength(91);
});

test('a start does not read the file if nothing in it is obsolete', async () => {
  const dir = newStateDir();
  const log = createSessionStore(dir, noProblem);
  for (let n = 0; n < 50; n++) log.append(line(`s-${n}`));
  const before = recordsIn(dir);
  expect([isCompactionDue(dir, 0), await compact(dir), isCompactionDue(dir, 0), await compact(dir)]).toEqual([true, true, false, false]);
  expect(recordsIn(dir)).toEqual(before);
});

test('the file is left alone if it has unknown lines; a truncated line is dropped', async () => {
  const dir = used(20);
  appendFileSync(fileIn(dir), '{"sessionId":"s-1","agen\n');
  const before = recordsIn(dir);
  expect(await compact(dir)).toBe(true);
  expect(recordsIn(dir)).toEqual(before);
  const other = used(20);
  appendFileSync(fileIn(other), '{"kind":"of a later version"}\n');
  expect(await compact(other)).toBe(false);
});

test('the file is left alone if it belongs to another user, is shared or is read-only', async () => {
  const dir = used(20);
  for (const mode of [0o400, 0o660, 0o644]) {
    chmodSync(fileIn(dir), mode);
    expect(await compact(dir)).toBe(false);
    expect(statSync(fileIn(dir)).mode & 0o777).toBe(mode);
  }
  chmodSync(fileIn(dir), 0o600);
  const uid = vi.spyOn(process, 'getuid').mockReturnValue(4_000_000_000);
  expect(await compact(dir)).toBe(false);
  uid.mockRestore();
  expect(await compact(dir)).toBe(true);
});

test('a process with the pid of one that was killed during a compaction can compact', async () => {
  const dir = used(20);
  const before = recordsIn(dir);
  writeFileSync(draftOf(fileIn(dir)), '{"compacted":');
  expect(await compact(dir)).toBe(true);
  expect(recordsIn(dir)).toEqual(before);
});

const lockIn = (dir: string, owner: string) => `${fileIn(dir)}.lock.${owner}`;

/** A process that has ended, with the start time it had. */
async function deadOwner(): Promise<string> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(child, 'exit');
  return `${child.pid}.1.${os.hostname()}`;
}

describe('the lock', () => {
  test('of a running process blocks other compactions, but no writes', async () => {
    const dir = used(20);
    writeFileSync(lockIn(dir, `1.0.${os.hostname()}`), '');
    expect(await compact(dir)).toBe(false);
    createSessionStore(dir, noProblem).append(line('written'));
    expect(recordsIn(dir).at(-1)?.[0]).toBe('written');
    expect(readdirSync(dir).sort()).toEqual(['sessions.jsonl', `sessions.jsonl.lock.1.0.${os.hostname()}`]);
    rmSync(lockIn(dir, `1.0.${os.hostname()}`));
    expect(await compact(dir)).toBe(true);
  });

  test('of a process that has exited is removed', async () => {
    const dir = used(20);
    writeFileSync(lockIn(dir, await deadOwner()), '');
    expect(await compact(dir)).toBe(true);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });

  test.runIf(process.platform === 'linux')('of an exited process whose pid was reused is removed', async () => {
    const dir = used(20);
    writeFileSync(lockIn(dir, `${process.pid}.1.${os.hostname()}`), '');
    expect(await compact(dir)).toBe(true);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });

  test('of another host, which cannot be checked, is valid for a day', async () => {
    const dir = used(20);
    const lock = lockIn(dir, `${(await deadOwner()).split('.')[0]}.1.elsewhere`);
    writeFileSync(lock, '');
    expect(await compact(dir)).toBe(false);
    const yesterday = Date.now() / 1000 - 25 * 3600;
    utimesSync(lock, yesterday, yesterday);
    expect(await compact(dir)).toBe(true);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });

  test('admits one of several compactions in the same process', async () => {
    const dir = used(20);
    expect(await Promise.all([compact(dir), compact(dir), compact(dir)])).toEqual([true, false, false]);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });
});

test('lines written during a compaction are kept, in order', async () => {
  const dir = used(20);
  const log = createSessionStore(dir, noProblem);
  const reader = createSessionStore(dir, noProblem);
  reader.records();
  const compacting = compact(dir);
  let isDone = false;
  void compacting.then(() => {
    isDone = true;
  });
  let written = 0;
  while (!isDone) {
    log.append(line('during', { at: String(written++) }));
    await nextEvent();
  }
  expect(await compacting).toBe(true);
  log.append(line('after'));
  for (const reading of [reader, createSessionStore(dir, noProblem)])
    expect([...reading.records()].slice(-2)).toEqual([
      ['during', line('during', { at: String(written - 1), ...(written > 1 && { created: '0' }) })],
      ['after', line('after')],
    ]);
});

test('the event loop is not blocked during a compaction', async () => {
  const dir = used(2000);
  let events = 0;
  const timer = setInterval(() => events++, 0);
  expect(await compact(dir)).toBe(true);
  clearInterval(timer);
  expect(events).toBeGreaterThan(5);
});

test('a line that was carried over does not replace a newer one, for old and new readers', async () => {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  const compacted = `${JSON.stringify(line('s', { at: '1' }))}\n`;
  const late = markLate([line('s', { at: '2' }), line('other', { at: '2' })].map((one) => JSON.stringify(one)));
  writeFileSync(
    fileIn(dir),
    `{"compacted":${compacted.length},"at":"now"}\n${compacted}${JSON.stringify(line('s', { at: '3', cwd: '/newest' }))}\n`,
    { mode: 0o600 },
  );
  const early = createSessionStore(dir, noProblem);
  expect(early.records().get('s')).toEqual(line('s', { at: '3', cwd: '/newest', created: '1' }));
  appendFileSync(fileIn(dir), late.map((one) => `${one}\n`).join(''));
  const expected = [
    ['other', line('other', { at: '2' })],
    ['s', line('s', { at: '3', cwd: '/newest', created: '1' })],
  ];
  expect([...early.records()]).toEqual(expected);
  expect(recordsIn(dir)).toEqual(expected);
  expect(await compact(dir)).toBe(true);
  expect(recordsIn(dir)).toEqual(expected);
  expect(readFileSync(fileIn(dir), 'utf8')).not.toContain('late');
});

describe('a process killed during a compaction', () => {
  /** The disk once the draft is renamed and lines written in the meantime are not carried over yet. */
  async function killedBeforeCarryOver() {
    const dir = used(20);
    const read = statSync(fileIn(dir)).size;
    linkSync(fileIn(dir), `${fileIn(dir)}.old.${read}`);
    createSessionStore(dir, noProblem).append(line('meanwhile'));
    const old = readFileSync(fileIn(dir)).subarray(0, read);
    const copy = newStateDir();
    mkdirSync(copy, { recursive: true });
    writeFileSync(fileIn(copy), old, { mode: 0o600 });
    expect(await compact(copy)).toBe(true);
    renameSync(fileIn(copy), fileIn(dir));
    writeFileSync(lockIn(dir, await deadOwner()), '');
    return dir;
  }

  test('leaves the old file behind, and the next compaction carries its lines over', async () => {
    const dir = await killedBeforeCarryOver();
    expect(recordsIn(dir).map(([id]) => id)).not.toContain('meanwhile');
    expect(isCompactionDue(dir, 1e9)).toBe(true); // even though the file is short
    expect(await compactSessionLog(dir, 1e9)).toBe(false);
    expect(recordsIn(dir)).toContainEqual(['meanwhile', line('meanwhile')]);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });

  test('before the rename loses nothing', async () => {
    const dir = used(20);
    linkSync(fileIn(dir), `${fileIn(dir)}.old.${statSync(fileIn(dir)).size - 100}`);
    const before = readFileSync(fileIn(dir), 'utf8');
    expect(await compactSessionLog(dir, 1e9)).toBe(false);
    expect(readFileSync(fileIn(dir), 'utf8')).toBe(before);
    expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
  });
});

describe('any history', () => {
  const some = (name: string) => fc.integer({ min: 0, max: 3 }).map((n) => `${name}${n}`);
  const history = fc.array(
    fc.record(
      {
        ...{ sessionId: some('s'), agent: some('a'), nativeId: some('n'), at: fc.nat(99).map(String), isGone: fc.boolean() },
        claim: some('c'),
      },
      { requiredKeys: ['sessionId', 'agent', 'nativeId', 'at', 'isGone'] },
    ),
    { maxLength: 40 },
  );

  test('has the same state after a compaction, and after any later writes', async () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const [whole, compacted] = [createSessionState(), createSessionState()];
        for (const one of before) whole.apply(one);
        const lines = linesOf(whole);
        for (const text of lines) compacted.apply(parseRecord(text) as SessionRecord);
        const contents = (state: typeof whole) => ({
          sessions: [...state.bySessionId.values()].map(({ isGone: _, ...record }) => record),
          hidden: [...state.hidden.keys()].sort(),
          gone: [...state.gone.values()].map(({ sessionId, claim }) => `${sessionId} ${claim}`).sort(),
        });
        expect(contents(compacted)).toEqual(contents(whole));
        for (const state of [whole, compacted]) for (const one of after) state.apply(one);
        expect(contents(compacted)).toEqual(contents(whole));
      }),
    );
  });
});
