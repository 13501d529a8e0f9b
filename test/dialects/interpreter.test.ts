// A dialect between an agent's streams and its leg: bytes in, bytes out, and nothing that either side says can break it.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { interpret } from '../../src/dialects/interpreter.ts';
import { webapp } from '../../src/dialects/webapp/webapp.ts';
import type { Sink, Source } from '../../src/wire/byte-stream.ts';
import { createConnection, type OversizedFrame } from '../../src/wire/connection.ts';

const ABOUT = { agent: 'it', isNamed: true, timeouts: { initializeMs: 1, cancelMs: 1, quietMs: 1, stallMs: 1 }, mint: () => '1' };

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
    maxFrameBytes,
    after(ms, then) {
      const alarm = { ms, then };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    remark: (words) => remarks.push(words),
    kill: () => remarks.push('killed'),
  });
  const frames: string[] = [];
  const oversized: OversizedFrame[] = [];
  const refused: string[] = [];
  const leg = createConnection(streams.fromAgent, streams.toAgent, maxFrameBytes, {
    frame: ({ bytes, start, end }) => frames.push(bytes.toString('utf8', start, end)),
    oversized: (frame) => oversized.push(frame),
    refused: ({ reason }) => refused.push(reason),
    end: () => frames.push('end'),
  });
  const says = (line: string) => void agent.emit('data', Buffer.from(`${line}\n`));
  return { agent, leg, says, frames, oversized, refused, remarks, alarms, streams, written: () => Buffer.concat(written).toString('utf8') };
}

test('a message that needs no translation passes as the bytes it came as', () => {
  const { says, frames } = between(webapp);
  const line = '{ "jsonrpc":"2.0", "method":"_x/y", "params":{"big":9007199254740993,"one":1.0} }';
  says(line);
  expect(frames).toEqual([line]);
});

test('so does the answer to a method that only the editor and the agent know', async () => {
  const { leg, says, frames } = between(webapp);
  leg.writer.line('{"jsonrpc":"2.0","id":1,"method":"_vendor/do","params":{}}\n');
  await Promise.resolve();
  const line = '{"jsonrpc":"2.0", "id":1, "result":{"some_key":{"inner_key":1.0}}}';
  says(line);
  expect(frames).toEqual([line]);
});

test('an answer over the limit is skipped, and whose it was is told', () => {
  const { says, frames, oversized } = between(webapp);
  says(JSON.stringify({ jsonrpc: '2.0', id: 7, result: { text: 'x'.repeat(100_000) } }));
  says('{"jsonrpc":"2.0","method":"_x/y"}');
  expect(oversized).toMatchObject([{ kind: 'response', idText: '7' }]);
  expect(frames).toHaveLength(1);
});

test('a line that is no message is for the leg to refuse, and blank ones are nothing', () => {
  const { says, refused, frames } = between(webapp);
  says('not json');
  says('  ');
  expect(refused).toEqual(['not JSON']);
  expect(frames).toEqual([]);
});

test('a dialect that fails on a message costs that message, and whoever waits for an answer is told', async () => {
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
  const { says, leg, frames, remarks, written, streams } = between(broken);
  says('{"jsonrpc":"2.0","id":1,"method":"_x/ask"}');
  expect(JSON.parse(written())).toMatchObject({ id: 1, error: { code: -32603, message: expect.stringContaining('no idea') } });
  leg.writer.line('{"jsonrpc":"2.0","id":2,"method":"_x/do"}\n');
  await Promise.resolve();
  expect(JSON.parse(frames[0] ?? '')).toMatchObject({ id: 2, error: { code: -32603 } });
  expect(remarks).toHaveLength(2);
  says('not json');
  streams.exited(0);
  expect(remarks).toHaveLength(4);
});

test('of the alarms that were set none is left when it stops', async () => {
  const { leg, says, alarms, streams, frames } = between(webapp);
  leg.writer.line('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}\n');
  await Promise.resolve();
  says('{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}');
  const [first] = [...alarms];
  expect(first?.ms).toBe(2000);
  alarms.clear();
  first?.then();
  expect(frames).toEqual([]); // the second way to ask for models is tried, with an alarm of its own
  expect(alarms.size).toBe(1);
  streams.stop();
  expect(alarms.size).toBe(0);
});
