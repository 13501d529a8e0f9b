// What `switchboard doctor` says about a bus, from what it found there.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BusConfig } from '../../src/bus/config.ts';
import type { NatsSeen } from '../../src/bus/nats-inspect.ts';
import { adviceFor, checkClock, checkRights, checkServer, checkStorage } from '../../src/cli/doctor/bus-findings.ts';
import { busOverWebSocket } from '../bus/websocket-peer.ts';
import { createHome } from './command.ts';

const SETTINGS: BusConfig = { url: 'tls://10.0.0.5:4222', tenant: 'default', credentials: '/k', tls: {}, replicas: 1 };
const SEEN: NatsSeen = {
  version: '2.10.4',
  isTls: true,
  isGuarded: true,
  roundTripMs: 0.4,
  jetstream: undefined,
  streams: [{ name: 'KV_sb-default-hosts', replicas: 3, behind: [] }],
  missing: [],
  rights: new Set(['use']),
  aheadMs: 12,
};
function findings(seen: Partial<NatsSeen>, settings: Partial<BusConfig> = {}, servers = 3) {
  const [all, of] = [
    { ...SEEN, ...seen },
    { ...SETTINGS, ...settings },
  ];
  return [...checkServer(all, of), ...checkRights(all, of, 'alice'), ...checkStorage(all, of, servers), ...checkClock(all)];
}
const bad = (seen: Partial<NatsSeen>, settings?: Partial<BusConfig>, servers?: number) =>
  findings(seen, settings, servers).filter(({ status }) => status !== 'ok');

test('nothing is wrong with a guarded cluster', () => {
  expect(findings({}).map(({ what }) => what)).toEqual([
    'NATS 2.10.4, 0.4 ms away',
    'JetStream is on',
    '"alice" may use the agents of hosts',
    'the directories of tenant "default" are there, on 3 servers',
    'the clocks of this machine and of the bus agree',
  ]);
});

describe('what is wrong is said with a reason and a next step', () => {
  test.each<[Partial<NatsSeen>, Partial<BusConfig>, string, string]>([
    [{ version: '2.8.4' }, {}, 'problem: the NATS server is 2.8.4', 'newer nats-server'],
    [{ roundTripMs: 240 }, {}, 'warning: the bus is 240 ms away', 'nearer'],
    [{ isTls: false }, {}, 'problem: the bus is not encrypted', 'bus init'],
    [{ isGuarded: false }, {}, 'problem: the bus lets everybody in', 'bus init'],
    [{ jetstream: 'JetStream is not enabled on the server' }, {}, 'problem: JetStream cannot be used', 'nats-server --jetstream'],
    [{ jetstream: 'timeout' }, {}, 'problem: JetStream cannot be used', 'more than half'],
    [{ rights: new Set() }, {}, 'problem: the credentials allow "alice" nothing', 'switchboard bus init --yes'],
    [{ missing: ['KV_sb-default-policy'] }, {}, 'problem: tenant "default" has no KV_sb-default-policy', 'of the admin'],
    [
      { missing: ['sb-default-audit'], rights: new Set(['serve', 'manage']) },
      {},
      'warning: tenant "default" has no sb-default-audit yet',
      'bus create',
    ],
    [{ streams: [{ name: 'a', replicas: 3, behind: ['n2'] }] }, {}, 'warning: a lacks copies', 'start the servers'],
    [{ streams: [{ name: 'a', replicas: 1, behind: [] }] }, {}, 'warning: one of 3 servers alone keeps a', '--replicas 3'],
    [{ aheadMs: 4200 }, {}, 'warning: the clock of this machine is 4.2 s behind that of the bus', 'NTP'],
    [{ aheadMs: -4200 }, {}, 'warning: the clock of this machine is 4.2 s ahead of that of the bus', 'NTP'],
  ])('%j %j', (seen, settings, what, next) => {
    const [first, ...more] = bad(seen, settings);
    expect([`${first?.status}: ${first?.what}`, more]).toEqual([what, []]);
    expect([first?.why, first?.next]).toEqual([expect.stringMatching(/./), expect.stringContaining(next)]);
  });

  test('on this machine alone, encryption and keys are not missed, and without credentials everybody has the rights', () => {
    const local = { url: 'nats://127.0.0.1:4222', credentials: undefined };
    expect(bad({ isTls: false, isGuarded: false }, local, 1)).toEqual([]);
    expect(findings({}, local).map(({ what }) => what)).toContain('everybody may use the agents of hosts');
  });
});

test.each([
  ['getaddrinfo ENOTFOUND nats-1', 'resolve'],
  ['cannot reach the bus at tls://x: connection refused', 'start the server'],
  ['connect ETIMEDOUT 10.0.0.5:4222', 'firewalls'],
  ["Hostname/IP does not match certificate's altnames", 'bus init --yes --server'],
  ['certificate has expired (CERT_HAS_EXPIRED)', 'new certificates'],
  ['self-signed certificate in certificate chain', 'ca.pem'],
  ["server does not support 'tls'", 'nats: for a server without TLS'],
  ['the bus at tls://x wants credentials', '"credentials"'],
  ['the bus at tls://x rejected the credentials', 'accounts.conf'],
  ['it rejected the token (HTTP 401)', 'switchboard token create'],
  ['something else', 'check the address'],
])('%s: %s', (why, next) => {
  expect(adviceFor(why)).toContain(next);
});

test('--bus checks the bus alone: one that is not there, one over WebSockets, and files that others can read', async () => {
  const home = createHome();
  const examine = async (bus: string) => {
    const { code, stdout } = await home.quick(['doctor', '--json', '--bus', bus], { SWITCHBOARD_TOKEN: 'any' });
    return { code, found: JSON.parse(stdout).data.findings.map(({ check, status }: Record<string, string>) => `${check} ${status}`) };
  };
  expect(await examine('nats://127.0.0.1:1')).toEqual({ code: 8, found: ['bus.reach problem'] });
  expect(await examine('ws://127.0.0.1:1/bus')).toEqual({ code: 8, found: ['bus.reach problem'] });
  expect(await examine('local:')).toEqual({ code: 0, found: ['bus.address ok'] });
  const peer = await busOverWebSocket();
  try {
    const file = path.join(home.project, 'bus.json');
    writeFileSync(path.join(home.project, 'token'), 'any', { mode: 0o644 });
    writeFileSync(file, JSON.stringify({ url: peer.url, token_file: 'token' }));
    expect(await examine(file)).toEqual({ code: 0, found: ['bus.files warning', 'bus.reach ok', 'bus.hosts warning'] });
  } finally {
    await peer.stop();
  }
});
