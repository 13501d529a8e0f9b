// A host: offers its agents on the bus, and serves the links that edges open to them.
import { randomInt, randomUUID } from 'node:crypto';
import type { Sink, Source } from '../../wire/byte-stream.ts';
import type { Bus } from '../bus.ts';
import { keyOf, nameOf, textIn } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { createLink, type Link } from '../link/link.ts';
import type { LinkLimits } from '../link/link-state.ts';
import { decodeMessage, encodeMessage } from '../link/messages.ts';
import { type Lease, takeLease } from './lease.ts';
import {
  type AnsweredBy,
  type HostRecord,
  type OpenAnswer,
  type OpenRequest,
  readDrainRequest,
  readOpenRequest,
  readSession,
  subjects,
  VERSION,
  write,
} from './records.ts';
import { openHosts, openSessions } from './storage.ts';

export type HostOptions = {
  readonly bus: Bus;
  readonly tenant: string;
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly agents: readonly string[];
  /** Who answers `fs/*` and `terminal/*` of an agent. */
  readonly served: (agent: string) => AnsweredBy;
  /** Whether sessions may be opened in this directory. What a session does is checked again when it is opened. */
  readonly allowsDirectory: (directory: string) => boolean;
  readonly capacity: number;
  readonly version: string;
  readonly clock: BusClock;
  /** Those of links, if they are not the usual ones. */
  readonly limits?: LinkLimits | undefined;
  /** Serves a client that uses one agent, until its streams end. */
  readonly serve: (streams: { readonly input: Source; readonly output: Sink }, about: OpenRequest) => { close(): Promise<void> };
  /** Sessions that are open here, for the directory. */
  readonly sessions: () => readonly OpenSession[];
  /** Calls back when there is another one. */
  readonly onSession: (listener: () => void) => void;
  /** A session of this principal, which another host began, will be loaded here. */
  readonly adopt: (session: OpenSession) => void;
  /** The lease is lost, or nobody may be served: every agent must end. The host offers its agents again when `ended` resolves. */
  readonly ended: (why: string) => Promise<void>;
  /** It has its place on the bus, as this incarnation: at first, and again after it lost it. */
  readonly began?: ((incarnation: string) => void) | undefined;
  /** On a host that obeys policy bundles: the one in force, or why there is none and nobody is served. */
  readonly policy?: (() => NonNullable<HostRecord['policy']>) | undefined;
  readonly report: (text: string) => void;
};

export type OpenSession = {
  readonly sessionId: string;
  /** The agent's own id of it. */
  readonly nativeId: string;
  readonly agent: string;
  readonly principal: string;
  readonly cwd?: string | undefined;
};

export type Host = {
  readonly incarnation: string;
  readonly links: number;
  /** Takes no new links from now on. */
  drain(): Promise<void>;
  /** The policy is another one. Ends every link if there is none. */
  policyChanged(): Promise<void>;
  close(): Promise<void>;
};

type Served = { readonly link: Link; readonly epoch: number; readonly client: { close(): Promise<void> } };

/** A client that is silent for this long has left; its sessions wait for `detach_grace`. */
const LOST_AFTER_MS = 20_000;
const TRY_AGAIN_MS = 1000;
/** Sessions that could not be recorded at once. */
const RECORD_EVERY_MS = 5000;

export class HostNameTaken extends Error {}

