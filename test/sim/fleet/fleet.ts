// A fleet on paper: what many sessions cost in directory writes, bytes and memory, from the cost of one. npm run sim -- --fleet
import { measuredUnits, type Units } from './units.ts';

export type Fleet = {
  readonly sessions: number;
  readonly hosts: number;
  readonly edges: number;
  readonly agents: number;
  /** The share of sessions in a turn, and what a turn sends. */
  readonly busy: number;
  readonly framesPerS: number;
  readonly frameBytes: number;
  /** How long a session lasts. */
  readonly sessionS: number;
};

export type Row = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What the table of the study has for so many sessions; undefined where it has no row. */
  readonly table?: number | undefined;
};

/** The table's own fleet has a million sessions; everything in it grows with them. */
export const fleetOf = (sessions: number): Fleet => ({
  sessions,
  hosts: sessions / 400,
  edges: sessions / 2000,
  agents: sessions / 20,
  ...{ busy: 0.1, framesPerS: 25, frameBytes: 300, sessionS: 1800 },
});

const MB = 1e6;
const GB = 1e9;
const KB = 1024;
/** A host listens for opens, drains and links, an edge for links; both for answers. An edge watches the hosts. */
const HOST_SUBSCRIPTIONS = 4;
const EDGE_SUBSCRIPTIONS = 3;
/** A session that opens and closes changes the load of its host twice. */
const LOAD_WRITES = 2;

export function costs(fleet: Fleet, units: Units): readonly Row[] {
  const { sessions, hosts, edges, agents } = fleet;
  const { broker } = units;
  const millions = sessions / 1e6;
  const leases = (hosts * 1000) / units.renewEveryMs;
  const opened = sessions / fleet.sessionS;
  const loads = opened * LOAD_WRITES;
  const frames = sessions * fleet.busy * fleet.framesPerS;
  const heartbeats = (2 * sessions * 1000) / units.heartbeatEveryMs;
  const frameBytes = frames * (fleet.frameBytes + units.messageOverheadBytes);
  const heartbeatBytes = heartbeats * (units.ackBytes + units.messageOverheadBytes);
  const messageBytes = frameBytes + heartbeatBytes;
  const watched = (leases + loads) * edges * units.hostRecordBytes;
  const kept = (opened * units.sessionsKeptMs) / 1000;
  const subscriptions = hosts * HOST_SUBSCRIPTIONS + edges * EDGE_SUBSCRIPTIONS;
  return [
    { what: 'directory: leases', value: leases, unit: 'writes/s', table: 625 * millions },
    { what: 'directory: loads of hosts', value: loads, unit: 'writes/s' },
    { what: 'directory: sessions opened', value: opened, unit: 'writes/s', table: 560 * millions },
    {
      what: 'directory: written',
      value: ((leases + loads) * units.hostRecordBytes + opened * units.sessionRecordBytes) / MB,
      unit: 'MB/s',
    },
    { what: 'directory: hosts, to every edge', value: watched / MB, unit: 'MB/s' },
    {
      what: 'directory: records of open sessions, memory',
      value: (sessions * broker.keyMemoryBytes) / GB,
      unit: 'GB',
      table: 0.2 * millions,
    },
    { what: 'directory: records of open sessions, disk', value: (sessions * broker.keyDiskBytes) / GB, unit: 'GB', table: 0.25 * millions },
    { what: 'directory: all records that are kept, memory', value: (kept * broker.keyMemoryBytes) / GB, unit: 'GB' },
    { what: 'links: live frames', value: frames, unit: 'frames/s', table: 2.5e6 * millions },
    { what: 'links: frames, one way, without subjects', value: (frames * fleet.frameBytes) / MB, unit: 'MB/s', table: 750 * millions },
    { what: 'links: frames, one way', value: frameBytes / MB, unit: 'MB/s' },
    { what: 'links: heartbeats', value: heartbeats, unit: 'messages/s' },
    { what: 'links: heartbeats, one way', value: heartbeatBytes / MB, unit: 'MB/s' },
    { what: 'broker: in and out', value: (messageBytes * 2 * 8) / GB, unit: 'Gbit/s', table: 12 * millions },
    { what: 'broker: with a route between servers', value: (messageBytes * 4 * 8) / GB, unit: 'Gbit/s', table: 24 * millions },
    { what: 'broker: CPU', value: ((frames + heartbeats) * 2 * broker.usPerHop) / 1e6, unit: 'cores', table: 6 * millions },
    { what: 'broker: connections', value: ((hosts + edges) * broker.connectionKb * KB) / MB, unit: 'MB', table: 75 * millions },
    { what: 'broker: subscriptions', value: (subscriptions * broker.subscriptionKb * KB) / MB, unit: 'MB' },
    { what: 'edge: each', value: units.switchboardMb + ((sessions / edges) * (units.linkKb + units.sessionKb)) / KB, unit: 'MB' },
    {
      what: 'host: each, without agents',
      value: units.switchboardMb + ((sessions / hosts) * (units.linkKb + units.sessionKb)) / KB,
      unit: 'MB',
    },
    { what: 'agents: at least', value: (agents * units.agentMb.least * MB) / 1e12, unit: 'TB', table: 5.75 * millions },
    { what: 'agents: at most', value: (agents * units.agentMb.most * MB) / 1e12, unit: 'TB', table: 20.5 * millions },
  ];
}

/** Within this, the table has the same. */
const CLOSE = 1.25;

export function verdictOf({ value, table }: Row): string {
  if (table === undefined) return 'not in the table';
  const ratio = value / table;
  if (ratio <= CLOSE && ratio >= 1 / CLOSE) return 'as in the table';
  return ratio > 1 ? `${ratio.toFixed(1)}x the table` : `${(1 / ratio).toFixed(1)}x less than the table`;
}

export function report(sessions: number, units: Units = measuredUnits()): string {
  const fleet = fleetOf(sessions);
  const number = (value: number) => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
  const one = Object.entries(units).map(
    ([name, value]) => `  ${name}: ${typeof value === 'number' ? number(value) : JSON.stringify(value)}`,
  );
  const rows = costs(fleet, units).map((row) => [
    row.what,
    `${number(row.value)} ${row.unit}`,
    row.table === undefined ? '' : number(row.table),
    verdictOf(row),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return [
    `fleet: ${number(sessions)} sessions, ${number(fleet.hosts)} hosts, ${number(fleet.edges)} edges, ${number(fleet.agents)} agent processes`,
    'each takes:',
    ...one,
    'together, and what the table has:',
    ...rows.map(
      (row) =>
        `  ${(row[0] as string).padEnd(widths[0] as number)}  ${(row[1] as string).padStart(widths[1] as number)}  ${(row[2] as string).padStart(widths[2] as number)}  ${row[3]}`,
    ),
  ].join('\n');
}
