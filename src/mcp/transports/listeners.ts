// The listening transports: a private socket for the shim, and loopback HTTP. Each is opened when the first session needs it.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type HttpHandler, type HttpListener, openHttpListener, type TokenHolder } from './http-listener.ts';
import { openSocketListener, openTcpListener, type SocketListener } from './socket-listener.ts';

export type ListenerEvents<G extends TokenHolder> = {
  /** The holder of a token; undefined (and reported) if it is unknown. */
  admit(token: string): G | undefined;
  serveSocket(holder: G, socket: Socket): void;
  serveHttp(holder: G): Promise<HttpHandler>;
};

/** A token for one session's server. Its form is known to redaction, in case an agent repeats it. */
export const newToken = (): string => `sbmcp_${randomBytes(32).toString('base64url')}`;

/** How an agent starts the shim. */
export type Shim = { readonly command: string; readonly args: readonly string[] };

/** Writes the server's entry for the agent as JSON text. Only it contains the token. */
export type WriteEntry = (name: string, token: string) => string;

export type Listeners = {
  /** Calls back at once, unless the listener must be opened first. `tcp`: the shim over loopback, for agents without unix sockets. */
  open(way: 'http' | 'stdio' | 'tcp', done: (entry: WriteEntry | Error) => void): void;
  close(): void;
};

export function createListeners<G extends TokenHolder>(shim: Shim, on: ListenerEvents<G>): Listeners {
  let socketListener: SocketListener | undefined;
  let httpListener: HttpListener | undefined;
  let tcpListener: Promise<SocketListener> | undefined;
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
      const shimEntry =
        (address: string): WriteEntry =>
        (name, token) => {
          const env = [
            { name: 'SWITCHBOARD_MCP_SOCKET', value: address },
            { name: 'SWITCHBOARD_MCP_TOKEN', value: token },
          ];
          return JSON.stringify({ name, ...shim, env });
        };
      if (way === 'tcp') {
        tcpListener ??= openTcpListener({ admit: on.admit, serve: on.serveSocket });
        return void tcpListener.then((listener) => {
          if (isClosed) listener.close();
          done(shimEntry(listener.address));
        }, done);
      }
      try {
        // After a failure, the next session tries again.
        socketListener ??= openSocketListener({ admit: on.admit, serve: on.serveSocket }, () => {
          socketListener = undefined;
        });
      } catch (error) {
        return done(error as Error);
      }
      done(shimEntry(socketListener.address));
    },
    close() {
      isClosed = true;
      socketListener?.close();
      void tcpListener?.then((listener) => listener.close()).catch(() => {});
      httpListener?.close();
    },
  };
}
