// Why a program did not start, where the system's own error misleads.
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { spawn, startFailure } from '../../src/processes/spawn.ts';
import { becomeOrdinaryUser } from '../ordinary-user.ts';

beforeAll(becomeOrdinaryUser);

test.skipIf(process.platform === 'win32')(
  'a command that PATH has nowhere was not found, also when one directory of PATH cannot be searched',
  async () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-path-'));
    onTestFinished(() => {
      chmodSync(path.join(root, 'closed'), 0o700);
      rmSync(root, { recursive: true });
    });
    for (const name of ['closed', 'open']) mkdirSync(path.join(root, name));
    writeFileSync(path.join(root, 'open', 'plain-text'), '', { mode: 0o644 });
    chmodSync(path.join(root, 'closed'), 0);
    const env = { PATH: `${root}/closed:${root}/open` };
    const start = async (command: string) => {
      const [error] = await once(spawn(command, [], { env }), 'spawn').catch((failed: NodeJS.ErrnoException) => [failed]);
      return { system: error.code, ours: startFailure(error, command, env) };
    };
    expect(await start('no-such-command')).toEqual({ system: 'EACCES', ours: 'ENOENT' });
    expect(await start('plain-text')).toEqual({ system: 'EACCES', ours: 'EACCES' });
    expect(await start(`${root}/open/plain-text`)).toEqual({ system: 'EACCES', ours: 'EACCES' });
  },
);
