// An edge: knows the hosts on the bus, and opens links to their agents. To the proxy each link is the transport of a remote agent.
import { randomUUID } from 'node:crypto';
import { pendingStreams } from '../../transports/pending-streams.ts';
import { type Exit, onceExited, type Transport } from '../../transports/transport.ts';
import { type Bus, BusFailure, nameOf } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { createLink, type Link } from '../link/link.ts';
import type { LinkLimits } from '../link/link-state.ts';
import { sessionKey } from './host.ts';
import { LEASE_MS } from './lease.ts';
import { candidates, type Wanted, whyNone } from './placement.ts';
import { type HostRecord, readHost, readOpenAnswer, readSession, subjects, VERSION, write } from './records.ts';
import { openHosts, openSessions } from './storage.ts';

export type EdgeOptions = {
  readonly bus: Bus;
  readonly tenant: string;
  /** Whose sessions these are. */
  readonly principal: string;
  readonly clock: BusClock;
  readonly random: () => number;
  readonly report: (text: string) => void;
  /** Those of links, if they are not the usual ones. */
  readonly limits?: LinkLimits | undefined;
  /** The agents that hosts offer have changed. */
  readonly changed?: (agents: readonly string[]) => void;
};

export type ConnectTo = {
  readonly agent: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Distinguishes the connections to an agent; a later one with the same name prefers the host of the earlier. */
  readonly process: string;
  /** The session that it is for, if it is known. */
  readonly sessionId: string | undefined;
  /** Where its session will work; none if it is for no session. */
  readonly directories?: readonly string[];
};

export type Edge = {
  /** The agents that hosts offer now. */
  agents(): readonly string[];
  hosts(): readonly HostRecord[];
  connect(to: ConnectTo): Transport;
  /** Where a connection of this name is now. */
  hostOf(process: string): string | undefined;
  close(): Promise<void>;
};

type Seen = { readonly record: HostRecord; readonly at: number };

/** Its lease has ended, or nothing is heard from it: the same to a client. */
const goneReason = (host: string): string => `host "${host}" is gone; what it was doing then is unknown`;

const OPEN_MS = 5000;
const LOOK_EVERY_MS = 1000;
/** A host that died is noticed by its lease; this is for one that lives and is cut off from us only. */
const LOST_AFTER_MS = 20_000;

