// Calls that bypass the SDK, on real connections: the same answers, and everything else is left to the SDK.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { type Attached, createHostTools, type HostTools } from '../../../src/mcp/server/host-tools.ts';
import { type HostTool, object, type SessionHost, text } from '../../../src/mcp/server/tool.ts';

type Json = Record<string, unknown>;

const host: SessionHost = { sessionId: 's1', agent: 'a', cwd: '/', roots: [], workspace: {}, ask: async () => ({ kind: 'unavailable' }) };
const base = { title: '', description: '', inputSchema: object({}), effect: 'read', needs: [], timeoutMs: undefined, server: 'x' } as const;
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'agent', version: '1' } };

let hostTools: HostTools;
let ended: Promise<unknown>;
afterEach(() => hostTools.close());

async function attach(way: 'http' | 'stdio'): Promise<Attached & { given: Json }> {
  let hasEnded = (_: unknown) => {};
  ended = new Promise((resolve) => {
    hasEnded = resolve;
  });
  const tools: HostTool[] = [
    { ...base, name: 'hello', inputSchema: object({ to: { type: 'string' } }, ['to']), run: async ({ to }) => text(`hello ${String(to)}`) },
    { ...base, name: 'big', run: async () => text('x'.repeat(500_000)) },
    {
      ...base,
      name: 'wait',
      run: (_, { signal, progress }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            hasEnded('ended');
            reject(signal.reason);
          });
          progress('waiting');
        }),
    },
  ];
  hostTools = createHostTools({
    ...{ version: '0', shim: { command: '/bin/true', args: [] }, tools: () => tools, maxOutputBytes: 1_000_000, onEvent: () => {} },
    gate: async () => ({ allow: true }),
  });
  const toolSession = { abilities: new Set<never>(), onState() {}, onRevoke() {}, host: () => host };
  const one = await new Promise<Attached>((resolve) => hostTools.attach(way, toolSession, (it) => resolve(it as Attached)));
  one.toolServer.bind();
  return { ...one, given: JSON.parse(one.entry('switchboard')) };
}

describe('over the socket', () => {
  async function connected(): Promise<{ socket: Socket; send(message: Json): void; next(): Promise<Json> }> {
    const { given } = await attach('stdio');
    const [address, token] = (given.env as { value: string }[]).map(({ value }) => value);
    const socket = connect(String(address));
    socket.write(`${token}\n`);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ok');
    const send = (message: Json) => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { socket, send, next: async () => JSON.parse((await lines.next()).value) };
  }
  const call = (id: unknown, params: Json) => ({ id, method: 'tools/call', params });

  test('a call is answered under its id as written, and other messages by the SDK', async () => {
    const { socket, send, next } = await connected();
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    expect(await next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } });
    for (const id of [1, 'one', '']) send(call(id, { name: 'hello', arguments: { to: 'you' } }));
    const result = { content: [{ type: 'text', text: 'hello you' }] };
    for (const id of [1, 'one', '']) expect(await next()).toEqual({ jsonrpc: '2.0', id, result });
    send(call(2, { name: 'hello' }));
    expect(await next()).toMatchObject({ id: 2, result: { isError: true, content: [{ text: expect.stringMatching(/not valid: .*to/) }] } });
    send(call(3, { name: 'nobody' }));
    expect(await next()).toMatchObject({ id: 3, error: { code: -32602, message: expect.stringContaining('Unknown tool: nobody') } });
    send(call(4, { name: 7 }));
    expect(await next()).toMatchObject({ id: 4, error: { code: -32602 } });
    socket.write('this is no JSON\n');
    send(call(5, { name: 'hello', arguments: [] }));
    expect(await next()).toMatchObject({ id: 5, error: { code: -32602 } });
    send({ id: 6, method: 'tools/list', params: {} });
    expect(await next()).toMatchObject({ id: 6, result: { tools: [{ name: 'hello' }, { name: 'big' }, { name: 'wait' }] } });
    socket.destroy();
  });

  test('a cancelled call ends without an answer', async () => {
    const { socket, send, next } = await connected();
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    await next();
    send(call(1, { name: 'wait', _meta: { progressToken: 'p' } }));
    expect(await next()).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1, message: 'waiting' },
    });
    send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await ended).toBe('ended');
    send(call(2, { name: 'hello', arguments: { to: 'me' } }));
    expect(await next()).toMatchObject({ id: 2 });
    socket.destroy();
  });

  test('a call ends when its connection is closed', async () => {
    const { socket, send, next } = await connected();
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    await next();
    send(call(1, { name: 'wait', _meta: { progressToken: 'p' } }));
    await next();
    socket.destroy();
    expect(await ended).toBe('ended');
  });

  test('an agent that does not read its answers is paused until it does', async () => {
    const { given } = await attach('stdio');
    const [address, token] = (given.env as { value: string }[]).map(({ value }) => value);
    const socket = connect(String(address));
    socket.pause();
    socket.write(`${token}\n`);
    const send = (message: Json) => socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    send({ id: 0, method: 'initialize', params: INITIALIZE });
    // Far more than the socket buffers hold; the rest stays on our side.
    let id = 0;
    while (socket.writableLength < 1_000_000) {
      for (let n = 0; n < 500; n++) send(call(++id, { name: 'big', padding: 'x'.repeat(200) }));
      await new Promise(setImmediate);
    }
    let heard = 0;
    const lines = createInterface({ input: socket });
    lines.on('line', () => heard++);
    while (heard < 100) await once(lines, 'line');
    socket.destroy();
  });
});

describe('over HTTP', () => {
  async function connected() {
    const { given } = await attach('http');
    const headers: Record<string, string> = {
      authorization: (given.headers as { value: string }[])[0]?.value ?? '',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const post = (message: Json, more: Record<string, string> = {}) =>
      fetch(String(given.url), { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    const opened = await post({ id: 0, method: 'initialize', params: INITIALIZE });
    headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? '';
    return post;
  }
  const hello = { id: 1, method: 'tools/call', params: { name: 'hello', arguments: { to: 'you' } } };

  test('a call is answered with one message, and with a stream if it asks for progress', async () => {
    const post = await connected();
    const plain = await post(hello);
    expect(plain.headers.get('content-type')).toBe('application/json');
    expect(await plain.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hello you' }] } });
    const notified = await post({ ...hello, id: 2, params: { ...hello.params, _meta: { progressToken: 'p' } } });
    expect(notified.headers.get('content-type')).toBe('text/event-stream');
    expect(await notified.text()).toContain('hello you');
  });

  test.each([
    ['an era that there is not', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a connection that there is not', { 'mcp-session-id': 'x' }, 404],
    ['a client that takes no JSON', { accept: 'text/event-stream' }, 406],
  ])('%s is refused as by the SDK', async (_, headers, status) => {
    const post = await connected();
    expect((await post(hello, headers)).status).toBe(status);
  });

  test('a cancelled call ends', async () => {
    const post = await connected();
    const waits = post({ id: 1, method: 'tools/call', params: { name: 'wait' } });
    const settled = waits.then((answer) => answer.json());
    // The cancellation may overtake the call, so it is repeated.
    let isOver = false;
    void settled.then(() => {
      isOver = true;
    });
    while (!isOver) {
      expect((await post({ method: 'notifications/cancelled', params: { requestId: 1 } })).status).toBe(202);
      await new Promise(setImmediate);
    }
    expect(await ended).toBe('ended');
    expect(await settled).toMatchObject({ id: 1, result: { isError: true } });
  });
});
