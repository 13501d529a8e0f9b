// One of the client's servers for one session, under its own token: the entry the agent receives, and the server behind it.
import type { Socket } from 'node:net';
import type { GateVerdict } from '../server/gate.ts';
import type { ToolArgs } from '../server/tool.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { newToken } from '../transports/listeners.ts';
import type { ClientServer } from './client-server.ts';
import type { UpstreamDeps } from './upstream.ts';

export type BridgeDeps = UpstreamDeps & {
  /** Decides about a call, once the session is known. */
  mayCall(server: string, tool: string, args: ToolArgs, signal: AbortSignal): Promise<GateVerdict>;
  exposes(server: string, tool: string): boolean;
  onEnding(done: Promise<void>): void;
  /** At most once for each bridge. */
  onDied(server: string, why: string): void;
};

export type Bridge = {
  readonly token: string;
  readonly isRevoked: boolean;
  /** Returns a function that unsubscribes. */
  onRevoke(handler: () => void): () => void;
  revoke(): void;
  serveSocket(socket: Socket): void;
  serveHttp(): Promise<HttpHandler>;
};

export function createBridge(server: ClientServer, deps: BridgeDeps): Bridge {
  const revoked = new Set<() => void>();
  const ownNames = new Map<string, string>();
  let isRevoked = false;
  let hasDied = false;
  let handler: Promise<HttpHandler> | undefined;

  /** The SDK is loaded when an agent first connects. */
  async function load() {
    const [{ openUpstream }, { relay }, { httpSessions }, { statelessHttp: modernHttp }, { StdioServerTransport }] = await Promise.all([
      import('./upstream.ts'),
      import('./relay.ts'),
      import('../server/http-sessions.ts'),
      import('./stateless-http.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const connect = (downstream: Parameters<typeof relay>[0]) => {
      // The request was admitted just before the revocation: start nothing that nobody waits for.
      if (isRevoked) throw new Error('the session has ended');
      const end = relay(downstream, openUpstream(server, deps), {
        server: server.name,
        ownNames,
        mayCall: (tool, args, signal) => deps.mayCall(server.name, tool, args, signal),
        exposes: (tool) => deps.exposes(server.name, tool),
        onEnding: deps.onEnding,
        onDied(why) {
          if (!hasDied && !isRevoked) deps.onDied(server.name, why);
          hasDied = true;
        },
      });
      // Agents reconnect often; do not keep ended connections.
      const forget = self.onRevoke(end);
      const { onclose } = downstream;
      downstream.onclose = () => {
        forget();
        onclose?.();
      };
    };
    return { connect, serve: () => httpSessions(connect, modernHttp(server.name, connect)).handle, StdioServerTransport };
  }

  /** Loading can fail, with no free descriptor or a replaced package: that costs only this server. */
  function unserved(error: unknown): void {
    if (!hasDied && !isRevoked) deps.onDied(server.name, `what serves it could not be loaded: ${(error as Error).message}`);
    hasDied = true;
  }

  const self: Bridge = {
    token: newToken(),
    get isRevoked() {
      return isRevoked;
    },
    onRevoke(handler) {
      if (isRevoked) handler();
      else revoked.add(handler);
      return () => void revoked.delete(handler);
    },
    revoke() {
      if (isRevoked) return;
      isRevoked = true;
      for (const handler of [...revoked]) handler();
    },
    serveSocket(socket) {
      void load()
        .then(({ connect, StdioServerTransport }) => {
          if (isRevoked) return void socket.destroy();
          const downstream = new StdioServerTransport(socket, socket);
          connect(downstream);
          const { onclose } = downstream;
          downstream.onclose = () => {
            onclose?.();
            socket.end(); // the shim exits with it, and the agent sees its server exit
          };
          socket.on('close', () => void downstream.close());
          socket.resume(); // the socket was paused until there was a listener
        })
        .catch((error: unknown) => {
          unserved(error);
          socket.destroy();
        });
    },
    serveHttp() {
      if (!handler) {
        handler = load().then(({ serve }) => serve());
        handler.catch(unserved);
      }
      return handler;
    },
  };
  return self;
}
