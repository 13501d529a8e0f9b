import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { compactSessionLog } from '../../../src/store/sessions/compact.ts';
import { createSessionLog, type SessionRecord } from '../../../src/store/sessions/session-store.ts';
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

test('a file that cannot even be looked at is a problem of those who need it, and not of a start', () => {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  symlinkSync('sessions.jsonl', fileIn(dir)); // leads to itself
  const problems: unknown[] = [];
  const log = createSessionLog(dir, (error) => problems.push(error));
  expect(problems).toEqual([]);
  expect([log.records().size, log.wasHiddenLately('a', 's-1')]).toEqual([0, false]);
  log.append(record('s-1'));
  expect(problems).toEqual(Array(3).fill(expect.objectContaining({ code: 'ELOOP' })));
});

describe('what was written', () => {
  test('is there for the next process', () => {
    const dir = newStateDir();
    createSessionLog(dir, noProblem).append(record('s-1', 'a', 's-1', { cwd: '/w' }));
    createSessionLog(dir, noProblem).append(record('s-1~b', 'b', 's-1'));
    expect([...createSessionLog(dir, noProblem).records()]).toEqual([
      ['s-1', record('s-1', 'a', 's-1', { cwd: '/w' })],
      ['s-1~b', record('s-1~b', 'b', 's-1')],
    ]);
  });

  test('is seen by a process that has read before', () => {
    const dir = newStateDir();
    const [one, other] = [createSessionLog(dir, noProblem), createSessionLog(dir, noProblem)];
    expect(one.records().size).toBe(0);
    other.append(record('s-1'));
    expect([...one.records().keys()]).toEqual(['s-1']);
    other.append(record('s-2'));
    one.append(record('s-3'));
    expect([...one.records().keys()]).toEqual(['s-1', 's-2', 's-3']);
    expect([...other.records().keys()]).toEqual(['s-1', 's-2', 's-3']);
  });

  test('counts as it was written last, and in that order', () => {
    const log = createSessionLog(newStateDir(), noProblem);
    for (const one of [record('s-1'), record('s-2'), record('s-1', 'b', 'n-1')]) log.append(one);
    expect([...log.records().values()]).toEqual([record('s-2'), { ...record('s-1', 'b', 'n-1'), created: record('s-1').at }]);
  });

  test('has the directories of a session, and none that it was last opened without', () => {
    const dir = newStateDir();
    const additionalDirectories = ['/more', '/and é'];
    const log = createSessionLog(dir, noProblem);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories }));
    log.append(record('s-2', 'a', 's-2', { additionalDirectories: [] }));
    expect(createSessionLog(dir, noProblem).records().get('s-1')?.additionalDirectories).toEqual(additionalDirectories);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w' }));
    expect(log.records().get('s-1')).not.toHaveProperty('additionalDirectories');
    expect(readFileSync(fileIn(dir), 'utf8').match(/additionalDirectories/g)).toHaveLength(1);
  });

  test.each([
    ['too many', Array.from({ length: 51 }, (_, n) => `/${n}`)],
    ['one that is too long', ['/short', `/${'x'.repeat(4000)}`]],
  ])('has none of the directories where there are %s', (_, additionalDirectories) => {
    const dir = newStateDir();
    const log = createSessionLog(dir, noProblem);
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories }));
    expect([...log.records().values()]).toEqual([record('s-1', 'a', 's-1', { cwd: '/w' })]);
    expect(statSync(fileIn(dir)).size).toBeLessThan(200);
  });

  test('is private: the file 0600, its directory 0700', () => {
    const dir = newStateDir();
    createSessionLog(dir, noProblem).append(record('s-1'));
    expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('is told of as a problem where it cannot be looked at, and by nobody who only begins', () => {
    const dir = newStateDir();
    mkdirSync(path.dirname(dir), { recursive: true });
    writeFileSync(dir, 'a file');
    const problems: unknown[] = [];
    const log = createSessionLog(dir, (error) => problems.push(error));
    expect(problems).toEqual([]);
    expect([log.records().size, log.isHidden('a', 's-1'), log.wasHiddenLately('a', 's-1')]).toEqual([0, false, false]);
    expect(problems).toMatchObject(Array(3).fill({ code: 'ENOTDIR' }));
  });

  test('is one JSON line for each', () => {
    const dir = newStateDir();
    const log = createSessionLog(dir, noProblem);
    log.append(record('line\nbreak \u2028 é'));
    log.append(record('s-2'));
    const lines = readFileSync(fileIn(dir), 'utf8').split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] as string).sessionId).toBe('line\nbreak \u2028 é');
    expect([...log.records().keys()]).toEqual(['line\nbreak \u2028 é', 's-2']);
  });

  test('is nothing before the first session, and reading makes no file', () => {
    const dir = newStateDir();
    const log = createSessionLog(dir, noProblem);
    expect(log.records().size).toBe(0);
    expect(log.isHidden('a', 's-1')).toBe(false);
    expect(() => statSync(dir)).toThrow();
  });
});

