// The SDK's side of a lease, for both eras of MCP: the 2025 handshake that agents in the field speak, and 2026-07-28. Loaded when an agent first connects.
import type { Duplex } from 'node:stream';
import { createMcpHandler, fromJsonSchema, Server, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { HttpHandler } from '../transports/http-listener.ts';
import { streamTransport } from '../transports/line-transport.ts';
import { failed } from './call-tool.ts';
import { httpSessions } from './http-sessions.ts';
import { answerPlainCall, withQuickCalls } from './plain-calls.ts';
import { progressOf } from './progress.ts';
import type { HostTool } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

export type ServerInfo = { readonly name: string; readonly title: string; readonly version: string };

const INSTRUCTIONS =
  "Tools lent by the user's editor. Files go through the editor, so what it has not saved yet is seen too; paths are absolute or relative to the session's directory.";

export type Served = { close(): Promise<void>; toolsChanged(): void };

/** Serves a lease over a stream of lines. */
export function serveStream(toolServer: ToolServer, stream: Duplex, info: ServerInfo): Served {
  const served = serveTransport(toolServer, streamTransport(stream), info);
  stream.resume(); // it was kept still until somebody listened
  return served;
}

/** `isTakenBack` is for a transport that knows sooner than the SDK what nobody waits for. */
export function serveTransport(
  toolServer: ToolServer,
  transport: Transport,
  info: ServerInfo,
  isTakenBack?: (id: unknown) => boolean,
): Served {
  const servers = new Set<Server>();
  const handle = serveStdio(
    () => {
      const server = serverOf(toolServer, info, isTakenBack);
      servers.add(server);
      return server;
    },
    { transport: withQuickCalls(transport, toolServer) },
  );
  return {
    close: () => handle.close(),
    toolsChanged() {
      for (const server of servers) server.sendToolListChanged().catch(() => {}); // whoever has gone need not know
    },
  };
}

/** Serves a lease over HTTP: connections to those who shake hands, and each request by itself to all others. */
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

function serverOf(toolServer: ToolServer, info: ServerInfo, isTakenBack: (id: unknown) => boolean = () => false): Server {
  toolServer.reached('connected');
  const server = new Server(info, { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', async () => {
    await toolServer.toolsKnown();
    toolServer.reached('listed');
    return { tools: toolServer.tools().map(described) };
  });
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (isTakenBack(mcpReq.id)) return failed('The call was taken back');
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

/** Whether arguments fit the schema that the agent was shown. */
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
