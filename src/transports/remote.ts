// The address of a remote agent and how to reach it, whatever the transport; and what a failed attempt means to the user.
import { readFileSync } from 'node:fs';
import type { SecureContextOptions } from 'node:tls';
import type { Unstartable } from './start-error.ts';

export type Remote = {
  /** `ws:`, `wss:`, `http:` or `https:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Files: a certificate authority to trust, and a client certificate with its key. */
  readonly tls: { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined };
  readonly connectMs: number;
  /** A peer that is silent for this long is asked, and one that is silent twice as long is gone. 0: never. */
  readonly keepaliveMs: number;
  /** Where the user configured it, for messages: `agent_servers.claude`. */
  readonly configKey: string;
  /** What to check if the peer is not there, or rejects the credentials; by default, the keys of `configKey`. */
  readonly advice?: { readonly address: string; readonly credentials: string };
};

/** The address without credentials, for messages. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Reads the certificate files; a file that cannot be read is the reason why the agent cannot be reached. */
export function tlsOptions({ tls, configKey }: Remote): SecureContextOptions | Unstartable {
  const options: Record<string, Buffer> = {};
  for (const [name, file] of Object.entries(tls)) {
    if (file === undefined) continue;
    try {
      options[name] = readFileSync(file);
    } catch (error) {
      return { why: `cannot read ${file} (${(error as NodeJS.ErrnoException).code})`, next: `Check "tls.${name}" in ${configKey}` };
    }
  }
  return options;
}

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host was not found',
  EAI_AGAIN: 'the host name could not be resolved',
  ETIMEDOUT: 'the connection timed out',
  ECONNRESET: 'the peer closed the connection',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  EPROTO: 'the TLS handshake failed',
};

/** Why no connection could be made. */
export function whyUnreachable(error: Error, remote: Remote): Unstartable {
  const { configKey } = remote;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code))
    return { why: `its certificate is not trusted (${code})`, next: `Name its certificate authority in "tls.ca" of ${configKey}` };
  // Their messages name the header, and not its value.
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN')
    return { why: `a header cannot be sent: ${error.message}`, next: credentialsAdvice(remote) };
  return { why: BY_CODE[code] ?? withoutUrl(error.message), next: addressAdvice(remote) };
}

const credentialsAdvice = ({ configKey, advice }: Remote): string => advice?.credentials ?? `Check "headers" in ${configKey}`;

const addressAdvice = ({ configKey, advice }: Remote): string =>
  advice?.address ?? `Check "url" in ${configKey}, and that the agent is running there`;

/** Why the peer answered with something else than a connection. */
export function whyRefused(status: number, remote: Remote): Unstartable {
  const { configKey, advice } = remote;
  if (status === 401 || status === 403) return { why: `it rejected the credentials (HTTP ${status})`, next: credentialsAdvice(remote) };
  if (status >= 300 && status < 400)
    return {
      why: `it redirects to another address (HTTP ${status})`,
      next: `Redirects are not followed: put the final address into "url" of ${configKey}`,
    };
  if (status === 404)
    return { why: 'it serves no ACP at this path (HTTP 404)', next: advice?.address ?? `Check the path of "url" in ${configKey}` };
  return { why: `it answered HTTP ${status}`, next: addressAdvice(remote) };
}

/** Messages of libraries may contain the address, and with it credentials. */
const withoutUrl = (text: string): string => text.replace(/\b(wss?|https?):\/\/\S+/g, 'its address');
