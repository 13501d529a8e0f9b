// The frame log: its records, redaction, order and limits.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../../src/redaction/redact.ts';
import { createFrameLog } from '../../../src/store/frame-log/frame-log.ts';
import type { LineSink } from '../../../src/store/frame-log/line-sink.ts';
import { lastRecords } from '../../../src/store/frame-log/read-frames.ts';
import { createConnection } from '../../../src/wire/connection.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { createRecorder } from '../../wire/outputs.ts';
import { newStateDir } from '../state.ts';

const scanner = new Scanner();

const SECRET = 'a-secret-of-some-length';

function setUp(hasPayloads = false) {
  const lines: string[] = [];
  let dropped = 0;
  const sink: LineSink = {
    write: (text) => void lines.push(...text.split('\n').filter((line) => line !== '')),
    drop(count) {
      dropped += count;
    },
    flush: async () => {},
    close: async () => {},
  };
  const secrets = createSecrets();
  secrets.add('K', SECRET);
  let atMs = 0;
  const log = createFrameLog({ hasPayloads, sink, secrets, now: () => 1000, monotonicMs: () => (atMs += 5) });
  return {
    log,
    dropped: () => dropped,
    /** A connection whose frames nobody handles. */
    connect(name: string, side: 'editor' | 'agent' = 'agent') {
      const watcher = log.watch(name, side);
      const input = new PassThrough();
      const on = { frame: () => {}, batch: () => true, refused: () => {}, oversized: () => {}, end: () => {} };
      const { writer } = createConnection(
        input,
        createRecorder().output,
        { scanner, maxFrameBytes: 1 << 20, observer: watcher.observer },
        on,
      );
      const receive = async (...messages: readonly unknown[]) => {
        input.write(messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join(''));
        await new Promise(setImmediate);
      };
      return { watcher, writer, receive };
    },
    records() {
      log.settle();
      return lines.map((line) => JSON.parse(line));
    },
    text: () => lines.join('\n'),
  };
}
/** The records in the lines of a file. */
function readAs(text: string) {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'a.jsonl'), `${text}\n`);
  return lastRecords(dir, () => true, 100);
}
const chunk = (text: string, more: object = {}) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more } },
});

describe('without payloads', () => {
  test('a line has the time, connection, direction, kind, method, session and size', async () => {
    const { connect, records } = setUp();
    const { receive } = connect('codex');
    await receive(chunk('words'));
    const bytes = JSON.stringify(chunk('words')).length;
    expect(records()).toEqual([
      { t: 1000, leg: 'codex', dir: 'fromAgent', kind: 'notification', method: 'session/update', session: 's', bytes },
    ]);
  });

  test('consecutive notifications of one method share a line, which is read as one record each', async () => {
    const { connect, text, log } = setUp();
    const { receive } = connect('codex');
    const other = { ...chunk('x'), params: { ...chunk('x').params, sessionId: 't' } };
    await receive(chunk('a'), chunk('bb'), other, chunk('ccc'));
    log.settle();
    const sizes = [chunk('a'), chunk('bb'), other, chunk('ccc')].map((message) => JSON.stringify(message).length);
    expect(text().trimEnd().split('\n')).toHaveLength(1);
    expect(readAs(text()).map(({ session, bytes }) => [session, bytes])).toEqual(
      ['s', 's', 't', 's'].map((session, k) => [session, sizes[k]]),
    );
  });

  test('frames that differ in their text only are logged together, and each has its size and session', async () => {
    const { connect, text, log } = setUp();
    const { receive } = connect('codex');
    const of = (sessionId: string, words: string) => ({ ...chunk(words), params: { ...chunk(words).params, sessionId } });
    const alternating = [of('s', 'g'), of('t', 'hh'), of('u', ''), of('s', 'i')];
    const messages = [of('s', 'a'), of('s', 'bb'), of('s', ''), of('t', 'c'), of('t', 'dddd'), of('s', 'e'), ...alternating, of('s', 'ff')];
    await receive(...messages, ...messages);
    log.settle();
    const expected = [...messages, ...messages].map((message) => [message.params.sessionId, JSON.stringify(message).length]);
    expect(readAs(text()).map(({ session, bytes }) => [session, bytes])).toEqual(expected);
  });

  test('a response has the method and the duration of its request, from either side', async () => {
    const { connect, records } = setUp();
    const { receive, writer } = connect('editor', 'editor');
    await receive({ jsonrpc: '2.0', id: 'a', method: 'session/prompt', params: { sessionId: 's' } });
    writer.line('{"jsonrpc":"2.0","id":"a","result":{}}\n');
    writer.line('{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s"}}\n');
    await receive({ jsonrpc: '2.0', id: 7, error: { code: -32000, message: 'no' } });
    expect(records()).toMatchObject([
      { dir: 'fromEditor', kind: 'request', method: 'session/prompt', id: 'a' },
      { dir: 'toEditor', kind: 'response', method: 'session/prompt', id: 'a', ms: 5, ours: true },
      { dir: 'toEditor', kind: 'request', method: 'fs/read_text_file', id: 7, session: 's' },
      { dir: 'fromEditor', kind: 'response', method: 'fs/read_text_file', id: 7, ms: 5, error: -32000 },
    ]);
  });

  test('no payload is in it, nor a secret used as a session, a method or an id', async () => {
    const { connect, records, text } = setUp();
    const { receive } = connect('codex');
    await receive(
      chunk('my words'),
      { jsonrpc: '2.0', id: SECRET, method: `_x/${SECRET}`, params: { sessionId: SECRET } },
      'broken my words',
    );
    expect(records()).toHaveLength(3);
    expect(text()).not.toContain('my words');
    expect(text()).not.toContain(SECRET);
    expect(records()[1]).toMatchObject({ id: '[redacted:K]', method: '_x/[redacted:K]', session: '[redacted:K]' });
    expect(records()[2]).toMatchObject({ kind: 'refused', bytes: 15 });
  });
});

