import { expect, test } from 'vitest';
import type { BoardKeeper } from '../../src/console/board.ts';
import type { Host } from '../../src/console/desk.ts';
import { createTerminalWatch } from '../../src/console/terminal-watch.ts';
import { createSecrets } from '../../src/log/redact.ts';

test('of a secret that stands where a long output is cut, nothing is shown', async () => {
  const secrets = createSecrets();
  secrets.add('KEY', 'hunter2-hunter2-hunter2');
  const output = `hunter2-hunter2-hunter2${'.'.repeat(64 * 1024 - 8)}`;
  const told: unknown[] = [];
  const board = { event: (_: string, event: unknown) => told.push(event) } as unknown as BoardKeeper;
  const host = { serve: async () => ({ output, truncated: false, exitStatus: { exitCode: 0 } }) } as unknown as Host;
  await createTerminalWatch(board, host, secrets.redact).last('s', '/', 't');
  expect(told).toMatchObject([{ e: 'output', output: { isTruncated: true } }]);
  expect(JSON.stringify(told)).not.toContain('hunter2');
});
