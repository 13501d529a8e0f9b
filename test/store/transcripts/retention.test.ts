// Deleting old transcripts.
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { keepTidy, tidyTranscripts } from '../../../src/store/transcripts/retention.ts';
import { transcriptFile } from '../../../src/store/transcripts/transcript-files.ts';
import { newStateDir, noProblem } from '../state.ts';

const DAY = 86_400_000;
const BOUNDS = { maxAgeMs: 10 * DAY, maxTotalBytes: 1 << 20 };

function withOld(dir = newStateDir()) {
  mkdirSync(dir, { recursive: true });
  const file = transcriptFile(dir, 'old');
  writeFileSync(file, '{}\n');
  utimesSync(file, 0, 0);
  return { dir, file };
}

test('old transcripts are deleted once a day, by any process', () => {
  const { dir, file } = withOld();
  const now = Date.now();
  expect(tidyTranscripts(dir, BOUNDS, now)).toBe(true);
  expect(existsSync(file)).toBe(false);
  withOld(dir);
  expect(tidyTranscripts(dir, BOUNDS, now + DAY / 2)).toBe(false);
  expect(existsSync(file)).toBe(true);
  expect(tidyTranscripts(dir, BOUNDS, now + 2 * DAY)).toBe(true);
  expect(existsSync(file)).toBe(false);
});

test('a short-lived process does it on exit, and creates no directory for it', () => {
  const { dir, file } = withOld();
  keepTidy(dir, BOUNDS, noProblem)();
  expect(existsSync(file)).toBe(false);
  const none = path.join(dir, 'none');
  keepTidy(none, BOUNDS, noProblem)();
  expect(existsSync(none)).toBe(false);
});

test('a long-running process does it soon, and again the next day', () => {
  vi.useFakeTimers({ now: Date.now() });
  try {
    const { dir, file } = withOld();
    const stop = keepTidy(dir, BOUNDS, noProblem);
    vi.advanceTimersByTime(6000);
    expect(existsSync(file)).toBe(false);
    withOld(dir);
    vi.advanceTimersByTime(2 * DAY);
    expect(existsSync(file)).toBe(false);
    stop();
  } finally {
    vi.useRealTimers();
  }
});
