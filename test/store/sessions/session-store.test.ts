// sessions.jsonl: what processes append and read, and damaged files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { compactSessionLog } from '../../../src/store/sessions/compact.ts';
import { createSessionStore, type SessionRecord } from '../../../src/store/sessions/session-store.ts';
import { readTranscript } from '../../../src/store/transcripts/transcript-files.ts';
import { newStateDir, noProblem } from '../state.ts';

const record = (sessionId: string, agent = 'a', nativeId = sessionId, more: Partial<SessionRecord> = {}): SessionRecord => ({
  sessionId,
  agent,
  nativeId,
  at: '2026-01-01T00:00:00Z',
  ...more,
});
const fileIn = (dir: string) => path.join(dir, 'sessions.jsonl');

test('a file that cannot be examined is a problem for its readers, not for start-up', () => {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  symlinkSync('sessions.jsonl', fileIn(dir)); // a link to itself
  const problems: unknown[] = [];
  const log = createSessionStore(dir, (error) => problems.push(error));
  expect(problems).toEqual([]);
  expect([log.records().size, log.wasHiddenLately('a', 's-1')]).toEqual([0, false]);
  log.append(record('s-1'));
  expect(problems).toEqual(Array(3).fill(expect.objectContaining({ code: 'ELOOP' })));
});

describe('a stored session', () => {
  test('is available to the next process', () => {
    const dir = newStateDir();
    createSessionStore(dir, noProblem).append(record('s-1', 'a', 's-1', { cwd: '/w' }));
    createSessionStore(dir, noProblem).append(record('s-1~b', 'b', 's-1'));
    expect([...createSessionStore(dir, noProblem).records()]).toEqual([
      ['s-1', record('s-1', 'a', 's-1', { cwd: '/w' })],
      ['s-1~b', record('s-1~b', 'b', 's-1')],
    ]);
  });

  test('is seen by a process that has read the file before', () => {
    const dir = newStateDir();
    const [one, other] = [createSessionStore(dir, noProblem), createSessionStore(dir, noProblem)];
    expect(one.records().size).toBe(0);
    other.append(record('s-1'));
    expect([...one.records().keys()]).toEqual(['s-1']);
    other.append(record('s-2'));
    one.append(record('s-3'));
    expect([...one.records().keys()]).toEqual(['s-1', 's-2', 's-3']);
    expect([...other.records().keys()]).toEqual(['s-1', 's-2', 's-3']);
  });

  test('has the state of its last line, in that order', () => {
    const log = createSessionStore(newStateDir(), noProblem);
    for (const one of [record('s-1'), record('s-2'), record('s-1', 'b', 'n-1')]) log.append(one);
    expect([...log.records().values()]).toEqual([record('s-2'), { ...record('s-1', 'b', 'n-1'), created: record('s-1').at }]);
  });

  test('has its additional directories, without those that were missing when it was last opened', () => {
    const dir = newStateDir();
    const additionalDirectories = ['/more', '/and é'];
    const log = createSessionStore(dir, noProblem);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories }));
    log.append(record('s-2', 'a', 's-2', { additionalDirectories: [] }));
    expect(createSessionStore(dir, noProblem).records().get('s-1')?.additionalDirectories).toEqual(additionalDirectories);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w' }));
    expect(log.records().get('s-1')).not.toHaveProperty('additionalDirectories');
    expect(readFileSync(fileIn(dir), 'utf8').match(/additionalDirectories/g)).toHaveLength(1);
  });

  test.each([
    ['too many', Array.from({ length: 51 }, (_, n) => `/${n}`)],
    ['one that is too long', ['/short', `/${'x'.repeat(4000)}`]],
  ])('has no additional directories if there are %s', (_, additionalDirectories) => {
    const dir = newStateDir();
    const log = createSessionStore(dir, noProblem);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories }));
    expect([...log.records().values()]).toEqual([record('s-1', 'a', 's-1', { cwd: '/w' })]);
    expect(statSync(fileIn(dir)).size).toBeLessThan(200);
  });

  test('is private: the file has mode 0600, its directory 0700', () => {
    const dir = newStateDir();
    createSessionStore(dir, noProblem).append(record('s-1'));
    expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('is reported as a problem if the file cannot be examined, but not at start-up', () => {
    const dir = newStateDir();
    mkdirSync(path.dirname(dir), { recursive: true });
    writeFileSync(dir, 'a file');
    const problems: unknown[] = [];
    const log = createSessionStore(dir, (error) => problems.push(error));
    expect(problems).toEqual([]);
    expect([log.records().size, log.isHidden('a', 's-1'), log.wasHiddenLately('a', 's-1')]).toEqual([0, false, false]);
    expect(problems).toMatchObject(Array(3).fill({ code: 'ENOTDIR' }));
  });

  test('is one JSON line', () => {
    const dir = newStateDir();
    const log = createSessionStore(dir, noProblem);
    log.append(record('line\nbreak \u2028 é'));
    log.append(record('s-2'));
    const lines = readFileSync(fileIn(dir), 'utf8').split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] as string).sessionId).toBe('line\nbreak \u2028 é');
    expect([...log.records().keys()]).toEqual(['line\nbreak \u2028 é', 's-2']);
  });

  test('does not exist before the first append, and reading creates no file', () => {
    const dir = newStateDir();
    const log = createSessionStore(dir, noProblem);
    expect(log.records().size).toBe(0);
    expect(log.isHidden('a', 's-1')).toBe(false);
    expect(() => statSync(dir)).toThrow();
  });
});

