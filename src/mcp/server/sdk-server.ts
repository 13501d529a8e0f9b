// The SDK's side of a tool server, for both eras of MCP: the 2025 handshake that most agents speak, and 2026-07-28. Loaded when an agent
// first connects.
import type { Duplex } from 'node:stream';
import { createMcpHandler, fromJsonSchema, Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { HttpHandler } from '../transports/http-listener.ts';
import { streamTransport } from '../transports/line-transport.ts';
import { failed } from './call-tool.ts';
import { httpSessions } from './http-sessions.ts';
import { answerPlainCall, withPlainCalls } from './plain-calls.ts';
import { progressOf } from './progress.ts';
import type { HostTool } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

export type ServerInfo = { readonly name: string; readonly title: string; readonly version: string };

const INSTRUCTIONS =
  "Tools of the user's editor. Files go through the editor, so unsaved changes are included; paths are absolute or relative to the session's directory.";

export type Served = { close(): Promise<void>; toolsChanged(): void };

/** Serves tools over a stream of lines. */
export function serveStream(toolServer: ToolServer, stream: Duplex, info: ServerInfo): Served {
  const served = serveTransport(toolServer, streamTransport(stream), info);
  stream.resume(); // the stream was paused until there was a listener
  return served;
}

/** `isCancelled` is for a transport that learns of a cancellation before the SDK does. */
export function serveTransport(
  toolServer: ToolServer,
  transport: Transport,
  info: ServerInfo,
  isCancelled?: (id: unknown) => boolean,
): Served {
  const servers = new Set<Server>();
  const handle = serveStdio(
    () => {
      const server = serverOf(toolServer, info, isCancelled);
      servers.add(server);
      return server;
    },
    { transport: withPlainCalls(transport, toolServer) },
  );
  return {
    close: () => handle.close(),
    toolsChanged() {
      for (const server of servers) server.sendToolListChanged().catch(() => {}); // a client that disconnected does not need it
    },
  };
}

/** Serves tools over HTTP: connections for clients with a handshake, single requests for all others. */
export function serveHttp(toolServer: ToolServer, info: ServerInfo): Served & { readonly handle: HttpHandler } {
  const servers = new Set<Server>();
  const { fetch, close, notify } = createMcpHandler(() => serverOf(toolServer, info));
  const sessions = httpSessions(
    (front) => {
      const server = serverOf(toolServer, info);
      servers.add(server);
      server.onclose = () => servers.delete(server);
      void server.connect(front);
    },
    (request, parsedBody) => fetch(request, parsedBody === undefined ? {} : { parsedBody }),
    (call, abort) => answerPlainCall(call, toolServer, abort),
  );
  return {
    handle: sessions.handle,
    async close() {
      sessions.close();
      await close();
    },
    toolsChanged() {
      notify.toolsChanged();
      for (const server of servers) server.sendToolListChanged().catch(() => {});
    },
  };
}

function serverOf(toolServer: ToolServer, info: ServerInfo, isCancelled: (id: unknown) => boolean = () => false): Server {
  toolServer.reached('connected');
  const server = new Server(info, { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', async () => {
    await toolServer.toolsKnown();
    toolServer.reached('listed');
    return { tools: toolServer.tools().map(described) };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (isCancelled(mcpReq.id)) return failed('The call was cancelled');
    const { progress, flushed } = progressOf(mcpReq);
    const abort = new AbortController();
    mcpReq.signal.addEventListener('abort', () => abort.abort(), { once: true });
    const outcome = await toolServer.call(params.name, params.arguments ?? {}, { abort, progress });
    await flushed();
    return outcome;
  });
  return server;
}

type Described = { name: string; title: string; description: string; inputSchema: { type: 'object'; [keyword: string]: unknown } } & {
  annotations: { readOnlyHint: boolean; destructiveHint: boolean };
};

function described({ name, title, description, inputSchema, effect }: HostTool): Described {
  const isHarmless = effect === 'read' || effect === 'ask';
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: isHarmless, destructiveHint: !isHarmless },
  };
}

const checks = new WeakMap<HostTool, ReturnType<typeof fromJsonSchema>>();

/** Validates arguments against the schema that the agent saw. */
export function checkArgs(tool: HostTool, args: unknown): string | undefined | Promise<string | undefined> {
  const schema = checks.get(tool) ?? fromJsonSchema(tool.inputSchema);
  checks.set(tool, schema);
  const found = schema['~standard'].validate(args);
  return found instanceof Promise ? found.then(wordsOf) : wordsOf(found);
}

type Found = Awaited<ReturnType<ReturnType<typeof fromJsonSchema>['~standard']['validate']>>;

function wordsOf({ issues }: Found): string | undefined {
  return issues?.map(({ message, path = [] }) => [...path.map(String), message].join(' ')).join('; ');
}
