// Prometheus' own checker on what the daemon shows.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { METRICS, type MetricKey } from '../../src/telemetry/metrics/definitions.ts';
import { prometheusText } from '../../src/telemetry/metrics/prometheus.ts';
import { createRegistry } from '../../src/telemetry/metrics/registry.ts';

test('promtool finds nothing wrong with the metrics, with and without values', () => {
  const registry = createRegistry();
  const empty = prometheusText(registry.collect());
  for (const [key, { labels, type }] of Object.entries(METRICS)) {
    const values = labels.map((_, index) => `value-${index}`);
    if (type === 'histogram') registry.observe(key as MetricKey, values, 0.3);
    else registry.add(key as MetricKey, values);
  }
  for (const text of [empty, prometheusText(registry.collect())]) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  }
});
