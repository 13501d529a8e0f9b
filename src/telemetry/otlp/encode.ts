// The JSON mapping of OTLP: names in camelCase, 64-bit integers as strings, trace and span ids in hexadecimal, enumerations as numbers.
import type { Metric } from '../metrics/definitions.ts';
import { sumOf } from '../metrics/history.ts';
import type { Family, Series } from '../metrics/registry.ts';
import type { AttributeValue, Span, SpanKind } from '../traces/span.ts';

export type Resource = Readonly<Record<string, string>>;

const SCOPE = { name: 'acp-switchboard' };
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;

export function encodeSpans(spans: readonly Span[], resource: Resource): object {
  return { resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }] }] };
}

/** Cumulative since `startMs`. */
export function encodeMetrics(families: readonly Family[], resource: Resource, startMs: number, nowMs: number): object {
  const times = { startTimeUnixNano: nanoseconds(startMs), timeUnixNano: nanoseconds(nowMs) };
  const metrics = families.filter(({ series }) => series.length > 0).map((family) => metricOf(family, times));
  return { resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: SCOPE, metrics }] }] };
}

function spanOf({ context, parentSpanId, name, kind, startMs, endMs, attributes, events, links, error }: Span): object {
  const { traceId, spanId, state } = context;
  return {
    traceId,
    spanId,
    ...(state !== undefined && { traceState: state }),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(attributes),
    ...(events.length > 0 && { events: events.map(({ name: event, at }) => ({ timeUnixNano: nanoseconds(at), name: event })) }),
    ...(links.length > 0 && { links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })) }),
    status: error === undefined ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error },
  };
}

type Times = { readonly startTimeUnixNano: string; readonly timeUnixNano: string };

function metricOf({ metric, series }: Family, times: Times): object {
  const about = { name: otlpName(metric), description: metric.help, ...(metric.unit !== undefined && { unit: metric.unit }) };
  if (metric.type === 'histogram')
    return {
      ...about,
      histogram: { aggregationTemporality: CUMULATIVE, dataPoints: series.map((one) => histogramPoint(metric, one, times)) },
    };
  const dataPoints = series.map((one) => ({ attributes: labelsOf(metric, one), ...times, asDouble: one.value }));
  if (metric.type === 'gauge') return { ...about, gauge: { dataPoints } };
  return { ...about, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
}

const histogramPoint = (metric: Metric, one: Series, times: Times): object => ({
  attributes: labelsOf(metric, one),
  ...times,
  count: String(sumOf(one.counts)),
  sum: one.value,
  bucketCounts: one.counts.map(String),
  explicitBounds: metric.buckets,
});

/** Collectors add the unit and `_total` when they write for Prometheus: both ways lead to the names of /metrics. */
export const otlpName = ({ name }: Metric): string => name.replace(/_total$/, '').replace(/_(?:seconds|bytes)$/, '');

const labelsOf = ({ labels }: Metric, { labels: values }: Series): object[] =>
  attributesOf(Object.fromEntries(labels.map((label, index) => [label, values[index]])));

const resourceOf = (resource: Resource): object => ({ attributes: attributesOf(resource) });

function attributesOf(attributes: Readonly<Record<string, AttributeValue | undefined>>): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
}

/** As a string: a number cannot hold it. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}
