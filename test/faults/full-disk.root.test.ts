// A full disk, simulated by a device on which every write fails. Only root may create devices.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fixture, open, prompt } from '../e2e/harness.ts';
import { end, noticed, pidIn, test } from './setup.ts';
import { goesOnWithout } from './unusable-state.ts';

/** Every write to it fails with ENOSPC. A real device, because our files are not opened through links. */
const makeFull = (file: string): void => void execFileSync('mknod', ['-m', '600', file, 'c', '1', '7']);

test.concurrent('row 30: a full state directory: one warning, and the traffic continues', async ({ stage }) => {
  const home = path.join(stage.dir, 'broken');
  mkdirSync(home);
  makeFull(path.join(home, 'sessions.jsonl'));
  const client = await goesOnWithout(stage, home);
  expect(client.stderr()).toContain('ENOSPC');
});

test.concurrent('row 30: a disk that fills up at run time: open and new sessions continue', async ({ stage }) => {
  const client = await stage.connect({ one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') });
  const before = await open(client, stage.cwd, 'one');
  const log = path.join(stage.state, 'sessions.jsonl');
  rmSync(log);
  makeFull(log);
  const after = await open(client, stage.cwd, 'two');
  for (const { id } of [before, after]) expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  end(pidIn(after.id));
  await noticed(client, '"two" exited');
  expect((await prompt(client, after.id, 'again')).result).toEqual({ stopReason: 'end_turn' });
  await noticed(client, 'ENOSPC');
});
