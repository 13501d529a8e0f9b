// sessions.jsonl, compacted: it says the same in fewer lines, whoever writes to it meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { takeTurn } from '../../../src/audit/line-lock.ts';
import { draftOf } from '../../../src/private-files.ts';
import { isDue } from '../../../src/store/compacted-size.ts';
import { compactSessionLog, linesOf } from '../../../src/store/sessions/compact.ts';
import { createSessionState, parseRecord, type SessionRecord } from '../../../src/store/sessions/session-records.ts';
import { createSessionLog } from '../../../src/store/sessions/session-store.ts';
import { newStateDir, noProblem } from '../state.ts';

const fileIn = (dir: string) => path.join(dir, 'sessions.jsonl');
const linesIn = (dir: string) => readFileSync(fileIn(dir), 'utf8').trimEnd().split('\n');
const compact = (dir: string) => compactSessionLog(dir, takeTurn, 0);
const line = (sessionId: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  ...{ sessionId, agent: 'a', nativeId: sessionId, at: '2026-01-01T00:00:00Z' },
  ...more,
});

/** Each session in four lines, as one that was lent tools; every tenth is deleted. */
function used(sessions: number): string {
  const dir = newStateDir();
  const log = createSessionLog(dir, noProblem);
  for (let n = 0; n < sessions; n++) {
    for (const state of ['offered', 'connected', 'listed', 'called'])
      log.append(line(`s-${n}`, { cwd: '/w', at: `2026-01-01T00:00:0${state.length % 10}Z`, tools: { transport: 'http', state } }));
    if (n % 10 === 0) log.append(line(`s-${n}`, { isGone: true }));
  }
  return dir;
}
const told = (dir: string) => [...createSessionLog(dir, noProblem).records()];

test('says the same in fewer lines, to those who have read it before and to others, and is private', () => {
  const dir = used(100);
  const reader = createSessionLog(dir, noProblem);
  const before = [...reader.records()];
  const bytes = statSync(fileIn(dir)).size;
  expect(compact(dir)).toBe(true);
  expect(linesIn(dir)).toHaveLength(101); // a line that says so, and one for each
  expect(statSync(fileIn(dir)).size).toBeLessThan(bytes / 3);
  for (const log of [reader, createSessionLog(dir, noProblem)]) {
    expect([...log.records()]).toEqual(before);
    expect([log.isHidden('a', 's-0'), log.isHidden('a', 's-1')]).toEqual([true, false]);
  }
  reader.append(line('s-0'));
  expect(told(dir).at(-1)).toEqual(['s-0', line('s-0')]);
  expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test('is read from its beginning by whoever knew another file of that number on the disk', () => {
  const dir = used(3);
  const reader = createSessionLog(dir, noProblem);
  expect(reader.records().size).toBe(2);
  const { size } = statSync(fileIn(dir));
  // In place, so that the number stays: as it is when a later file is given the number of a removed one.
  writeFileSync(
    fileIn(dir),
    `{"compacted":1,"at":"now"}\n${Array.from({ length: 99 }, (_, n) => `${JSON.stringify(line(`t-${n}`))}\n`).join('')}`,
  );
  expect(statSync(fileIn(dir)).size).toBeGreaterThan(size);
  expect([...reader.records().keys()]).toEqual(Array.from({ length: 99 }, (_, n) => `t-${n}`));
});

test('is left alone while it is small, and until it has doubled since the last time', () => {
  const dir = used(100);
  expect(compactSessionLog(dir, takeTurn)).toBe(false);
  expect(compact(dir)).toBe(true);
  expect(compact(dir)).toBe(false);
  const text = readFileSync(fileIn(dir), 'utf8');
  const log = createSessionLog(dir, noProblem);
  for (let n = 0; n < 50; n++) log.append(line('new'));
  expect(compact(dir)).toBe(false);
  expect(readFileSync(fileIn(dir), 'utf8').startsWith(text)).toBe(true);
  for (let n = 0; n < 500; n++) log.append(line('new'));
  expect(compact(dir)).toBe(true);
  expect(told(dir)).toHaveLength(91);
});

test('is not read by every start where nothing of it is void', () => {
  const dir = newStateDir();
  const log = createSessionLog(dir, noProblem);
  for (let n = 0; n < 50; n++) log.append(line(`s-${n}`));
  const before = told(dir);
  expect([isDue(fileIn(dir), 0), compact(dir), isDue(fileIn(dir), 0), compact(dir)]).toEqual([true, true, false, false]);
  expect(told(dir)).toEqual(before);
});

test('is left alone with lines in it that are not ours to judge; one that was cut off goes', () => {
  const dir = used(20);
  appendFileSync(fileIn(dir), '{"sessionId":"s-1","agen\n');
  const before = told(dir);
  expect(compact(dir)).toBe(true);
  expect(told(dir)).toEqual(before);
  const other = used(20);
  appendFileSync(fileIn(other), '{"kind":"of a later version"}\n');
  expect(compact(other)).toBe(false);
});

test("is left alone where it is another user's, shared or read-only", () => {
  const dir = used(20);
  for (const mode of [0o400, 0o660, 0o644]) {
    chmodSync(fileIn(dir), mode);
    expect(compact(dir)).toBe(false);
    expect(statSync(fileIn(dir)).mode & 0o777).toBe(mode);
  }
  chmodSync(fileIn(dir), 0o600);
  const uid = vi.spyOn(process, 'getuid').mockReturnValue(4_000_000_000);
  expect(compact(dir)).toBe(false);
  uid.mockRestore();
  expect(compact(dir)).toBe(true);
});

test('is compacted by a process that has the number of one that was killed at it', () => {
  const dir = used(20);
  const before = told(dir);
  writeFileSync(draftOf(fileIn(dir)), '{"compacted":');
  expect(compact(dir)).toBe(true);
  expect(told(dir)).toEqual(before);
});

test('is left alone while another process is at it', () => {
  const dir = used(20);
  const { ino } = statSync(fileIn(dir));
  const turn = takeTurn(fileIn(dir), ino);
  expect(compact(dir)).toBe(false);
  if ('end' in turn) turn.end(false);
  expect(compact(dir)).toBe(true);
});

test('a file that somebody sealed and was killed is written to after a moment, and compacted the next time', () => {
  const dir = used(20);
  chmodSync(fileIn(dir), 0o700);
  createSessionLog(dir, noProblem).append(line('patient'));
  expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
  expect(told(dir).at(-1)).toEqual(['patient', line('patient')]);
  expect(compact(dir)).toBe(true);
  expect(told(dir).at(-1)).toEqual(['patient', line('patient')]);
});

test('a line that is written while the new file is made is in it, and so is one that comes behind that', () => {
  const dir = used(20);
  const log = createSessionLog(dir, noProblem);
  // The claim is taken before the file is read: here somebody writes in between, with the file still open from before.
  const claim: typeof takeTurn = (file, ino) => {
    const turn = takeTurn(file, ino);
    log.append(line('in-between'));
    return turn;
  };
  expect(compactSessionLog(dir, claim, 0)).toBe(true);
  log.append(line('after'));
  expect(told(dir).slice(-2)).toEqual([
    ['in-between', line('in-between')],
    ['after', line('after')],
  ]);
});

describe('any history', () => {
  const some = (name: string) => fc.integer({ min: 0, max: 3 }).map((n) => `${name}${n}`);
  const history = fc.array(
    fc.record({ sessionId: some('s'), agent: some('a'), nativeId: some('n'), at: fc.nat(99).map(String), isGone: fc.boolean() }),
    { maxLength: 40 },
  );

  test('says the same behind it, and so does whatever follows', () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const [whole, compacted] = [createSessionState(), createSessionState()];
        for (const one of before) whole.apply(one);
        const lines = linesOf(whole);
        for (const text of lines) compacted.apply(parseRecord(text) as SessionRecord);
        const said = (state: typeof whole) => ({
          sessions: [...state.bySessionId.values()].map(({ isGone: _, ...record }) => record),
          hidden: [...state.hidden.keys()].sort(),
        });
        expect(said(compacted)).toEqual(said(whole));
        for (const state of [whole, compacted]) for (const one of after) state.apply(one);
        expect(said(compacted)).toEqual(said(whole));
      }),
    );
  });
});