export async function startEdge({ bus, tenant, principal, clock, random, report, limits, changed }: EdgeOptions): Promise<Edge> {
  const names = subjects(tenant);
  const now = clock.monotonicMs;
  const id = randomUUID().replaceAll('-', '');
  const sender = nameOf(principal);
  const seen = new Map<string, Seen>();
  /** By the name of their host and their id, as messages for them say it. */
  const links = new Map<string, { readonly link: Link; readonly host: string; readonly incarnation: string }>();
  const linkPrefix = names.linkToEdge(sender, id, '', '').slice(0, -1);
  /** The last host of each connection name. */
  const placed = new Map<string, string>();
  const directory = await openHosts(bus, tenant);
  const sessions = await openSessions(bus, tenant);
  let count = 0;
  let offered = '';

  const alive = (): readonly HostRecord[] => [...seen.values()].filter(({ at }) => now() - at <= LEASE_MS).map(({ record }) => record);
  const agentNames = (): readonly string[] => [...new Set(alive().flatMap(({ agents }) => agents))].sort();
  const stopWatching = await directory.watch(({ key, value }) => {
    const record = value && readHost(value);
    if (record && record.v <= VERSION && record.host === key) seen.set(key, { record, at: now() });
    else if (!value || record?.host === key) seen.delete(key); // anything else is no record of a host
    look();
  });
  /** Ends the links to hosts that are gone or have begun anew. While the bus itself is away, nothing is known of hosts. */
  function look(): void {
    if (!bus.isConnected) return;
    const hosts = new Map(alive().map((record) => [record.host, record]));
    for (const { link, host, incarnation } of [...links.values()])
      if (hosts.get(host)?.incarnation !== incarnation) link.reset(goneReason(host));
    const names = agentNames();
    if (names.join() === offered) return;
    offered = names.join();
    changed?.(names);
  }
  // After an absence, hosts get the time of a lease to show that they live.
  const stopListening = bus.onConnection((isConnected) => {
    if (!isConnected) return;
    for (const [key, { record }] of seen) seen.set(key, { record, at: now() });
  });
  const stopLooking = every(clock, LOOK_EVERY_MS, look);
  const stopLinks = bus.listen(names.linkToEdge(sender, id, '*', '*'), (message, subject) => {
    links.get(subject.slice(linkPrefix.length))?.link.receive(message);
  });
  await bus.flush();

  async function hostOfSession({ agent, sessionId, process }: ConnectTo): Promise<string | undefined> {
    if (sessionId === undefined) return placed.get(process);
    const entry = await sessions.get(sessionKey(agent, sessionId)).catch(() => undefined);
    return (entry && readSession(entry.value)?.host) ?? placed.get(process);
  }
  /** Asks one host after the other. */
  async function place(to: ConnectTo, link: string): Promise<{ readonly record: HostRecord; readonly epoch: number }> {
    const wanted: Wanted = { agent: to.agent, labels: to.labels, preferred: await hostOfSession(to) };
    const found = candidates(alive(), wanted, random);
    const refusals: string[] = [];
    for (const record of found) {
      const request = write({ v: VERSION, edge: id, link, agent: to.agent, principal, session: to.sessionId, directories: to.directories });
      try {
        const answer = readOpenAnswer(await bus.ask(names.openAt(record.host, sender), request, OPEN_MS));
        if (answer?.isOpen) return { record, epoch: answer.epoch };
        refusals.push(
          `${record.host}: ${answer ? [answer.reason, answer.why].filter((one) => one !== undefined).join(': ') : 'an answer that cannot be read'}`,
        );
      } catch (error) {
        refusals.push(`${record.host}: ${(error as Error).message}`);
        if (error instanceof BusFailure && error.reason === 'disconnected') break;
      }
    }
    throw new BusFailure('refused', refusals.length === 0 ? whyNone(alive(), wanted) : `no host took the session (${refusals.join('; ')})`);
  }

  function connect(to: ConnectTo): Transport {
    const linkId = `${id}_${++count}`;
    const exit = onceExited();
    const streams = pendingStreams();
    let link: Link | undefined;
    let isKilled = false;
    let opened = () => {};
    let gone = () => {};
    const isGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    let forget = () => {};
    const over = (how: Exit) => {
      forget();
      streams.ended();
      exit.happened(how);
      gone();
    };
    place(to, linkId).then(
      ({ record: { host, incarnation }, epoch }) => {
        link = createLink({
          bus,
          clock,
          to: names.linkToHost(host, sender, linkId),
          epoch,
          limits,
          lostAfterMs: LOST_AFTER_MS,
          lostReason: goneReason(host),
          on: {
            closed: (why) => over({ kind: 'disconnected', why }),
            away: (isAway) => report(`host "${host}" ${isAway ? 'does not answer; its sessions wait' : 'answers again'}`),
          },
        });
        const key = `${host}.${linkId}`;
        links.set(key, { link, host, incarnation });
        forget = () => links.delete(key);
        placed.set(to.process, host);
        if (isKilled) return link.reset('it was closed here');
        opened();
        streams.open(link);
      },
      (error: Error) => over({ kind: 'unreachable', why: error.message, next: 'See which hosts there are: switchboard host list' }),
    );
    return {
      fromAgent: streams.source,
      toAgent: streams.sink,
      pid: undefined,
      stderrTail: () => [],
      onExit: exit.listen,
      onOpen(listener) {
        opened = listener;
      },
      async stop() {
        isKilled = true;
        link?.end('the client has ended the connection');
        await isGone;
      },
      kill() {
        isKilled = true;
        // The caller is in the middle of something, and hears of the end afterwards, as of that of a process.
        queueMicrotask(() => link?.reset('the client has ended the connection'));
      },
    };
  }
  return {
    agents: agentNames,
    hosts: alive,
    connect,
    hostOf: (process) => placed.get(process),
    async close() {
      stopLooking();
      stopWatching();
      stopListening();
      for (const { link } of [...links.values()]) link.reset('the edge has ended');
      stopLinks();
    },
  };
}
