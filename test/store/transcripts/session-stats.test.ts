// The index of sessions: turns, titles and usage.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { appendLines } from '../../../src/store/append-lines.ts';
import { createSessionStore } from '../../../src/store/sessions/session-store.ts';
import { appendStats, compactStats, readStats, removeStats } from '../../../src/store/transcripts/session-stats.ts';
import { transcriptFile } from '../../../src/store/transcripts/transcript-files.ts';
import { newStateDir, noProblem } from '../state.ts';

const index = (dir: string) => path.join(dir, 'index.jsonl');

test('turns are counted with their stop reasons; the newest title and usage are kept', () => {
  const dir = newStateDir();
  appendStats(dir, [{ sessionId: 's', t: 1, title: 'First', stopReason: 'end_turn', usage: { used: 1 } }]);
  appendStats(dir, [{ sessionId: 'other', t: 2, stopReason: 'refusal' }]);
  appendStats(dir, [{ sessionId: 's', t: 3, stopReason: 'cancelled' }]);
  appendStats(dir, [{ sessionId: 's', t: 4, title: 'Second', stopReason: 'end_turn' }]);
  expect(readStats(dir).get('s')).toEqual({
    ...{ sessionId: 's', t: 4, turns: 3, title: 'Second', usage: { used: 1 } },
    ...{ stopReason: 'end_turn', stopReasons: { end_turn: 2, cancelled: 1 } },
  });
  expect(readStats(dir).get('other')).toMatchObject({ turns: 1, stopReasons: { refusal: 1 } });
});

test('a session without a title has the first words of its first prompt', () => {
  const dir = newStateDir();
  const turns = [
    { sessionId: 's', t: 1, prompt: 'fix the tests', stopReason: 'end_turn' },
    { sessionId: 's', t: 2, prompt: 'now the docs', stopReason: 'end_turn' },
  ];
  appendStats(dir, turns);
  expect(readStats(dir).get('s')).toEqual(expect.objectContaining({ title: 'fix the tests' }));
  compactStats(dir, 0);
  expect(readStats(dir).get('s')).toEqual(expect.objectContaining({ title: 'fix the tests', turns: 2 }));
  appendStats(dir, [{ sessionId: 's', t: 3, title: 'The agent knows better', stopReason: 'end_turn' }]);
  expect(readStats(dir).get('s')?.title).toBe('The agent knows better');
});

test('very many lines are compacted to one for each session, with the same content', () => {
  const dir = newStateDir();
  for (let n = 0; n < 300; n++)
    appendStats(dir, [{ sessionId: `s-${n % 3}`, t: n, title: 'T', stopReason: n % 2 ? 'end_turn' : 'cancelled' }]);
  const before = [...readStats(dir)];
  compactStats(dir, 1 << 20);
  expect(readFileSync(index(dir), 'utf8').split('\n')).toHaveLength(301);
  compactStats(dir, 1000);
  expect(readFileSync(index(dir), 'utf8').split('\n')).toHaveLength(4);
  expect(statSync(index(dir)).mode & 0o777).toBe(0o600);
  expect([...readStats(dir)]).toEqual(before);
  appendStats(dir, [{ sessionId: 's-0', t: 999, stopReason: 'end_turn' }]);
  expect(readStats(dir).get('s-0')).toMatchObject({ turns: 101, title: 'T' });
});

test('a deleted session leaves nothing in the index, and the others stay', () => {
  const dir = newStateDir();
  removeStats(dir, 's'); // nothing was written yet
  appendStats(dir, [{ sessionId: 's', t: 1, title: 'Mine alone', stopReason: 'end_turn' }]);
  appendStats(dir, [{ sessionId: 'other', t: 2, title: 's', stopReason: 'end_turn' }]);
  appendStats(dir, [{ sessionId: 's', t: 3, title: 'Mine again', stopReason: 'end_turn' }]);
  const other = readStats(dir).get('other');
  removeStats(dir, 's');
  expect(readFileSync(index(dir), 'utf8')).not.toContain('Mine');
  expect([...readStats(dir)]).toEqual([['other', other]]);
  expect(statSync(index(dir)).mode & 0o777).toBe(0o600);
  appendStats(dir, [{ sessionId: 'other', t: 4, stopReason: 'end_turn' }]);
  expect(readStats(dir).get('other')).toMatchObject({ turns: 2 });
});

test('a list of ten thousand sessions is read without their transcripts', () => {
  const dir = newStateDir();
  const transcripts = path.join(dir, 'transcripts');
  const ids = Array.from({ length: 10_000 }, (_, n) => `session-${n}`);
  const at = new Date(0).toISOString();
  appendLines(
    path.join(dir, 'sessions.jsonl'),
    ids.map((sessionId) => `${JSON.stringify({ sessionId, agent: 'a', nativeId: sessionId, cwd: '/w', at })}\n`).join(''),
  );
  appendLines(
    index(transcripts),
    ids.map((sessionId, t) => `${JSON.stringify({ sessionId, t, title: `About ${sessionId}`, stopReason: 'end_turn' })}\n`).join(''),
  );
  // Reading one of these fails.
  for (const sessionId of ids.slice(0, 100)) mkdirSync(transcriptFile(transcripts, sessionId));
  const began = performance.now();
  const records = createSessionStore(dir, noProblem).records();
  const stats = readStats(transcripts);
  process.stdout.write(`10,000 sessions listed in ${Math.round(performance.now() - began)} ms\n`);
  expect([records.size, stats.size, stats.get('session-9999')?.title]).toEqual([10_000, 10_000, 'About session-9999']);
});
