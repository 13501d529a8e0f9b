// `switchboard host list`: the hosts on the bus, and with --sessions the sessions of all of them.
import type { Bus } from '../../bus/bus.ts';
import { sessionIn } from '../../bus/cluster/host.ts';
import { type AnsweredBy, type HostRecord, readHost, readSession } from '../../bus/cluster/records.ts';
import { openHosts, openSessions } from '../../bus/cluster/storage.ts';
import { withoutControls } from '../../control-characters.ts';
import { notice, printJson, printTable } from '../output.ts';
import { type BusCommandFlags, usingBus } from './open-bus.ts';

export type ListHostsFlags = BusCommandFlags & { readonly sessions?: true };

export function listHosts({ json, sessions, ...flags }: ListHostsFlags): Promise<number> {
  return usingBus(flags, 'host list', async (bus, { tenant }) => {
    const hosts = await hostsOn(bus, tenant);
    if (sessions) showSessions(await sessionsOn(bus, tenant, hosts), json === true);
    else showHosts(hosts, bus.shownUrl, json === true);
    return 0;
  });
}

function showHosts(hosts: readonly HostRecord[], shownUrl: string, isJson: boolean): void {
  if (isJson) return printJson(hosts);
  if (hosts.length === 0) notice(`no host is on the bus at ${shownUrl}; to start one, run: switchboard host --bus URL`);
  const rows = hosts.map(({ host, load, capacity, isDraining, agents, labels, policy, version, served = {} }) => [
    host,
    policy?.problem !== undefined ? 'no policy' : isDraining ? 'draining' : 'ready',
    `${load}/${capacity}`,
    agents.join(', '),
    [...new Set(agents.map((agent) => inWords(served[agent])))].join('; ') || '–',
    Object.entries(labels)
      .map((pair) => pair.join('='))
      .join(', ') || '–',
    policy?.bundle === undefined ? '–' : `bundle ${policy.bundle}`,
    version,
  ]);
  if (rows.length > 0)
    printTable(
      ['HOST', 'STATE', 'LOAD', 'AGENTS', 'FILES', 'LABELS', 'POLICY', 'VERSION'],
      rows.map((row) => row.map(withoutControls)),
    );
  for (const { host, policy } of hosts) if (policy?.problem !== undefined) notice(`host "${host}" accepts no sessions: ${policy.problem}`);
}

type SessionOnBus = {
  readonly sessionId: string;
  readonly host: string;
  /** The host runs since before the session; after its end, the session can be loaded again. */
  readonly isThere: boolean;
  readonly agent: string;
  readonly principal: string;
  readonly cwd?: string | undefined;
  readonly served?: AnsweredBy | undefined;
};

function showSessions(sessions: readonly SessionOnBus[], isJson: boolean): void {
  if (isJson) return printJson(sessions);
  if (sessions.length === 0) return notice('no session is on the bus');
  const rows = sessions.map(({ sessionId, host, isThere, agent, principal, cwd = '', served }) => [
    sessionId,
    isThere ? host : `${host} (ended)`,
    agent,
    principal,
    inWords(served),
    cwd,
  ]);
  printTable(
    ['SESSION', 'HOST', 'AGENT', 'USER', 'FILES', 'DIRECTORY'],
    rows.map((row) => row.map(withoutControls)),
  );
}

/** Who answers `fs/*` and `terminal/*`. */
function inWords(served: AnsweredBy | undefined): string {
  if (!served) return '?';
  const { fs, terminal } = served;
  return fs === terminal ? fs : `${fs}, terminals ${terminal}`;
}

/** By name. */
export async function hostsOn(bus: Bus, tenant: string): Promise<readonly HostRecord[]> {
  const directory = await openHosts(bus, tenant);
  const found: HostRecord[] = [];
  const stop = await directory.watch(({ value }) => {
    const record = value && readHost(value);
    if (record) found.push(record);
  });
  stop();
  return found.sort((a, b) => a.host.localeCompare(b.host));
}

/** By host. A session is known for some time after its end, so that it can be loaded again. */
async function sessionsOn(bus: Bus, tenant: string, hosts: readonly HostRecord[]): Promise<readonly SessionOnBus[]> {
  const running = new Set(hosts.map(({ incarnation }) => incarnation));
  const found: SessionOnBus[] = [];
  const stop = await (await openSessions(bus, tenant)).watch(({ key, value }) => {
    const record = value && readSession(value);
    if (!record) return;
    const { host, incarnation, agent, principal, cwd, served } = record;
    found.push({ sessionId: sessionIn(key, agent), host, isThere: running.has(incarnation), agent, principal, cwd, served });
  });
  stop();
  return found.sort((a, b) => a.host.localeCompare(b.host) || a.sessionId.localeCompare(b.sessionId));
}
