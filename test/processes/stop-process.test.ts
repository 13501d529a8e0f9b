// Stopping real processes, and the order of the steps.
import { describe, expect, test } from 'vitest';
import { type ProcessTree, stopProcess } from '../../src/processes/process-tree.ts';
import { isGroupRunning, isRunning, script, start } from '../agents/programs.ts';

/** The time limit for expected events, also on a busy machine. */
const SHORT_MS = 1000;
const SHORT = { timeouts: { stop_grace_ms: SHORT_MS } };
const PATIENT_MS = 30_000;
const PATIENT = { timeouts: { stop_grace_ms: PATIENT_MS } };
const tellsTerm = "process.on('SIGTERM', () => require('fs').writeSync(2, 'got TERM\\n'));";
const staysAlive = 'setInterval(() => {}, 1000);';
/** A child in the same group, whose pid the parent prints. */
const withChild = (text: string) =>
  `const { spawn } = require('child_process');
   const child = spawn(process.execPath, ['-e', ${JSON.stringify(`${text} process.stdout.write('child ready')`)}], { stdio: ['ignore', 'pipe', 'ignore'] });
   child.stdout.once('data', () => process.stdout.write(child.pid + ' ready\\n'));`;

describe('stopping a process', () => {
  test('that exits at the end of its input sends it no signal', async () => {
    const { agent, says, exit } = start(
      script(`${tellsTerm} process.stdin.resume().on('end', () => process.exit(7)); process.stdout.write('ready');`, PATIENT),
    );
    await says('ready');
    await agent.stop();
    expect(await exit).toEqual({ kind: 'exited', code: 7, signal: null });
    expect(agent.stderrTail()).toEqual([]);
  });

  test('lets it finish its input', async () => {
    const { agent, says, output, exit } = start(
      script(
        `let text = ''; process.stdin.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
         process.stdin.on('end', () => process.stdout.write('heard ' + text.length)); process.stdout.write('ready ');`,
        PATIENT,
      ),
    );
    await says('ready');
    agent.toAgent.write('x'.repeat(300_000));
    await agent.stop();
    await exit;
    expect(output()).toBe('ready heard 300000');
  });

  test('that ignores the end of its input sends SIGTERM once the grace period ends', async () => {
    const { agent, says, exit } = start(
      script(`${tellsTerm} process.on('SIGTERM', () => process.exit(3)); ${staysAlive} process.stdout.write('ready');`, SHORT),
    );
    await says('ready');
    const begin = performance.now();
    await agent.stop();
    expect(performance.now() - begin).toBeGreaterThan(SHORT_MS - 20);
    expect(await exit).toEqual({ kind: 'exited', code: 3, signal: null });
    expect(agent.stderrTail()).toEqual(['got TERM']);
  });

  test('that ignores both kills it with its child', async () => {
    const deaf = `${tellsTerm} ${staysAlive}`;
    const { agent, says, output, exit } = start(script(`${deaf} ${withChild(deaf)}`, SHORT));
    await says('ready');
    const child = Number.parseInt(output(), 10);
    expect(isRunning(child)).toBe(true);
    await agent.stop();
    expect(await exit).toEqual({ kind: 'exited', code: null, signal: 'SIGKILL' });
    expect(agent.stderrTail()).toEqual(['got TERM']);
    expect(isGroupRunning(agent.pid as number)).toBe(false);
    expect(isRunning(child)).toBe(false);
  });

  test('that exits but leaves a child behind ends the child too', async () => {
    const { agent, says, output, exit } = start(
      script(`${withChild(staysAlive)} process.stdin.resume().on('end', () => process.exit(0));`, SHORT),
    );
    await says('ready');
    const child = Number.parseInt(output(), 10);
    await agent.stop();
    expect(await exit).toMatchObject({ code: 0 });
    expect(isGroupRunning(agent.pid as number)).toBe(false);
    expect(isRunning(child)).toBe(false);
  });

  test('that has exited returns at once', async () => {
    const { agent, exit } = start(script('', PATIENT));
    await exit;
    const begin = performance.now();
    await agent.stop();
    expect(performance.now() - begin).toBeLessThan(PATIENT_MS);
  });

  test('that never started returns at once', async () => {
    const { agent, exit } = start(script('', { ...PATIENT, command: '/no/such/command' }));
    await agent.stop();
    expect(await exit).toMatchObject({ kind: 'unstartable' });
  });
});

describe('the steps', () => {
  /** A tree that runs until `lastStep` and records the steps. */
  function treeThatEndsAt(lastStep: 'eof' | 'term' | 'kill' | 'never') {
    const steps: string[] = [];
    const tree: ProcessTree = { isAlive: () => !steps.includes(lastStep), end: (how) => void steps.push(how) };
    return { steps, stop: stopProcess(tree, () => void steps.push('eof'), 60) };
  }

  test.each([
    ['eof', ['eof']],
    ['term', ['eof', 'term']],
    ['kill', ['eof', 'term', 'kill']],
    ['never', ['eof', 'term', 'kill']],
  ] as const)('for a tree that ends at %s are %j', async (lastStep, expected) => {
    const { steps, stop } = treeThatEndsAt(lastStep);
    await stop;
    expect(steps).toEqual(expected);
  });
});
