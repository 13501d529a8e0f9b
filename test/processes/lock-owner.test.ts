// Who holds a lock file, and whether that process may still be alive.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { expect, test } from 'vitest';
import { lockOwner, mayBeAlive } from '../../src/processes/lock-owner.ts';

const host = os.hostname();
const dead = () => spawnSync(process.execPath, ['-e', '']).pid;

test('this process is alive', () => {
  expect(lockOwner()).toMatch(new RegExp(`^${process.pid}\\.\\d+\\.`));
  expect(mayBeAlive(lockOwner())).toBe(true);
});

test('a process that has exited on this host is not alive', () => {
  expect(mayBeAlive(`${dead()}.1.${host}`)).toBe(false);
  expect(mayBeAlive(`${dead()}.0.${host}`)).toBe(false);
});

test('a process on another host may be alive, whatever runs here under its pid', () => {
  for (const elsewhere of [`${host}-other`, host.slice(1), '']) expect(mayBeAlive(`${dead()}.1.${elsewhere}`)).toBe(true);
});

test('a process whose start time is unknown may be alive', () => {
  expect(mayBeAlive(`${process.pid}.0.${host}`)).toBe(true);
});

test.runIf(process.platform === 'linux')('a process with the same pid and another start time is another process', () => {
  expect(mayBeAlive(`${process.pid}.1.${host}`)).toBe(false);
});

test.runIf(process.platform === 'linux')('a process that was killed is not alive, even if its parent has not noticed', async () => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(line);
  expect(mayBeAlive(`${pid}.0.${host}`)).toBe(true);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z ');
  expect(mayBeAlive(`${pid}.0.${host}`)).toBe(false);
  parent.kill();
});

test.each(['', 'x', '12', `x.1.${host}`])('an owner with an invalid name (%j) may be alive', (owner) => {
  expect(mayBeAlive(owner)).toBe(true);
});
