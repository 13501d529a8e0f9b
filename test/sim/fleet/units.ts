// What one of each takes. Sizes and intervals are those of the code; the rest was measured once, and says where.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBroker } from '../../../src/bus/broker.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import { RENEW_EVERY_MS } from '../../../src/bus/cluster/lease.ts';
import { subjects, VERSION, write } from '../../../src/bus/cluster/records.ts';
import { SESSIONS_MS } from '../../../src/bus/cluster/storage.ts';
import { createLink, HEARTBEAT_TICKS, TICK_MS } from '../../../src/bus/link/link.ts';
import { encodeMessage } from '../../../src/bus/link/messages.ts';

export type Units = {
  readonly hostRecordBytes: number;
  readonly sessionRecordBytes: number;
  /** Subject and header of a link's message in one direction. */
  readonly messageOverheadBytes: number;
  readonly ackBytes: number;
  readonly renewEveryMs: number;
  readonly heartbeatEveryMs: number;
  /** How long the directory knows a session. */
  readonly sessionsKeptMs: number;
  /** Heap of an idle link at one end. */
  readonly linkKb: number;
  readonly broker: Readonly<Record<'subscriptionKb' | 'connectionKb' | 'keyMemoryBytes' | 'keyDiskBytes' | 'usPerHop', number>>;
  /** Resident memory of a switchboard at rest, and of a session in it. */
  readonly switchboardMb: number;
  readonly sessionKb: number;
  readonly agentMb: { readonly least: number; readonly most: number };
};

const UUID = '8c5a1d0e-5a3f-4d0b-9a51-2f1f0d6f3b7a';
const EDGE = UUID.replaceAll('-', '');
const AGENTS = ['claude', 'codex', 'gemini'];

export function measuredUnits(): Units {
  const served = { fs: 'agent', terminal: 'agent' };
  const host = write({
    ...{
      v: VERSION,
      host: 'pool-eu-0042',
      incarnation: UUID,
      labels: { gpu: 'true', net: 'vpn-a' },
      agents: AGENTS,
      load: 400,
      capacity: 400,
    },
    ...{ served: Object.fromEntries(AGENTS.map((agent) => [agent, served])), version: '0.2.0', isDraining: false },
    policy: { bundle: 42, expiresAt: '2026-11-19T22:00:00Z' },
  });
  const session = write({
    ...{ v: VERSION, host: 'pool-eu-0042', incarnation: UUID, agent: 'claude', principal: 'someone@company.example', nativeId: UUID },
    ...{ cwd: '/home/someone/projects/the-project', served },
  });
  const names = subjects('default');
  const link = `${EDGE}_1234`;
  const subject = names.linkToEdge('=c29tZW9uZUBjb21wYW55LmV4YW1wbGU', EDGE, 'pool-eu-0042', link);
  const empty = encodeMessage({ kind: 'data', epoch: 1, offset: 1, bytes: Buffer.alloc(0) });
  return {
    hostRecordBytes: host.length,
    sessionRecordBytes: session.length,
    messageOverheadBytes: Buffer.byteLength(`PUB ${subject} 300\r\n\r\n`) + empty.length,
    ackBytes: encodeMessage({ kind: 'ack', epoch: 1, offset: 1, credit: 1, hasGap: false }).length,
    renewEveryMs: RENEW_EVERY_MS,
    heartbeatEveryMs: TICK_MS * HEARTBEAT_TICKS,
    sessionsKeptMs: SESSIONS_MS,
    linkKb: heapOfLinkKb(),
    // NATS 2.9.10, Debian: the study behind docs/decisions/0041-bus.md.
    broker: { subscriptionKb: 1.1, connectionKb: 25, keyMemoryBytes: 210, keyDiskBytes: 250, usPerHop: 1.25 },
    // bench/README.md, G11; a session's first megabytes included.
    switchboardMb: 47,
    sessionKb: 12,
    agentMb: { least: 115, most: 410 },
  };
}

const LINKS = 2000;

function heapOfLinkKb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const bus = createBroker(Date.now).connect();
  const open = () =>
    createLink({ bus, clock: systemBusClock, to: 'sb.link', epoch: 1, lostAfterMs: 1e9, lostReason: '', on: { closed: () => {} } });
  collect();
  const before = process.memoryUsage().heapUsed;
  const links = Array.from({ length: LINKS }, open);
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  for (const link of links) link.reset('measured');
  return bytes / LINKS / 1024;
}
