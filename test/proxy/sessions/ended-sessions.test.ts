// A session that has ended: its agent's requests there are refused, and its host tools are void.
import { expect, test } from 'vitest';
import { choosing, open, Refusal, UNANSWERED } from '../../e2e/harness.ts';
import { able, CWD, connected } from '../actors.ts';

const QUESTIONS = {
  'session/request_permission': { toolCall: { toolCallId: 't' }, options: [] },
  'elicitation/create': { message: 'who?', mode: 'form', requestedSchema: {} },
  'fs/read_text_file': { path: '/work/a' },
};

test("its agent's requests there are refused, even while that agent opens another session", async () => {
  const left = able('left');
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  await client.call('session/close', { sessionId: id });
  left.on('session/new', () => UNANSWERED);
  const before = left.seen.length;
  const opening = client.request('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') });
  const asked = await left.got('session/new', undefined, before);
  for (const [method, params] of Object.entries(QUESTIONS)) {
    expect((await left.refused(method, { sessionId: id, ...params })).code).toBe(-32002);
    expect(client.all(method)).toEqual([]);
  }
  left.reply(asked.msg, { sessionId: 's2' });
  expect((await opening).result.sessionId).toBe('s2');
});

test("its agent's requests there are refused after a failed load, and forwarded after a successful one", async () => {
  const left = able('left');
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  await client.call('session/close', { sessionId: id });
  left.on('session/list', () => ({ sessions: [{ sessionId: id, cwd: CWD }] }));
  const load = () => client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  for (const method of ['session/load', 'session/resume'])
    left.on(method, () => {
      throw new Refusal(-32603, 'not now');
    });
  expect((await load()).error.message).toContain('not now');
  for (const [method, params] of Object.entries(QUESTIONS)) {
    expect((await left.refused(method, { sessionId: id, ...params })).code).toBe(-32002);
    expect(client.all(method)).toEqual([]);
  }
  left.on('session/load', () => ({}));
  expect((await load()).error).toBeUndefined();
  client.on('fs/read_text_file', () => ({ content: 'a' }));
  expect(await left.call('fs/read_text_file', { sessionId: id, path: '/work/a' })).toEqual({ content: 'a' });
});

test('an agent that numbers its sessions from one in each process may send requests about the one it opens', async () => {
  const left = able('left');
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  await client.call('session/close', { sessionId: id });
  left.exit({ kind: 'exited', code: 1, signal: null });
  left.on('session/new', async () => {
    for (const method of ['session/request_permission', 'elicitation/create'] as const)
      await left.request(method, { sessionId: id, ...QUESTIONS[method] });
    return { sessionId: id };
  });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
  client.on('elicitation/create', () => ({ action: 'decline' }));
  expect((await open(client, CWD, 'left')).id).toBe(id);
  expect([client.all('session/request_permission').length, client.all('elicitation/create').length]).toEqual([1, 1]);
});
