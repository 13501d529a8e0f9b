// Decisions of the last week, by rule.
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { countsIn, countWeek } from '../../src/audit/count-rules.ts';
import { hitKey } from '../../src/policy/policy.ts';
import { removeDirectory } from '../remove-directory.ts';

const keyOf = (rule: { readonly id: string; readonly file: string } | undefined) => (rule ? `${rule.file}:${rule.id}` : 'default');
const line = (seq: number, time: string, more: object) => `${JSON.stringify({ seq, prev: 'x', time, ...more })}\n`;
const rule = { id: 'look', file: 'p.yaml', line: 3 };
const WEDNESDAY = '2026-11-18T12:00:00.000Z';
const LOG =
  line(1, '2026-11-01T12:00:00.000Z', { rule }) +
  line(2, WEDNESDAY, { rule }) +
  line(3, WEDNESDAY, { rule, count: 3 }) +
  line(4, WEDNESDAY, { verdict: 'ask' }) +
  line(5, WEDNESDAY, { end: true }) +
  '{"seq":6,"pre';

test('lines of the week count for their rule, or for the default; end records, older and broken lines do not', () => {
  expect([...countsIn(LOG, keyOf, Date.parse('2026-11-12'))]).toEqual([
    ['p.yaml:look', 4],
    ['default', 1],
  ]);
});

test('a line of version 0.1 counts for the rule of protected files that it names', () => {
  const [old, now] = ['floor:git-hooks', 'protected:git-hooks'].map((id) => ({ id, file: '<built-in>', line: 1 })) as [
    typeof rule,
    typeof rule,
  ];
  const counts = countsIn(line(1, WEDNESDAY, { rule: old }) + line(2, WEDNESDAY, { rule: now }), hitKey, 0);
  expect([...counts]).toEqual([[hitKey(now), 2]]);
});

test('the log is read again after it has grown, and nothing waits for it', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-count-'));
  onTestFinished(() => removeDirectory(dir));
  let now = Date.parse(WEDNESDAY);
  const week = countWeek(dir, keyOf, () => now);
  expect(week()).toBeUndefined();
  await vi.waitFor(() => expect(week()?.size).toBe(0));
  writeFileSync(path.join(dir, 'audit.jsonl'), LOG);
  expect(week()?.size).toBe(0);
  now += 10_000;
  await vi.waitFor(() => expect(week()?.get('p.yaml:look')).toBe(4));
});
