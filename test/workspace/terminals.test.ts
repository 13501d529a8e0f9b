// Terminals with real processes: their output, their exit, and that nothing stays behind.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ProxyError } from '../../src/errors.ts';
import { MARK } from '../../src/processes/spawn.ts';
import { createDescriptors, elsewhere, linux } from '../../src/workspace/descriptors.ts';
import { type Roots, rootsOf } from '../../src/workspace/roots.ts';
import { createTerminals } from '../../src/workspace/terminals.ts';
import { createSandbox } from './sandbox.ts';

const NODE = process.execPath;

function createStage(descriptors = createDescriptors()) {
  const sandbox = createSandbox();
  const pids: number[] = [];
  const terminals = createTerminals(descriptors, { mark: 'a-test', onChild: (pid) => pids.push(pid), environment: () => process.env });
  onTestFinished(() => terminals.stop());
  const session = {};
  const create = (params: object, owner: object = session, roots: Roots = sandbox.roots) =>
    terminals.create(owner, roots, { ...params }, 300);
  return {
    ...sandbox,
    terminals,
    pids,
    session,
    create,
    /** Runs a program to completion. */
    async run(params: object) {
      const made = await create(params);
      const status = await terminals.waitForExit(session, made);
      return { ...made, ...status, ...terminals.output(session, made) };
    },
    /** Runs a script and waits for its output. */
    async script(text: string, output: string | RegExp) {
      const made = await create({ command: NODE, args: ['-e', text] });
      await vi.waitFor(() => expect(terminals.output(session, made).output).toMatch(output), { timeout: 20_000, interval: 10 });
      return made;
    },
  };
}

const refusal = (promise: Promise<unknown>): Promise<ProxyError> =>
  promise.then(
    (value) => Promise.reject(new Error(`not refused: ${JSON.stringify(value)}`)),
    (error) => (error instanceof ProxyError ? error : Promise.reject(error)),
  );

/** A zombie counts as exited. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const gone = (...pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000, interval: 10 });

const STAYS = 'setInterval(() => {}, 1e6);';
/** A child in the same group, and a grandchild that ignores SIGTERM; prints their pids. */
const TREE = `
  const { spawn } = require('child_process');
  const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); console.log(process.pid + ' deaf')";
  const inner = "const c = require('child_process').spawn(process.execPath, ['-e', " + JSON.stringify(deaf) + "], { stdio: 'inherit' }); console.log(process.pid + ' child'); setInterval(() => {}, 1e6);";
  spawn(process.execPath, ['-e', inner], { stdio: 'inherit' });
  ${STAYS}`;
const pidsIn = (text: string) => [...text.matchAll(/(\d+) (?:child|deaf)/g)].map(([, pid]) => Number(pid));

test('a command prints on both streams and exits with its code', async () => {
  const { run } = createStage();
  const text = "process.stdout.write('out '); process.stderr.write('err '); process.exitCode = 3;";
  const { output, truncated, exitStatus } = await run({ command: NODE, args: ['-e', text] });
  expect(output.trim().split(' ').sort()).toEqual(['err', 'out']);
  expect({ truncated, exitStatus }).toEqual({ truncated: false, exitStatus: { exitCode: 3, signal: null } });
});

