// The checks that all endpoints with a token share, in this order: Host, Origin, token, role. The listener has checked the path before.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Role, Token, TokenReader } from '../store/tokens.ts';
import { type Addresses, authenticate, type Refusal, refuseForeign } from './access.ts';
import type { Endpoint } from './listener.ts';
import { refuse, refuseUpgrade } from './respond.ts';

/** An endpoint that sees only requests of principals with one of these roles. */
export type GuardedEndpoint = {
  readonly roles: readonly Role[];
  handle(request: IncomingMessage, response: ServerResponse, principal: Token): void | Promise<void>;
  /** Undefined if it has no WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, principal: Token): void;
};

export type Gate = {
  guard(endpoint: GuardedEndpoint): Endpoint;
  /** Calls `ended` once when the token is revoked or expires. Returns a function that stops watching. */
  whileValid(token: Token, ended: () => void): () => void;
  /** Refuses all further requests. */
  close(): void;
};

const LOOK_EVERY_MS = 1000;
/** Of the listener's sockets, one principal gets only so many, so that others always get in. */
export const MAX_SOCKETS_OF_ONE = 2048;

export function createGate({ tokens, addresses }: { readonly tokens: TokenReader; readonly addresses: () => Addresses }): Gate {
  const watched = new Set<{ readonly token: Token; readonly ended: () => void }>();
  const sockets = new Map<string, Set<Socket>>();
  let isClosed = false;
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();

  function look(): void {
    const valid = new Map<Token, boolean>();
    for (const one of watched) {
      if (!valid.has(one.token)) valid.set(one.token, tokens.isValid(one.token));
      if (valid.get(one.token)) continue;
      watched.delete(one);
      one.ended();
    }
  }
  function admit(request: IncomingMessage, roles: readonly Role[]): Token | Refusal {
    const principal = refuseForeign(request, addresses()) ?? authenticate(request, tokens, roles);
    if ('status' in principal) return principal;
    if (isClosed) return { status: 503, why: 'the server is shutting down' };
    return hasRoom(principal, request.socket) ? principal : { status: 429, why: 'too many open connections' };
  }
  function hasRoom({ name }: Token, socket: Socket): boolean {
    const own = sockets.get(name) ?? new Set();
    if (own.has(socket)) return true;
    if (own.size >= MAX_SOCKETS_OF_ONE) return false;
    sockets.set(name, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0 && sockets.get(name) === own) sockets.delete(name);
    });
    return true;
  }

  return {
    guard: ({ roles, handle, upgrade }) => ({
      handle(request, response, proven) {
        const principal = admit(request, roles);
        if ('status' in principal) return refuse(response, principal);
        proven();
        return handle(request, response, principal);
      },
      ...(upgrade && {
        upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
          const principal = admit(request, roles);
          if ('status' in principal) return refuseUpgrade(socket, principal);
          upgrade(request, socket, head, principal);
        },
      }),
    }),
    whileValid(token, ended) {
      const one = { token, ended };
      watched.add(one);
      return () => void watched.delete(one);
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
