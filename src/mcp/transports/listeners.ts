// The ways in that listen: a private socket for the shim, loopback HTTP for agents that take that. Each is opened when the first session needs it.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Guest, type HttpHandler, type HttpListener, openHttpListener } from './http-listener.ts';
import { openSocketListener, type SocketListener } from './socket-listener.ts';

export type ListenerEvents<G extends Guest> = {
  /** Whom a token belongs to; undefined (and noted) when it is nobody. */
  admit(token: string): G | undefined;
  serveSocket(guest: G, socket: Socket): void;
  serveHttp(guest: G): Promise<HttpHandler>;
};

/** What opens a door to one session's server. Of a form that is taken out of records, should an agent repeat it. */
export const newToken = (): string => `sbmcp_${randomBytes(32).toString('base64url')}`;

/** How an agent starts the shim. */
export type Shim = { readonly command: string; readonly args: readonly string[] };

/** Writes a server down as the agent is to be told of it, as JSON text. It alone has the token. */
export type WriteEntry = (name: string, token: string) => string;

export type Doors = {
  /** Calls back at once, unless the listener has yet to be opened. */
  open(way: 'http' | 'stdio', done: (entry: WriteEntry | Error) => void): void;
  close(): void;
};

export function createListeners<G extends Guest>(shim: Shim, on: ListenerEvents<G>): Doors {
  let socketListener: SocketListener | undefined;
  let httpListener: HttpListener | undefined;
  let opening: ((listener: HttpListener | Error) => void)[] | undefined;
  let isClosed = false;

  function openHttp(done: (listener: HttpListener | Error) => void): void {
    if (httpListener) return done(httpListener);
    if (opening) return void opening.push(done);
    opening = [done];
    openHttpListener({ admit: on.admit, serve: on.serveHttp }, (listener) => {
      const waiting = opening ?? [];
      opening = undefined;
      if (!(listener instanceof Error)) {
        if (isClosed) listener.close();
        else httpListener = listener;
      }
      for (const go of waiting) go(listener);
    });
  }

  return {
    open(way, done) {
      if (way === 'http')
        return openHttp((listener) => {
          if (listener instanceof Error) return done(listener);
          done((name, token) => {
            const headers = [{ name: 'Authorization', value: `Bearer ${token}` }];
            return JSON.stringify({ type: 'http', name, url: listener.url, headers });
          });
        });
      try {
        // The next session tries anew after a problem.
        socketListener ??= openSocketListener({ admit: on.admit, serve: on.serveSocket }, () => {
          socketListener = undefined;
        });
      } catch (error) {
        return done(error as Error);
      }
      const { address } = socketListener;
      done((name, token) => {
        const env = [
          { name: 'SWITCHBOARD_MCP_SOCKET', value: address },
          { name: 'SWITCHBOARD_MCP_TOKEN', value: token },
        ];
        return JSON.stringify({ name, ...shim, env });
      });
    },
    close() {
      isClosed = true;
      socketListener?.close();
      httpListener?.close();
    },
  };
}
