// Agents of the 2026 era at a bridge over HTTP: no handshake, and every request is complete in itself. The server behind needs a
// connection, so all requests share one (forward.ts).
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  METHOD_NOT_FOUND,
  type Result,
  Server,
  type ServerContext,
  type SubscriptionFilter,
} from '@modelcontextprotocol/server';
import { refusal } from '../server/http-sessions.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { createResourceWatch, listenedResources } from './watch-resources.ts';

const SERVER_GONE = -32000;
const HANDSHAKE_FIRST = -32000;

type Params = Readonly<Record<string, unknown>>;
type Behind = { readonly client: Client; readonly forwarder: Forwarder };

/** Serves requests without a connection. `connect` opens the one connection to the server. */
export function statelessHttp(server: string, connect: (downstream: Transport) => void): HttpHandler {
  const resources = createResourceWatch();
  let behind: Promise<Behind> | undefined;

  async function open(capabilities: Params): Promise<Behind> {
    const [ours, downstream] = InMemoryTransport.createLinkedPair();
    connect(downstream);
    // A server of the 2026 era gets the agent's requests as they are; any other one is connected to in the 2025 era.
    const client = new Client({ name: 'acp-switchboard', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } });
    client.onclose = () => {
      behind = undefined;
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => notify.toolsChanged());
    client.setNotificationHandler('notifications/prompts/list_changed', () => notify.promptsChanged());
    client.setNotificationHandler('notifications/resources/list_changed', () => notify.resourcesChanged());
    await client.connect(ours);
    resources.connected(client);
    // Not awaited: the server may take its time to acknowledge it.
    if (client.getNegotiatedProtocolVersion()?.startsWith('2026')) client.listen(changesOf(client)).catch(() => {});
    return { client, forwarder: createForwarder(client, ours) };
  }
  function connected(body: unknown): Promise<Behind> {
    const { _meta } = (body as { params?: { _meta?: Params } }).params ?? {};
    behind ??= open((_meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Params).catch((error: unknown) => {
      behind = undefined;
      throw error;
    });
    return behind;
  }
  function serverBefore({ client, forwarder }: Behind): Server {
    const instructions = client.getInstructions();
    const before = new Server(client.getServerVersion() ?? { name: server, version: '0' }, {
      capabilities: client.getServerCapabilities() ?? {},
      ...(instructions !== undefined && { instructions }),
    });
    before.fallbackRequestHandler = ({ method, params }, { mcpReq }: ServerContext): Promise<Result> =>
      forwarder.forward({ method, params: plain(params) }, { owner: server, mcpReq, signal: mcpReq.signal });
    return before;
  }
  const { fetch, notify } = createMcpHandler(async () => serverBefore(await (behind as Promise<Behind>)), { legacy: 'reject' });

  return async (request, parsedBody) => {
    if (request.method !== 'POST') return refusal(405, HANDSHAKE_FIRST, 'Method not allowed before initialize', parsedBody);
    if (await isLegacyRequest(request, parsedBody)) return refusal(400, HANDSHAKE_FIRST, 'The first request is initialize', parsedBody);
    try {
      await connected(parsedBody);
    } catch (error) {
      return refusal(502, SERVER_GONE, (error as Error).message, parsedBody);
    }
    for (const uri of listenedResources(parsedBody))
      void resources
        .add(uri, () => notify.resourceUpdated(uri))
        .then(
          (remove) => request.signal.addEventListener('abort', remove, { once: true }),
          () => {}, // the server has no subscriptions
        );
    return notFound(await fetch(request, { parsedBody }));
  };
}

/** The changes that the server announces. */
function changesOf(client: Client): SubscriptionFilter {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
  return {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(prompts?.listChanged === true && { promptsListChanged: true }),
    ...(resources?.listChanged === true && { resourcesListChanged: true }),
  };
}

/** The server decides which methods there are, so the SDK does not know that this error has a status of its own in the 2026 era. */
async function notFound(response: Response): Promise<Response> {
  if (response.status !== 200 || !response.headers.get('content-type')?.startsWith('application/json')) return response;
  const body = await response.text();
  const { error } = JSON.parse(body) as { readonly error?: { readonly code?: unknown } };
  return new Response(body, { status: error?.code === METHOD_NOT_FOUND ? 404 : 200, headers: response.headers });
}

/** Without the fields that the forwarder reads from the request's context. */
function plain({ _meta: _, inputResponses: __, requestState: ___, ...params }: Params = {}): Params {
  return params;
}
