// The frames that are kept for pages: their subjects, the log of this and other processes, and recordings.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFrameRing } from '../../../src/console/state/frame-ring.ts';
import { parseRecording } from '../../../src/store/recordings/recording.ts';
import { removeDirectory } from '../../remove-directory.ts';

function logDirectory(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-ring-'));
  onTestFinished(() => removeDirectory(dir));
  const frames = path.join(dir, 'frames');
  mkdirSync(frames);
  return frames;
}

test('frames of the log are marked by process, in the order of time', () => {
  const dir = logDirectory();
  const line = (t: number, method: string) => `${JSON.stringify({ t, leg: 'a', dir: 'fromAgent', kind: 'notification', method })}\n`;
  writeFileSync(path.join(dir, `2026-11-18T00-00-00-000Z-${process.pid}.jsonl`), line(2, 'mine') + line(4, 'mine'));
  writeFileSync(path.join(dir, `2026-11-18T00-00-01-000Z-${process.pid}9.jsonl`), line(1, 'theirs') + line(3, 'theirs'));
  const ring = createFrameRing(dir);
  expect(ring.rows().map(({ record, isOther }) => [record.t, record.method, isOther])).toEqual([
    [1, 'theirs', true],
    [2, 'mine', false],
    [3, 'theirs', true],
    [4, 'mine', false],
  ]);
});

test.each<[object, string | undefined]>([
  [{ method: 'session/prompt', params: { prompt: [{ type: 'text', text: 'do\n this' }, { type: 'image' }] } }, 'do this [image]'],
  [{ method: 'session/update', params: { update: { sessionUpdate: 'tool_call', title: 'Edit a.ts' } } }, 'tool_call · Edit a.ts'],
  [{ method: 'session/update', params: { update: { sessionUpdate: 'plan' } } }, 'plan'],
  [{ method: 'terminal/create', params: { command: 'ls', args: ['-l'] } }, 'ls -l'],
  [{ method: 'fs/read_text_file', params: { path: '/a' } }, '/a'],
  [{ id: 1, error: { code: -32603, message: 'overloaded' } }, 'overloaded'],
  [{ method: 'session/request_permission', params: { toolCall: { title: 'x'.repeat(500) } } }, `${'x'.repeat(119)}…`],
  [{ method: '_own', params: 7 }, undefined],
])('%j is about %s', (msg, expected) => {
  const ring = createFrameRing(logDirectory());
  ring.take({ t: 1, leg: 'a', msg }, undefined);
  expect(ring.rows().at(-1)?.what).toBe(expected);
});

test('a recording has the frames of one connection that are kept with their content', () => {
  const ring = createFrameRing(logDirectory());
  ring.take({ t: 100, leg: 'a', dir: 'toAgent', kind: 'request', bytes: 9, msg: { id: 1, method: 'session/list' } }, undefined);
  ring.take({ t: 150, leg: 'b', dir: 'toAgent', kind: 'request', msg: { id: 1, method: 'other' } }, undefined);
  ring.take({ t: 160, leg: 'a', dir: 'fromAgent', kind: 'notification' }, undefined);
  ring.take({ t: 170.4, leg: 'a', dir: 'fromAgent', kind: 'response', bytes: 5, msg: { id: 1, result: {} } }, undefined);
  expect(parseRecording(ring.recording('a', -1).text)).toEqual([
    { t: 0, proc: 1, dir: 'client->agent', n: 9, msg: { id: 1, method: 'session/list' } },
    { t: 70, proc: 1, dir: 'agent->client', n: 5, msg: { id: 1, result: {} } },
  ]);
});
