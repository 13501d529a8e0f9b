// The exporter against a collector on loopback that does not do what it should. `add` returns at once in every case: nothing waits for it.
import { expect, test } from 'vitest';
import { createExporter, type Exporter } from '../../../src/telemetry/otlp/exporter.ts';
import { createPost } from '../../../src/telemetry/otlp/post.ts';
import { type Behaviour, type Collector, startCollector } from '../collector.ts';

type Counted = { sent: number; dropped: Record<string, number>; problems: string[] };
type Started = { readonly exporter: Exporter<number>; readonly counted: Counted };
type Limits = { readonly maxQueue?: number; readonly maxBatch?: number; readonly timeoutMs?: number };

function start(url: string, { maxQueue = 100, maxBatch = 10, timeoutMs = 300 }: Limits = {}): Started {
  const counted: Counted = { sent: 0, dropped: {}, problems: [] };
  const { post } = createPost({ url: `${url}/v1/traces`, headers: {}, timeoutMs, isCompressed: true });
  const exporter = createExporter<number>({
    ...{ post, maxQueue, maxBatch, delayMs: 1, encode: (items) => ({ items }) },
    onSent(count) {
      counted.sent += count;
    },
    onDropped(count, reason) {
      counted.dropped[reason] = (counted.dropped[reason] ?? 0) + count;
    },
    onProblem: (why) => void counted.problems.push(why),
  });
  return { exporter, counted };
}

const add = ({ exporter }: Started, count: number): number => {
  const before = performance.now();
  for (let n = 0; n < count; n++) exporter.add(n);
  return performance.now() - before;
};
const accepted = ({ bodies }: Collector): number[] =>
  bodies.filter(({ status }) => status === 200).flatMap(({ text }) => JSON.parse(text).items);

async function withCollector(first: Behaviour, act: (collector: Collector) => Promise<void>): Promise<void> {
  const collector = await startCollector(first);
  try {
    await act(collector);
  } finally {
    await collector.close();
  }
}

test('sends in batches, in order', () =>
  withCollector(200, async (collector) => {
    const started = start(collector.url);
    add(started, 25);
    await collector.until(() => accepted(collector).length === 25);
    expect(accepted(collector)).toEqual(Array.from({ length: 25 }, (_unused, n) => n));
    expect(Math.max(...collector.bodies.map(({ text }) => JSON.parse(text).items.length))).toBe(10);
    await started.exporter.close(1000);
    expect(started.counted).toEqual({ sent: 25, dropped: {}, problems: [] });
  }));

test.each<[Behaviour, string]>([
  [503, 'HTTP 503'],
  [{ status: 429, headers: { 'retry-after': '0' } }, 'HTTP 429'],
  ['close', 'ECONNRESET'],
])('what a collector that answers %j did not take arrives later, once', (behaviour, why) =>
  withCollector(behaviour, async (collector) => {
    const started = start(collector.url);
    add(started, 5);
    await collector.until(() => collector.bodies.length > 0);
    expect(started.exporter.length()).toBe(5);
    collector.answer(200);
    await collector.until(() => accepted(collector).length > 0);
    expect(accepted(collector)).toEqual([0, 1, 2, 3, 4]);
    await started.exporter.close(1000);
    expect(started.counted).toEqual({ sent: 5, dropped: {}, problems: [why] });
  }),
);

test('a collector that wants everything again at once is asked a second later', () =>
  withCollector({ status: 503, headers: { 'retry-after': '0' } }, async (collector) => {
    const { exporter, counted } = start(collector.url);
    exporter.add(1);
    await collector.until(() => collector.bodies.length > 0);
    const before = performance.now();
    await collector.until(() => collector.bodies.length > 1);
    expect(performance.now() - before).toBeGreaterThan(700);
    await exporter.close(0);
    expect(counted.dropped).toEqual({ shutdown: 1 });
  }));

test('a request that cannot be made is an answer too', async () => {
  const { post } = createPost({ url: 'http://127.0.0.1:1', headers: { a: 'x\ny' }, timeoutMs: 100, isCompressed: false });
  expect(await post({})).toEqual({ kind: 'rejected', why: 'ERR_INVALID_CHAR' });
});

test('a collector that comes up later gets what fitted into the queue; the rest is counted', async () => {
  const gone = await startCollector();
  await gone.close();
  const started = start(gone.url, { maxQueue: 30 });
  expect(add(started, 1000)).toBeLessThan(200);
  expect(started.exporter.length()).toBe(30);
  const collector = await startCollector(200, Number(new URL(gone.url).port));
  await collector.until(() => accepted(collector).length === 30);
  await started.exporter.close(1000);
  await collector.close();
  expect(started.counted.sent + (started.counted.dropped.queue_full ?? 0)).toBe(1000);
  expect(started.counted.dropped).toEqual({ queue_full: 970 });
});

test('what is answered 400 is dropped and counted, and what follows is sent', () =>
  withCollector(400, async (collector) => {
    const started = start(collector.url);
    add(started, 10);
    await collector.until(() => collector.bodies.length === 1);
    collector.answer({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}' });
    add(started, 4);
    await collector.until(() => accepted(collector).length === 4);
    await started.exporter.close(1000);
    expect(started.counted).toEqual({ sent: 3, dropped: { rejected: 11 }, problems: ['HTTP 400'] });
  }));

test('a collector that never answers holds one request, and is given up at the end', () =>
  withCollector('hang', async (collector) => {
    const started = start(collector.url, { maxQueue: 20, timeoutMs: 60_000 });
    expect(add(started, 50)).toBeLessThan(200);
    await collector.until(() => collector.bodies.length === 1);
    const before = performance.now();
    await started.exporter.close(200);
    expect(performance.now() - before).toBeLessThan(1500);
    expect(collector.bodies).toHaveLength(1);
    expect(started.counted).toEqual({ sent: 0, dropped: { queue_full: 30, shutdown: 20 }, problems: [] });
  }));

test('a collector that is slow gets the same batch again after the time limit', () =>
  withCollector('hang', async (collector) => {
    const started = start(collector.url, { timeoutMs: 50 });
    add(started, 3);
    await collector.until(() => collector.bodies.length === 1);
    collector.answer(200);
    await collector.until(() => accepted(collector).length === 3);
    await started.exporter.close(1000);
    expect(started.counted).toMatchObject({ sent: 3, dropped: {} });
    expect(started.counted.problems).toHaveLength(1);
  }));
