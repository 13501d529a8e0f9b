// A host and its bundle over time: new ones, refused ones, its end, and a bus that is away.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBroker } from '../../../src/bus/broker.ts';
import type { Bus, Directory } from '../../../src/bus/bus.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import type { SeenVersion } from '../../../src/bus/policy/accept.ts';
import { generateKey, type PolicyBundle, signBundle } from '../../../src/bus/policy/bundle.ts';
import { type FollowOptions, followBundle } from '../../../src/bus/policy/follow-bundle.ts';
import { BUNDLE_KEY, publishBundle } from '../../../src/bus/policy/publish-bundle.ts';

const HOUR = 3_600_000;
const { privateKey, publicKey } = generateKey();
const other = generateKey();
const bundle = (version: number, change: Partial<PolicyBundle> = {}, key = privateKey): Buffer =>
  Buffer.from(
    signBundle({ version, issuedAtMs: Date.now(), maxAgeMs: 4 * HOUR, policies: [{ name: 'p.yaml', text: 'version: 1' }], ...change }, key),
  );

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 19, 12) }));
afterEach(() => void vi.useRealTimers());

async function setUp(bus: Bus = createBroker(Date.now).connect(), change: Partial<FollowOptions> = {}) {
  const reports: string[] = [];
  const used: number[] = [];
  const states: boolean[] = [];
  let seen: SeenVersion | undefined;
  const follow = () =>
    followBundle({
      bus,
      directory: 'policy',
      pinned: { keys: [publicKey] },
      seen: {
        highest: () => seen,
        raise(next) {
          seen = next;
        },
      },
      clock: systemBusClock,
      now: Date.now,
      prepare:
        async ({ version }) =>
        () =>
          void used.push(version),
      changed: () => void states.push(followed.current() !== undefined),
      report: (text) => reports.push(text),
      ...change,
    });
  let followed = await follow().then((first) => first);
  const publish = async (bytes: Buffer) => {
    const directory = await bus.directory('policy');
    const entry = await directory.get(BUNDLE_KEY);
    await (entry ? directory.update(BUNDLE_KEY, bytes, entry.revision) : directory.create(BUNDLE_KEY, bytes));
    await vi.advanceTimersByTimeAsync(10);
  };
  return {
    bus,
    reports,
    used,
    states,
    publish,
    followed: () => followed,
    async restart() {
      followed.stop();
      followed = await follow();
    },
  };
}

test('accepts no sessions until a bundle is published, and then at once', async () => {
  const { followed, publish, reports, used, states } = await setUp();
  expect(followed().current()).toBeUndefined();
  expect(followed().problem()).toBe('there is no policy bundle on the bus; publish one: switchboard policy bundle publish FILE --bus URL');
  await publish(bundle(1));
  expect(followed().current()?.bundle.version).toBe(1);
  expect([followed().problem(), used, states]).toEqual([undefined, [1], [true]]);
  expect(reports.at(-1)).toBe('policy bundle 1 is in force until 2026-11-19T16:00:00Z');
});

test('a newer bundle takes the place of the one in force', async () => {
  const { followed, publish, used, states } = await setUp();
  await publish(bundle(1));
  await publish(bundle(3));
  expect([followed().current()?.bundle.version, used, states]).toEqual([3, [1, 3], [true]]);
});

describe('a bundle that is refused changes nothing while another is in force', () => {
  test.each<[string, () => Buffer, string]>([
    ['forged', () => bundle(9, {}, other.privateKey), 'signed by'],
    ['older', () => bundle(1), 'bundle 1 is older than bundle 2'],
    ['of the same version', () => bundle(2, { maxAgeMs: HOUR }), 'not the one of that version'],
    ['expired', () => bundle(3, { issuedAtMs: Date.now() - 5 * HOUR }), 'expired'],
    ['nothing of the kind', () => Buffer.from('{}'), 'it is no policy bundle'],
  ])('%s', async (_, made, why) => {
    const { followed, publish, reports, used } = await setUp();
    await publish(bundle(2));
    await publish(made());
    expect([followed().current()?.bundle.version, used]).toEqual([2, [2]]);
    expect(reports.at(-1)).toContain(why);
    expect(reports.at(-1)).toContain('bundle 2 stays in force until 2026-11-19T16:00:00Z');
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    expect(reports.filter((text) => text.includes(why))).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(4 * HOUR);
    expect(followed().problem()).toMatch(new RegExp(`policy bundle 2 expired at 2026-11-19T16:00:00Z, and .*${why}`));
  });

  test('with a policy that cannot be used, or a version that cannot be remembered', async () => {
    const { followed, publish, reports } = await setUp(undefined, {
      prepare: async ({ version }) => {
        if (version === 2) throw new Error('the policy is not usable');
        return () => {};
      },
      seen: {
        highest: () => undefined,
        raise({ version }) {
          if (version === 3) throw new Error('the disk is full');
        },
      },
    });
    await publish(bundle(1));
    await publish(bundle(2));
    expect(reports.at(-1)).toContain('the policy is not usable; bundle 1 stays in force');
    await publish(bundle(3));
    expect(reports.at(-1)).toContain('the disk is full; bundle 1 stays in force');
    expect(followed().current()?.bundle.version).toBe(1);
  });
});

