// What is found about a bus, in words. Pure.
import type { BusConfig } from '../../bus/config.ts';
import type { NatsSeen, Right } from '../../bus/nats-inspect.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The oldest server that keeps the contract. */
const LEAST = [2, 9];
const SLOW_MS = 100;
/** Policy bundles and audit logs compare times of several machines. */
const SKEW_MS = 2000;

export function checkServer({ version, isTls, isGuarded, roundTripMs, jetstream }: NatsSeen, { url }: BusConfig): Finding[] {
  const isLocal = url.split(',').every((one) => /^(127\.|localhost$|\[?::1)/.test(new URL(one).hostname));
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < (LEAST[0] as number) || (major === LEAST[0] && minor < (LEAST[1] as number));
  const protect = 'to make keys and certificates, run: switchboard bus init';
  return [
    isOld
      ? problem(
          'bus.version',
          `the NATS server is ${version}`,
          `switchboard needs ${LEAST.join('.')} or later`,
          'install a newer nats-server',
        )
      : ok('bus.version', `NATS ${version}, ${roundTripMs.toFixed(1)} ms away`),
    ...(roundTripMs > SLOW_MS
      ? [
          warning(
            'bus.delay',
            `the bus is ${Math.round(roundTripMs)} ms away`,
            'each answer of an agent takes at least twice that',
            'use a server that is nearer',
          ),
        ]
      : []),
    ...(isTls || isLocal
      ? []
      : [
          problem(
            'bus.tls',
            'the bus is not encrypted',
            'everybody on the network can read prompts and answers, and take sessions over',
            protect,
          ),
        ]),
    ...(isGuarded || isLocal
      ? []
      : [problem('bus.credentials', 'the bus lets everybody in', 'everybody who reaches it can use the agents of all hosts', protect)]),
    ...(jetstream === undefined
      ? [ok('bus.jetstream', 'JetStream is on')]
      : [
          problem(
            'bus.jetstream',
            'JetStream cannot be used',
            jetstream,
            /not enabled/.test(jetstream)
              ? 'start the server with: nats-server --jetstream, or put jetstream { } into its configuration'
              : 'more than half of the servers of a cluster must run: start the others',
          ),
        ]),
  ];
}

const WORDS: Readonly<Record<Right, string>> = {
  serve: 'serve as a host',
  use: 'use the agents of hosts',
  drain: 'drain hosts',
  publish: 'publish policy',
  collect: 'collect audit logs',
  manage: 'create and remove what is on the bus',
};

export function checkRights({ rights }: NatsSeen, { credentials }: BusConfig, member: string): Finding[] {
  const all = (Object.keys(WORDS) as Right[]).filter((right) => rights.has(right)).map((right) => WORDS[right]);
  if (all.length === 0)
    return [
      problem(
        'bus.rights',
        `the credentials allow "${member}" nothing`,
        'each key allows one name only, in one tenant',
        'set "name" and "tenant" of the bus settings as bus init wrote them, or make a key for this name: switchboard bus init --yes --host NAME',
      ),
    ];
  const what = `${credentials === undefined ? 'everybody' : `"${member}"`} may ${all.join(', ')}`;
  return [ok('bus.rights', what)];
}

export function checkStorage({ jetstream, streams, missing, rights }: NatsSeen, { tenant }: BusConfig, servers: number): Finding[] {
  if (jetstream !== undefined) return [];
  const found: Finding[] = [];
  if (missing.length > 0)
    found.push(
      rights.has('manage') && rights.has('serve')
        ? warning(
            'bus.storage',
            `tenant "${tenant}" has no ${missing.join(', ')} yet`,
            'they are made when they are used first',
            'run: switchboard bus create --bus FILE',
          )
        : problem(
            'bus.storage',
            `tenant "${tenant}" has no ${missing.join(', ')}`,
            'only an admin may make them',
            'with the settings of the admin, run: switchboard bus create --bus FILE',
          ),
    );
  const behind = streams.filter((one) => one.behind.length > 0);
  for (const { name, behind: servers } of behind)
    found.push(warning('bus.replicas', `${name} lacks copies`, `away or behind: ${servers.join(', ')}`, 'start the servers that are away'));
  const single = streams.filter(({ replicas }) => replicas === 1);
  if (servers > 1 && single.length > 0)
    found.push(
      warning(
        'bus.replicas',
        `one of ${servers} servers alone keeps ${single.map(({ name }) => name).join(', ')}`,
        'without this server, nobody finds hosts and sessions',
        `set "replicas": 3 and create them anew, or run: nats stream edit ${single[0]?.name} --replicas 3`,
      ),
    );
  if (found.length === 0) found.push(ok('bus.storage', `the directories of tenant "${tenant}" are there, ${copies(streams)}`));
  return found;
}

/** How many servers keep them. */
function copies(streams: NatsSeen['streams']): string {
  const least = Math.min(...streams.map(({ replicas }) => replicas));
  return least === 1 ? 'on one server' : `on ${least} servers`;
}

export function checkClock({ aheadMs }: NatsSeen): Finding[] {
  if (aheadMs === undefined) return [];
  if (Math.abs(aheadMs) < SKEW_MS) return [ok('bus.clock', 'the clocks of this machine and of the bus agree')];
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  return [
    warning(
      'bus.clock',
      `the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the bus`,
      'policy bundles expire at another time, and audit logs of several machines cannot be compared',
      'set the clock by NTP on both, for instance with chrony or systemd-timesyncd',
    ),
  ];
}

/** What to do when the bus cannot be reached. */
export function adviceFor(why: string): string {
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return 'check the name of the server, and that this machine can resolve it';
  if (/ECONNREFUSED|refused/.test(why)) return 'start the server there, or check the port: nats-server --config nats.conf';
  if (/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout|did not answer/i.test(why))
    return 'check the address, the network and firewalls between the two machines';
  if (/altname/i.test(why))
    return 'use an address that the certificate names, or make a new one: switchboard bus init --yes --server ADDRESS';
  if (/expired/i.test(why)) return 'make new certificates: switchboard bus init --yes';
  if (/self-signed|issuer|unable to verify/i.test(why))
    return 'set "tls": { "ca": … } of the bus settings to the ca.pem that bus init wrote';
  if (/support 'tls'|ECONNRESET|wrong version/.test(why)) return 'use nats: for a server without TLS, and tls: for one with TLS';
  if (/wants credentials/.test(why)) return 'set "credentials" of the bus settings, or use a file of bus init: --bus FILE';
  if (/rejected the credentials/.test(why))
    return 'the servers do not know this key: copy accounts.conf to them, and run there: nats-server --signal reload';
  if (/token/.test(why)) return 'create one where switchboard serve runs: switchboard token create NAME --role owner';
  return 'check the address, and that the server is running there';
}
