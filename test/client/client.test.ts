// Our ACP client over streams: answers, errors, requests of the peer, cancellation and the end.
import { PassThrough } from 'node:stream';
import { expect, expectTypeOf, test } from 'vitest';
import { type ClientHandlers, createClient } from '../../src/client/client.ts';
import { ClientError, ConnectionEnded } from '../../src/client/client-error.ts';

/** A client and its peer, which is written by hand here. */
function connected(handlers: ClientHandlers = {}) {
  const [toClient, toPeer] = [new PassThrough(), new PassThrough()];
  const client = createClient(toClient, toPeer, handlers);
  const received: unknown[] = [];
  let waiting: (() => void) | undefined;
  let rest = '';
  toPeer.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    received.push(...lines.map((line) => JSON.parse(line)));
    waiting?.();
  });
  async function next(): Promise<unknown> {
    while (received.length === 0)
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
    return received.shift();
  }
  const send = (...messages: readonly object[]) =>
    toClient.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  return { client, toClient, toPeer, next, send };
}

const SESSION = { cwd: '/w', mcpServers: [] };

test('a request goes out in one line, and its answer comes back', async () => {
  const { client, next, send } = connected();
  const answer = client.request('session/new', SESSION);
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 0, method: 'session/new', params: SESSION });
  send({ id: 0, result: { sessionId: 's' } });
  expect(await answer).toEqual({ sessionId: 's' });
  expectTypeOf(answer).resolves.toHaveProperty('sessionId').toEqualTypeOf<string>();
});

test('answers find their requests in any order', async () => {
  const { client, send } = connected();
  const answers = ['session/close', '_extension', 'session/delete'].map((method) => client.request(method, { sessionId: method }));
  send({ id: 2, result: 'c' }, { id: 0, result: 'a' }, { id: 7, result: 'of nobody' }, { id: 1, result: 'b' });
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
});

test('an error of the peer is a ClientError with its code and data', async () => {
  const { client, send } = connected();
  const failing = client.request('session/new', SESSION);
  send({ id: 0, error: { code: -32002, message: 'no such thing', data: { why: 'x' } } });
  await expect(failing).rejects.toEqual(new ClientError(-32002, 'no such thing', { why: 'x' }));
  await expect(failing).rejects.toMatchObject({ code: -32002, data: { why: 'x' } });
  await expect(failing).rejects.not.toBeInstanceOf(ConnectionEnded);
});

test.each([{ result: null }, { error: null }])('an answer with %j is null', async (body) => {
  const { client, send } = connected();
  const answer = client.request('_extension', {});
  send({ id: 0, ...body });
  expect(await answer).toBeNull();
});

test('methods of ACP are typed, others are open', () => {
  const { client } = connected();
  type Request = typeof client.request;
  // @ts-expect-error: no cwd
  const wrong = () => client.request('session/new', { mcpServers: [] });
  expectTypeOf(wrong).toBeFunction();
  expectTypeOf<ReturnType<Request>>().resolves.toBeUnknown();
  expectTypeOf(() => client.request('session/prompt', { sessionId: 's', prompt: [] as const })).returns.resolves.toHaveProperty(
    'stopReason',
  );
});

test('requests of the peer go to the handler of their method, else to the common one', async () => {
  const asked: unknown[] = [];
  const { next, send } = connected({
    requests: {
      'fs/read_text_file'({ path, sessionId }, { id }) {
        asked.push([sessionId, id]);
        return { content: `of ${path}` };
      },
    },
    request: async (method, params, signal, id) => ({ method, params, id, isAborted: signal.aborted }),
  });
  send({ id: 'a', method: 'fs/read_text_file', params: { sessionId: 's', path: '/f' } }, { id: 0, method: '_other', params: [1] });
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 'a', result: { content: 'of /f' } });
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 0, result: { method: '_other', params: [1], id: '0', isAborted: false } });
  expect(asked).toEqual([['s', '"a"']]);
});

test.each([
  [
    'a ClientError',
    new ClientError(-32000, 'log in first', { methods: [] }),
    { code: -32000, message: 'log in first', data: { methods: [] } },
  ],
  ['another error', new Error('broken'), { code: -32603, message: 'broken' }],
])('%s that a handler throws is the answer', async (_, thrown, error) => {
  const { next, send } = connected({
    request() {
      throw thrown;
    },
  });
  send({ id: 5, method: 'x', params: {} });
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 5, error });
});