test('several processes write while several compact: nothing is lost', async () => {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  const program = path.join(dir, 'program.mjs');
  await build({
    stdin: {
      contents: `
        import { takeTurn } from './src/audit/line-lock.ts';
        import { compactSessionLog } from './src/store/sessions/compact.ts';
        import { createSessionLog } from './src/store/sessions/session-store.ts';
        const [dir, name] = process.argv.slice(2);
        const log = createSessionLog(dir, (error) => { throw error; });
        let done = 0;
        process.stdin.once('data', () => {
          for (let n = 0; n < 600; n++) {
            for (const at of ['1', '2', '3', '4']) log.append({ sessionId: name + n, agent: name, nativeId: String(n), at });
            if (n % 10 === 0) log.append({ sessionId: name + n, agent: name, nativeId: String(n), at: '5', isGone: true });
            if (n % 7 === 0 && compactSessionLog(dir, takeTurn, 0)) done++;
          }
          process.stdout.write(String(done));
          process.exit();
        });
        process.stdout.write('ready ');`,
      resolveDir: path.resolve(import.meta.dirname, '../../..'),
      loader: 'ts',
    },
    ...{ bundle: true, format: 'esm', platform: 'node', outfile: program },
  });
  const names = ['x', 'y', 'z'];
  const children = names.map((name) => spawn(process.execPath, [program, dir, name], { stdio: ['pipe', 'pipe', 'inherit'] }));
  const words = children.map((child) => child.stdout.setEncoding('utf8').toArray());
  await Promise.all(children.map((child) => once(child.stdout, 'readable')));
  const exits = Promise.all(children.map((child) => once(child, 'exit')));
  for (const child of children) child.stdin.write('go');
  expect(await exits).toEqual(Array(3).fill([0, null]));
  const compactions = (await Promise.all(words)).map((parts) => Number(parts.join('').replace('ready ', '')));
  expect(compactions.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(2); // as often as it has doubled, whoever gets there first

  const log = createSessionLog(dir, noProblem);
  const expected = names.flatMap((name) => Array.from({ length: 600 }, (_, n) => [name, n] as const));
  const wrong = expected.filter(([name, n]) => {
    const record = log.records().get(`${name}${n}`);
    const isGone = n % 10 === 0;
    return log.isHidden(name, String(n)) !== isGone || (isGone ? record !== undefined : record?.at !== '4' || record.created !== '1');
  });
  expect(wrong).toEqual([]);
  expect(readdirSync(dir).sort()).toEqual(['program.mjs', 'sessions.jsonl']);
});