test('arguments reach the program literally: there is no shell', async () => {
  const { run } = createStage();
  const args = ['$HOME', '*', 'a b', "'", ';', '&&', '`id`', '', 'é'];
  const { output } = await run({ command: NODE, args: ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', ...args] });
  expect(JSON.parse(output)).toEqual(args);
});

test('a plain command line without args is split; one that needs a shell is refused with advice', async () => {
  const { run, create, session, terminals } = createStage();
  expect((await run({ command: `${NODE} --version` })).output.trim()).toBe(process.version);
  expect(await refusal(create({ command: 'echo a; echo b' }))).toMatchObject({
    key: 'PARAMS',
    message: expect.stringContaining('send command "sh" with args ["-c", LINE]'),
  });
  expect((await run({ command: 'sh', args: ['-c', 'echo a; echo b'] })).output).toBe('a\nb\n');
  expect(() => terminals.output(session, { terminalId: 'none' })).toThrow(ProxyError);
});

test('env overrides our own, and our marker overrides both', async () => {
  const { run, at } = createStage();
  process.env.SWITCHBOARD_TEST_BASE = 'base';
  onTestFinished(() => void delete process.env.SWITCHBOARD_TEST_BASE);
  const text = `const { SWITCHBOARD_TEST_BASE: base, ONE: one, PWD: pwd, ${MARK}: mark } = process.env; console.log(JSON.stringify({ base, one, pwd, mark }))`;
  const env = [
    { name: 'ONE', value: 'first' },
    { name: 'ONE', value: 'a=b c' },
    { name: MARK, value: 'stolen' },
  ];
  const { output } = await run({ command: NODE, args: ['-e', text], env });
  expect(JSON.parse(output)).toEqual({ base: 'base', one: 'a=b c', pwd: at('root'), mark: 'a-test' });
});

test('stdin is empty: a program that waits for input ends', async () => {
  const { run } = createStage();
  expect(await run({ command: 'cat' })).toMatchObject({ output: '', exitCode: 0 });
});

test('cwd is the session directory, or one inside the roots that is named', async () => {
  const { run, at } = createStage();
  const where = { command: NODE, args: ['-e', 'process.stdout.write(process.cwd())'] };
  expect((await run(where)).output).toBe(at('root'));
  expect((await run({ ...where, cwd: null })).output).toBe(at('root'));
  expect((await run({ ...where, cwd: `${at('root/sub')}/` })).output).toBe(at('root/sub'));
  symlinkSync('sub', at('root/link'));
  expect((await run({ ...where, cwd: at('root/link') })).output).toBe(at('root/sub'));
});

test.each([
  ['outside', 'outside', 'PATH_OUTSIDE'],
  ['a sibling that begins alike', 'root-evil', 'PATH_OUTSIDE'],
  ['a link to the outside', 'root/away', 'PATH_OUTSIDE'],
  ['a file', 'root/a.txt', 'TERMINAL_UNSTARTABLE'],
  ['missing', 'root/none', 'TERMINAL_UNSTARTABLE'],
])('a cwd that is %s is refused', async (_, cwd, key) => {
  const { create, at, pids } = createStage();
  symlinkSync('../outside', at('root/away'));
  expect((await refusal(create({ command: 'true', cwd: at(cwd) }))).key).toBe(key);
  expect(pids).toEqual([]);
});

test.each([
  ['by descriptor', linux],
  ['by path', elsewhere],
] as const)('a cwd that becomes a link just before it is opened is refused, %s', async (_, way) => {
  let swap = () => {};
  const stage = createStage(
    way((...args) => {
      swap();
      return open(...args);
    }),
  );
  const { at, create, pids } = stage;
  swap = () => {
    swap = () => {};
    renameSync(at('root/sub'), at('root/was'));
    symlinkSync('../outside', at('root/sub'));
  };
  if (way === elsewhere) swap(); // there is nothing to open; the swap comes before the look
  expect((await refusal(create({ command: 'true', cwd: at('root/sub') }))).key).toMatch(/PATH_OUTSIDE|TERMINAL_UNSTARTABLE/);
  expect(pids).toEqual([]);
});

test('a cwd that is replaced by a link after it was opened stays the same directory', async () => {
  const descriptors = createDescriptors();
  const { at, run, roots } = createStage({
    ...descriptors,
    async openDirectory(...args) {
      const directory = await descriptors.openDirectory(...args);
      renameSync(at('root/sub'), at('root/was'));
      symlinkSync('../outside', at('root/sub'));
      return directory;
    },
  });
  expect(roots.real).toEqual([at('root')]);
  const { output } = await run({ command: NODE, args: ['-e', 'process.stdout.write(process.cwd())'], cwd: at('root/sub') });
  expect(output).toBe(at('root/was'));
});

test('the output limit does not split a character', async () => {
  const { run } = createStage();
  const text = "process.stdout.write('日'.repeat(1000) + '😀é')";
  const command = { command: NODE, args: ['-e', text] };
  expect(await run({ ...command, outputByteLimit: 8 })).toMatchObject({ output: '😀é', truncated: true });
  expect(await run({ ...command, outputByteLimit: 9 })).toMatchObject({ output: '日😀é', truncated: true });
  expect(await run({ ...command, outputByteLimit: 5 })).toMatchObject({ output: 'é', truncated: true });
  expect(await run({ ...command, outputByteLimit: 0 })).toMatchObject({ output: '', truncated: true });
  expect((await run({ ...command, outputByteLimit: 3006 })).truncated).toBe(false);
  expect((await run({ ...command, outputByteLimit: null })).truncated).toBe(false);
});

test('output is limited to a megabyte by default, and to four at most', async () => {
  const { run } = createStage();
  const flood = { command: NODE, args: ['-e', "process.stdout.write('x'.repeat(6 << 20) + 'end')"] };
  for (const [limit, bytes] of [
    [undefined, 1 << 20],
    [1 << 30, 4 << 20],
  ] as const) {
    const { output, truncated } = await run({ ...flood, outputByteLimit: limit });
    expect(output.length).toBe(bytes);
    expect(output.endsWith('end')).toBe(true);
    expect(truncated).toBe(true);
  }
});

test('output is available while the command runs, without an exit status', async () => {
  const { script, terminals, session } = createStage();
  const made = await script(`console.log('so far'); ${STAYS}`, 'so far');
  expect(terminals.output(session, made)).toEqual({ output: 'so far\n', truncated: false });
});

test('waiting after the exit is answered at once, repeatedly', async () => {
  const { run, terminals, session } = createStage();
  const made = await run({ command: NODE, args: ['-e', 'process.exit(5)'] });
  for (let times = 0; times < 3; times++) expect(await terminals.waitForExit(session, made)).toEqual({ exitCode: 5, signal: null });
});

test('a command with background processes counts as exited, and release ends them', async () => {
  const { create, terminals, session } = createStage();
  const text = `require('child_process').spawn(process.execPath, ['-e', 'console.log(process.pid + " child"); ${STAYS}'], { stdio: 'inherit' }).once('spawn', () => setTimeout(() => process.exit(0), 20))`;
  const made = await create({ command: NODE, args: ['-e', text] });
  expect(await terminals.waitForExit(session, made)).toEqual({ exitCode: 0, signal: null });
  await vi.waitFor(() => expect(pidsIn(terminals.output(session, made).output)).toHaveLength(1), { timeout: 20_000, interval: 10 });
  const [child = 0] = pidsIn(terminals.output(session, made).output);
  expect(isAlive(child)).toBe(true);
  terminals.release(session, made);
  await gone(child);
});

test('kill ends the whole tree, even processes that ignore SIGTERM; its output and exit status stay available', async () => {
  const { script, terminals, session, pids } = createStage();
  const made = await script(TREE, /deaf/);
  await vi.waitFor(() => expect(pidsIn(terminals.output(session, made).output)).toHaveLength(2), { timeout: 20_000, interval: 10 });
  const tree = [...pids, ...pidsIn(terminals.output(session, made).output)];
  expect(tree.map(isAlive)).toEqual([true, true, true]);
  const waiting = terminals.waitForExit(session, made);
  expect(await terminals.kill(session, made)).toEqual({});
  await gone(...tree);
  expect(await waiting).toEqual({ exitCode: null, signal: 'SIGTERM' });
  expect(terminals.output(session, made)).toMatchObject({ output: expect.stringContaining('deaf'), exitStatus: { signal: 'SIGTERM' } });
  expect(await terminals.kill(session, made)).toEqual({}); // killing again is harmless
});

test('release stops the command, answers waiting requests, and ends the id', async () => {
  const { script, terminals, session, pids } = createStage();
  const made = await script(`console.log('on'); ${STAYS}`, 'on');
  const waiting = terminals.waitForExit(session, made);
  expect(terminals.release(session, made)).toEqual({});
  expect(await waiting).toEqual({ exitCode: null, signal: 'SIGTERM' });
  await gone(...pids);
  for (const act of ['output', 'release'] as const) expect(() => terminals[act](session, made)).toThrow(/did not create terminal/);
  for (const act of ['waitForExit', 'kill'] as const) expect((await refusal(terminals[act](session, made))).key).toBe('TERMINAL_FOREIGN');
});

test('a terminal belongs to its session', async () => {
  const { script, terminals } = createStage();
  const made = await script(`console.log('on'); ${STAYS}`, 'on');
  const other = {};
  expect(() => terminals.output(other, made)).toThrow(/This agent did not create terminal ".*" in this session/);
  expect((await refusal(terminals.kill(other, made))).key).toBe('TERMINAL_FOREIGN');
  for (const terminalId of [undefined, null, 7, {}, '__proto__'])
    expect(() => terminals.release(other, { terminalId })).toThrow(ProxyError);
});

test('a session has at most 64 terminals, including those that start, and release makes room', async () => {
  const { create, terminals, session } = createStage();
  const outcomes = await Promise.allSettled(Array.from({ length: 70 }, () => create({ command: 'true' })));
  const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(made).toHaveLength(64);
  for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ key: 'TOO_MANY_OPEN' });
  expect((await create({ command: 'true' }, {})).terminalId).not.toBe(made[0]?.terminalId); // another session has its own
  terminals.release(session, made[0] as { terminalId: string });
  await create({ command: 'true' });
  expect((await refusal(create({ command: 'true' }))).key).toBe('TOO_MANY_OPEN');
});

