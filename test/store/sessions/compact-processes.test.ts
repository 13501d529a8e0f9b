// Several processes write and compact sessions.jsonl at the same time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { compactSessionLog } from '../../../src/store/sessions/compact.ts';
import { createSessionStore } from '../../../src/store/sessions/session-store.ts';
import { newStateDir, noProblem } from '../state.ts';

const compact = (dir: string) => compactSessionLog(dir, 0);

/** Three writers in their own processes, each with its own sessions. */
async function startWriters(dir: string, whatElse: string) {
  mkdirSync(dir, { recursive: true });
  const program = path.join(dir, '..', 'program.mjs');
  await build({
    stdin: {
      contents: `
        import { setImmediate as nextEvent } from 'node:timers/promises';
        import { compactSessionLog } from './src/store/sessions/compact.ts';
        import { createSessionStore } from './src/store/sessions/session-store.ts';
        const [dir, name] = process.argv.slice(2);
        const log = createSessionStore(dir, (error) => { throw error; });
        let done = 0;
        const compactions = [];
        const compact = () => compactSessionLog(dir, 0).then((isDone) => { if (isDone) done++; });
        if (name === 'compactor') {
          process.stdout.write('ready');
          for (;;) await compact();
        }
        process.stdin.once('data', async () => {
          for (let n = 0; n < 600; n++) {
            for (const at of ['1', '2', '3', '4']) log.append({ sessionId: name + n, agent: name, nativeId: String(n), at });
            if (n % 10 === 0) log.append({ sessionId: name + n, agent: name, nativeId: String(n), at: '5', isGone: true });
            ${whatElse}
            await nextEvent();
          }
          await Promise.all(compactions);
          process.stdout.write(String(done));
          process.exit();
        });
        process.stdout.write('ready ');`,
      resolveDir: path.resolve(import.meta.dirname, '../../..'),
      loader: 'ts',
    },
    ...{ bundle: true, format: 'esm', platform: 'node', outfile: program },
  });
  const children = WRITERS.map((name) => spawn(process.execPath, [program, dir, name], { stdio: ['pipe', 'pipe', 'inherit'] }));
  const outputs = children.map((child) => child.stdout.setEncoding('utf8').toArray());
  await Promise.all(children.map((child) => once(child.stdout, 'readable')));
  const exits = Promise.all(children.map((child) => once(child, 'exit')));
  for (const child of children) child.stdin.write('go');
  return {
    program,
    exits,
    /** The number of compactions by the writers. */
    compactions: async () =>
      (await Promise.all(outputs)).map((parts) => Number(parts.join('').replace('ready ', ''))).reduce((sum, one) => sum + one, 0),
  };
}
const WRITERS = ['x', 'y', 'z'];

/** Sessions whose newest line is not the last one written. */
function wrongSessions(dir: string) {
  const log = createSessionStore(dir, noProblem);
  const expected = WRITERS.flatMap((name) => Array.from({ length: 600 }, (_, n) => [name, n] as const));
  return expected.filter(([name, n]) => {
    const record = log.records().get(`${name}${n}`);
    const isGone = n % 10 === 0;
    return log.isHidden(name, String(n)) !== isGone || (isGone ? record !== undefined : record?.at !== '4' || record.created !== '1');
  });
}

test('several processes write while several compact, and nothing is lost', async () => {
  const dir = newStateDir();
  const writers = await startWriters(dir, 'if (n % 7 === 0) compactions.push(compact());');
  expect(await writers.exits).toEqual(Array(3).fill([0, null]));
  expect(await writers.compactions()).toBeGreaterThan(2); // each time the file has doubled
  expect(wrongSessions(dir)).toEqual([]);
  expect(readdirSync(dir)).toEqual(['sessions.jsonl']);
});

test('several processes write while compacting processes are killed, and nothing is lost', async () => {
  const dir = newStateDir();
  const writers = await startWriters(dir, '');
  let isOver = false;
  void writers.exits.then(() => {
    isOver = true;
  });
  let kills = 0;
  while (!isOver) {
    const compactor = spawn(process.execPath, [writers.program, dir, 'compactor'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(compactor, 'exit');
    await once(compactor.stdout, 'readable');
    await delay(20 * Math.random()); // at a random moment of its work
    compactor.kill('SIGKILL');
    expect(await exit).toEqual([null, 'SIGKILL']);
    kills++;
  }
  expect(await writers.exits).toEqual(Array(3).fill([0, null]));
  expect(kills).toBeGreaterThan(0);
  await compact(dir); // as the next start does
  expect(wrongSessions(dir)).toEqual([]);
});