describe('a deleted session', () => {
  test('is hidden and not found, also in the next process', () => {
    const dir = newStateDir();
    const log = createSessionStore(dir, noProblem);
    log.append(record('s-1'));
    log.append(record('s-2'));
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    for (const reader of [log, createSessionStore(dir, noProblem)]) {
      expect([...reader.records().keys()]).toEqual(['s-2']);
      expect(reader.isHidden('a', 's-1')).toBe(true);
      expect(reader.isHidden('b', 's-1')).toBe(false);
      expect(reader.isHidden('a', 's-2')).toBe(false);
    }
  });

  test('is known as recently deleted to every open log until it is restored, even after a compaction', async () => {
    const dir = newStateDir();
    const early = createSessionStore(dir, noProblem);
    for (const one of ['s-1', 's-2']) early.append(record(one));
    early.append(record('s-1', 'a', 's-1', { isGone: true }));
    const late = createSessionStore(dir, noProblem);
    const lately = (id: string) => [early, late].map((log) => log.wasHiddenLately('a', id));
    expect([lately('s-1'), lately('s-2')]).toEqual([
      [true, false],
      [false, false],
    ]);
    early.append(record('s-2', 'a', 's-2', { isGone: true }));
    expect(lately('s-2')).toEqual([true, true]);
    late.append(record('s-2'));
    expect(lately('s-2')).toEqual([false, false]);
    late.append(record('s-2', 'a', 's-2', { isGone: true }));
    expect(await compactSessionLog(dir, 0)).toBe(true);
    expect(lately('s-2')).toEqual([true, true]);
  });

  test('is recorded as deleted without its data', () => {
    const dir = newStateDir();
    const log = createSessionStore(dir, noProblem);
    const tools = { transport: 'http', state: 'listed' };
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories: ['/more'], tools, isGone: true }));
    expect(readFileSync(fileIn(dir), 'utf8')).toBe(`${JSON.stringify(record('s-1', 'a', 's-1', { isGone: true }))}\n`);
    log.append(record('s-1'));
    expect(log.records().get('s-1')).toEqual(record('s-1'));
  });

  test('at its former agent still exists at the agent it moved to', () => {
    const log = createSessionStore(newStateDir(), noProblem);
    log.append(record('s-1'));
    log.append(record('s-1', 'b', 'n-1'));
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    expect(log.records().get('s-1')).toMatchObject({ agent: 'b', nativeId: 'n-1' });
    expect(log.isHidden('a', 's-1')).toBe(true);
    expect(log.isHidden('b', 'n-1')).toBe(false);
  });

  test('can be restored', () => {
    const log = createSessionStore(newStateDir(), noProblem);
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    log.append(record('s-1'));
    expect(log.isHidden('a', 's-1')).toBe(false);
    expect([...log.records().keys()]).toEqual(['s-1']);
  });
});

