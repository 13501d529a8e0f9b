// The last frames of a connection: which they are, with redacted payloads, and what keeping them costs.
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSecrets } from '../../../src/redaction/redact.ts';
import { createLastFrames } from '../../../src/store/frame-log/last-frames.ts';
import { createConnection } from '../../../src/wire/connection.ts';
import { LargeFrame } from '../../../src/wire/scanner/large-frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { createRecorder } from '../../wire/outputs.ts';

const SECRET = 'a-secret-of-some-length';
const update = (params: object) => ({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: params } });
const chunk = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const piece = (data: string) => update({ sessionUpdate: 'tool_call_update', toolCallId: 't', _meta: { delta: { data } } });

function setUp() {
  const secrets = createSecrets();
  secrets.add('K', SECRET);
  const last = createLastFrames('codex', 'agent', secrets, () => 1000);
  const input = new PassThrough();
  const on = { frame: () => {}, batch: () => true, refused: () => {}, oversized: () => {}, end: () => {} };
  const options = { scanner: new Scanner(), maxFrameBytes: 1 << 20, observer: last.observer };
  const { writer } = createConnection(input, createRecorder().output, options, on);
  const receive = async (...messages: readonly unknown[]) => {
    input.write(messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join(''));
    await new Promise(setImmediate);
  };
  // biome-ignore lint/suspicious/noExplicitAny: records are read as JSON
  return { input, receive, writer, records: () => last.records() as readonly any[] };
}

test('the newest fifty are kept, with their payloads', async () => {
  const { receive, records } = setUp();
  for (let n = 0; n < 60; n++) await receive({ jsonrpc: '2.0', id: n, method: 'x', params: { n } });
  expect(records()).toMatchObject(
    Array.from({ length: 50 }, (_, n) => ({ id: n + 10, leg: 'codex', dir: 'fromAgent', msg: { params: { n: n + 10 } } })),
  );
});

test('the last chunk before an exit is among them, and no secret, also one that spans chunks', async () => {
  const { receive, records } = setUp();
  await receive({ jsonrpc: '2.0', id: 1, method: 'x', params: { apiKey: 'x', url: 'https://host/?a=hunter2' } });
  await receive(chunk('it is '), chunk(SECRET.slice(0, 12)));
  await receive(chunk(SECRET.slice(12)), chunk(', you see'));
  expect(records().map(({ msg }) => msg)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'x', params: { apiKey: '[redacted]', url: 'https://host/?a=[redacted]' } },
    chunk('it is [redacted:K], you see'),
  ]);
  await receive(piece(`it is ${SECRET.slice(0, 12)}`), piece(`${SECRET.slice(12)}, you see`));
  for (const half of [SECRET.slice(0, 12), SECRET.slice(12)]) expect(JSON.stringify(records())).not.toContain(half);
});

test('of a long text the end is shown, and of another long payload its size', async () => {
  const { receive, records } = setUp();
  await receive(chunk(`${'x'.repeat(5000)}the end`), { jsonrpc: '2.0', id: 1, result: { x: 'y'.repeat(5000) } });
  const [text, payload] = records();
  expect(text.msg.params.update.content.text).toMatch(/^…x{993}the end$/);
  expect(payload).toMatchObject({ kind: 'response', bytes: 5042, omitted: true });
  expect(payload).not.toHaveProperty('msg');
});

test('large frames are not kept in memory, and do not push out the others', async () => {
  const { receive, records } = setUp();
  await receive({ jsonrpc: '2.0', id: 1, method: 'x' });
  await receive({ jsonrpc: '2.0', id: 2, result: { x: 'y'.repeat(300_000) } });
  expect(records()).toMatchObject([{ id: 1 }, { kind: 'response', omitted: true }]);
  for (let n = 0; n < 20; n++) await receive({ jsonrpc: '2.0', id: n, result: { x: 'y'.repeat(30_000) } });
  expect(records().length).toBeLessThan(10); // 256 KiB of chunks
});

test('the chunks of a large frame are not joined', async () => {
  const { input, records } = setUp();
  const bytes = vi.spyOn(LargeFrame.prototype, 'bytes', 'get');
  onTestFinished(() => bytes.mockRestore());
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { x: 'y'.repeat(600_000) } })}\n`);
  for (let at = 0; at < line.length; at += 65_536) input.emit('data', line.subarray(at, at + 65_536));
  expect(records()).toMatchObject([{ kind: 'response', bytes: line.length - 1, omitted: true }]);
  expect(bytes).not.toHaveBeenCalled();
});

test('a line that is no frame is shown as text', async () => {
  const { receive, records } = setUp();
  await receive(`panic: ${SECRET}`);
  expect(records()).toMatchObject([{ kind: 'refused', line: 'panic: [redacted:K]' }]);
});
