// The lease of a host: renewed while the bus is there, lost in time when it is not.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBroker } from '../../../src/bus/broker.ts';
import type { Directory } from '../../../src/bus/bus.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import { FENCE_MS, LEASE_MS, type Lease, takeLease } from '../../../src/bus/cluster/lease.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const record = (incarnation = 'one') => ({
  v: 1,
  host: 'h',
  incarnation,
  labels: {},
  agents: [],
  load: 0,
  capacity: 1,
  version: '0',
  isDraining: false,
});

async function take(directory: Directory, lost: (why: string) => void = () => {}): Promise<Lease> {
  const lease = await takeLease({ directory, record: () => record(), clock: systemBusClock, lost });
  if ('takenBy' in lease) throw new Error('taken');
  return lease;
}

test('is kept as long as the bus is there, and then nobody else can take it', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  const lease = await take(directory);
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS);
  expect(lease.isHeld()).toBe(true);
  expect(await takeLease({ directory, record: () => record('two'), clock: systemBusClock, lost: () => {} })).toEqual({ takenBy: 'one' });
  await lease.release();
  expect(await directory.get('h')).toBeUndefined();
});

test('is released also while it is being renewed, so that the next process of this name starts at once', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  const lease = await take(directory);
  void lease.renew();
  await lease.release();
  expect(await directory.get('h')).toBeUndefined();
});

test('is lost before it expires if it cannot be renewed, so that two hosts never hold it', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  let isAway = false;
  const flaky: Directory = { ...directory, update: (...args) => (isAway ? Promise.reject(new Error('away')) : directory.update(...args)) };
  const lost: string[] = [];
  const lease = await take(flaky, (why) => lost.push(why));
  await vi.advanceTimersByTimeAsync(30_000);
  isAway = true;
  await vi.advanceTimersByTimeAsync(FENCE_MS - 4000);
  expect([lease.isHeld(), lost]).toEqual([true, []]);
  await vi.advanceTimersByTimeAsync(LEASE_MS - FENCE_MS);
  expect(lease.isHeld()).toBe(false);
  expect(lost).toEqual([expect.stringContaining('could not renew its lease')]);
});

test('a renewal that failed is tried again before the next regular one', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  let failures = 0;
  const flaky: Directory = {
    ...directory,
    update: (...args) => (failures++ < 1 ? Promise.reject(new Error('away')) : directory.update(...args)),
  };
  await take(flaky);
  const { revision } = (await directory.get('h')) as { revision: number };
  await vi.advanceTimersByTimeAsync(4600);
  expect((await directory.get('h'))?.revision).toBe(revision + 1);
});

test('a renewal that fails is reported once, with the time that is left, until one succeeds', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  let isAway = false;
  const flaky: Directory = {
    ...directory,
    update: (...args) => (isAway ? Promise.reject(new Error('no quorum')) : directory.update(...args)),
  };
  const late: unknown[] = [];
  await takeLease({ directory: flaky, record: () => record(), clock: systemBusClock, lost: () => {}, late: (...args) => late.push(args) });
  for (let absence = 0; absence < 2; absence++) {
    isAway = true;
    await vi.advanceTimersByTimeAsync(9000);
    isAway = false;
    await vi.advanceTimersByTimeAsync(9000);
  }
  expect(late).toEqual([
    ['no quorum', FENCE_MS - 4000],
    ['no quorum', FENCE_MS - 4000],
  ]);
});

test('is not held any more from the moment a frozen process wakes up, before any timer has fired', async () => {
  let now = 0;
  const directory = await createBroker(() => 0)
    .connect()
    .directory('hosts');
  const lease = await takeLease({
    directory,
    record: () => record(),
    clock: { ...systemBusClock, monotonicMs: () => now },
    lost: () => {},
  });
  now = FENCE_MS + 1;
  expect('isHeld' in lease && lease.isHeld()).toBe(false);
});

test('is lost when another process has written the record', async () => {
  const directory = await createBroker(Date.now).connect().directory('hosts');
  const lost: string[] = [];
  await take(directory, (why) => lost.push(why));
  const entry = await directory.get('h');
  await directory.update('h', Buffer.from(JSON.stringify(record('two'))), entry?.revision ?? 0);
  await vi.advanceTimersByTimeAsync(5000);
  expect(lost).toEqual([expect.stringContaining('another process took its place')]);
});

test.each([
  ['no record', '{}'],
  ['the record of another host', JSON.stringify({ ...record('two'), host: 'other' })],
  ['an older record of its own', JSON.stringify(record())],
])('is kept when %s is written in its place, which only a mistake or an attack can do', async (_, text) => {
  const directory = await createBroker(Date.now).connect().directory('hosts', { ttlMs: LEASE_MS });
  const lost: string[] = [];
  const lease = await take(directory, (why) => lost.push(why));
  const entry = await directory.get('h');
  await directory.update('h', Buffer.from(text), entry?.revision ?? 0);
  await vi.advanceTimersByTimeAsync(5000);
  const { revision = 0 } = (await directory.get('h')) ?? {};
  await directory.remove('h', revision);
  await vi.advanceTimersByTimeAsync(5000);
  expect([lost, lease.isHeld(), JSON.parse((await directory.get('h'))?.value.toString() ?? '{}')]).toEqual([[], true, record()]);
});