describe('a damaged file', () => {
  const whole = `${JSON.stringify(record('s-1'))}\n`;
  function logOver(text: string) {
    const dir = newStateDir();
    mkdirSync(dir, { recursive: true });
    writeFileSync(fileIn(dir), text);
    return { dir, log: createSessionStore(dir, noProblem) };
  }

  test('a truncated last line affects neither the lines before it nor the next one', () => {
    const { dir, log } = logOver(`${whole}{"sessionId":"s-2","agent":"a","nat`);
    expect([...log.records().keys()]).toEqual(['s-1']);
    log.append(record('s-3'));
    expect([...log.records().keys()]).toEqual(['s-1', 's-3']);
    expect([...createSessionStore(dir, noProblem).records().keys()]).toEqual(['s-1', 's-3']);
  });

  test('a last line that is still being written is read once it is complete', () => {
    const { dir, log } = logOver(whole);
    const line = JSON.stringify(record('s-é'));
    appendFileSync(fileIn(dir), line.slice(0, 20));
    expect([...log.records().keys()]).toEqual(['s-1']);
    appendFileSync(fileIn(dir), `${line.slice(20)}\n`);
    expect([...log.records().keys()]).toEqual(['s-1', 's-é']);
  });

  test('a line without its line feed is not lost', () => {
    const { log } = logOver(whole.trimEnd());
    log.append(record('s-2'));
    expect([...log.records().keys()]).toEqual(['s-1', 's-2']);
  });

  test.each(['', 'nonsense', '[]', 'null', '{"sessionId":"s-2"}', '{"sessionId":1,"agent":"a","nativeId":"n"}', '\0\0\0'])(
    'a line of %j is skipped',
    (line) => {
      const { log } = logOver(`${line}\n${whole}${line}\n`);
      expect([...log.records().keys()]).toEqual(['s-1']);
    },
  );

  test.each(['"/more"', '{}', '[]', '[1]', '["/more",null]', JSON.stringify(Array.from({ length: 51 }, () => '/'))])(
    'directories of %j count as none, and the session is kept',
    (directories) => {
      const { log } = logOver(whole.replace('{', `{"additionalDirectories":${directories},`));
      expect([...log.records().values()]).toEqual([record('s-1')]);
    },
  );

  test('a file that was truncated is read again', () => {
    const { dir, log } = logOver(`${whole}${JSON.stringify(record('s-2', 'a', 's-2', { isGone: true }))}\n`);
    expect(log.isHidden('a', 's-2')).toBe(true);
    writeFileSync(fileIn(dir), `${JSON.stringify(record('s-9'))}\n`);
    expect([...log.records().keys()]).toEqual(['s-9']);
    expect(log.isHidden('a', 's-2')).toBe(false);
  });

  test('a file that cannot be read or written is a problem and not an exception', () => {
    const dir = newStateDir();
    mkdirSync(fileIn(dir), { recursive: true });
    const problems: unknown[] = [];
    const log = createSessionStore(dir, (error) => problems.push(error));
    log.append(record('s-1'));
    expect(log.records().size).toBe(0);
    expect(problems).toMatchObject([{ code: 'EISDIR' }, { code: 'EISDIR' }]);
  });
});

test('two processes that append at once lose and mix nothing, and a third reads everything', async () => {
  const dir = newStateDir();
  const program = path.join(path.dirname(path.dirname(dir)), 'append.mjs');
  await build({
    stdin: {
      contents: `
        import { createSessionStore } from './src/store/sessions/session-store.ts';
        import { appendLines } from './src/store/append-lines.ts';
        const [dir, name] = process.argv.slice(2);
        const log = createSessionStore(dir, (error) => { throw error; });
        process.stdin.once('data', () => {
          for (let n = 0; n < 500; n++)
            log.append({ sessionId: name + '-' + n, agent: name, nativeId: String(n), cwd: '/' + name.repeat(n % 300), at: String(n) });
          for (let n = 0; n < 100; n++)
            appendLines(dir + '/transcripts/shared.jsonl', JSON.stringify({ t: n, kind: 'message', role: name, text: name.repeat(n * 500) }) + '\\n');
          process.exit();
        });
        process.stdout.write('ready');`,
      resolveDir: path.resolve(import.meta.dirname, '../../..'),
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: program,
  });
  const log = createSessionStore(dir, noProblem);
  const children = ['x', 'y'].map((name) => spawn(process.execPath, [program, dir, name], { stdio: ['pipe', 'pipe', 'inherit'] }));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const exits = Promise.all(children.map((child) => once(child, 'exit')));
  for (const child of children) child.stdin.write('go');
  let isOver = false;
  void exits.then(() => {
    isOver = true;
  });
  while (!isOver) {
    log.records(); // reads what is there, complete and partial lines
    await new Promise(setImmediate);
  }
  expect(await exits).toEqual([
    [0, null],
    [0, null],
  ]);

  // A process that sees half a line of another process starts a new line, which leaves a harmless blank line.
  const lines = readFileSync(fileIn(dir), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  expect(lines).toHaveLength(1000);
  const shared = readTranscript(path.join(dir, 'transcripts'), 'shared') as readonly { readonly role: string; readonly text: string }[];
  for (const name of ['x', 'y'])
    expect(shared.filter(({ role }) => role === name).map(({ text }) => text)).toEqual(
      Array.from({ length: 100 }, (_, n) => name.repeat(n * 500)),
    );
  const written = lines.map((line) => JSON.parse(line) as SessionRecord);
  for (const name of ['x', 'y']) {
    const own = written.filter(({ agent }) => agent === name);
    expect(own.map(({ nativeId }) => nativeId)).toEqual(Array.from({ length: 500 }, (_, n) => String(n)));
  }
  expect([...log.records().values()]).toEqual(written);
});
