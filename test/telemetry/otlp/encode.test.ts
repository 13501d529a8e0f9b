// What is sent, against the official description of OTLP: test/fixtures/otlp-messages.json has its messages and their fields, with the names
// of the JSON mapping.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { EventOfConnection, Timed } from '../../../src/telemetry/events.ts';
import { METRICS, type Metric, type MetricKey } from '../../../src/telemetry/metrics/definitions.ts';
import { createRegistry } from '../../../src/telemetry/metrics/registry.ts';
import { encodeMetrics, encodeSpans, otlpName } from '../../../src/telemetry/otlp/encode.ts';
import type { Span } from '../../../src/telemetry/traces/span.ts';
import { createTurnSpans } from '../../../src/telemetry/traces/turn-spans.ts';

const file = path.resolve(import.meta.dirname, '../../fixtures/otlp-messages.json');
const { messages }: { messages: Record<string, Record<string, string> | 'enum'> } = JSON.parse(readFileSync(file, 'utf8'));

const SCALARS: Readonly<Record<string, (value: unknown, key: string) => boolean>> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  double: (value) => typeof value === 'number',
  uint32: Number.isInteger,
  fixed32: Number.isInteger,
  // 64-bit integers are strings in JSON, and ids are hexadecimal in OTLP.
  ...Object.fromEntries(
    ['int64', 'uint64', 'fixed64', 'sfixed64'].map((type) => [
      type,
      (value: unknown) => /^-?\d+$/.test(String(value)) && typeof value === 'string',
    ]),
  ),
  bytes: (value, key) => typeof value === 'string' && new RegExp(`^[0-9a-f]{${key === 'traceId' ? 32 : 16}}$`).test(value),
};

/** Every place at which the value is not what the message says. */
function problems(value: unknown, type: string, at = type): string[] {
  if (type.endsWith('[]'))
    return Array.isArray(value) ? value.flatMap((one, index) => problems(one, type.slice(0, -2), `${at}[${index}]`)) : [`${at} is no list`];
  const scalar = SCALARS[type];
  if (scalar) return scalar(value, at.split('.').at(-1) ?? '') ? [] : [`${at}: ${JSON.stringify(value)} is no ${type}`];
  const message = messages[type];
  if (message === 'enum') return Number.isInteger(value) ? [] : [`${at} is no number`];
  if (!message) return [`${at}: unknown message ${type}`];
  return Object.entries(value as object).flatMap(([key, inner]) => {
    const field = message[key];
    return field === undefined ? [`${at} has no field ${key}`] : problems(inner, field, `${at}.${key}`);
  });
}

const AGENT = { agent: 'claude', sessionId: 'session-1' };
const EVENTS: readonly (Timed & EventOfConnection)[] = [
  {
    ...{ type: 'request', at: 1000.25, id: '0/1', method: 'session/prompt', ...AGENT },
    parent: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true, state: 'x=1' },
  },
  { type: 'first-update', at: 1001, id: '0/1', agent: 'claude', afterMs: 1 },
  { type: 'request', at: 1002, id: '0/2', method: 'session/prompt', ...AGENT, parent: undefined },
  { type: 'tool-call', at: 1003, session: 'session-1', toolCallId: 'call-1', kind: 'edit', status: 'failed' },
  ...[1, 2].map((n): Timed & EventOfConnection => ({
    ...{ type: 'answer', at: 1010, id: `0/${n}`, method: 'session/prompt', ...AGENT, reason: undefined, tookMs: 10 },
    ...(n === 1
      ? { error: undefined, stopReason: 'end_turn', usage: { inputTokens: 5 } }
      : { error: -32603, stopReason: undefined, usage: undefined }),
  })),
];

test('spans are what OTLP says', () => {
  const spans: Span[] = [];
  let id = 0;
  const machine = createTurnSpans({
    sampler: { ratio: 1, isParentBased: true },
    randomId: (bytes) => String(++id).padStart(bytes * 2, '0'),
    onSpan: (span) => spans.push(span),
    onDropped: () => {},
  });
  for (const event of EVENTS) machine.note({ ...event, connection: '0/' });
  const payload = JSON.parse(JSON.stringify(encodeSpans(spans, { 'service.name': 'acp-switchboard' })));
  expect(problems(payload, 'ExportTraceServiceRequest')).toEqual([]);
  const [failed, first, second] = payload.resourceSpans[0].scopeSpans[0].spans;
  expect(failed).toMatchObject({ name: 'execute_tool edit', kind: 1, status: { code: 2, message: 'tool_failed' } });
  expect(first).toMatchObject({
    startTimeUnixNano: '1000250000',
    endTimeUnixNano: '1010000000',
    parentSpanId: 'b'.repeat(16),
    traceState: 'x=1',
    status: { code: 0 }, // some collectors refuse a status without it
  });
  expect(second.links).toEqual([{ traceId: first.traceId, spanId: first.spanId }]);
});

test('metrics are what OTLP says, under names that become those of /metrics again', () => {
  const registry = createRegistry();
  for (const [key, { labels, type }] of Object.entries(METRICS)) {
    if (type === 'histogram')
      registry.observe(
        key as MetricKey,
        labels.map(() => 'x'),
        0.3,
      );
    else
      registry.add(
        key as MetricKey,
        labels.map(() => 'x'),
        1.5,
      );
  }
  const payload = JSON.parse(JSON.stringify(encodeMetrics(registry.collect(), { 'service.name': 'x' }, 1000, 2000.5)));
  expect(problems(payload, 'ExportMetricsServiceRequest')).toEqual([]);
  const sent = payload.resourceMetrics[0].scopeMetrics[0].metrics;
  expect(sent).toHaveLength(Object.keys(METRICS).length);
  const turns = sent.find(({ name }: { name: string }) => name === 'switchboard_turn_duration').histogram.dataPoints[0];
  expect(turns).toMatchObject({ count: '1', sum: 0.3, startTimeUnixNano: '1000000000', timeUnixNano: '2000500000' });
  expect(turns.bucketCounts.length).toBe(turns.explicitBounds.length + 1);
  // As the Prometheus exporter of a collector names them.
  const units: Record<string, string> = { s: '_seconds', By: '_bytes' };
  for (const metric of Object.values(METRICS) as Metric[])
    expect(`${otlpName(metric)}${units[metric.unit ?? ''] ?? ''}${metric.type === 'counter' ? '_total' : ''}`).toBe(metric.name);
});
