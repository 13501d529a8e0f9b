// The text format of Prometheus, version 0.0.4.
import type { Metric } from './definitions.ts';
import type { Family, Series } from './registry.ts';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function prometheusText(families: readonly Family[]): string {
  return families
    .map(({ metric, series }) => {
      const head = `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n`;
      return head + series.map((one) => (metric.type === 'histogram' ? histogramLines(metric, one) : line(metric, one))).join('');
    })
    .join('');
}

const line = ({ name, labels }: Metric, { labels: values, value }: Series): string => `${name}${braces(labels, values)} ${number(value)}\n`;

function histogramLines({ name, labels, buckets = [] }: Metric, { labels: values, value, counts }: Series): string {
  let count = 0;
  const lines = [...buckets, Number.POSITIVE_INFINITY].map((bound, index) => {
    count += counts[index] as number;
    return `${name}_bucket${braces([...labels, 'le'], [...values, number(bound)])} ${count}\n`;
  });
  const own = braces(labels, values);
  return `${lines.join('')}${name}_sum${own} ${number(value)}\n${name}_count${own} ${count}\n`;
}

export function braces(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return '';
  return `{${names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',')}}`;
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const number = (value: number): string => (value === Number.POSITIVE_INFINITY ? '+Inf' : String(value));
