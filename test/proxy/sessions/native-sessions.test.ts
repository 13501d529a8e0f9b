// What an agent's own session ids stand for.
import { expect, test } from 'vitest';
import { failure } from '../../../src/errors.ts';
import type { Agent } from '../../../src/proxy/agents/agent.ts';
import type { AgentConnection } from '../../../src/proxy/agents/agent-connection.ts';
import { NativeSessions, type Parked } from '../../../src/proxy/sessions/native-sessions.ts';
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
  expect(sessions.forFrame(frame)).toBeUndefined();
  sessions.set('s', first).set('t', other);
  expect([sessions.forFrame(frame), sessions.forFrame(frame), sessions.forFrame(update({ sessionId: 't' }))]).toEqual([
    first,
    first,
    other,
  ]);
  sessions.set('s', second);
  expect(sessions.forFrame(frame)).toBe(second);
  sessions.delete('s');
  expect([sessions.forFrame(frame), sessions.forFrame(update({ sessionId: 't' }))]).toEqual([undefined, other]);
  sessions.clear();
  expect(sessions.forFrame(update({ sessionId: 't' }))).toBeUndefined();
});

test('two agents may use one id for different sessions', () => {
  const [one, another] = [new NativeSessions(), new NativeSessions()];
  const [mine, yours] = [session('s'), session('s')];
  one.set('s', mine);
  another.set('s', yours);
  const frame = update({ sessionId: 's' });
  expect([one.forFrame(frame), another.forFrame(frame), one.forFrame(frame)]).toEqual([mine, yours, mine]);
});

test('an id that is too long to be cached, escaped or missing is looked up directly', () => {
  const sessions = new NativeSessions();
  const long = session('x'.repeat(100));
  const escaped = session('sé');
  sessions.set('x'.repeat(100), long).set('sé', escaped);
  expect(sessions.forFrame(update({ sessionId: 'x'.repeat(100) }))).toBe(long);
  const line = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s\\u00e9"}}\n');
  expect(sessions.forFrame(strictParse(line, 0, line.length - 1) as Frame)).toBe(escaped);
  expect(sessions.forFrame(update({}))).toBeUndefined();
});

test('frames held for a session come back in order, once, and only up to a limit of bytes', () => {
  const sessions = new NativeSessions();
  const frames = ['a', 'b'].map((word) => update({ sessionId: 's', word }));
  for (const frame of frames) expect(sessions.holdEarly('s', frame)).toBe(true);
  expect(sessions.earlyIds()).toEqual(['s']);
  const text = ({ bytes, start, end }: Frame) => bytes.toString('utf8', start, end);
  expect(sessions.takeEarly('s').map(text)).toEqual(frames.map(text));
  expect([sessions.takeEarly('s'), sessions.hasEarly]).toEqual([[], false]);
  const large = update({ sessionId: 's', word: 'x'.repeat(9_000_000) });
  expect([1, 2, 3].map(() => sessions.holdEarly('s', large))).toEqual([true, true, false]);
  sessions.takeEarly('s');
  expect(sessions.holdEarly('s', large)).toBe(true);
});

test('a session that ended stays ended, until its agent opens it again or a later process may be opening it', () => {
  const sessions = new NativeSessions();
  sessions.markEnded('s', 1);
  expect([sessions.hasEnded('s', 1), sessions.hasEnded('s', 2), sessions.hasEnded('t', 1)]).toEqual([true, true, false]);
  sessions.openingBegins();
  expect([sessions.hasEnded('s', 1), sessions.hasEnded('s', 2)]).toEqual([true, false]);
  sessions.openingEnds();
  expect(sessions.hasEnded('s', 2)).toBe(true);
  sessions.reopened('s');
  expect(sessions.hasEnded('s', 1)).toBe(false);
});

test('of 10,000 ended sessions the oldest is forgotten first', () => {
  const sessions = new NativeSessions();
  for (let n = 0; n <= 10_000; n++) sessions.markEnded(`s${n}`, 1);
  expect([sessions.hasEnded('s0', 1), sessions.hasEnded('s1', 1), sessions.hasEnded('s10000', 1)]).toEqual([false, true, true]);
});

test('a parked session is continued by the connection that has it; its tools are revoked when another asks, or the process ends', () => {
  const sessions = new NativeSessions();
  const [mine, other] = [{} as AgentConnection, {} as AgentConnection];
  const revoked: string[] = [];
  const parked = (id: string) =>
    ({ connection: mine, open: {}, options: {}, attachment: { revoke: () => revoked.push(id) }, bridged: undefined }) as unknown as Parked;
  for (const id of ['a', 'b', 'c']) sessions.park(id, parked(id));
  expect(sessions.unpark('a', mine)).toBeDefined();
  expect(sessions.unpark('a', mine)).toBeUndefined();
  expect(sessions.unpark('b', other)).toBeUndefined();
  sessions.refuse('r', failure('CANCELLED', ['x']));
  sessions.processEnded();
  expect([revoked, sessions.hasRefused, sessions.unpark('c', mine)]).toEqual([['b', 'c'], false, undefined]);
});
