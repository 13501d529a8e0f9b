// Looks at NATS servers and at what credentials may do there, without changing anything. For `switchboard doctor --bus`.
import { AckPolicy, DeliverPolicy, JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { nameOf } from './bus.ts';
import { subjects } from './cluster/records.ts';
import { connectTo, forbiddenOf, type NatsOptions, reasonOf, serversOf, shownAddress } from './nats-connection.ts';
import { directoryStream } from './setup/grants.ts';

export type Right = 'serve' | 'use' | 'drain' | 'publish' | 'collect' | 'manage';

export type StreamSeen = {
  readonly name: string;
  readonly replicas: number;
  /** Servers that keep a copy and are away or behind. */
  readonly behind: readonly string[];
};

export type NatsSeen = {
  readonly version: string;
  readonly isTls: boolean;
  /** It lets in only who has credentials. */
  readonly isGuarded: boolean;
  readonly roundTripMs: number;
  /** Why JetStream cannot be used. */
  readonly jetstream: string | undefined;
  readonly streams: readonly StreamSeen[];
  readonly missing: readonly string[];
  readonly rights: ReadonlySet<Right>;
  /** How far the server's clock is ahead of this one; undefined if it does not tell. */
  readonly aheadMs: number | undefined;
};

const CONNECT_MS = 5000;
const ASK_MS = 3000;
const NO_STREAM = 10059;
/** No directory ever gets there: a write that expects it changes nothing. */
const NEVER = 2 ** 52;

/** Why each address cannot be reached; undefined for those that can. */
export function reach(options: NatsOptions): Promise<readonly { readonly address: string; readonly why: string | undefined }[]> {
  return Promise.all(
    serversOf(options).map(async (url) => {
      const address = shownAddress({ url });
      try {
        // The name in a certificate is that of one of the servers.
        const nats = await connectTo({ ...options, url }, CONNECT_MS);
        await nats.close();
        return { address, why: undefined };
      } catch (error) {
        return { address, why: (error as Error).message };
      }
    }),
  );
}

export async function inspectNats(options: NatsOptions, tenant: string, member: string): Promise<NatsSeen> {
  const nats = await connectTo(options, CONNECT_MS);
  try {
    const { version = '?', tls_required = false, auth_required = false } = nats.info ?? {};
    const at = subjects(tenant);
    const began = performance.now();
    await nats.flush();
    const roundTripMs = performance.now() - began;
    const why = await jetstreamProblem(nats);
    const names = [...[at.hosts, at.sessions, at.policy, at.collected].map(directoryStream), at.audit];
    const found = why === undefined ? await Promise.all(names.map((name) => lookAt(nats, name))) : [];
    const rights = new Set<Right>();
    for (const [right, isGiven] of await Promise.all(rightsOf(nats, tenant, member))) if (isGiven) rights.add(right);
    return {
      version,
      isTls: tls_required,
      isGuarded: auth_required,
      roundTripMs,
      jetstream: why,
      streams: found.filter((one) => typeof one === 'object'),
      missing: found.filter((one) => typeof one === 'string'),
      rights,
      aheadMs: why === undefined ? await clockOf(nats, [directoryStream(at.hosts), directoryStream(at.policy)]) : undefined,
    };
  } finally {
    await nats.close();
  }
}

async function jetstreamProblem(nats: NatsConnection): Promise<string | undefined> {
  try {
    await jetstreamManager(nats, { timeout: ASK_MS });
    return undefined;
  } catch (error) {
    return reasonOf(error as Error);
  }
}

/** The name alone if it does not exist. */
async function lookAt(nats: NatsConnection, name: string): Promise<StreamSeen | string> {
  const manager = await jetstreamManager(nats, { timeout: ASK_MS, checkAPI: false });
  try {
    const { config, cluster } = await manager.streams.info(name);
    const behind = (cluster?.replicas ?? []).filter(({ current, offline }) => offline || !current).map((one) => one.name);
    return { name, replicas: config.num_replicas, behind: cluster && !cluster.leader ? ['the leader', ...behind] : behind };
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === NO_STREAM) return name;
    return { name, replicas: 0, behind: [reasonOf(error as Error)] };
  }
}

/** Each is tried in a way that has no effect. */
function rightsOf(nats: NatsConnection, tenant: string, member: string): readonly Promise<readonly [Right, boolean]>[] {
  const at = subjects(tenant);
  const own = nameOf(member);
  const nobody = 'doctor-asks-nobody';
  const request = (subject: string) => () => nats.request(subject, '', { timeout: ASK_MS });
  const write = (subject: string) => () =>
    jetstream(nats, { timeout: ASK_MS }).publish(subject, '', { expect: { lastSubjectSequence: NEVER } });
  const tries: Readonly<Record<Right, () => Promise<unknown>>> = {
    serve: write(`$KV.${at.hosts}.${own}`),
    use: request(at.openAt(nobody, own)),
    drain: request(at.drainAt(nobody)),
    publish: write(`$KV.${at.policy}.doctor`),
    collect: write(`$KV.${at.collected}.doctor`),
    manage: request('$JS.API.STREAM.NAMES'),
  };
  return Object.entries(tries).map(async ([right, attempt]) => {
    const refused = await attempt().then(
      () => undefined,
      (error: Error) => forbiddenOf(error),
    );
    return [right as Right, refused === undefined] as const;
  });
}

/** A new consumer, which delivers nothing, says when it was created. */
async function clockOf(nats: NatsConnection, streams: readonly string[]): Promise<number | undefined> {
  const manager = await jetstreamManager(nats, { timeout: ASK_MS, checkAPI: false });
  for (const stream of streams) {
    const began = Date.now();
    const name = `doctor-${process.pid}-${began}`;
    const settings = { name, ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.New, mem_storage: true, inactive_threshold: 5e9 };
    try {
      const { created } = await manager.consumers.add(stream, settings);
      const aheadMs = Date.parse(created) - (began + Date.now()) / 2;
      await manager.consumers.delete(stream, name).catch(() => {});
      return aheadMs;
    } catch {
      // No right to watch this one.
    }
  }
  return undefined;
}
