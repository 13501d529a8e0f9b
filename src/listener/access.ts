// Who may use the listener: a request must name this address, must not come from a foreign web page, and must carry a token.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Role, Token, TokenReader } from '../store/tokens.ts';

/** An HTTP status, and a reason that reveals nothing about tokens or ids. */
export type Refusal = { readonly status: number; readonly why: string };

export type Addresses = {
  /** Values of the Host header, in lower case. Without a port, every port counts: a proxy in front may have another. */
  readonly hosts: ReadonlySet<string>;
  /** Listens on all addresses: each counts, since no foreign name leads to a Host header with an address. */
  readonly takesAddresses?: boolean;
  /** Web pages that may connect. Programs send no Origin. */
  readonly origins: ReadonlySet<string>;
};

/** Detects DNS rebinding and foreign web pages. */
export function refuseForeign(request: IncomingMessage, addresses: Addresses): Refusal | undefined {
  const { host = '', origin } = request.headers;
  // With several Host headers, a proxy in front could use one and this server another.
  if (request.headersDistinct.host?.length !== 1 || !isOwn(host.toLowerCase(), addresses))
    return { status: 403, why: 'the Host header is not this address: add the name to network_clients.hosts' };
  if (origin !== undefined && !addresses.origins.has(origin)) return { status: 403, why: 'the Origin header is not allowed' };
  return undefined;
}

function isOwn(host: string, { hosts, takesAddresses }: Addresses): boolean {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/.exec(host) ?? [];
  return hosts.has(host) || hosts.has(name) || (takesAddresses === true && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
}

/** Browsers cannot set headers on a WebSocket, so they send the token as a subprotocol. It is never read from the query. */
function presentedToken({ headers, headersDistinct }: IncomingMessage): string | undefined {
  // As with Host: of several, a proxy could believe another one.
  if ((headersDistinct.authorization?.length ?? 0) > 1) return undefined;
  const [, bearer] = /^Bearer ([\w.~+/-]+=*)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined) return bearer;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return protocols.find((one) => one.startsWith('bearer.'))?.slice('bearer.'.length);
}

/** The principal behind a request, if it has a token with one of these roles. */
export function authenticate(request: IncomingMessage, tokens: TokenReader, roles: readonly Role[]): Token | Refusal {
  const presented = presentedToken(request);
  if (presented === undefined) return { status: 401, why: 'a token is required: Authorization: Bearer TOKEN' };
  const token = tokens.verify(presented);
  if (!token) return { status: 401, why: 'the token is unknown, revoked or expired' };
  if (!roles.includes(token.role)) return { status: 403, why: `a token with the role ${token.role} may not do this` };
  return token;
}
