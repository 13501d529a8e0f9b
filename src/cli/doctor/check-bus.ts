// Checks the bus: whether it can be reached, what the credentials allow, and what is there.
import { statSync } from 'node:fs';
import os from 'node:os';
import type { Bus } from '../../bus/bus.ts';
import { type HostRecord, readHost } from '../../bus/cluster/records.ts';
import { openHosts } from '../../bus/cluster/storage.ts';
import type { BusConfig } from '../../bus/config.ts';
import { here } from '../../platform/platform.ts';
import { connectBus } from '../bus/open-bus.ts';
import { adviceFor, checkClock, checkRights, checkServer, checkStorage } from './bus-findings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export async function checkBus(settings: BusConfig): Promise<Finding[]> {
  if (settings.url === 'local:') return [ok('bus.address', 'the bus is inside this process: agents run here')];
  const files = checkFiles(settings);
  if (/^wss?:/.test(settings.url)) return [...files, ...(await checkWebSocket(settings))];
  return [...files, ...(await checkNats(settings))];
}

function checkFiles({ credentials, tokenFile, tls }: BusConfig): Finding[] {
  const secret = [credentials, tokenFile, tls.key].filter((file) => file !== undefined);
  return secret.flatMap((file) => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if (!here.hasModes || (mode & 0o077) === 0) return [];
    return [
      warning(
        'bus.files',
        `other users of this machine can read ${file}`,
        'who has it can act as this machine on the bus',
        `run: chmod 600 ${file}`,
      ),
    ];
  });
}

async function checkWebSocket(settings: BusConfig): Promise<Finding[]> {
  try {
    const bus = await connectBus(settings, 'switchboard doctor');
    try {
      return [
        ok('bus.reach', `the bus at ${bus.shownUrl} can be reached, and takes the token`),
        ...(await checkHosts(bus, settings.tenant)),
      ];
    } finally {
      await bus.close();
    }
  } catch (error) {
    const { message } = error as Error;
    return [problem('bus.reach', 'the bus cannot be used', message, adviceFor(message))];
  }
}

async function checkNats(settings: BusConfig): Promise<Finding[]> {
  const { inspectNats, reach } = await import('../../bus/nats-inspect.ts');
  const options = { ...settings, name: 'switchboard doctor' };
  const servers = await reach(options);
  const away = servers.filter(({ why }) => why !== undefined);
  if (away.length === servers.length)
    return away.slice(0, 1).map(({ why = '' }) => problem('bus.reach', 'the bus cannot be used', why, adviceFor(why)));
  const ofServers = away.map(({ address, why = '' }) =>
    warning('bus.reach', `the server ${address} of the bus cannot be used`, why, adviceFor(why)),
  );
  const member = settings.name ?? os.userInfo().username;
  const seen = await inspectNats(options, settings.tenant, member);
  const hosts =
    seen.jetstream === undefined && seen.missing.length === 0 && (seen.rights.has('use') || seen.rights.has('drain'))
      ? await hostsOf(settings)
      : [];
  const there = servers.length - away.length;
  return [
    ...ofServers,
    ok('bus.reach', `${there} of ${servers.length} server${servers.length === 1 ? '' : 's'} of the bus can be reached`),
    ...checkServer(seen, settings),
    ...checkRights(seen, settings, member),
    ...checkStorage(seen, settings, servers.length),
    ...checkClock(seen),
    ...hosts,
  ];
}

async function hostsOf(settings: BusConfig): Promise<Finding[]> {
  const bus = await connectBus(settings, 'switchboard doctor');
  try {
    return await checkHosts(bus, settings.tenant);
  } finally {
    await bus.close();
  }
}

async function checkHosts(bus: Bus, tenant: string): Promise<Finding[]> {
  const hosts: HostRecord[] = [];
  const stop = await (await openHosts(bus, tenant)).watch(({ key, value }) => {
    const record = value && readHost(value);
    if (record?.host === key) hosts.push(record);
  });
  stop();
  if (hosts.length === 0)
    return [
      warning(
        'bus.hosts',
        `no host of tenant "${tenant}" is on the bus`,
        'there are no agents to use',
        'start one: switchboard host --bus FILE',
      ),
    ];
  const names = hosts.map(({ host, agents, isDraining }) => `${host} (${isDraining ? 'draining' : agents.join(', ') || 'no agents'})`);
  const versions = new Set(hosts.map(({ version }) => version));
  return [
    ok('bus.hosts', `hosts: ${names.join('; ')}`),
    ...(versions.size > 1
      ? [
          warning(
            'bus.hosts',
            `hosts have different versions: ${[...versions].join(', ')}`,
            'the older ones lack what the newer ones can',
            'update the older ones, one after the other: switchboard host drain NAME',
          ),
        ]
      : []),
  ];
}
