// The SDK's side of a tool server, for both eras of MCP: the 2025 handshake that most agents speak, and 2026-07-28. Loaded when an agent
// first connects.
import type { Duplex } from 'node:stream';
import { createMcpHandler, fromJsonSchema, Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isPlain } from '../gateway/mcp-client.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { streamTransport } from '../transports/line-transport.ts';
import { failed } from './call-tool.ts';
import { addForeignRequests, type ConnectedClient, connectedClient, passErrors, watchListened } from './foreign-requests.ts';
import { httpSessions } from './http-sessions.ts';
import { answerPlainCall, type Message, withPlainCalls } from './plain-calls.ts';
import { portableTool } from './portable-tool.ts';
import { progressOf } from './progress.ts';
import type { HostTool } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

export type ServerInfo = { readonly name: string; readonly title: string; readonly version: string };

const INSTRUCTIONS =
  "Tools of the user's editor. Files go through the editor, so unsaved changes are included; paths are absolute or relative to the session's directory.";

/** How long a client of the 2026 era may keep a list; a change is announced. */
const LISTS = { ttlMs: 60_000, cacheScope: 'private' } as const;

/** The user may be away for a while. */
const ANSWER_MS = 30 * 60_000;

export type Served = { close(): Promise<void>; toolsChanged(): void };

/** Serves tools over a stream of lines. */
export function serveStream(toolServer: ToolServer, stream: Duplex, info: ServerInfo): Served {
  const served = serveTransport(toolServer, streamTransport(stream), info);
  stream.resume(); // the stream was paused until there was a listener
  return served;
}

export type TransportOptions = {
  /** For a transport that learns of a cancellation before the SDK does. */
  readonly isCancelled?: ((id: unknown) => boolean) | undefined;
  /** Whether requests reach the client over this transport; by default they do. */
  readonly canAsk?: boolean | undefined;
};

export function serveTransport(
  toolServer: ToolServer,
  transport: Transport,
  info: ServerInfo,
  { isCancelled, canAsk = true }: TransportOptions = {},
): Served {
  const fronts = new Set<Front>();
  const listening = new Map<unknown, AbortController>();
  /** A stream has no end of its own for a `subscriptions/listen` request: it is cancelled, or the connection ends. */
  const onMessage = ({ id, method, params }: Message) => {
    if (method === 'notifications/cancelled') return listening.get((params as { requestId?: unknown } | undefined)?.requestId)?.abort();
    if (method !== 'subscriptions/listen') return;
    const abort = new AbortController();
    listening.set(id, abort);
    watchListened(toolServer, { method, params }, abort.signal, (uri) => {
      for (const { server } of fronts) server.sendResourceUpdated({ uri }).catch(() => {});
    });
  };
  const onClose = () => {
    for (const abort of listening.values()) abort.abort();
    for (const { end } of fronts) end();
  };
  const handle = serveStdio(
    () => {
      const front = frontOf(toolServer, info, { isCancelled, canAsk });
      fronts.add(front);
      return front.server;
    },
    { transport: withPlainCalls(transport, toolServer, { canAsk, onMessage, onClose }) },
  );
  return {
    close: () => handle.close(),
    toolsChanged() {
      for (const { server } of fronts) announce(server, toolServer);
    },
  };
}

/** Serves tools over HTTP: connections for clients with a handshake, single requests for all others. */
export function serveHttp(toolServer: ToolServer, info: ServerInfo): Served & { readonly handle: HttpHandler } {
  const fronts = new Map<Transport, Front>();
  const { fetch, close, notify } = createMcpHandler(() => frontOf(toolServer, info).server);
  const sessions = httpSessions(
    (transport) => {
      const front = frontOf(toolServer, info);
      fronts.set(transport, front);
      front.server.onclose = () => {
        fronts.delete(transport);
        front.end();
      };
      void front.server.connect(transport);
    },
    (request, parsedBody) => {
      watchListened(toolServer, parsedBody, request.signal, (uri) => notify.resourceUpdated(uri));
      return fetch(request, parsedBody === undefined ? {} : { parsedBody });
    },
    {
      answerCall(call, abort, transport) {
        const client = fronts.get(transport)?.client.now;
        if (client && !isPlain(client) && !toolServer.hasOwn(call.name)) return undefined;
        return answerPlainCall(call, toolServer, abort);
      },
    },
  );
  return {
    handle: sessions.handle,
    async close() {
      sessions.close();
      await close();
    },
    toolsChanged() {
      notify.toolsChanged();
      if (toolServer.foreign) {
        notify.promptsChanged();
        notify.resourcesChanged();
      }
      for (const { server } of fronts.values()) announce(server, toolServer);
    },
  };
}

function announce(server: Server, toolServer: ToolServer): void {
  const failed = () => {}; // a client that disconnected does not need it
  server.sendToolListChanged().catch(failed);
  if (!toolServer.foreign) return;
  server.sendPromptListChanged().catch(failed);
  server.sendResourceListChanged().catch(failed);
}

/** The SDK's server for one connection, or for one request of the 2026 era. */
type Front = { readonly server: Server; readonly client: ConnectedClient; end(): void };

const FOREIGN = {
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} as const;

function frontOf(toolServer: ToolServer, info: ServerInfo, { isCancelled = () => false, canAsk = true }: TransportOptions = {}): Front {
  toolServer.reached('connected');
  const { foreign } = toolServer;
  const server = new Server(info, {
    capabilities: { tools: { listChanged: true }, ...(foreign && FOREIGN) },
    instructions: INSTRUCTIONS,
    cacheHints: { 'tools/list': LISTS, 'prompts/list': LISTS, 'resources/list': LISTS, 'resources/templates/list': LISTS },
    inputRequired: { roundTimeoutMs: ANSWER_MS },
  });
  const client = connectedClient(server, canAsk);
  server.setRequestHandler('tools/list', async (_, { mcpReq }) => {
    const now = client.of(mcpReq);
    await toolServer.toolsKnown(now);
    toolServer.reached('listed');
    return { tools: toolServer.tools(now).map(described) };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (isCancelled(mcpReq.id)) return failed('The call was cancelled');
    const { progress, flushed } = progressOf(mcpReq);
    const abort = new AbortController();
    mcpReq.signal.addEventListener('abort', () => abort.abort(), { once: true });
    const mcp = { client: client.of(mcpReq), request: mcpReq };
    if (foreign && mcp.client.logLevel !== undefined) foreign(mcp.client).setLogLevel(mcp.client.logLevel);
    const outcome = await passErrors(toolServer.call(params.name, params.arguments ?? {}, { abort, progress, mcp }));
    await flushed();
    return outcome;
  });
  const end = foreign ? addForeignRequests(server, toolServer, foreign, client) : () => {};
  return { server, client, end };
}

type Described = { name: string; title: string; description: string; inputSchema: { type: 'object'; [keyword: string]: unknown } } & {
  annotations: { readOnlyHint: boolean; destructiveHint: boolean };
};

function described(tool: HostTool): Described {
  const isHarmless = tool.effect === 'read' || tool.effect === 'ask';
  const { name, description, inputSchema } = portableTool(tool);
  return {
    name,
    title: tool.title,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { readOnlyHint: isHarmless, destructiveHint: !isHarmless },
  };
}

const checks = new WeakMap<HostTool, ReturnType<typeof fromJsonSchema>>();

/** Validates arguments against the tool's own schema, which may demand more than agents saw. */
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
