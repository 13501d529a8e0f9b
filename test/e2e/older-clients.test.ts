// Clients built on earlier SDK versions. 0.4.5, 0.4.9, 0.14.1, 0.29.0 and 1.9.0 were each run by hand through the built proxy; they send
// the same bytes in this conversation, so one recording stands for all of them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Json, SWITCHBOARD, test } from './harness.ts';

const FRAMES = readFileSync(path.join(import.meta.dirname, 'recorded/older-sdk-client.ndjson'), 'utf8')
  .trim()
  .split('\n');

/** What those versions know. Their clients log and drop anything else, as over a direct connection. */
const CLIENT_METHODS = ['session/request_permission', 'fs/read_text_file', 'fs/write_text_file'];

test('the recorded frames of an older SDK client: two agents, a permission, files, a cancel, a load', async ({ stage }) => {
  const client = stage.run(process.execPath, [SWITCHBOARD, 'acp']);
  const sessions: string[] = [];
  const answers = new Map<number, Json>();
  let open: Promise<unknown>[] = [];
  for (const word of FRAMES) {
    const line = word
      .replaceAll('$cwd', stage.cwd)
      .replaceAll('$session1', sessions[0] ?? '')
      .replaceAll('$session2', sessions[1] ?? '');
    const msg = JSON.parse(line);
    // Send a response once its request has come, a cancel once the turn runs, and a request once the last one is done.
    if (msg.method === undefined) await client.until(({ id, method }) => id === msg.id && CLIENT_METHODS.includes(method));
    else if (msg.id === undefined)
      await client.until(({ params }) => params?.sessionId === sessions[1] && params.update?.content !== undefined);
    else if (!line.includes('"hello"') || open.length === 0) await Promise.all(open);
    client.line(line);
    if (msg.method === undefined || msg.id === undefined) continue;
    const answered = client
      .until(({ id, method }) => id === msg.id && method === undefined)
      .then((seen) => {
        answers.set(msg.id, seen.msg);
        if (msg.method === 'session/new') sessions.push(seen.msg.result.sessionId);
      });
    // The client answers requests of the turn it waits for.
    open = msg.params.prompt?.[0].text.startsWith('/') ? [answered] : [...open, answered];
    if (msg.method === 'session/new' || msg.method === 'initialize') await answered;
  }
  await Promise.all(open);
  expect([...answers].sort(([a], [b]) => a - b).map(([id, { result }]) => [id, result?.stopReason ?? typeof result])).toEqual([
    ...[0, 1, 2].map((id) => [id, 'object']),
    [3, 'end_turn'],
    [4, 'end_turn'],
    [5, 'end_turn'],
    [6, 'cancelled'],
    [7, 'object'],
  ]);
  const received = client.seen.flatMap(({ msg }) => (msg.id !== undefined && msg.method !== undefined ? [msg.method] : []));
  expect(received.every((method) => CLIENT_METHODS.includes(method))).toBe(true);
  expect(client.seen.some(({ msg }) => msg.params?.update?.sessionUpdate === 'notice')).toBe(false);
});
