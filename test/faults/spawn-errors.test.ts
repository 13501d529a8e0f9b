// Errors the system may return instead of starting a process. Each is an ordinary end: reported once, as a message, never thrown.
import { ChildProcess } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { startAgentProcess } from '../../src/agents/agent-process.ts';
import { agentSpec } from '../../src/agents/defaults.ts';
import type { Exit } from '../../src/transports/transport.ts';

const spawn = vi.hoisted(() => vi.fn());
vi.mock('../../src/processes/spawn.ts', async (original) => ({ ...(await original<object>()), spawn }));

const failing = (code: string): Error => Object.assign(new Error(`spawn agent ${code}`), { code });

test.each([
  ['row 25', 'EMFILE', /too many files open/, /ulimit -n/],
  ['row 25', 'ENFILE', /too many files open/, /ulimit -n/],
  ['row 26', 'EAGAIN', /cannot start another process now \(EAGAIN\)/, /End some/],
  ['row 26', 'ENOMEM', /cannot start another process now \(ENOMEM\)/, /End some/],
])('%s: %s is reported as a message, once, and nothing needs to be ended', async (_row, code, pattern, advice) => {
  // As Node does it: with EMFILE and ENFILE there are no streams, with EAGAIN there are, and ENOMEM is thrown.
  spawn.mockImplementation(() => {
    if (code === 'ENOMEM') throw failing(code);
    const child = new ChildProcess();
    if (code === 'EAGAIN') Object.assign(child, { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() });
    process.nextTick(() => child.emit('error', failing(code)));
    return child;
  });
  const child = startAgentProcess(agentSpec('agent', { command: 'agent' }), 'mark');
  const exits: Exit[] = [];
  child.onExit((exit) => exits.push(exit));
  await expect.poll(() => exits).toHaveLength(1);
  expect(exits[0]).toMatchObject({ kind: 'unstartable', why: expect.stringMatching(pattern), next: expect.stringMatching(advice) });
  expect(child.pid).toBeUndefined();
  child.toAgent.write('words for nobody\n');
  child.kill();
  await child.stop();
});