/** Rejects with `HostNameTaken` if a host of this name is on the bus. */
export async function startHost(options: HostOptions): Promise<Host> {
  const { bus, tenant, host, labels, agents, capacity, version, clock, serve, report } = options;
  const names = subjects(tenant);
  const directory = await openHosts(bus, tenant);
  const recorded = await openSessions(bus, tenant);
  /** By the name of their principal and their id, as messages for them say it. */
  const links = new Map<string, Served>();
  const linkPrefix = names.linkToHost(host, '', '').slice(0, -1);
  /** Sessions whose record names this incarnation. */
  const known = new Set<string>();
  let incarnation: string = randomUUID();
  let isDraining = false;
  let isClosed = false;
  let lease: Lease;

  const record = (): HostRecord => ({
    v: VERSION,
    host,
    incarnation,
    labels,
    agents: [...agents],
    served: Object.fromEntries(agents.map((agent) => [agent, options.served(agent)])),
    load: links.size,
    capacity,
    version,
    isDraining,
    ...(options.policy && { policy: options.policy() }),
  });
  async function take(): Promise<Lease> {
    const late = (why: string, leftMs: number) =>
      report(`host "${host}" cannot renew its place on the bus (${why}); in ${Math.max(0, Math.round(leftMs / 1000))} s its sessions end`);
    const taken = await takeLease({ directory, record, clock, late, lost: (why) => void lost(why) });
    if ('takenBy' in taken) throw new HostNameTaken(host);
    return taken;
  }
  /** Nobody else may be served by two hosts: everything here ends, and then the host begins anew. */
  async function lost(why: string): Promise<void> {
    report(`host "${host}" has lost its place on the bus (${why}): its sessions end here`);
    for (const { link } of links.values()) link.reset(`host "${host}" lost its lease`);
    known.clear();
    await options.ended(why);
    incarnation = randomUUID();
    while (!isClosed) {
      try {
        lease = await take();
        options.began?.(incarnation);
        return report(`host "${host}" offers its agents again`);
      } catch {
        await new Promise<void>((resolve) => clock.after(TRY_AGAIN_MS, resolve));
      }
    }
  }

  /** `sender`: the principal that the bus lets the edge send as. */
  function refusalOf(
    { v, agent, principal, directories = [] }: OpenRequest,
    sender: string,
  ): Extract<OpenAnswer, { isOpen: false }>['reason'] | undefined {
    if (v > VERSION) return 'unknown version';
    if (nameOf(principal) !== sender) return 'another principal';
    if (isDraining || isClosed) return 'draining';
    if (!lease.isHeld()) return 'no lease';
    if (!agents.includes(agent)) return 'agent missing';
    if (!directories.every(options.allowsDirectory)) return 'directory';
    if (options.policy?.().problem !== undefined) return 'policy';
    return links.size >= capacity ? 'full' : undefined;
  }
  function whyNot(reason: ReturnType<typeof refusalOf>, { directories = [] }: OpenRequest): string | undefined {
    if (reason === 'policy') return options.policy?.().problem;
    if (reason !== 'directory') return undefined;
    const refused = directories.filter((one) => !options.allowsDirectory(one));
    return `${refused.join(', ')} is missing there, or not in its allow_cwd`;
  }
  /** Makes a session known here that the directory says is the principal's. */
  async function adopt({ agent, principal, session }: OpenRequest): Promise<void> {
    const entry = session === undefined ? undefined : await recorded.get(sessionKey(agent, session));
    const found = entry && readSession(entry.value);
    if (session === undefined || !found || found.principal !== principal || found.incarnation === incarnation) return;
    options.adopt({ sessionId: session, nativeId: found.nativeId, agent, principal, cwd: found.cwd });
  }
  async function open(request: OpenRequest, sender: string): Promise<OpenAnswer> {
    if (refusalOf(request, sender) === undefined) {
      try {
        await adopt(request); // an unknown session is refused when it is loaded
      } catch (error) {
        // Nobody can say whose it is now. To load it all the same would be to say that it is lost.
        return { isOpen: false, reason: 'directory away', why: (error as Error).message };
      }
    }
    const reason = refusalOf(request, sender);
    if (reason !== undefined) return { isOpen: false, reason, why: whyNot(reason, request) };
    const id = `${sender}.${request.link}`;
    const known = links.get(id);
    if (known) return { isOpen: true, epoch: known.epoch }; // the request was repeated
    // Told to this edge alone: who does not know it can forge nothing.
    const epoch = randomInt(2 ** 32);
    const link = createLink({
      bus,
      clock,
      to: names.linkToEdge(sender, request.edge, host, request.link),
      epoch,
      limits: options.limits,
      lostAfterMs: LOST_AFTER_MS,
      lostReason: 'nothing was heard from the edge',
      on: {
        closed() {
          links.delete(id);
          void client.close();
          void lease.renew();
        },
      },
    });
    const client = serve({ input: link.source, output: link.sink }, request);
    links.set(id, { link, epoch, client });
    void lease.renew();
    return { isOpen: true, epoch };
  }
  function receive(message: Buffer, subject: string): void {
    // A host that was frozen past its lease must not act on what waited for it.
    if (!lease.isHeld()) return;
    const id = subject.slice(linkPrefix.length);
    const served = links.get(id);
    if (served) return served.link.receive(message);
    const unknown = decodeMessage(message);
    if (!unknown || unknown.kind === 'reset') return;
    const [sender = '', link = ''] = id.split('.');
    const [edge = ''] = link.split('_');
    const reason = `host "${host}" does not know the connection any more`;
    bus.send(names.linkToEdge(sender, edge, host, link), encodeMessage({ kind: 'reset', epoch: unknown.epoch, reason }));
  }
  /** Says in the directory which sessions are here, so that a later edge finds them. */
  async function recordSessions(): Promise<void> {
    for (const { sessionId, nativeId, agent, principal, cwd } of options.sessions()) {
      const key = sessionKey(agent, sessionId);
      if (known.has(key) || !lease.isHeld()) continue;
      const value = write({ v: VERSION, host, incarnation, agent, principal, nativeId, cwd, served: options.served(agent) });
      const before = await recorded.get(key);
      if (before && readSession(before.value)?.incarnation === incarnation) known.add(key);
      else if ((before ? await recorded.update(key, value, before.revision) : await recorded.create(key, value)) !== undefined)
        known.add(key);
    }
  }

  lease = await take();
  options.began?.(incarnation);
  let recording: Promise<void> = Promise.resolve();
  const recordNewSessions = () => {
    recording = recording.then(recordSessions).catch(() => {}); // the bus is away: again later
  };
  options.onSession(recordNewSessions);
  const stopRecording = every(clock, RECORD_EVERY_MS, recordNewSessions);
  const stops = [
    bus.listen(names.linkToHost(host, '*', '*'), receive),
    bus.answer(names.openAt(host, '*'), async (bytes, subject) => {
      const request = readOpenRequest(bytes);
      const sender = subject.slice(subject.lastIndexOf('.') + 1);
      return write(request ? await open(request, sender) : { isOpen: false, reason: 'unknown version' });
    }),
    bus.answer(names.drainAt(host), async (bytes) => {
      // A bus can be made to deliver a record of a directory here.
      if (readDrainRequest(bytes)?.drain !== host) return write({ links: links.size });
      await drain();
      return write({ links: links.size });
    }),
  ];
  await bus.flush();

  async function drain(): Promise<void> {
    if (!isDraining) report(`host "${host}" drains: it takes no new sessions`);
    isDraining = true;
    await lease.renew();
  }
  /** What runs here obeys a policy that holds no more. */
  async function policyChanged(): Promise<void> {
    const problem = options.policy?.().problem;
    await lease.renew();
    if (problem === undefined) return;
    for (const { link } of links.values()) link.reset(`host "${host}" accepts no sessions: ${problem}`);
    await options.ended(problem);
  }
  return {
    get incarnation() {
      return incarnation;
    },
    get links() {
      return links.size;
    },
    drain,
    policyChanged,
    async close() {
      isClosed = true;
      stopRecording();
      const closing = [...links.values()].map(({ link, client }) => {
        link.reset(`host "${host}" is shutting down`);
        return client.close();
      });
      await Promise.all(closing);
      for (const stop of stops) stop();
      await recording;
      await lease.release();
    },
  };
}

export const sessionKey = (agent: string, sessionId: string): string => keyOf(`${agent}/${sessionId}`);
/** The session's id in its key. */
export const sessionIn = (key: string, agent: string): string => textIn(key).slice(agent.length + 1);
