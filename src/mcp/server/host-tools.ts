// Attaches host tools to sessions: one MCP server for each session, over a transport its agent supports. Nothing listens before a session
// needs it.
import { randomBytes } from 'node:crypto';
import type { ServerSet } from '../gateway/server-set.ts';
import { createPipe, type Pipe } from '../transports/acp-transport.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { createListeners, newToken, type Shim } from '../transports/listeners.ts';
import type { ArgsCheck, CallDeps, ToolEvent } from './call-tool.ts';
import type { ToolGate } from './gate.ts';
import type { McpTransport } from './inject-servers.ts';
import type { Served, ServerInfo } from './sdk-server.ts';
import type { HostTool, McpClient } from './tool.ts';
import { createRevokedKeys, ToolServer, type ToolServerDeps, type ToolSession, tokenKey } from './tool-server.ts';

/** Prefix of our servers' names on an agent's ACP connection. */
export const OUR_SERVER = 'switchboard-';

export type HostToolsOptions = {
  readonly version: string;
  readonly shim: Shim;
  /** Read for every call, because tools of other servers come and go. */
  readonly tools: (client?: McpClient) => readonly HostTool[];
  /** Finds one tool; by default it is searched among all. */
  readonly find?: ((name: string, client?: McpClient) => HostTool | undefined) | undefined;
  readonly toolsKnown?: ((client?: McpClient) => Promise<void>) | undefined;
  /** Configured servers, as an MCP client has them. */
  readonly foreign?: ((client: McpClient) => ServerSet) | undefined;
  readonly gate: ToolGate;
  readonly onEvent: (event: ToolEvent) => void;
  readonly measure?: CallDeps['measure'];
  /** The tools could not be loaded, and why. */
  readonly onUnserved?: ((why: string) => void) | undefined;
  readonly maxOutputBytes: number;
  readonly clean?: ((text: string) => string) | undefined;
};

export type Attached = {
  readonly toolServer: ToolServer;
  /** The `mcpServers` entry as JSON text. Only it contains the token. */
  entry(name: string): string;
};

export type HostTools = {
  /** Creates a server for a session that is about to open. Calls back at once, unless a listener must be opened first. */
  attach(transport: McpTransport, toolSession: ToolSession, done: (attached: Attached | Error) => void, hasUnixSockets?: boolean): void;
  /** A connection to a tool server through the ACP connection of its agent. */
  pipe(toolServer: ToolServer): Pipe;
  /** The list of tools has changed. */
  toolsChanged(): void;
  close(): void;
};

export function createHostTools(options: HostToolsOptions): HostTools {
  const byKey = new Map<string, ToolServer>();
  const revoked = createRevokedKeys();
  const served = new Map<ToolServer, Set<Served>>();
  const handlers = new WeakMap<ToolServer, Promise<HttpHandler>>();
  const info: ServerInfo = { name: 'switchboard', title: 'Switchboard', version: options.version };

  function admit(token: string): ToolServer | undefined {
    const key = tokenKey(token);
    const toolServer = byKey.get(key);
    // An agent may come back with the token of a session that has ended: nobody tries to get in.
    if (toolServer || revoked.has(key)) return toolServer;
    options.onEvent({
      ...{ kind: 'refused-token', sessionId: undefined, agent: undefined, server: 'switchboard', tool: undefined, args: undefined },
      reason: 'invalid or expired token',
    });
    return undefined;
  }
  /** Returns a function that removes it, for a connection that ends before its server. */
  function keep(toolServer: ToolServer, one: Served): () => void {
    const all = served.get(toolServer) ?? new Set();
    all.add(one);
    served.set(toolServer, all);
    const forget = toolServer.onRevoke(() => void one.close());
    return () => {
      all.delete(one);
      forget();
    };
  }

  /** Code is loaded on first use. That can fail, with no free descriptor or a replaced package: it costs only the tools. */
  function unserved(error: unknown): string {
    const why = `the part of the switchboard that serves tools could not be loaded (${(error as Error).message}); only a new start helps`;
    options.onUnserved?.(why);
    return why;
  }

  /** Cached: importing a loaded module takes a while, and a call waits for it. */
  let checkArgs: ArgsCheck | undefined;
  const { gate, onEvent, measure, maxOutputBytes, tools, toolsKnown = async () => {} } = options;
  const find = options.find ?? ((name: string, client?: McpClient) => tools(client).find((tool) => tool.name === name));
  const deps: ToolServerDeps = {
    ...{ tools, find, toolsKnown, gate, onEvent, measure, maxOutputBytes, clean: options.clean, foreign: options.foreign },
    check(tool, args) {
      if (checkArgs) return checkArgs(tool, args);
      return import('./sdk-server.ts').then((serve) => {
        checkArgs = serve.checkArgs;
        return serve.checkArgs(tool, args);
      });
    },
    onRevoke(toolServer) {
      byKey.delete(toolServer.key);
      revoked.add(toolServer.key);
      served.delete(toolServer);
    },
  };
  function newToolServer(transport: McpTransport, key: string, toolSession: ToolSession): ToolServer {
    const toolServer = new ToolServer(transport, key, toolSession, deps);
    byKey.set(key, toolServer);
    return toolServer;
  }
  const listeners = createListeners<ToolServer>(options.shim, {
    admit,
    serveSocket: (toolServer, socket) =>
      void import('./sdk-server.ts')
        .then(({ serveStream }) => {
          if (!toolServer.isRevoked) socket.on('close', keep(toolServer, serveStream(toolServer, socket, info)));
        })
        .catch((error: unknown) => {
          unserved(error);
          socket.destroy(); // the shim exits with it, and the agent sees its server exit
        }),
    serveHttp(toolServer) {
      const handler =
        handlers.get(toolServer) ?? import('./sdk-server.ts').then(({ serveHttp }) => handlerOf(toolServer, serveHttp(toolServer, info)));
      if (!handlers.has(toolServer)) handler.catch(unserved);
      handlers.set(toolServer, handler);
      return handler;
    },
  });
  function handlerOf(toolServer: ToolServer, served: Served & { readonly handle: HttpHandler }): HttpHandler {
    keep(toolServer, served);
    return served.handle;
  }

  return {
    attach(transport, toolSession, done, hasUnixSockets = true) {
      if (transport === 'acp') {
        const toolServer = newToolServer('acp', `${OUR_SERVER}${randomBytes(16).toString('base64url')}`, toolSession);
        return done({ toolServer, entry: (name) => JSON.stringify({ type: 'acp', name, serverId: toolServer.key }) });
      }
      listeners.open(transport === 'stdio' && !hasUnixSockets ? 'tcp' : transport, (write) => {
        if (write instanceof Error) return done(write);
        const token = newToken();
        done({ toolServer: newToolServer(transport, tokenKey(token), toolSession), entry: (name) => write(name, token) });
      });
    },
    pipe(toolServer) {
      const pipe = createPipe();
      void import('./sdk-server.ts')
        .then(({ serveTransport }) => {
          if (toolServer.isRevoked) void pipe.close();
          else keep(toolServer, serveTransport(toolServer, pipe, info, { isCancelled: pipe.isCancelled, canAsk: false }));
        })
        .catch((error: unknown) => pipe.refuse(unserved(error)));
      return pipe;
    },
    toolsChanged() {
      for (const all of served.values()) for (const one of all) one.toolsChanged();
    },
    close() {
      for (const toolServer of [...byKey.values()]) toolServer.revoke();
      listeners.close();
    },
  };
}
