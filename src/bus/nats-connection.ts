// A connection to NATS servers, and why one fails.

import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  AuthorizationError,
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
} from '@nats-io/transport-node';
import { BusFailure } from './bus.ts';
import { natsLogin } from './nats-login.ts';

export type NatsOptions = {
  /** `nats://host:port` or `tls://host:port`, several joined by commas. */
  readonly url: string;
  /** A file with credentials (`.creds`) or the seed of a key, as `nsc` and `switchboard bus init` write it. */
  readonly credentials?: string | undefined;
  readonly tls?: { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined };
  /** For people who look at the server's connections. */
  readonly name: string;
  /** How many servers of a cluster keep the directory and the streams. */
  readonly replicas?: number | undefined;
};

const CONNECT_MS = 10_000;
/** For one server: if it is gone without a word, the next one is tried in time for the lease of a host. */
const CONNECT_TO_ONE_MS = 2500;
/** Attempts to reconnect, forever: the link and the lease say what an absence means. */
const RECONNECT_EVERY_MS = 500;
/**
 * A server that vanishes without a word is noticed after three of these, so within 6 s. With the 5 s in which a cluster elects a leader this
 * must fit into the time in which a host has to renew its lease: else the loss of one server would end the sessions of the hosts on it.
 */
const PING_EVERY_MS = 2000;

/** The servers of a cluster decide nothing, and answer nothing about what they keep, while half of them or more are away. */
const NO_QUORUM = 'no answer in time: a cluster has no quorum unless more than half of its servers run';

export const serversOf = ({ url }: Pick<NatsOptions, 'url'>): readonly string[] => url.split(',').map((one) => one.trim());

/** Without credentials. */
export const shownAddress = (options: Pick<NatsOptions, 'url'>): string => serversOf(options).map(withoutCredentials).join(',');

/** Rejects with a `BusFailure`. */
export async function connectTo({ url, credentials, tls, name }: NatsOptions, connectMs = CONNECT_MS): Promise<NatsConnection> {
  const servers = serversOf({ url });
  const options: NodeConnectionOptions = {
    servers: [...servers],
    name,
    timeout: Math.min(connectMs, CONNECT_TO_ONE_MS),
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_EVERY_MS,
    pingInterval: PING_EVERY_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...(servers.some((one) => one.startsWith('tls:')) && { tls: tlsOf(tls ?? {}, servers) }),
    // A server may learn of a key later than the others.
    ignoreAuthErrorAbort: true,
    ...(credentials !== undefined && natsLogin(credentials)),
  };
  for (const deadline = performance.now() + connectMs; ; ) {
    try {
      return await connect(options);
    } catch (error) {
      const isSlow = (error as Error).name === 'TimeoutError';
      if (isSlow && performance.now() < deadline) continue;
      if (error instanceof AuthorizationError)
        throw new BusFailure(
          'refused',
          `the bus at ${shownAddress({ url })} ${credentials === undefined ? 'wants' : 'rejected the'} credentials`,
        );
      const why = isSlow ? `no answer within ${connectMs / 1000} s` : reasonOf(error as Error);
      throw new BusFailure('disconnected', `cannot reach the bus at ${shownAddress({ url })}: ${why}`);
    }
  }
}

/** What the server does not let this user do. */
export function forbiddenOf(error: Error): string | undefined {
  const { cause } = error;
  const found = error instanceof PermissionViolationError ? error : cause instanceof PermissionViolationError ? cause : undefined;
  return found && `${found.operation} ${found.subject}`;
}

/** Messages of the library may contain the address, and with it credentials. */
export const reasonOf = (error: Error): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const forbidden = forbiddenOf(error);
  if (forbidden !== undefined) return `the credentials do not permit it (${forbidden})`;
  if (error.name === 'TimeoutError' || message.includes('temporarily unavailable')) return NO_QUORUM;
  if (message === 'jetstream is not enabled') return 'no server is in charge: JetStream is not enabled, or the cluster elects a leader';
  const text = error.name === 'NoRespondersError' ? 'JetStream is not enabled on the server' : message;
  return `${text.replace(/\b(nats|tls|ws|wss):\/\/\S+/g, 'its address')}${code === undefined || text.includes(String(code)) ? '' : ` (${code})`}`;
};

function withoutCredentials(server: string): string {
  const { protocol, host } = new URL(server);
  return `${protocol}//${host}`;
}

function tlsOf({ ca, cert, key }: NonNullable<NatsOptions['tls']>, servers: readonly string[]): NonNullable<NodeConnectionOptions['tls']> {
  const hosts = servers.map((one) => new URL(one).hostname.replace(/^\[(.*)\]$/, '$1'));
  return {
    ...(ca !== undefined && { caFile: ca }),
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
    // The library checks names only: a server that is reached by its IP address would have to be `localhost`.
    ...{
      checkServerIdentity(_: string, certificate: PeerCertificate): Error | undefined {
        const errors = hosts.map((host) => checkServerIdentity(host, certificate));
        return errors.includes(undefined) ? undefined : errors[0];
      },
    },
  };
}
