// Which event stream gets what, and which of them a client may read.
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { createHttpConnection, type HttpConnection } from '../../src/listener/http-connection.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** `answers`: the proxy's answer to each request of the client. */
function start(answers: (id: number, sessionId: string) => object): HttpConnection {
  const connection = createHttpConnection(Date.now, (sessionId) => sessionId === 'own');
  cleanups.push(connection.end);
  connection.source.on('data', (line: Buffer) => {
    const { id, params } = JSON.parse(String(line));
    const answer = { jsonrpc: '2.0', id, ...answers(id, params.sessionId) };
    queueMicrotask(() => connection.sink.write(Buffer.from(`${JSON.stringify(answer)}\n`)));
  });
  return connection;
}

/** A reader of an event stream: the status with which it was refused, or the ids of the answers that it got. */
function read(connection: HttpConnection, session?: string) {
  const response = Object.assign(new PassThrough(), { writeHead: () => {}, flushHeaders: () => {} });
  const refused = connection.read(session, response as unknown as ServerResponse);
  const ids = () => [...String(response.read() ?? '').matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  return { status: refused?.status ?? 200, ids, close: () => new Promise((resolve) => response.once('close', resolve).destroy()) };
}
const post = async (connection: HttpConnection, method: string, sessionId: string, id = 1) => {
  const frame = { jsonrpc: '2.0', id, method, params: { sessionId } };
  const refused = connection.post(Buffer.from(`${JSON.stringify(frame)}\n`), sessionId);
  await new Promise(setImmediate);
  return refused?.status ?? 202;
};
const UNKNOWN = { error: { code: -32002, message: 'unknown' } };

test.each(['session/prompt', 'session/resume'])(
  'the error of %s in a session that does not exist comes where the client can read it',
  async (method) => {
    const connection = start(() => UNKNOWN);
    expect(read(connection, 'other').status).toBe(404);
    expect(await post(connection, method, 'other')).toBe(202);
    expect(read(connection, 'other').status).toBe(404);
    expect(read(connection).ids()).toEqual([1]);
  },
);

test('the stream of a session may be read while it is being opened, and then if that worked', async () => {
  let isFound = true;
  const connection = createHttpConnection(Date.now, () => false);
  cleanups.push(connection.end);
  const answer = (id: number) =>
    connection.sink.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, ...(isFound ? { result: {} } : UNKNOWN) })}\n`));
  for (const [id, session] of [
    [1, 'a'],
    [2, 'b'],
  ] as const) {
    await post(connection, 'session/load', session, id);
    const reader = read(connection, session);
    expect(reader.status).toBe(200);
    answer(id);
    await reader.close();
    expect(read(connection, session).status).toBe(isFound ? 200 : 404);
    isFound = false;
  }
});

test('streams that are closed make room for others', async () => {
  const connection = start((id) => ({ result: { sessionId: `s${id}` } }));
  for (let id = 1; id <= 1200; id++) {
    await post(connection, 'session/resume', `s${id}`, id);
    const reader = read(connection, `s${id}`);
    expect([reader.status, reader.ids()]).toEqual([200, [id]]);
    await reader.close();
  }
});

test('a connection has a stream for each of 1,024 sessions, and no more', async () => {
  const connection = start((id) => ({ result: { sessionId: `s${id}` } }));
  read(connection);
  for (let id = 1; id <= 1025; id++) {
    await post(connection, 'session/resume', `s${id}`, id);
    read(connection, `s${id}`);
  }
  expect(read(connection, 's1024').status).toBe(409);
  expect(read(connection, 's1025').status).toBe(429);
});
