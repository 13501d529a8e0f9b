// Which hosts are asked for a session, and in which order.
import { describe, expect, test } from 'vitest';
import { candidates, whyNone } from '../../../src/bus/cluster/placement.ts';
import type { HostRecord } from '../../../src/bus/cluster/records.ts';

const host = (name: string, more: Partial<HostRecord> = {}): HostRecord => ({
  v: 1,
  host: name,
  incarnation: name,
  labels: {},
  agents: ['claude'],
  load: 0,
  capacity: 10,
  version: '0',
  isDraining: false,
  ...more,
});
const ANY = { agent: 'claude', labels: {} };
const namesOf = (hosts: readonly HostRecord[]) => hosts.map((one) => one.host);
/** Not at all random: hosts stay in their order. */
const inOrder = () => 0.999;

describe('candidates', () => {
  test('of two, the less loaded is asked first, in proportion to its capacity', () => {
    const hosts = [host('a', { load: 5 }), host('b', { load: 4, capacity: 4 }), host('c', { load: 1 })];
    expect(namesOf(candidates([hosts[0], hosts[2]] as HostRecord[], ANY, inOrder))).toEqual(['c', 'a']);
    expect(namesOf(candidates([hosts[1], hosts[0]] as HostRecord[], ANY, inOrder))).toEqual(['a', 'b']);
  });

  test('every host that fits is a candidate once, whatever chance says', () => {
    const hosts = Array.from({ length: 7 }, (_, k) => host(`h${k}`, { load: k }));
    for (let k = 0; k < 50; k++) expect(new Set(namesOf(candidates(hosts, ANY, Math.random))).size).toBe(7);
  });

  test('load is spread: with many sessions, no host of four gets more than half', () => {
    const hosts = Array.from({ length: 4 }, (_, k) => ({ ...host(`h${k}`, { capacity: 1000 }) }));
    for (let k = 0; k < 400; k++) {
      const [first] = candidates(hosts, ANY, Math.random);
      const chosen = hosts.find((one) => one.host === first?.host);
      if (chosen) Object.assign(chosen, { load: chosen.load + 1 });
    }
    expect(Math.max(...hosts.map(({ load }) => load))).toBeLessThan(150);
  });

  test('draining hosts, other agents and other labels are left out; a label is an own property', () => {
    const hosts = [
      host('drains', { isDraining: true }),
      host('other', { agents: ['codex'] }),
      host('plain'),
      host('gpu', { labels: { gpu: 'true' } }),
    ];
    expect(namesOf(candidates(hosts, { ...ANY, labels: { gpu: 'true' } }, inOrder))).toEqual(['gpu']);
    expect(candidates(hosts, { ...ANY, labels: { constructor: 'x' } }, inOrder)).toEqual([]);
  });

  test('the host that the session was on is asked first, however loaded it is', () => {
    const hosts = [host('a'), host('b', { load: 9 })];
    expect(namesOf(candidates(hosts, { ...ANY, preferred: 'b' }, inOrder))[0]).toBe('b');
  });
});

test.each([
  [[], 'no host is on the bus'],
  [[host('a', { agents: ['codex'] })], 'no host offers agent "claude"'],
  [[host('a')], 'no host that offers agent "claude" has the labels gpu=true'],
  [[host('a', { labels: { gpu: 'true' }, isDraining: true })], 'every host that offers agent "claude" is draining: a'],
])('%# says why there is no candidate: %j', (hosts, why) => {
  expect(whyNone(hosts, { agent: 'claude', labels: { gpu: 'true' } })).toBe(why);
});
