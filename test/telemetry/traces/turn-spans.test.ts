import { expect, test } from 'vitest';
import type { EventOfConnection, TelemetryEvent } from '../../../src/telemetry/events.ts';
import type { Sampler } from '../../../src/telemetry/settings.ts';
import { cleaned } from '../../../src/telemetry/traces/attributes.ts';
import type { Span } from '../../../src/telemetry/traces/span.ts';
import { readTraceparent } from '../../../src/telemetry/traces/trace-context.ts';
import { createTurnSpans } from '../../../src/telemetry/traces/turn-spans.ts';

function machine(sampler: Sampler = { ratio: 1, isParentBased: true }) {
  const spans: Span[] = [];
  let [id, at, dropped] = [0, 1000, 0];
  const { note } = createTurnSpans({
    sampler,
    randomId: (bytes) => String(++id).padStart(bytes * 2, '0'),
    onSpan: (span) => spans.push(span),
    onDropped() {
      dropped++;
    },
  });
  return {
    spans,
    dropped: () => dropped,
    note: (event: EventOfConnection, connection = 'a/') => note({ ...event, at: ++at, connection } as TelemetryEvent),
  };
}
const request = (id: string, more: Partial<Extract<EventOfConnection, { type: 'request' }>> = {}): EventOfConnection => ({
  ...{ type: 'request', id, method: 'session/prompt', sessionId: 's', agent: 'claude', parent: undefined },
  ...more,
});
const answer = (id: string): EventOfConnection => ({
  ...{ type: 'answer', id, method: 'session/prompt', sessionId: 's', agent: 'claude', error: undefined, reason: undefined },
  ...{ stopReason: 'end_turn', usage: undefined, tookMs: 1 },
});
const toolCall = (toolCallId: string, status: string): EventOfConnection => ({
  type: 'tool-call',
  session: 's',
  toolCallId,
  kind: 'read',
  status,
});

test('two connections with a session of the same id have traces of their own', () => {
  const { note, spans } = machine();
  note(request('a1'), 'a/');
  note(request('b1'), 'b/');
  note(toolCall('of-b', 'completed'), 'b/');
  note(answer('a1'), 'a/');
  note(answer('b1'), 'b/');
  const [call, a, b] = spans;
  expect([a?.links, b?.links]).toEqual([[], []]);
  expect([call?.parentSpanId, call?.context.traceId]).toEqual([b?.context.spanId, b?.context.traceId]);
});

test('a client that is gone ends its turn, and an agent that is stopped its start', () => {
  const { note, spans } = machine();
  note(request('1'));
  note({ type: 'agent-start', start: 1, agent: 'claude', transport: 'process' });
  note({ type: 'agent-stopped', start: 1 });
  note(toolCall('call-1', 'pending'));
  note({ type: 'abandoned', id: '1', method: 'session/prompt', agent: 'claude' });
  expect(spans.map(({ name, error }) => [name, error])).toEqual([
    ['start agent claude', 'stopped'],
    ['execute_tool read', 'turn_failed'],
    ['invoke_agent claude', 'client_gone'],
  ]);
});

test('a turn has 1000 spans below it, and each further one is counted once', () => {
  const { note, spans, dropped } = machine();
  note(request('1'));
  for (let n = 0; n < 1010; n++) for (const status of ['pending', 'in_progress', 'completed']) note(toolCall(`call-${n}`, status));
  note({ type: 'permission', id: 'p', sessionId: 's', toolCallId: undefined });
  note(answer('1'));
  expect([spans.length, dropped()]).toEqual([1001, 11]);
});

test('what is not sampled is neither recorded nor counted', () => {
  const { note, spans, dropped } = machine({ ratio: 0, isParentBased: true });
  note(request('1'));
  for (let n = 0; n < 1010; n++) note(toolCall(`call-${n}`, 'completed'));
  note(answer('1'));
  expect([spans.length, dropped()]).toEqual([0, 0]);
});

test.each([
  ['vendor=1', 'vendor=1'],
  ['a@b=x/y:z, ', undefined],
  ['a=1,b=two', 'a=1,b=two'],
  ['my prompt', undefined],
  ['a=my prompt', undefined],
  [`a=${'x'.repeat(600)}`, undefined],
])('the trace state %j is read as %j', (state, expected) => {
  expect(readTraceparent(`00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, state)?.state).toBe(expected);
});

test('secrets leave in no name, id or trace state', () => {
  const { note, spans } = machine();
  const parent = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), isSampled: true, state: 'a=hunter2' };
  note(request('1', { parent, sessionId: 'hunter2' }));
  note({ type: 'tool', id: 't', session: 'hunter2', agent: 'claude', server: 'docs', tool: 'hunter2' });
  note({ type: 'tool-end', id: 't', agent: 'claude', outcome: 'called' });
  note(answer('1'));
  expect(JSON.stringify(spans)).toContain('hunter2');
  expect(JSON.stringify(spans.map((span) => cleaned(span, (text) => text.replaceAll('hunter2', 'x'))))).not.toContain('hunter2');
});
