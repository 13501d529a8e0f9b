// Who may open `/ws`, what its pages share, and what becomes of frames that are refused.
import http from 'node:http';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { createToken, type Daemon, runCommand, startDaemon } from '../e2e/daemon.ts';
import { fixture, type Json, test } from '../e2e/harness.ts';
import { openPage } from './page.ts';

const text = (words: string): Json => [{ type: 'text', text: words }];
const CANARY = 'canary-5f2d9c1e7b';

/** The status with which a WebSocket is refused, or the chosen protocol. */
function knock({ address }: Daemon, headers: Record<string, string>, protocols: string[] = [], query = ''): Promise<number | string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/ws${query}`, protocols, { headers });
    socket.once('open', () => {
      resolve(`open ${socket.protocol}`.trim());
      socket.terminate();
    });
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.once('error', (error) => resolve(error.message));
  });
}

test('the service has the checks of the listener, and admits owners and clients', async ({ stage }) => {
  const daemon = await startDaemon(
    stage,
    { a: fixture('well-behaved', 'a') },
    { config: { network_clients: { origins: ['https://app.example'] } } },
  );
  const token = createToken(stage, 'web');
  const bearer = { authorization: `Bearer ${token}` };
  expect(await knock(daemon, {})).toBe(401);
  expect(await knock(daemon, {}, [], `?token=${token}`)).toBe(401);
  expect(await knock(daemon, { authorization: 'Bearer wrong' })).toBe(401);
  expect(await knock(daemon, bearer)).toBe('open');
  expect(await knock(daemon, {}, ['acp', `bearer.${token}`])).toBe('open acp');
  expect(await knock(daemon, { ...bearer, origin: 'https://app.example' })).toBe('open');
  expect(await knock(daemon, { ...bearer, origin: 'https://evil.example' })).toBe(403);
  expect(await knock(daemon, { ...bearer, origin: daemon.address })).toBe(403);
  expect(await knock(daemon, { ...bearer, host: 'evil.example' })).toBe(403);
  expect(await knock(daemon, { authorization: `Bearer ${createToken(stage, 'boss', 'owner')}` })).toBe('open');
  for (const role of ['observer', 'metrics'])
    expect(await knock(daemon, { authorization: `Bearer ${createToken(stage, role, role)}` })).toBe(403);
  const status = await new Promise((resolve) =>
    http.get(`${daemon.address}/ws`, { headers: bearer }, ({ statusCode }) => resolve(statusCode)),
  );
  expect(status).toBe(426);
  const example = await new Promise((resolve) => http.get(`${daemon.address}/example`, ({ statusCode }) => resolve(statusCode)));
  expect(example).toBe(404);
});

test('every refused frame gets an error that says why, and the socket lives', async ({ stage }) => {
  const daemon = await startDaemon(stage, { a: fixture('well-behaved', 'a') });
  const page = await openPage(daemon, createToken(stage, 'web'));
  for (const [frame, why] of [
    ['{', 'not JSON'],
    ['null', 'not a request frame'],
    ['[]', 'not a request frame'],
    ['{"type":"acp","op":"connect"}', 'id'],
    [Buffer.from('{"type":"acp","id":1,"op":"connect"}'), 'binary'],
  ] as const)
    expect(await page.send(frame)).toMatchObject({
      type: 'acp_response',
      id: null,
      ok: false,
      error: { message: expect.stringContaining(why) },
    });
  for (const [op, payload, why, type] of [
    ['nonsense', {}, 'unknown op "nonsense"; known ops: connect'],
    ['__proto__', {}, 'unknown op'],
    ['connect', {}, 'type', 'other'],
    ['write', {}, 'unknown op', 'fileSystem'],
    ['connect', 'a', 'invalid payload of connect'],
    ['connect', { agentCmd: 7 }, 'agentCmd'],
    ['connect', { agentCmd: '"open quote' }, 'unterminated quote'],
    ['session.new', {}, 'send connect first'],
    ['authMethods', {}, 'send connect first'],
    ['authenticate', {}, 'methodId'],
    ['prompt', { prompt: text('x') }, 'send session.new first'],
    ['prompt', {}, 'prompt'],
    ['prompt', { prompt: [] }, 'the prompt is empty'],
    ['prompt', { prompt: 'words' }, 'prompt'],
    ['prompt', { prompt: [{ type: 'video', data: '' }] }, 'prompt.0.type'],
    ['prompt', { prompt: [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }] }, 'not base64'],
    ['prompt', { prompt: [{ type: 'resource', resource: { blob: 'aGk=' } }] }, 'prompt.0.resource'],
    ['prompt', { sessionId: 'other', prompt: text('x') }, 'unknown session "other"'],
    ['cancel', {}, 'no session'],
    ['cancel', { sessionId: 'other' }, 'unknown session'],
    ['permission', { requestId: 9, outcome: 'cancelled' }, 'permission request 9 is not open'],
    ['session.setMode', {}, 'modeId'],
    ['model.select', {}, 'modelId'],
    ['session.select', {}, 'sessionId'],
    ['session.select', { sessionId: 'other' }, 'unknown session'],
    ['session.delete', { sessionId: 'other' }, 'unknown session'],
    ['thread.get', {}, 'id is missing'],
    ['thread.get', { id: '../../etc/passwd' }, 'no transcript'],
    ['terminal.create', { command: 'ls' }, 'web_app.allow_terminals'],
    ['terminal.output', { terminalId: 't' }, 'web_app.allow_terminals'],
    ['diff.apply', { path: 'a' }, 'newText'],
    ['fileSystem', {}, 'path or uri is missing'],
  ] as const)
    expect([op, (await page.refused(op, payload, type)).message]).toEqual([op, expect.stringContaining(why)]);
  expect(await page.call('connect', { agentCmd: 'a' })).toMatchObject({ ok: true });
});

test('pages of a token share sessions and questions, a page that reloads is asked again, and other tokens see nothing', async ({
  stage,
}) => {
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  const agent = stage.agent('coder', {
    async turn(session, words) {
      if (words === 'plain') return { stopReason: 'refusal' };
      const toolCall = { toolCallId: 't', title: 'Tidy up', kind: 'other' };
      const { result } = await agent.request('session/request_permission', { sessionId: session.id, toolCall, options });
      agent.sendText(session.id, JSON.stringify(result.outcome));
      return { stopReason: result.outcome.outcome === 'cancelled' ? 'cancelled' : 'end_turn' };
    },
  });
  const daemon = await startDaemon(stage, [agent]);
  const [ours, theirs] = [createToken(stage, 'ours'), createToken(stage, 'theirs')];
  const one = await openPage(daemon, ours);
  const two = await openPage(daemon, ours);
  const other = await openPage(daemon, theirs);
  await one.call('connect', { agentCmd: 'coder' });
  await two.got('agent_initialized');
  const { sessionId } = await one.call('session.new', {});

  // A prompt of one page on the other, and its question on both.
  const turn = one.call('prompt', { prompt: text('tidy') });
  expect(await two.update('user_message_chunk')).toMatchObject({ content: { text: 'tidy' } });
  const { requestId } = await two.got('permission_request');
  await one.got('permission_request');
  await two.leave();
  const again = await openPage(daemon, ours);
  expect(await again.got('permission_request')).toMatchObject({ requestId, request: { sessionId, toolCall: { title: 'Tidy up' } } });
  expect((await other.refused('permission', { requestId, outcome: 'selected', optionId: 'yes' })).message).toContain('is not open');
  await again.call('permission', { requestId: String(requestId), outcome: 'selected', optionId: 'yes' });
  expect(await one.got('permission_resolved')).toMatchObject({ requestId, outcome: 'selected', optionId: 'yes' });
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });

  // A cancel withdraws the question everywhere.
  const cancelled = one.call('prompt', { prompt: text('tidy') });
  const second = await again.got('permission_request', (message) => message.requestId !== requestId);
  await again.call('cancel', {});
  expect(await again.got('permission_resolved', (message) => message.requestId === second.requestId)).toMatchObject({
    outcome: 'cancelled',
  });
  expect(await cancelled).toMatchObject({ stopReason: 'cancelled' });

  // What one page changes or meets, the others see.
  await one.call('session.setMode', { sessionId, modeId: 'plan' });
  expect(await again.update('current_mode_update')).toMatchObject({ current_mode_id: 'plan' });
  expect(await one.call('prompt', { prompt: text('plain') })).toMatchObject({ stopReason: 'refusal' });
  await again.update('refusal');

  // The other token.
  expect(await other.call('sessions.list')).toEqual({ sessions: [], lastSessionId: null });
  expect(await other.call('threads.list')).toEqual({ threads: [] });
  for (const op of ['session.select', 'session.delete', 'thread.get', 'cancel'])
    expect((await other.refused(op, { sessionId })).message).toMatch(/unknown session|no transcript/);
  expect(other.broadcasts).toEqual([]);
  expect((await again.call('sessions.list')).lastSessionId).toBe(sessionId);

  // A turn outlives its page.
  void one.request('prompt', { prompt: text('tidy') });
  const third = await again.got('permission_request', (message) => message.requestId > second.requestId);
  await Promise.all([one.leave(), again.leave()]);
  const back = await openPage(daemon, ours);
  expect(await back.got('permission_request')).toMatchObject({ requestId: third.requestId });

  // A revoked token ends its pages and its agents.
  runCommand(stage, 'token', 'revoke', 'ours');
  expect(await back.closed).toEqual({ code: 1008, reason: 'the token was revoked or has expired' });
  await agent.gone();
  expect(await other.call('session.last')).toEqual({ sessionId: null });
});

test('secrets of the page, the agent and the daemon are redacted in stderr and threads', async ({ stage }) => {
  const speaker = fixture('speaks-of-its-key', 'speaker');
  const daemon = await startDaemon(stage, { speaker });
  const page = await openPage(daemon, createToken(stage, 'web'));
  await page.call('connect', { agentCmd: 'speaker', env: { SPEAKER_API_KEY: CANARY } });
  await page.call('session.new', {});
  await page.call('prompt', { prompt: text('speak') });
  expect(await page.got('agent_stderr')).toMatchObject({ line: 'the key is [redacted:SPEAKER_API_KEY]', agent: 'speaker' });
  const { threads } = await page.call('threads.list');
  const { updates } = await page.call('thread.get', { id: threads[0].id });
  expect(JSON.stringify(updates)).toContain('my key is [redacted:SPEAKER_API_KEY]');
  expect(JSON.stringify([updates, threads])).not.toContain(CANARY);
  expect(daemon.stderr()).not.toContain(CANARY);
});
