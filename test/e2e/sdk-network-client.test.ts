// The ACP SDK's HTTP and WebSocket clients on the daemon's /acp, and bare HTTP for the cases of the proposal.
import { client, methods, type SessionNotification } from '@agentclientprotocol/sdk';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { createToken, type Daemon, startDaemon } from './daemon.ts';
import { fixture, type Json, test } from './harness.ts';

const agents = { a: fixture('well-behaved', 'a'), b: fixture('well-behaved', 'b') };

function streamTo({ address, socketUrl }: Daemon, transport: string, token: string): Json {
  const headers = { authorization: `Bearer ${token}` };
  if (transport === 'http') return createHttpStream(`${address}/acp`, { headers });
  return createWebSocketStream(socketUrl, { headers, WebSocket: WebSocket as never });
}

for (const transport of ['http', 'ws'])
  test(`the SDK's ${transport} client opens, prompts, cancels and loads`, async ({ stage }) => {
    const daemon = await startDaemon(stage, agents);
    const token = createToken(stage, 'sdk');
    const updates: SessionNotification['update'][] = [];
    const texts = () => updates.flatMap((update: Json) => (update.sessionUpdate === 'agent_message_chunk' ? [update.content.text] : []));
    const app = () =>
      client({ name: 'sdk-editor' }).onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update));
    const first = app().connect(streamTo(daemon, transport, token));
    await first.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await first.agent.request(methods.agent.session.new, { cwd: stage.cwd, mcpServers: [] });
    const text = (words: string): Json => ({ sessionId, prompt: [{ type: 'text', text: words }] });
    expect(await first.agent.request(methods.agent.session.prompt, text('count 50'))).toMatchObject({ stopReason: 'end_turn' });
    expect(texts().join('')).toBe(Array.from({ length: 50 }, (_, n) => `${n + 1} `).join(''));
    const turn = first.agent.request(methods.agent.session.prompt, text('wait'));
    await expect.poll(() => texts().at(-1)).toBe('waiting;');
    await first.agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    first.close();
    updates.length = 0;
    const second = app().connect(streamTo(daemon, transport, token));
    await second.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await second.agent.request(methods.agent.session.load, { sessionId, cwd: stage.cwd, mcpServers: [] });
    await expect.poll(() => texts().length).toBeGreaterThan(0);
    second.close();
  });

test('the cases of the proposal over bare HTTP', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const [mine, other] = [createToken(stage, 'mine'), createToken(stage, 'other')];
  const call = (method: string, headers: Record<string, string>, body?: string, path = '/acp') =>
    fetch(`${daemon.address}${path}`, {
      method,
      headers: { authorization: `Bearer ${mine}`, ...headers },
      ...(body !== undefined && { body }),
    });
  const json = { 'content-type': 'application/json' };
  const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,\n"clientCapabilities":{}}}';
  const answer = await call('POST', json, initialize);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
  const id = answer.headers.get('acp-connection-id') ?? '';
  const on = { 'acp-connection-id': id };
  const events = { accept: 'text/event-stream' };
  const status = async (...args: Parameters<typeof call>) => {
    const response = await call(...args);
    await response.body?.cancel();
    return response.status;
  };
  const list = '{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}';
  const prompt = '{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}';
  expect(await status('POST', json, list)).toBe(400); // no connection
  expect(await status('POST', { ...json, 'acp-connection-id': 'guess' }, list)).toBe(404);
  expect(await status('POST', { ...json, ...on, authorization: `Bearer ${other}` }, list)).toBe(404); // another principal's
  expect(await status('GET', { ...events, ...on, authorization: `Bearer ${other}` })).toBe(404);
  expect(await status('DELETE', { ...on, authorization: `Bearer ${other}` })).toBe(404);
  expect(await status('POST', { ...on, 'content-type': 'text/plain' }, list)).toBe(415);
  expect(await status('POST', { ...json, ...on }, '{"jsonrpc"')).toBe(400);
  expect(await status('POST', { ...json, ...on }, prompt)).toBe(400); // no session header
  expect(await status('POST', { ...json, ...on, 'acp-session-id': 's2' }, prompt)).toBe(400); // another session
  expect(await status('GET', { ...on })).toBe(406);
  expect(await status('GET', { ...events, ...on, 'acp-session-id': 'unknown' })).toBe(404);
  expect(await status('PUT', { ...on })).toBe(405);
  expect(await status('POST', json, initialize, '/acp/x')).toBe(404);
  expect(await status('POST', { ...json, authorization: 'Bearer wrong' }, initialize)).toBe(401);
  const batch = await call('POST', { ...json, ...on }, ` [${list}]`);
  expect([batch.status, await batch.json()]).toMatchObject([400, { id: null, error: { code: -32600 } }]);

  const stream = await call('GET', { ...events, ...on });
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  expect(await status('GET', { ...events, ...on })).toBe(409); // a second reader
  expect(await status('POST', { ...json, ...on }, list)).toBe(202);
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes('"id":2')) text += Buffer.from((await reader.read()).value ?? []).toString();
  expect(text).toMatch(/^data: \{.*"id":2.*\}\n\n/m);
  expect(await status('DELETE', { ...on })).toBe(202);
  expect(await status('GET', { ...events, ...on })).toBe(404);
});
