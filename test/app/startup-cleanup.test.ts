// What start-up reports about files it cannot clean up.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cleanUp } from '../../src/app/startup-cleanup.ts';
import { draftOf } from '../../src/private-files.ts';
import { noProblem } from '../store/state.ts';

test('a session list that cannot be compacted is reported and can still be used', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-tidy-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'sessions.jsonl');
  writeFileSync(file, '{"sessionId":"s","agent":"a","nativeId":"s","at":"now"}\n'.repeat(2000), { mode: 0o600 });
  mkdirSync(draftOf(file)); // where the compacted list would be created
  const problems: string[] = [];
  cleanUp(dir, noProblem, (text) => problems.push(text));
  await vi.waitFor(() => expect(problems).toEqual([expect.stringMatching(/^sessions.jsonl could not be compacted: .*directory/)]));
});
