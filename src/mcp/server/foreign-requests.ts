// The part of a tool server that configured servers stand behind: their resources and prompts, log messages and subscriptions.
import {
  CLIENT_CAPABILITIES_META_KEY,
  type GetPromptResult,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { fields } from '../../json-object.ts';
import { listenedResources } from '../bridge/watch-resources.ts';
import type { ServerSet } from '../gateway/server-set.ts';
import { needsInput } from './call-tool.ts';
import { type HostTool, type McpClient, type RunOutcome, ServerError, type ToolArgs } from './tool.ts';
import type { ToolServer } from './tool-server.ts';

type McpRequest = ServerContext['mcpReq'];

/** The client of one connection. In the 2026 era every request names its own. */
export type ConnectedClient = {
  of(request: McpRequest): McpClient;
  /** A client of the 2025 era, as far as it is known. */
  readonly now: McpClient;
  setLogLevel(level: string): void;
};

/** `canAsk`: requests reach the client over its transport. */
export function connectedClient(server: Server, canAsk: boolean): ConnectedClient {
  let logLevel: string | undefined;
  const legacy = (): McpClient => ({ era: '2025', capabilities: (canAsk && server.getClientCapabilities()) || {}, logLevel });
  return {
    get now() {
      return legacy();
    },
    of({ envelope }) {
      if (envelope === undefined) return legacy();
      const { [LOG_LEVEL_META_KEY]: level, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = fields(envelope);
      return { era: '2026', capabilities: fields(capabilities), logLevel: level === undefined ? undefined : String(level) };
    },
    setLogLevel(level) {
      logLevel = level;
    },
  };
}

/** A server's own error keeps its code. */
export async function passErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ServerError ? new ProtocolError(error.code, error.message, error.data) : error;
  }
}

/** Adds the requests. Returns a function for the end of the connection. */
export function addForeignRequests(
  server: Server,
  toolServer: ToolServer,
  foreign: (client: McpClient) => ServerSet,
  client: ConnectedClient,
): () => void {
  const watched = new Map<string, () => void>();
  const known = async (request: McpRequest): Promise<ServerSet> => {
    const now = client.of(request);
    const set = foreign(now);
    if (now.logLevel !== undefined) set.setLogLevel(now.logLevel);
    await toolServer.toolsKnown(now);
    return set;
  };
  const found = <T>(uri: string, one: T | undefined): T => {
    if (one === undefined) throw new ResourceNotFoundError(uri, `There is no resource ${uri}`);
    return one;
  };
  server.setRequestHandler('prompts/list', async (_, { mcpReq }) => ({ prompts: [...(await known(mcpReq)).content.prompts()] }));
  server.setRequestHandler('resources/list', async (_, { mcpReq }) => ({ resources: [...(await known(mcpReq)).content.resources()] }));
  server.setRequestHandler('resources/templates/list', async (_, { mcpReq }) => ({
    resourceTemplates: [...(await known(mcpReq)).content.templates()],
  }));
  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq }) => {
    const { ref } = params;
    const { content } = await known(mcpReq);
    const { values, ...more } = await content.complete(ref.type === 'ref/prompt' ? ref.name : ref.uri, params, mcpReq.signal);
    return { completion: { ...more, values: values.slice(0, 100) } };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => {
    const reading = found(uri, (await known(mcpReq)).content.reading(uri));
    return (await read(toolServer, reading, { uri }, client, mcpReq)) as ReadResourceResult;
  });
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    const prompting = (await known(mcpReq)).content.prompting(name);
    if (!prompting) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${name}`);
    return (await read(toolServer, prompting, { name, arguments: args }, client, mcpReq)) as GetPromptResult;
  });
  server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
    client.setLogLevel(level);
    foreign(client.now).setLogLevel(level);
    return {};
  });
  server.setNotificationHandler('notifications/roots/list_changed', () => foreign(client.now).rootsChanged());
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, { mcpReq }) => {
    const { content } = await known(mcpReq);
    const updated = () => void server.sendResourceUpdated({ uri }).catch(() => {}); // the client may have disconnected
    const remove = await found(uri, content.watch(uri, updated));
    watched.get(uri)?.();
    watched.set(uri, remove);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.get(uri)?.();
    watched.delete(uri);
    return {};
  });
  return () => {
    for (const remove of watched.values()) remove();
    watched.clear();
  };
}

/** Reports updates of the resources that a `subscriptions/listen` request names, until `signal` is aborted. */
export function watchListened(toolServer: ToolServer, body: unknown, signal: AbortSignal, onUpdate: (uri: string) => void): void {
  const uris = toolServer.foreign ? listenedResources(body) : [];
  if (uris.length === 0 || !toolServer.foreign) return;
  const meta = fields(fields(fields(body).params)._meta);
  const client: McpClient = { era: '2026', capabilities: fields(meta[CLIENT_CAPABILITIES_META_KEY]), logLevel: undefined };
  const { content } = toolServer.foreign(client);
  void toolServer.toolsKnown(client).then(async () => {
    for (const uri of uris) {
      const remove = await content.watch(uri, () => onUpdate(uri))?.catch(() => undefined); // a server without subscriptions
      if (signal.aborted) remove?.();
      else if (remove) signal.addEventListener('abort', remove, { once: true });
    }
  });
}

async function read(
  toolServer: ToolServer,
  tool: HostTool,
  args: ToolArgs,
  client: ConnectedClient,
  request: McpRequest,
): Promise<unknown> {
  const abort = new AbortController();
  request.signal.addEventListener('abort', () => abort.abort(), { once: true });
  const mcp = { client: client.of(request), request };
  const outcome: RunOutcome = await passErrors(toolServer.run(tool, args, { abort, progress: () => {}, mcp }));
  if (needsInput(outcome)) return outcome;
  const { isError, structuredContent, content } = outcome;
  if (!isError && structuredContent !== undefined) return structuredContent;
  const [first] = content;
  throw new ProtocolError(INTERNAL_ERROR, first?.type === 'text' ? first.text : 'The server did not answer');
}
