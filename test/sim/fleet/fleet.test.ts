// The arithmetic of a fleet, on units that can be checked in one's head, and the units against the code.
import { expect, test } from 'vitest';
import { costs, type Fleet, fleetOf, report, verdictOf } from './fleet.ts';
import { measuredUnits, type Units } from './units.ts';

const UNITS: Units = {
  ...{ hostRecordBytes: 500, sessionRecordBytes: 300, messageOverheadBytes: 100, ackBytes: 20, renewEveryMs: 4000, heartbeatEveryMs: 2000 },
  ...{ sessionsKeptMs: 1_000_000, linkKb: 12, switchboardMb: 50, sessionKb: 12, agentMb: { least: 100, most: 400 } },
  broker: { subscriptionKb: 1, connectionKb: 25, keyMemoryBytes: 200, keyDiskBytes: 250, usPerHop: 1 },
};
const FLEET: Fleet = { sessions: 1024, hosts: 8, edges: 2, agents: 16, busy: 0.5, framesPerS: 10, frameBytes: 300, sessionS: 1024 };

test('costs grow with their causes: leases with hosts, records with sessions, heartbeats with links, memory of a role with its sessions', () => {
  const found = Object.fromEntries(costs(FLEET, UNITS).map(({ what, value }) => [what, value]));
  expect(found).toMatchObject({
    'directory: leases': 2,
    'directory: loads of hosts': 2,
    'directory: sessions opened': 1,
    'directory: written': 0.0023,
    'directory: hosts, to every edge': 0.004,
    'directory: all records that are kept, memory': 0.0002,
    'links: live frames': 5120,
    'links: frames, one way': 2.048,
    'links: heartbeats': 1024,
    'edge: each': 62,
    'host: each, without agents': 53,
    'agents: at least': 0.0016,
  });
});

test.each([
  [{ value: 1, table: 1.2 }, 'as in the table'],
  [{ value: 3, table: 1 }, '3.0x the table'],
  [{ value: 1, table: 2 }, '2.0x less than the table'],
  [{ value: 1 }, 'not in the table'],
])('%j is %s', (row, verdict) => {
  expect(verdictOf({ what: '', unit: '', ...row })).toBe(verdict);
});

test('sizes come from the records, messages and links of the code; leases cost what the table says', () => {
  const units = measuredUnits();
  expect(units).toMatchObject({ renewEveryMs: 4000, heartbeatEveryMs: 2000, ackBytes: 22 });
  for (const bytes of [units.hostRecordBytes, units.sessionRecordBytes, units.messageOverheadBytes]) expect(bytes).toBeGreaterThan(100);
  expect(units.linkKb).toBeGreaterThan(1);
  const leases = costs(fleetOf(100_000), units).find(({ what }) => what === 'directory: leases');
  expect(leases && verdictOf(leases)).toBe('as in the table');
  expect(report(100_000, units)).toContain('fleet: 100,000 sessions, 250 hosts, 50 edges, 5,000 agent processes');
});
