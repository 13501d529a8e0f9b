// Where `switchboard serve` listens: on loopback, or beyond it with TLS.
import { readFileSync } from 'node:fs';
import type { ListenAt } from '../../console/server/server.ts';
import { isLoopback } from '../../listener/listener.ts';
import { CommandFailure } from '../failure.ts';
import { refuse } from '../resolve-config.ts';
import { portOf } from './open-console.ts';

export type ListenFlags = {
  readonly port?: string;
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindTlsProxy?: true;
};

export type ListenPlan = { readonly port: number; readonly at: ListenAt };

export function listenPlan({ port, listen, tlsCert, tlsKey, behindTlsProxy }: ListenFlags): ListenPlan {
  if (port !== undefined && listen !== undefined)
    throw new CommandFailure(2, '--port and --listen exclude each other', 'use --listen HOST:PORT');
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new CommandFailure(2, 'TLS needs a certificate and its key', 'give both --tls-cert FILE and --tls-key FILE');
  const { host, wanted } = listen === undefined ? { host: '127.0.0.1', wanted: port } : hostAndPort(listen);
  const tls =
    tlsCert === undefined || tlsKey === undefined ? undefined : { cert: read('the certificate', tlsCert), key: read('the key', tlsKey) };
  if (!isLoopback(host) && !tls && !behindTlsProxy)
    throw new CommandFailure(
      2,
      `${host} is reachable from other machines, and tokens would cross the network in the clear`,
      'give --tls-cert and --tls-key; if a proxy in front of this one ends TLS, give --behind-tls-proxy',
    );
  const names = isLoopback(host) ? ['127.0.0.1', 'localhost', ...(host.includes(':') ? [`[${host}]`] : [])] : [host];
  return { port: portOf(wanted), at: { host, names: [...new Set([bracketed(host), ...names])], tls } };
}

function hostAndPort(listen: string): { readonly host: string; readonly wanted: string } {
  const [, host, wanted] = /^(\[[0-9a-f:]+\]|[^:\s]+):(\d+)$/i.exec(listen) ?? [];
  if (host === undefined || wanted === undefined)
    throw new CommandFailure(
      2,
      `invalid address "${listen}"`,
      'use HOST:PORT, such as 127.0.0.1:8137 or [::1]:8137; port 0 selects any free port',
    );
  return { host: host.replace(/^\[|\]$/g, ''), wanted };
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    return refuse(what, file, error);
  }
}