test('all terminals of a session end with it, including one that is starting', async () => {
  const { script, create, terminals, session, pids } = createStage();
  await script(TREE, /deaf/);
  const late = refusal(create({ command: NODE, args: ['-e', STAYS] }));
  terminals.endOf(session);
  expect((await late).key).toBe('CANCELLED');
  await terminals.stop();
  expect(pids).toHaveLength(2);
  expect(pids.filter(isAlive)).toEqual([]);
  expect((await refusal(create({ command: 'true' }))).key).toBe('SHUTTING_DOWN');
});

test('stop waits until no process is left, and kill does not wait', async () => {
  const { script, terminals, session, pids } = createStage();
  const made = await script(TREE, /deaf/);
  const tree = [...pids, ...pidsIn(terminals.output(session, made).output)];
  await terminals.stop();
  expect(tree.filter(isAlive)).toEqual([]);

  const second = createStage();
  const another = await second.script(TREE, /deaf/);
  const others = [...second.pids, ...pidsIn(second.terminals.output(second.session, another).output)];
  second.terminals.killAll();
  await gone(...others);
});

test.each([
  ['a command that is not there', { command: 'no-such-command-here' }, /was not found. There is no shell here/],
  ['a path that is not there', { command: './none' }, /was not found/],
  ['a file that is no program', { command: './a.txt' }, /not executable/],
  ['words that are too many', { command: 'true', args: ['x'.repeat(3 << 20)] }, /too long/],
])('%s is reported', async (_, params, words) => {
  const { create, pids } = createStage();
  const error = await refusal(create(params));
  expect(error.key).toBe('TERMINAL_UNSTARTABLE');
  expect(error.message).toMatch(words);
  expect(pids).toEqual([]);
});

