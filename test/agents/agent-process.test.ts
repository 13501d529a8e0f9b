// Agent processes: start, failure to start, and exit.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isGroupRunning, isRunning, script, start } from './programs.ts';

function newFolder(): string {
  const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('an agent that cannot be started says why:', () => {
  test('its command is missing', async () => {
    for (const command of ['/no/such/command', 'no-such-command-anywhere'])
      expect(await start(script('', { command })).exit).toEqual({ kind: 'unstartable', why: expect.stringContaining('not found') });
  });

  test('its command is not executable', async () => {
    const command = path.join(newFolder(), 'agent');
    writeFileSync(command, '#!/bin/sh\n', { mode: 0o644 });
    expect(await start(script('', { command })).exit).toEqual({
      kind: 'unstartable',
      why: 'the command is not executable',
      next: expect.stringContaining('chmod +x'),
    });
  });

  test.runIf(process.platform !== 'win32')('its command is a directory, or its interpreter is missing', async () => {
    const command = path.join(newFolder(), 'agent');
    writeFileSync(command, '#!/no/such/shell\n', { mode: 0o755 });
    expect(await start(script('', { command })).exit).toMatchObject({ why: expect.stringContaining('the interpreter in its first line') });
    expect(await start(script('', { command: path.dirname(command) })).exit).toMatchObject({ why: 'the command is a directory' });
  });

  test('its working directory is missing', async () => {
    const cwd = path.join(newFolder(), 'gone');
    expect(await start(script('', { cwd })).exit).toEqual({
      kind: 'unstartable',
      why: `its cwd does not exist: ${cwd}`,
      next: expect.stringContaining('"cwd" in'),
    });
  });

  test.each([
    ['its folder is a file', () => ({ cwd: import.meta.filename })],
    ['its environment is too big for the system', () => ({ env: { BIG: 'x'.repeat(4_000_000) } })],
    ['an argument has a zero byte in it', () => ({ args: ['a\0b'] })],
  ])('%s', async (_, options) => {
    const { agent, exit } = start(script('', options()));
    expect(await exit).toMatchObject({ kind: 'unstartable', why: expect.any(String) });
    expect(agent.pid).toBeUndefined();
    // Writes in the meantime are harmless.
    agent.toAgent.write('{}\n');
    agent.kill();
    await agent.stop();
  });

  test('and later listeners get the same reason', async () => {
    const { agent, exit } = start(script('', { command: '/no/such/command' }));
    const first = await exit;
    expect(await new Promise((resolve) => agent.onExit(resolve))).toEqual(first);
  });
});

describe('an agent is started', () => {
  test('without a shell: its arguments are passed literally', async () => {
    const args = ['$HOME', '; echo no', '*', "it's", ''];
    const { output, exit } = start(
      script('', { args: ['-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', '--', ...args] }),
    );
    await exit;
    expect(JSON.parse(output())).toEqual(args);
  });

  test('with our environment overridden by its own, in its working directory', async () => {
    const cwd = newFolder();
    vi.stubEnv('FROM_US', 'ours');
    vi.stubEnv('FROM_BOTH', 'ours');
    onTestFinished(() => void vi.unstubAllEnvs());
    const tell = 'process.stdout.write([process.env.FROM_US, process.env.FROM_BOTH, process.env.FROM_IT, process.cwd()].join())';
    const { output, exit } = start(script(tell, { cwd, env: { FROM_BOTH: 'its own', FROM_IT: '1' } }));
    await exit;
    expect(output()).toBe(`ours,its own,1,${cwd}`);
  });

  test('as the leader of its own process group', async () => {
    const { agent, says } = start(script("setInterval(() => {}, 1000); process.stdout.write('ready')"));
    await says('ready');
    expect(isGroupRunning(agent.pid as number)).toBe(true);
    agent.kill();
    await vi.waitFor(() => expect(isGroupRunning(agent.pid as number)).toBe(false), { timeout: 10_000 });
  });
});

describe('the exit of an agent', () => {
  test('is reported with its code, to every listener, once', async () => {
    const { agent, exit } = start(script('process.exit(41)'));
    const listener = vi.fn();
    agent.onExit(listener);
    expect(await exit).toEqual({ kind: 'exited', code: 41, signal: null });
    expect(await new Promise((resolve) => agent.onExit(resolve))).toEqual({ kind: 'exited', code: 41, signal: null });
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test('is reported with its signal', async () => {
    expect(await start(script("process.kill(process.pid, 'SIGKILL')")).exit).toEqual({ kind: 'exited', code: null, signal: 'SIGKILL' });
  });

  test('is reported after all its output, even if that is read late', async () => {
    const { agent, output, exit } = start(script("process.stdout.write('x'.repeat(50_000) + 'last'); process.stderr.write('why')"));
    agent.fromAgent.pause();
    let lengthAtExit: number | undefined;
    agent.onExit(() => {
      lengthAtExit = output().length;
    });
    await vi.waitFor(() => expect(() => process.kill(agent.pid as number, 0)).toThrow(), { interval: 5, timeout: 10_000 }); // exited and reaped
    agent.fromAgent.resume();
    await exit;
    expect(lengthAtExit).toBe(50_004);
    expect(agent.stderrTail()).toEqual(['why']);
  });

  test('is reported after all its output, even if the reader pauses more than once', async () => {
    const { agent, output, exit } = start(script("require('fs').writeSync(1, 'x'.repeat(150_000) + 'last')"));
    agent.fromAgent.on('data', () => {
      agent.fromAgent.pause();
      setTimeout(() => agent.fromAgent.resume(), 400); // longer than the wait for the last output
    });
    let lengthAtExit: number | undefined;
    agent.onExit(() => {
      lengthAtExit = output().length;
    });
    await exit;
    expect(lengthAtExit).toBe(150_004);
  });

  test('is reported soon even if a child keeps its output open', async () => {
    const { agent, says, output, exit } = start(
      script(
        `const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
         process.stdout.write(child.pid + ' ready', () => process.exit(5));`,
      ),
    );
    await says('ready');
    const begin = performance.now();
    expect(await exit).toEqual({ kind: 'exited', code: 5, signal: null });
    expect(performance.now() - begin).toBeLessThan(5000);
    const child = Number.parseInt(output(), 10);
    expect(isRunning(child)).toBe(true);
    agent.kill();
    await vi.waitFor(() => expect(isRunning(child)).toBe(false), { timeout: 10_000 });
  });

  test('does not break writes to an agent that never reads', async () => {
    const { agent, exit } = start(script('setTimeout(() => process.exit(0), 50)'));
    for (let n = 0; n < 50; n++) agent.toAgent.write('x'.repeat(100_000));
    expect(await exit).toMatchObject({ kind: 'exited', code: 0 });
    agent.toAgent.write('late');
    await new Promise(setImmediate);
  });
});

test('the last 200 lines of its stderr are kept', async () => {
  const { agent, exit } = start(script("for (let n = 0; n < 1000; n++) process.stderr.write('line ' + n + '\\n')"));
  await exit;
  expect(agent.stderrTail()).toEqual(Array.from({ length: 200 }, (_, n) => `line ${800 + n}`));
});
