import { describe, expect, test } from 'vitest';
import { countEvents } from '../../../src/telemetry/metrics/count-events.ts';
import { METRICS, type Metric } from '../../../src/telemetry/metrics/definitions.ts';
import { prometheusText } from '../../../src/telemetry/metrics/prometheus.ts';
import { createRegistry } from '../../../src/telemetry/metrics/registry.ts';

const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name));

describe('the text for Prometheus', () => {
  test('has HELP and TYPE of every metric, also of those without a value', () => {
    const text = prometheusText(createRegistry().collect());
    for (const { name, type } of Object.values(METRICS)) {
      expect(linesOf(text, `# HELP ${name} `)).toHaveLength(1);
      expect(linesOf(text, `# TYPE ${name} ${type}`)).toHaveLength(1);
    }
  });

  test('has cumulative buckets, the sum and the count of a histogram', () => {
    const registry = createRegistry();
    for (const seconds of [0.05, 0.2, 0.2, 7000]) registry.observe('turnSeconds', ['claude'], seconds);
    const lines = linesOf(prometheusText(registry.collect()), 'switchboard_turn_duration_seconds');
    expect(lines.slice(0, 3)).toEqual([
      'switchboard_turn_duration_seconds_bucket{agent="claude",le="0.1"} 1',
      'switchboard_turn_duration_seconds_bucket{agent="claude",le="0.25"} 3',
      'switchboard_turn_duration_seconds_bucket{agent="claude",le="0.5"} 3',
    ]);
    expect(lines.slice(-3)).toEqual([
      'switchboard_turn_duration_seconds_bucket{agent="claude",le="+Inf"} 4',
      'switchboard_turn_duration_seconds_sum{agent="claude"} 7000.45',
      'switchboard_turn_duration_seconds_count{agent="claude"} 4',
    ]);
  });

  test('escapes labels', () => {
    const registry = createRegistry();
    registry.add('agentStarts', ['a"b\\c\nd']);
    expect(prometheusText(registry.collect())).toContain('switchboard_agent_starts_total{agent="a\\"b\\\\c\\nd"} 1\n');
  });
});

describe('the registry', () => {
  test('bounds the series of a metric, and counts the others together', () => {
    const registry = createRegistry();
    for (let n = 0; n < 1000; n++) registry.add('agentFailures', [`agent-${n}`, 'exited']);
    const family = registry.collect().find(({ key }) => key === 'agentFailures');
    expect(family?.series.length).toBeLessThanOrEqual(401);
    expect(family?.series.find(({ labels }) => labels[0] === 'other')?.value).toBe(600);
    expect(family?.series.reduce((sum, { value }) => sum + value, 0)).toBe(1000);
  });

  test('shows 0 for a state that nothing is in any more', () => {
    const registry = createRegistry();
    registry.setAll('sessions', [
      [['claude', 'running'], 1],
      [['claude', 'running'], 1],
    ]);
    expect(registry.series('sessions', 'claude', 'running').value).toBe(2);
    registry.setAll('sessions', [[['claude', 'idle'], 2]]);
    expect(registry.series('sessions', 'claude', 'running').value).toBe(0);
    expect(registry.series('sessions', 'claude', 'idle').value).toBe(2);
  });
});

describe('labels', () => {
  const about = { id: 'x', sessionId: 's', agent: 'claude', usage: undefined, reason: undefined, tookMs: 1000 };

  test.each([
    ['session/new', 'session/new'],
    ['_vendor/secret-project', 'other'],
    ['session/new\n', 'other'],
  ])('the method %j is counted as %j', (method, label) => {
    const registry = createRegistry();
    countEvents(registry)({ type: 'answer', ...about, method, error: undefined, stopReason: undefined });
    expect(registry.series('requests', label, 'ok').value).toBe(1);
  });

  test.each([
    ['end_turn', undefined, 'end_turn'],
    ['/home/me/secret', undefined, 'other'],
    [undefined, -32603, 'error'],
  ])('a turn that ends with %j or the error %j is counted as %j', (stopReason, error, label) => {
    const registry = createRegistry();
    countEvents(registry)({ type: 'answer', ...about, method: 'session/prompt', error, stopReason });
    expect(registry.series('turns', 'claude', label).value).toBe(1);
    expect(registry.series('turnSeconds', 'claude').value).toBe(1);
  });

  test('reasons of failures and surfaces of decisions are words of the program', () => {
    const registry = createRegistry();
    const count = countEvents(registry);
    count({ type: 'agent-failed', start: undefined, agent: 'claude', reason: 'AGENT_MISSING' });
    count({ type: 'agent-failed', start: undefined, agent: 'claude', reason: 'cat /etc/passwd: no' });
    expect(registry.series('agentFailures', 'claude', 'agent_missing').value).toBe(1);
    expect(registry.series('agentFailures', 'claude', 'other').value).toBe(1);
  });

  test('a start after a failure is a restart, the one after it is not', () => {
    const registry = createRegistry();
    const count = countEvents(registry);
    const start = (n: number) => count({ type: 'agent-start', start: n, agent: 'claude', transport: 'process' });
    start(0);
    count({ type: 'agent-failed', start: undefined, agent: 'claude', reason: 'exited' });
    start(1);
    start(2);
    expect(registry.series('agentStarts', 'claude').value).toBe(3);
    expect(registry.series('agentRestarts', 'claude').value).toBe(1);
  });

  test('no metric has a label that could hold an id, a path or a text', () => {
    const known = ['version', 'agent', 'state', 'direction', 'method', 'outcome', 'surface', 'verdict', 'reason', 'queue'];
    const labels = Object.values(METRICS).flatMap((metric: Metric) => metric.labels);
    expect(labels.filter((label) => ![...known, 'currency', 'signal', 'statistic', 'kind'].includes(label))).toEqual([]);
  });
});
