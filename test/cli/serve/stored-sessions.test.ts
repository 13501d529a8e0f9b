// Stored sessions in the console's list.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { storedSessions } from '../../../src/cli/serve/open-console.ts';
import { createSessionStore } from '../../../src/store/sessions/session-store.ts';
import { appendStats } from '../../../src/store/transcripts/session-stats.ts';
import { transcriptsDir } from '../../../src/store/transcripts/transcript-files.ts';

test('sessions of all processes are listed as they change; without a change nothing is read again', () => {
  const dir = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-stored-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const stored = storedSessions(
    dir,
    createSessionStore(dir, () => {}),
  );
  expect(stored()).toEqual([]);
  const log = createSessionStore(dir, () => {});
  log.append({ sessionId: 's', nativeId: 's', agent: 'one', cwd: '/work', at: '2026-11-01T00:00:00.000Z' });
  const first = stored();
  expect(first).toMatchObject([{ sessionId: 's', agent: 'one', cwd: '/work', state: 'stored', title: '', turns: 0 }]);
  expect(stored()).toBe(first);
  const usage = { used: 10, size: 200, cost: { amount: 0.5, currency: 'USD' } };
  appendStats(transcriptsDir(dir), [{ sessionId: 's', t: 5, title: 'A \u202etitle', stopReason: 'end_turn', usage }]);
  expect(stored()).toMatchObject([
    { title: 'A ⟨U+202E⟩title', turns: 1, stopReason: 'end_turn', used: 10, size: 200, cost: '0.50 USD', at: 5 },
  ]);
});
