// Finding a session by the agent's own session id.
import { expect, test } from 'vitest';
import type { Agent } from '../../../src/proxy/agents/agent.ts';
import { NativeSessions } from '../../../src/proxy/sessions/native-sessions.ts';
import { createSession } from '../../../src/proxy/sessions/session.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';

const scanner = new Scanner();

const update = (params: object): Frame =>
  scanner.scan(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`), 0) as Frame;
const session = (id: string) => createSession(id, {} as Agent, id, undefined);

test('a frame belongs to the session that it names now, whatever that id led to before', () => {
  const sessions = new NativeSessions();
  const [first, second, other] = [session('s'), session('s'), session('t')];
  const frame = update({ sessionId: 's' });
  expect(sessions.of(frame)).toBeUndefined();
  sessions.set('s', first).set('t', other);
  expect([sessions.of(frame), sessions.of(frame), sessions.of(update({ sessionId: 't' }))]).toEqual([first, first, other]);
  sessions.set('s', second);
  expect(sessions.of(frame)).toBe(second);
  sessions.delete('s');
  expect([sessions.of(frame), sessions.of(update({ sessionId: 't' }))]).toEqual([undefined, other]);
  sessions.clear();
  expect(sessions.of(update({ sessionId: 't' }))).toBeUndefined();
});

test('two agents may use one id for different sessions', () => {
  const [one, another] = [new NativeSessions(), new NativeSessions()];
  const [mine, yours] = [session('s'), session('s')];
  one.set('s', mine);
  another.set('s', yours);
  const frame = update({ sessionId: 's' });
  expect([one.of(frame), another.of(frame), one.of(frame)]).toEqual([mine, yours, mine]);
});

test('an id that is too long to be cached, escaped or missing is looked up directly', () => {
  const sessions = new NativeSessions();
  const long = session('x'.repeat(100));
  const escaped = session('sé');
  sessions.set('x'.repeat(100), long).set('sé', escaped);
  expect(sessions.of(update({ sessionId: 'x'.repeat(100) }))).toBe(long);
  const line = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s\\u00e9"}}\n');
  expect(sessions.of(strictParse(line, 0, line.length - 1) as Frame)).toBe(escaped);
  expect(sessions.of(update({}))).toBeUndefined();
});