test('a handler that returns nothing answers null; a request that nobody handles is refused', async () => {
  const { next, send } = connected({ requests: { 'terminal/kill': () => ({}) } });
  send({ id: 1, method: 'unheard/of' });
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found: unheard/of' } });
  const silent = connected({ request() {} });
  silent.send({ id: 1, method: 'x' });
  expect(await silent.next()).toEqual({ jsonrpc: '2.0', id: 1, result: null });
});

test('the peer can cancel its request, whatever its id is', async () => {
  const { next, send } = connected({
    request: (_, __, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('cancelled'))),
  });
  for (const id of [0, '0', 'x']) {
    send({ id, method: 'slow' }, { method: '$/cancel_request', params: { requestId: id } });
    expect(await next()).toEqual({ jsonrpc: '2.0', id, result: 'cancelled' });
  }
});

test('notifications come in order, before an answer that follows them', async () => {
  const seen: unknown[] = [];
  const { client, send } = connected({
    notifications: { 'session/update': ({ update }) => void seen.push(update.sessionUpdate) },
    notification: (method) => void seen.push(method),
  });
  const answer = client.request('session/prompt', { sessionId: 's', prompt: [] });
  const update = (text: string) => ({
    method: 'session/update',
    params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
  });
  send(update('a'), { method: '_mine' }, update('b'), { id: 0, result: { stopReason: 'end_turn' } }, update('late'));
  const { stopReason } = await answer;
  expect([stopReason, ...seen]).toEqual(['end_turn', 'agent_message_chunk', '_mine', 'agent_message_chunk']);
});

test('messages of other protocols do no harm', async () => {
  const { client, send, toClient } = connected();
  toClient.write('no JSON\n[]\n{"jsonrpc":"2.0"}\n');
  send({ method: '$/cancelRequest' }, { method: '$/progress' }, { id: null, error: { code: 1, message: 'x' } }, { id: null, method: 'x' });
  const answer = client.request('_x', {});
  send({ id: 0, result: 1 });
  expect(await answer).toBe(1);
});

test('every line is shown as it is on the wire', async () => {
  const lines: string[] = [];
  const { client, send } = connected({ line: (direction, line) => void lines.push(`${direction} ${line}`) });
  const answer = client.request('_x', { a: 1 });
  client.notify('session/cancel', { sessionId: 's' });
  send({ id: 0, result: 'r' });
  await answer;
  expect(lines).toEqual([
    'sent {"jsonrpc":"2.0","id":0,"method":"_x","params":{"a":1}}',
    'sent {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}',
    'received {"jsonrpc":"2.0","id":0,"result":"r"}',
  ]);
});

test('when the peer ends, messages before the end still count; open requests fail, and so do later ones', async () => {
  const seen: string[] = [];
  let aborted: AbortSignal | undefined;
  const { client, send, toClient } = connected({
    notification: (method) => void seen.push(method),
    request(_, __, signal) {
      aborted = signal;
      return new Promise(() => {});
    },
  });
  const [answered, open] = [client.request('_a', {}), client.request('_b', {})];
  open.catch(() => {});
  for (let n = 0; n < 50; n++) send({ method: `n${n}` });
  send({ id: 9, method: 'ask' }, { id: 0, result: 'in time' });
  toClient.end();
  expect(await answered).toBe('in time');
  await client.closed;
  expect(seen).toHaveLength(50);
  expect(aborted?.aborted).toBe(true);
  await expect(open).rejects.toBeInstanceOf(ConnectionEnded);
  await expect(client.request('_c', {})).rejects.toBeInstanceOf(ConnectionEnded);
  client.notify('session/cancel', { sessionId: 's' }); // nobody receives it
});

test('close ends the output at once and fails open requests; it may be called again', async () => {
  const { client, toPeer } = connected();
  const open = client.request('_a', {});
  client.notify('session/cancel', { sessionId: 's' });
  client.close();
  await expect(open).rejects.toBeInstanceOf(ConnectionEnded);
  await client.closed;
  expect(toPeer.writableEnded).toBe(true);
  client.close();
});

test('a peer that can no longer be written to has ended', async () => {
  const { client, toPeer } = connected();
  const open = client.request('_a', {});
  toPeer.destroy(new Error('EPIPE'));
  await expect(open).rejects.toBeInstanceOf(ConnectionEnded);
  await client.closed;
});
