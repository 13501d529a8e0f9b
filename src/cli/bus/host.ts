// `switchboard host`: runs agents for others. Policy, sandbox, records and audit of its agents are here, next to them.
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { VERSION } from '../../app/package-files.ts';
import { type ServedClients, serveClients } from '../../attach/serve-clients.ts';
import { type Bus, NAME } from '../../bus/bus.ts';
import { systemBusClock } from '../../bus/clock.ts';
import { type Host, HostNameTaken, type HostOptions, startHost } from '../../bus/cluster/host.ts';
import { LEASE_MS } from '../../bus/cluster/lease.ts';
import { type AnsweredBy, VERSION as PROTOCOL, subjects, write } from '../../bus/cluster/records.ts';
import { opensOutOfScope } from '../../proxy/client-scope.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import type { AcpOptions } from '../acp.ts';
import { CommandFailure } from '../failure.ts';
import { type InProcess, startInProcess } from '../in-process-proxy.ts';
import { notice, printJson } from '../output.ts';
import { directoryCheck, guestOf, scopeOf } from '../serve/network-clients.ts';
import { defaultPolicy } from '../serve/policy-store.ts';
import { type HostAudit, sendDecisions } from './host-audit.ts';
import { type HostPolicy, obeyBundles } from './host-policy.ts';
import { hostsOn } from './list-hosts.ts';
import { type BusFlags, connectBus, missingBus, usingBus } from './open-bus.ts';

export type HostFlags = AcpOptions &
  BusFlags & {
    readonly name?: string;
    readonly label?: readonly string[];
    readonly capacity?: string;
    readonly drainSeconds?: string;
    readonly json?: true;
  };

const CAPACITY = 32;
const LOOK_EVERY_MS = 100;
const ASK_MS = 10_000;

/** Serves until a signal ends it; returns the exit code. */
export async function runHost({ bus: url, ...flags }: HostFlags): Promise<number> {
  const labels = labelsOf(flags.label ?? []);
  const capacity = numberOf(flags.capacity, CAPACITY, '--capacity 32', 1);
  const drainMs = numberOf(flags.drainSeconds, 0, '--drain-seconds 30', 0) * 1000;
  // It offers its own agents only, whatever bus the configuration names.
  const inside = await startInProcess(flags, { host: { bus: url }, queuesPrompts: true, policyIfNone: defaultPolicy(flags).source() });
  let bus: Bus | undefined;
  let host: Host | undefined;
  let policy: HostPolicy | undefined;
  let audit: HostAudit | undefined;
  try {
    const settings = inside.config.bus ?? missingBus();
    const name = nameOf(flags.name ?? settings.name ?? os.hostname().replaceAll(/[^\w-]/g, '-'));
    if (settings.url === 'local:')
      throw new CommandFailure(2, 'local: is the bus inside one process', 'name the bus of others: --bus nats://HOST:4222');
    bus = await connectBus(settings, `switchboard host ${name}`);
    policy = await obeyBundles(bus, settings, inside);
    audit = sendDecisions(bus, settings, name, inside);
    const clients = busClients(inside, `host "${name}"`);
    const offered = inside.config.agents.filter(({ unusable }) => !unusable).map((agent) => agent.name);
    host = await startHost({
      bus,
      tenant: settings.tenant,
      host: name,
      labels,
      agents: offered,
      served: (agent) => servedBy(inside.offers(agent)),
      capacity,
      version: VERSION,
      clock: systemBusClock,
      report: notice,
      ...(policy && { policy: policy.state }),
      began: audit?.began,
      ...clients,
    }).catch((error: unknown) => {
      if (!(error instanceof HostNameTaken)) throw error;
      throw new CommandFailure(
        1,
        `a host named "${name}" is on the bus already`,
        `choose another name: switchboard host --name NAME; after a crash, its place is free within ${LEASE_MS / 1000} s`,
      );
    });
    policy?.onChange(() => void host?.policyChanged());
    announce(name, bus, offered, flags.json === true);
    const signal = await firstSignal();
    await host.drain();
    for (const deadline = performance.now() + drainMs; clients.isBusy() && performance.now() < deadline; ) await delay(LOOK_EVERY_MS);
    await host.close();
    await clients.close();
    return 128 + os.constants.signals[signal];
  } finally {
    policy?.stop();
    await audit?.close();
    await bus?.close();
    await inside.close();
  }
}

const servedBy = ({ fs, terminal }: ReturnType<InProcess['offers']>): AnsweredBy => ({
  fs: fs ? 'host' : 'agent',
  terminal: terminal ? 'host' : 'agent',
});

