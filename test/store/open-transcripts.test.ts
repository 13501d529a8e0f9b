import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOpenTranscripts } from '../../src/store/open-transcripts.ts';
import { readTranscript, transcriptFile } from '../../src/store/transcript-files.ts';
import { newStateDir } from './state.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const clean = {
  text: (text: string) => text,
  json: (value: unknown) => value,
  longest: () => 0,
  stream: () => ({ push: (text: string) => text, end: () => '' }),
  pieces: () => ({ update: (_: string, one: Readonly<Record<string, unknown>>) => one }),
};

/** `write`: something is said in a session, and the time has come to write it down. */
function setUp() {
  const dir = newStateDir();
  const problems: unknown[] = [];
  const transcripts = createOpenTranscripts({ dir, clean, now: () => 0, onProblem: (error) => void problems.push(error) });
  return {
    transcripts,
    problems,
    file: (sessionId: string) => transcriptFile(dir, sessionId),
    write(sessionId: string, text: string) {
      transcripts.of(sessionId).transcript.add({ kind: 'prompt', text });
      transcripts.writeSoon();
      vi.advanceTimersByTime(250);
    },
    written: (sessionId: string) => (readTranscript(dir, sessionId) ?? []).map(({ t: _, ...rest }) => rest),
  };
}

test('what cannot be written is said once and counted; when there is room again, the rest follows behind the gap', () => {
  const { transcripts, problems, file, write, written } = setUp();
  write('s', 'one');
  const other = file('other');
  mkdirSync(path.dirname(other), { recursive: true });
  mkdirSync(other); // nothing can be appended to it
  write('other', 'lost');
  write('other', 'lost too');
  write('s', 'two');
  expect(problems).toHaveLength(1);
  rmdirSync(other);
  vi.advanceTimersByTime(30_000);
  write('other', 'kept');
  write('s', 'three');
  transcripts.close();
  const line = (text: string) => JSON.stringify({ t: 0, kind: 'prompt', text }).length + 1;
  expect(written('other')).toEqual([
    { kind: 'omitted', bytes: line('lost') + line('lost too') },
    { kind: 'prompt', text: 'kept' },
  ]);
  expect(written('s')).toEqual([
    { kind: 'prompt', text: 'one' },
    { kind: 'omitted', bytes: line('two') },
    { kind: 'prompt', text: 'three' },
  ]);
  expect(problems).toHaveLength(1);
});
