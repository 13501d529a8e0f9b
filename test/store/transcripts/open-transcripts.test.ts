// Writing open transcripts: failures, gaps and load.
import { mkdirSync, rmdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOpenTranscripts } from '../../../src/store/transcripts/open-transcripts.ts';
import { readTranscript, transcriptFile } from '../../../src/store/transcripts/transcript-files.ts';
import { newStateDir } from '../state.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const clean = {
  text: (text: string) => text,
  json: (value: unknown) => value,
  longest: () => 0,
  stream: () => ({ push: (text: string) => text, end: () => '' }),
  pieces: () => ({ update: (_: string, one: Readonly<Record<string, unknown>>) => one }),
};

/** `write` adds a line to a session and runs the write timer. */
function setUp() {
  const dir = newStateDir();
  const problems: unknown[] = [];
  const transcripts = createOpenTranscripts({ dir, clean, now: Date.now, onProblem: (error) => void problems.push(error) });
  return {
    transcripts,
    problems,
    file: (sessionId: string) => transcriptFile(dir, sessionId),
    write(sessionId: string, text: string) {
      transcripts.of(sessionId).transcript.add({ kind: 'prompt', text });
      transcripts.scheduleWrite();
      vi.advanceTimersByTime(250);
    },
    written: (sessionId: string) => (readTranscript(dir, sessionId) ?? []).map(({ t: _, ...rest }) => rest),
  };
}

/** The length of a line with this text. */
const line = (text: string) => JSON.stringify({ t: Date.now(), kind: 'prompt', text }).length + 1;

test('lines that cannot be written are counted; once there is room, new lines follow the gap', () => {
  const { transcripts, problems, file, write, written } = setUp();
  mkdirSync(file('s'), { recursive: true }); // so that appends fail
  write('s', 'lost');
  write('s', 'lost too');
  expect(problems.map(String)).toEqual([
    expect.stringMatching(/s\.jsonl cannot be written \(EISDIR\); switchboard retries every 30 seconds/),
  ]);
  rmdirSync(file('s'));
  write('s', 'lost, since it is tried again in half a minute');
  vi.advanceTimersByTime(30_000);
  write('s', 'kept');
  write('s', 'kept too');
  transcripts.close();
  const lost = ['lost', 'lost too', 'lost, since it is tried again in half a minute'].map(line).reduce((sum, length) => sum + length);
  expect(written('s')).toEqual([
    { kind: 'omitted', bytes: lost },
    { kind: 'prompt', text: 'kept' },
    { kind: 'prompt', text: 'kept too' },
  ]);
  expect(problems).toHaveLength(1);
});

test('a file that cannot be written does not affect other sessions', () => {
  const { file, write, written } = setUp();
  mkdirSync(file('bad'), { recursive: true });
  write('bad', 'lost');
  write('good', 'kept');
  expect(written('good')).toEqual([{ kind: 'prompt', text: 'kept' }]);
});

test('a thousand files are written a few at a time, frames are handled in between, and nothing is lost', () => {
  const { transcripts, written } = setUp();
  const ids = Array.from({ length: 1000 }, (_, n) => `s${n}`);
  const say = (text: string) => {
    for (const id of ids) transcripts.of(id).transcript.add({ kind: 'prompt', text });
    transcripts.scheduleWrite();
  };
  const done = () => ids.filter((id) => written(id).length > 0).length;
  say('one');
  vi.advanceTimersByTime(999);
  expect(done()).toBe(0);
  vi.advanceTimersByTime(1);
  const first = done();
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(100);
  say('two');
  vi.advanceTimersByTime(5000);
  expect(ids.every((id) => written(id).length === 2)).toBe(true);
});