/** Clients from the bus: for each agent, one proxy for each principal. */
function busClients(
  { config, connect, isStored, stored, adopt }: InProcess,
  of: string,
): Pick<HostOptions, 'allowsDirectory' | 'serve' | 'sessions' | 'onSession' | 'adopt' | 'ended'> & {
  isBusy(): boolean;
  close(): Promise<void>;
} {
  const allowsDirectory = directoryCheck(config.network.allowCwd ?? [process.cwd()]);
  const busy = new Set<() => boolean>();
  const served = new Map<string, ServedClients>();
  let sessionAdded = () => {};
  const clientsOf = (agent: string): ServedClients => {
    const known = served.get(agent);
    if (known) return known;
    const created = serveClients({
      scanner: new Scanner(),
      maxFrameBytes: config.limits.maxFrameBytes,
      graceMs: config.network.detachGraceMs,
      offersAttach: false,
      isStored,
      sessionAdded: () => sessionAdded(),
      refuses: (principal, frame) => opensOutOfScope(scopeOf(principal, config, allowsDirectory, of), frame.method ?? '', frame),
      openProxy(streams, principal, multiplexer) {
        const proxy = connect(streams, undefined, { ...guestOf(principal, config, allowsDirectory, of), multiplexer, agent });
        const { connection, transcripts, close } = proxy;
        const isBusy = () => Object.values(connection.health()).some(({ inFlight }) => inFlight > 0);
        busy.add(isBusy);
        void proxy.closed.then(() => busy.delete(isBusy));
        return { ended: connection.ended, evaluatedRequest: connection.evaluatedRequest, transcripts, close };
      },
    });
    served.set(agent, created);
    return created;
  };
  const close = async () => {
    const all = [...served.values()];
    served.clear();
    await Promise.all(all.map((clients) => clients.close()));
  };
  return {
    allowsDirectory,
    serve: (streams, { agent, principal }) => clientsOf(agent).connect(streams, { name: principal, role: 'client' }),
    sessions: () =>
      [...served].flatMap(([agent, clients]) =>
        clients.sessions().map(({ sessionId, principal }) => {
          const { nativeId = sessionId, cwd } = stored(sessionId) ?? {};
          return { sessionId, nativeId, agent, principal, cwd };
        }),
      ),
    onSession(listener) {
      sessionAdded = listener;
    },
    adopt: (session) => void (stored(session.sessionId) === undefined && adopt(session)),
    ended: close,
    isBusy: () => [...busy].some((isBusy) => isBusy()),
    close,
  };
}

/** Lets a host take no new sessions. */
export async function drainHost(name: string, { json, ...flags }: HostFlags): Promise<number> {
  return usingBus(flags, 'host drain', async (bus, { tenant }) => {
    const known = (await hostsOn(bus, tenant)).map(({ host }) => host);
    if (!known.includes(name)) throw new CommandFailure(4, `no host "${name}" is on the bus`, `hosts: ${known.join(', ') || 'none'}`);
    const answer = await bus.ask(subjects(tenant).drainAt(name), write({ v: PROTOCOL, drain: name }), ASK_MS);
    const { links } = JSON.parse(answer.toString()) as { links: number };
    if (json) printJson({ host: name, connections: links });
    else notice(`host "${name}" takes no new sessions; open connections: ${links}`);
    return 0;
  });
}

function announce(name: string, bus: Bus, agents: readonly string[], isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify({ host: name, bus: bus.shownUrl, agents })}\n`);
  else notice(`host "${name}" offers ${agents.join(', ') || 'no agents'} on ${bus.shownUrl}; Ctrl-C ends it`);
}

/** The first signal lets turns end, a second one ends everything at once. */
function firstSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    let count = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        count += 1;
        if (count === 1) return resolve(signal);
        process.exit(128 + os.constants.signals[signal]);
      });
  });
}

function nameOf(name: string): string {
  if (NAME.test(name)) return name;
  throw new CommandFailure(2, `invalid host name "${name}"`, 'use letters, digits, "_" and "-"');
}

function labelsOf(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((one) => {
      const [, key, value] = /^([\w.-]+)=(.*)$/.exec(one) ?? [];
      if (key === undefined || value === undefined)
        throw new CommandFailure(2, `invalid label "${one}"`, 'use --label KEY=VALUE, such as --label gpu=true');
      return [key, value];
    }),
  );
}

function numberOf(given: string | undefined, otherwise: number, example: string, least: number): number {
  const value = Number(given ?? otherwise);
  if (Number.isFinite(value) && value >= least && given !== '') return value;
  throw new CommandFailure(2, `invalid number "${given}"`, `use a number, such as ${example}`);
}
