// A dialect between an agent's streams and its connection: bytes in, bytes out, and no message of either side can break it.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { interpret } from '../../src/dialects/interpreter.ts';
import { webapp } from '../../src/dialects/webapp/webapp.ts';
import type { Sink, Source } from '../../src/wire/byte-stream.ts';
import { createConnection, type OversizedFrame } from '../../src/wire/connection.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';

const scanner = new Scanner();

const ABOUT = {
  agent: 'it',
  isNamed: true,
  maxLineBytes: 1024 * 1024,
  timeouts: { initializeMs: 1, cancelMs: 1, quietMs: 1, stallMs: 1 },
  mint: () => '1',
};

function between(dialect: Dialect, maxFrameBytes = 10_000) {
  const agent = Object.assign(new EventEmitter(), { pause: () => {}, resume: () => {} }) as EventEmitter & Source;
  const written: Buffer[] = [];
  const sink: Sink = {
    write: (chunk) => written.push(chunk) > 0,
    cork: () => {},
    uncork: () => {},
    end: () => {},
    writableLength: 0,
    on: () => {},
  };
  const remarks: string[] = [];
  const alarms = new Set<{ ms: number; then: () => void }>();
  const streams = interpret({ fromAgent: agent, toAgent: sink }, dialect, ABOUT, {
    scanner,
    maxFrameBytes,
    after(ms, then) {
      const alarm = { ms, then };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    remark: (message) => remarks.push(message),
    kill: () => remarks.push('killed'),
  });
  const frames: string[] = [];
  const oversized: OversizedFrame[] = [];
  const refused: string[] = [];
  const connection = createConnection(
    streams.fromAgent,
    streams.toAgent,
    { scanner, maxFrameBytes },
    {
      frame: ({ bytes, start, end }) => frames.push(bytes.toString('utf8', start, end)),
      oversized: (frame) => oversized.push(frame),
      refused: ({ reason }) => refused.push(reason),
      end: () => frames.push('end'),
    },
  );
  const fromAgent = (line: string) => void agent.emit('data', Buffer.from(`${line}\n`));
  return {
    agent,
    connection,
    fromAgent,
    frames,
    oversized,
    refused,
    remarks,
    alarms,
    streams,
    written: () => Buffer.concat(written).toString('utf8'),
  };
}

test('a message that needs no translation keeps its bytes', () => {
  const { fromAgent, frames } = between(webapp);
  const line = '{ "jsonrpc":"2.0", "method":"_x/y", "params":{"big":9007199254740993,"one":1.0} }';
  fromAgent(line);
  expect(frames).toEqual([line]);
});

test('so does the response to an extension method', async () => {
  const { connection, fromAgent, frames } = between(webapp);
  connection.writer.line('{"jsonrpc":"2.0","id":1,"method":"_vendor/do","params":{}}\n');
  await Promise.resolve();
  const line = '{"jsonrpc":"2.0", "id":1, "result":{"some_key":{"inner_key":1.0}}}';
  fromAgent(line);
  expect(frames).toEqual([line]);
});

test('an oversized response is skipped and reported with its id', () => {
  const { fromAgent, frames, oversized } = between(webapp);
  fromAgent(JSON.stringify({ jsonrpc: '2.0', id: 7, result: { text: 'x'.repeat(100_000) } }));
  fromAgent('{"jsonrpc":"2.0","method":"_x/y"}');
  expect(oversized).toMatchObject([{ kind: 'response', idText: '7' }]);
  expect(frames).toHaveLength(1);
});

test('the connection refuses an invalid line, and blank lines are ignored', () => {
  const { fromAgent, refused, frames } = between(webapp);
  fromAgent('not json');
  fromAgent('  ');
  expect(refused).toEqual(['not JSON']);
  expect(frames).toEqual([]);
});

test('a dialect that throws loses only that message, and the requester gets an error', async () => {
  const broken: Dialect<undefined> = {
    isolation: 'shared',
    takesServers: true,
    begin: () => undefined,
    toAcp() {
      throw new Error('no idea');
    },
    toAgent() {
      throw new Error('no idea');
    },
    on() {
      throw new Error('no idea');
    },
  };
  const { fromAgent, connection, frames, remarks, written, streams } = between(broken);
  fromAgent('{"jsonrpc":"2.0","id":1,"method":"_x/ask"}');
  expect(JSON.parse(written())).toMatchObject({ id: 1, error: { code: -32603, message: expect.stringContaining('no idea') } });
  connection.writer.line('{"jsonrpc":"2.0","id":2,"method":"_x/do"}\n');
  await Promise.resolve();
  expect(JSON.parse(frames[0] ?? '')).toMatchObject({ id: 2, error: { code: -32603 } });
  expect(remarks).toHaveLength(2);
  fromAgent('not json');
  streams.exited(0);
  expect(remarks).toHaveLength(4);
});

test('stopping cancels all timers', async () => {
  const { connection, fromAgent, alarms, streams, frames } = between(webapp);
  connection.writer.line('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}\n');
  await Promise.resolve();
  fromAgent('{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}');
  const [first] = [...alarms];
  expect(first?.ms).toBe(2000);
  alarms.clear();
  first?.then();
  expect(frames).toEqual([]); // the dialect tries the second method, with its own timer
  expect(alarms.size).toBe(1);
  streams.stop();
  expect(alarms.size).toBe(0);
});