test.each([
  {},
  { command: '' },
  { command: ' ' },
  { command: 7 },
  { command: 'a\0b' },
  { command: 'a', args: 'b' },
  { command: 'a', args: [1] },
  { command: 'a', args: ['\0'] },
  { command: 'a', env: {} },
  { command: 'a', env: [{ name: '', value: '' }] },
  { command: 'a', env: [{ name: 'A=B', value: '' }] },
  { command: 'a', env: [{ name: 'A', value: 1 }] },
  { command: 'a', env: [null] },
  { command: 'a', outputByteLimit: -1 },
  { command: 'a', outputByteLimit: '1' },
  { command: 'a', cwd: 'relative' },
  { command: 'a', cwd: 7 },
])('%j is refused', async (params) => {
  const { create } = createStage();
  expect((await refusal(create(params))).key).toBe('PARAMS');
});

test('a program may be anywhere, and a relative path is resolved in cwd', async () => {
  const { run, at } = createStage();
  symlinkSync(NODE, at('root/sub/tool'));
  expect((await run({ command: './tool', args: ['--version'], cwd: at('root/sub') })).output.trim()).toBe(process.version);
});

test('a session whose directory is gone starts nothing elsewhere', async () => {
  const { create, at, roots } = createStage();
  rmSync(at('root'), { recursive: true });
  expect((await refusal(create({ command: 'true' }))).key).toBe('TERMINAL_UNSTARTABLE');
  symlinkSync('outside', at('root'));
  expect((await refusal(create({ command: 'true' }))).key).toBe('PATH_OUTSIDE');
  mkdirSync(at('more'));
  expect((await refusal(create({ command: 'true', cwd: at('more') }, {}, roots))).key).toBe('PATH_OUTSIDE');
  await create({ command: 'true', cwd: at('more') }, {}, rootsOf([at('root'), at('more')]));
});