test('a restart does not go back to an older bundle', async () => {
  const { followed, publish, restart } = await setUp();
  await publish(bundle(1));
  const old = bundle(1);
  await publish(bundle(2));
  await publish(old);
  await restart();
  expect(followed().current()).toBeUndefined();
  expect(followed().problem()).toContain('policy bundle 1 is older than bundle 2, which this host has used');
});

test('warns before a bundle expires, accepts no sessions when it has, and serves again with the next', async () => {
  const { followed, publish, reports, states } = await setUp();
  await publish(bundle(1));
  await vi.advanceTimersByTimeAsync(3 * HOUR + 2000);
  expect(reports.at(-1)).toContain('policy bundle 1 expires at 2026-11-19T16:00:00Z; publish a newer one');
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([followed().current(), states]).toEqual([undefined, [true, false]]);
  expect(reports.at(-1)).toContain('this host accepts no sessions: policy bundle 1 expired at 2026-11-19T16:00:00Z; publish a newer one');
  await publish(bundle(2));
  expect([followed().current()?.bundle.version, states]).toEqual([2, [true, false, true]]);
});

test('a wall clock that is set back does not lengthen the life of a bundle', async () => {
  let back = 0;
  const { followed, publish } = await setUp(undefined, { now: () => Date.now() - back });
  await publish(bundle(1));
  back = 3 * HOUR;
  await vi.advanceTimersByTimeAsync(4 * HOUR - 60_000);
  expect(followed().current()?.bundle.version).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(followed().current()).toBeUndefined();
});

test('from the moment that a frozen process wakes up, an expired bundle counts no more', async () => {
  const { followed, publish } = await setUp();
  await publish(bundle(1));
  vi.setSystemTime(Date.now() + 5 * HOUR);
  expect(followed().current()).toBeUndefined();
});

test('a bundle whose announcement was lost is fetched', async () => {
  const bus = createBroker(Date.now).connect();
  const deaf: Bus = {
    ...bus,
    directory: async (name) => ({ ...(await bus.directory(name)), watch: async () => () => {} }) satisfies Directory,
  };
  const { followed } = await setUp(deaf);
  await publishBundle(bus, 'policy', bundle(1));
  await vi.advanceTimersByTimeAsync(31_000);
  expect(followed().current()?.bundle.version).toBe(1);
});

describe('publishing', () => {
  test('puts a bundle in its place once, and never an older one', async () => {
    const bus = createBroker(Date.now).connect();
    const second = bundle(2);
    expect(await publishBundle(bus, 'policy', second)).toEqual({ isNew: true, replaced: undefined });
    expect(await publishBundle(bus, 'policy', second)).toEqual({ isNew: false, replaced: undefined });
    await expect(publishBundle(bus, 'policy', bundle(1))).rejects.toThrow('the bus has bundle 2, and versions only rise');
    expect(await publishBundle(bus, 'policy', bundle(3))).toEqual({ isNew: true, replaced: undefined });
  });

  test('takes the place of what another process put there', async () => {
    const bus = createBroker(Date.now).connect();
    await publishBundle(bus, 'policy', bundle(9, {}, other.privateKey));
    expect(await publishBundle(bus, 'policy', bundle(1))).toEqual({ isNew: true, replaced: `it was signed by ${other.publicKey}` });
    const directory = await bus.directory('broken');
    await directory.create(BUNDLE_KEY, Buffer.from('x'));
    expect(await publishBundle(bus, 'broken', bundle(1))).toEqual({ isNew: true, replaced: 'it is no policy bundle' });
  });
});
