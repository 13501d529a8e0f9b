// One server of the client's for one session, under a token of its own: what the agent is given in its place, and what answers there.
import type { Socket } from 'node:net';
import type { GateVerdict } from '../server/gate.ts';
import type { ToolArgs } from '../server/tool.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { newToken } from '../transports/listeners.ts';
import type { ClientServer } from './client-server.ts';
import type { BackDeps } from './upstream.ts';

export type BridgeDeps = BackDeps & {
  /** Decides about a call, once the session is known. */
  mayCall(server: string, tool: string, args: ToolArgs, signal: AbortSignal): Promise<GateVerdict>;
  exposes(server: string, tool: string): boolean;
  onEnding(done: Promise<void>): void;
  /** Once for each bridge. */
  onDied(server: string, why: string): void;
};

export type Bridge = {
  readonly token: string;
  readonly isRevoked: boolean;
  /** Returns what forgets it again. */
  onRevoke(act: () => void): () => void;
  revoke(): void;
  serveSocket(socket: Socket): void;
  serveHttp(): Promise<HttpHandler>;
};

export function createBridge(server: ClientServer, deps: BridgeDeps): Bridge {
  const revoked = new Set<() => void>();
  let isRevoked = false;
  let hasDied = false;
  let handler: Promise<HttpHandler> | undefined;

  /** The SDK is loaded when an agent first connects. */
  async function load() {
    const [{ openBack }, { relay }, { httpSessions }, { modernFront }, { StdioServerTransport }] = await Promise.all([
      import('./upstream.ts'),
      import('./relay.ts'),
      import('../server/http-sessions.ts'),
      import('./stateless-http.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const connect = (front: Parameters<typeof relay>[0]) => {
      // A request that was let in just before: nothing may be started that nobody would wait for.
      if (isRevoked) throw new Error('the session has ended');
      const end = relay(front, openBack(server, deps), {
        server: server.name,
        mayCall: (tool, args, signal) => deps.mayCall(server.name, tool, args, signal),
        exposes: (tool) => deps.exposes(server.name, tool),
        onEnding: deps.onEnding,
        onDied(why) {
          if (!hasDied && !isRevoked) deps.onDied(server.name, why);
          hasDied = true;
        },
      });
      // Agents connect again and again; what is over is not kept.
      const forget = self.onRevoke(end);
      const { onclose } = front;
      front.onclose = () => {
        forget();
        onclose?.();
      };
    };
    return { connect, serve: () => httpSessions(connect, modernFront(server.name, connect)).handle, StdioServerTransport };
  }

  /** No descriptor may be free for it then, or the package be another: that costs this server and nothing else. */
  function unserved(error: unknown): void {
    if (!hasDied && !isRevoked) deps.onDied(server.name, `what serves it could not be loaded: ${(error as Error).message}`);
    hasDied = true;
  }

  const self: Bridge = {
    token: newToken(),
    get isRevoked() {
      return isRevoked;
    },
    onRevoke(act) {
      if (isRevoked) act();
      else revoked.add(act);
      return () => void revoked.delete(act);
    },
    revoke() {
      if (isRevoked) return;
      isRevoked = true;
      for (const act of [...revoked]) act();
    },
    serveSocket(socket) {
      void load()
        .then(({ connect, StdioServerTransport }) => {
          if (isRevoked) return void socket.destroy();
          const front = new StdioServerTransport(socket, socket);
          connect(front);
          const { onclose } = front;
          front.onclose = () => {
            onclose?.();
            socket.end(); // the shim ends with it, and the agent sees its server gone
          };
          socket.on('close', () => void front.close());
          socket.resume(); // it was kept still until somebody listened
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