describe('with payloads', () => {
  test('a forwarded frame is logged as it was sent, with its size and the ids, session and servers that the peer got', async () => {
    const { connect, records } = setUp(true);
    const { writer } = connect('codex');
    const text = '{"jsonrpc":"2.0","id":"their-own","method":"session/load","params":{"sessionId":"public","mcpServers":[]}}';
    const servers = `[{"name":"ours","env":[{"name":"TOKEN","value":"${SECRET}"}]}]`;
    const spanOf = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length });
    writer.frame(scanner.scan(Buffer.from(`${text}\n`), 0) as Frame, [
      { span: spanOf('"their-own"'), text: '7' },
      { span: spanOf('"public"'), text: '"native"' },
      { span: spanOf('[]'), text: servers },
    ]);
    const bytes = text.replace('"their-own"', '7').replace('public', 'native').replace('[]', servers).length;
    const [record] = records();
    const { msg } = record;
    expect(msg).toMatchObject({ id: 7, params: { sessionId: 'native', mcpServers: [{ name: 'ours' }] } });
    expect(JSON.stringify(msg)).not.toContain(SECRET);
    expect(record).toMatchObject({ dir: 'toAgent', id: 7, method: 'session/load', session: 'public', bytes });
  });

  test('payloads are redacted, and a secret split across chunks is found', async () => {
    const { connect, records, text } = setUp(true);
    const { receive } = connect('codex');
    await receive(chunk('it is a-secret-'), chunk('of-some-'), chunk('length, you see'), { jsonrpc: '2.0', id: 1, result: { x: SECRET } });
    expect(records()).toMatchObject([
      { chunks: 3, msg: chunk('it is [redacted:K], you see') },
      { kind: 'response', msg: { result: { x: '[redacted:K]' } } },
    ]);
    expect(text()).not.toContain('of-some-');
  });

  test('a secret split across pieces of tool output is not left in halves', async () => {
    const { connect, records, text } = setUp(true);
    const { receive } = connect('codex');
    const piece = (data: string) => ({
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId: 's', update: { sessionUpdate: 'tool_call_update', toolCallId: 't', _meta: { delta: { data } } } },
    });
    await receive(piece(`it is ${SECRET.slice(0, 12)}`), piece(`${SECRET.slice(12)}, you see`));
    expect(records().map(({ msg }) => msg.params.update._meta.delta.data)).toEqual(['it is [redacted:K]', ', you see']);
    for (const half of [SECRET.slice(0, 12), SECRET.slice(12)]) expect(text()).not.toContain(half);
  });

  test('chunks of another message, kind or session are kept apart', async () => {
    const { connect, records } = setUp(true);
    const { receive } = connect('codex');
    await receive(
      chunk('a', { messageId: '1' }),
      chunk('b', { messageId: '2' }),
      chunk('c', { messageId: '2', sessionUpdate: 'agent_thought_chunk' }),
    );
    expect(records().map(({ chunks, msg }) => [chunks, msg.params.update.content.text])).toEqual([
      [1, 'a'],
      [1, 'b'],
      [1, 'c'],
    ]);
  });

  test('a long payload is left out, and so are payloads that come faster than they can be redacted', async () => {
    const { connect, records, dropped } = setUp(true);
    const { receive } = connect('codex');
    await receive({ jsonrpc: '2.0', id: 1, result: { x: 'y'.repeat(300_000) } });
    expect(records()).toMatchObject([{ omitted: true, bytes: 300_042 }]);
    const big = { jsonrpc: '2.0', id: 1, result: { x: 'y'.repeat(900_000) } };
    await receive(...Array.from({ length: 40 }, () => big));
    expect(dropped()).toBeGreaterThan(0);
    expect(records().length - 1 + dropped()).toBe(40);
  });
});

test('under load the log does not fall behind and keeps the order', async () => {
  const { connect, records, text } = setUp();
  const { receive } = connect('busy');
  const [rounds, each] = [60, 100];
  const ids = Array.from({ length: rounds * each }, (_, n) => n);
  for (let k = 0; k < rounds; k++) await receive(...ids.slice(k * each, (k + 1) * each).map((id) => ({ jsonrpc: '2.0', id, method: 'x' })));
  expect(text().split('\n').length).toBeGreaterThan(ids.length - 10 * each);
  expect(records().map(({ id }) => id)).toEqual(ids);
});

test('under load with payloads, frames that were written no longer count against the limit', async () => {
  const { connect, dropped } = setUp(true);
  const { receive } = connect('busy');
  const params = { text: 'y'.repeat(4000) };
  for (let k = 0; k < 100; k++)
    await receive(...Array.from({ length: 60 }, (_, n) => ({ jsonrpc: '2.0', id: k * 60 + n, method: 'x', params })));
  expect(dropped()).toBe(0);
});

test('one line records that a peer is gone', async () => {
  const { connect, records } = setUp();
  connect('one').watcher.down('agent_exited');
  expect(records()).toEqual([{ t: 1000, leg: 'one', event: 'down', reason: 'agent_exited' }]);
});