describe('a session that is gone', () => {
  test('is hidden and no longer found, also for the next process', () => {
    const dir = newStateDir();
    const log = createSessionLog(dir, noProblem);
    log.append(record('s-1'));
    log.append(record('s-2'));
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    for (const reader of [log, createSessionLog(dir, noProblem)]) {
      expect([...reader.records().keys()]).toEqual(['s-2']);
      expect(reader.isHidden('a', 's-1')).toBe(true);
      expect(reader.isHidden('b', 's-1')).toBe(false);
      expect(reader.isHidden('a', 's-2')).toBe(false);
    }
  });

  test('is known to be gone lately to every log that was open then, until it is back; also after a compaction', async () => {
    const dir = newStateDir();
    const early = createSessionLog(dir, noProblem);
    for (const one of ['s-1', 's-2']) early.append(record(one));
    early.append(record('s-1', 'a', 's-1', { isGone: true }));
    const late = createSessionLog(dir, noProblem);
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

  test('is written down as gone with nothing of what it had', () => {
    const dir = newStateDir();
    const log = createSessionLog(dir, noProblem);
    const tools = { transport: 'http', state: 'listed' };
    log.append(record('s-1', 'a', 's-1', { cwd: '/w', additionalDirectories: ['/more'], tools, isGone: true }));
    expect(readFileSync(fileIn(dir), 'utf8')).toBe(`${JSON.stringify(record('s-1', 'a', 's-1', { isGone: true }))}\n`);
    log.append(record('s-1'));
    expect(log.records().get('s-1')).toEqual(record('s-1'));
  });

  test('at the agent it was moved from still is at the one it was moved to', () => {
    const log = createSessionLog(newStateDir(), noProblem);
    log.append(record('s-1'));
    log.append(record('s-1', 'b', 'n-1'));
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    expect(log.records().get('s-1')).toMatchObject({ agent: 'b', nativeId: 'n-1' });
    expect(log.isHidden('a', 's-1')).toBe(true);
    expect(log.isHidden('b', 'n-1')).toBe(false);
  });

  test('can come back', () => {
    const log = createSessionLog(newStateDir(), noProblem);
    log.append(record('s-1', 'a', 's-1', { isGone: true }));
    log.append(record('s-1'));
    expect(log.isHidden('a', 's-1')).toBe(false);
    expect([...log.records().keys()]).toEqual(['s-1']);
  });
});

describe('a file that is not as it should be', () => {
  const whole = `${JSON.stringify(record('s-1'))}\n`;
  function logOver(text: string) {
    const dir = newStateDir();
    mkdirSync(dir, { recursive: true });
    writeFileSync(fileIn(dir), text);
    return { dir, log: createSessionLog(dir, noProblem) };
  }

  test('a last line that was torn off spoils neither what is before it nor what comes behind it', () => {
    const { dir, log } = logOver(`${whole}{"sessionId":"s-2","agent":"a","nat`);
    expect([...log.records().keys()]).toEqual(['s-1']);
    log.append(record('s-3'));
    expect([...log.records().keys()]).toEqual(['s-1', 's-3']);
    expect([...createSessionLog(dir, noProblem).records().keys()]).toEqual(['s-1', 's-3']);
  });

  test('a last line that is still being written is read once it is whole', () => {
    const { dir, log } = logOver(whole);
    const line = JSON.stringify(record('s-é'));
    appendFileSync(fileIn(dir), line.slice(0, 20));
    expect([...log.records().keys()]).toEqual(['s-1']);
    appendFileSync(fileIn(dir), `${line.slice(20)}\n`);
    expect([...log.records().keys()]).toEqual(['s-1', 's-é']);
  });

  test('a line that lacks only its line feed is not lost', () => {
    const { log } = logOver(whole.trimEnd());
    log.append(record('s-2'));
    expect([...log.records().keys()]).toEqual(['s-1', 's-2']);
  });

  test.each(['', 'nonsense', '[]', 'null', '{"sessionId":"s-2"}', '{"sessionId":1,"agent":"a","nativeId":"n"}', '\0\0\0'])(
    'a line of %j is passed over',
    (line) => {
      const { log } = logOver(`${line}\n${whole}${line}\n`);
      expect([...log.records().keys()]).toEqual(['s-1']);
    },
  );

  test.each(['"/more"', '{}', '[]', '[1]', '["/more",null]', JSON.stringify(Array.from({ length: 51 }, () => '/'))])(
    'directories of %j are none, and the session is there',
    (directories) => {
      const { log } = logOver(whole.replace('{', `{"additionalDirectories":${directories},`));
      expect([...log.records().values()]).toEqual([record('s-1')]);
    },
  );

  test('one that was cleared is read anew', () => {
    const { dir, log } = logOver(`${whole}${JSON.stringify(record('s-2', 'a', 's-2', { isGone: true }))}\n`);
    expect(log.isHidden('a', 's-2')).toBe(true);
    writeFileSync(fileIn(dir), `${JSON.stringify(record('s-9'))}\n`);
    expect([...log.records().keys()]).toEqual(['s-9']);
    expect(log.isHidden('a', 's-2')).toBe(false);
  });

  test('one that cannot be read or written is a problem and not an exception', () => {
    const dir = newStateDir();
    mkdirSync(fileIn(dir), { recursive: true });
    const problems: unknown[] = [];
    const log = createSessionLog(dir, (error) => problems.push(error));
    log.append(record('s-1'));
    expect(log.records().size).toBe(0);
    expect(problems).toMatchObject([{ code: 'EISDIR' }, { code: 'EISDIR' }]);
  });
});

test('two processes that append at once lose and mix nothing, and a third one sees it all', async () => {
  const dir = newStateDir();
  const program = path.join(path.dirname(path.dirname(dir)), 'append.mjs');
  await build({
    stdin: {
      contents: `
        import { createSessionLog } from './src/store/sessions/session-store.ts';
        import { appendLines } from './src/store/append-lines.ts';
        const [dir, name] = process.argv.slice(2);
        const log = createSessionLog(dir, (error) => { throw error; });
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
  const log = createSessionLog(dir, noProblem);
  const children = ['x', 'y'].map((name) => spawn(process.execPath, [program, dir, name], { stdio: ['pipe', 'pipe', 'inherit'] }));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const exits = Promise.all(children.map((child) => once(child, 'exit')));
  for (const child of children) child.stdin.write('go');
  let isOver = false;
  void exits.then(() => {
    isOver = true;
  });
  while (!isOver) {
    log.records(); // reads whatever is there, whole lines and half ones
    await new Promise(setImmediate);
  }
  expect(await exits).toEqual([
    [0, null],
    [0, null],
  ]);

  // A process that looks while another one's line is half in the file begins on a line of its own: a blank line, and no harm.
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
