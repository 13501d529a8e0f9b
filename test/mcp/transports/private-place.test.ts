// The private directory for sockets.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makePrivatePlace } from '../../../src/mcp/transports/socket-listener.ts';

const NO_PROCESS = 99_999_999;

test.skipIf(process.platform === 'win32')('what a killed proxy left is removed, unless other users could have changed it', () => {
  const tmp = mkdtempSync(path.join(os.tmpdir(), 'sb-'));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = tmp;
  onTestFinished(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(tmp, { recursive: true, force: true });
  });
  const [left, open] = ['left', 'open'].map((name) => path.join(tmp, `switchboard-mcp-${NO_PROCESS}-${name}`)) as [string, string];
  mkdirSync(left, { mode: 0o700 });
  mkdirSync(open, { mode: 0o755 });
  const place = makePrivatePlace();
  onTestFinished(place.remove);
  expect(statSync(path.dirname(place.address)).mode & 0o777).toBe(0o700);
  expect([left, open].map((one) => existsSync(one))).toEqual([false, true]);
});
