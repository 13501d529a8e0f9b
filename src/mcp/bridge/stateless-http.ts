// Agents of the 2026 era at a bridge over HTTP: no handshake, and every request is complete in itself. The server behind needs a
// connection, so all requests share one in the 2025 era. If the server sends a request meanwhile, the agent receives it as its answer and
// calls again with the result (paused-turns.ts).
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  isLegacyRequest,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { createSerialQueue } from '../../serial-queue.ts';
import { createPausedTurns } from '../agents-as-tools/paused-turns.ts';
import { refusal } from '../server/http-sessions.ts';
import type { HttpHandler } from '../transports/http-listener.ts';

const SERVER_GONE = -32000;
const HANDSHAKE_FIRST = -32000;
/** Tools may take any time, as without the bridge; the agent has its own limit. */
const REQUEST_MS = 2 ** 31 - 1;
/** The user may be away for a while. */
const ANSWER_MS = 30 * 60_000;
const META = 'io.modelcontextprotocol/';
/** Requests that may be answered with a request for input. */
const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

type Params = Readonly<Record<string, unknown>>;
type ServerRequest = { readonly method: string; readonly params: Params | undefined };
type Request = { readonly method: string; readonly params: Params };
/** A request in flight at the server, which receives the server's messages. */
type InFlight = { readonly ask: ((question: ServerRequest) => Promise<Result>) | undefined; notify(method: string, params: Params): void };

/** Serves requests without a connection. `connect` opens the one connection to the server. */
export function statelessHttp(server: string, connect: (front: Transport) => void): HttpHandler {
  const inFlight = new Set<InFlight>();
  const paused = createPausedTurns<Result, ServerRequest, Result>(ANSWER_MS, () => ({ action: 'cancel' }));
  const steps = new Map<unknown, (step: Params) => void>();
  let nextToken = 0;
  let behind: Promise<Client> | undefined;

  /** A server does not name the request it refers to; if only one is in flight, it is that one. */
  const only = (): InFlight | undefined => (inFlight.size === 1 ? [...inFlight][0] : undefined);

  async function open(capabilities: Params): Promise<Client> {
    const [ours, front] = InMemoryTransport.createLinkedPair();
    connect(front);
    const client = new Client({ name: 'acp-switchboard', version: '1' }, { capabilities });
    client.onclose = () => {
      behind = undefined;
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => notify.toolsChanged());
    client.setNotificationHandler('notifications/prompts/list_changed', () => notify.promptsChanged());
    client.setNotificationHandler('notifications/resources/list_changed', () => notify.resourcesChanged());
    client.fallbackNotificationHandler = async ({ method, params = {} }) => only()?.notify(method, params);
    client.fallbackRequestHandler = ({ method, params }) => {
      const ask = only()?.ask;
      return ask
        ? ask({ method, params })
        : Promise.reject(new Error('the server does not name the request it refers to, so the user was not asked'));
    };
    await client.connect(ours);
    // Reads from the wire: the SDK drops the progress of an answered request, and both may arrive together.
    const take = ours.onmessage;
    ours.onmessage = (message, extra) => {
      const isStep = 'method' in message && message.method === 'notifications/progress';
      if (isStep) steps.get(message.params?.progressToken)?.(message.params as Params);
      else take?.(message, extra);
    };
    return client;
  }
  function connected(body: unknown): Promise<Client> {
    const { _meta } = (body as { params?: { _meta?: Params } }).params ?? {};
    behind ??= open((_meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Params).catch((error: unknown) => {
      behind = undefined;
      throw error;
    });
    return behind;
  }
  async function passOn(client: Client, { method, params }: Request, about: Notifier & Pick<InFlight, 'ask'>): Promise<Result> {
    const { signal, notify, progressToken, flushed, ask } = about;
    const one: InFlight = { ask, notify };
    const token = `step-${nextToken++}`;
    const meta = { ...(params._meta as Params | undefined), progressToken: token };
    inFlight.add(one);
    if (progressToken !== undefined) steps.set(token, (step) => notify('notifications/progress', { ...step, progressToken }));
    try {
      const request = { method, params: { ...params, ...(progressToken !== undefined && { _meta: meta }) } };
      const result = (await client.request(request, AS_IT_IS, { signal, timeout: REQUEST_MS })) as Result;
      await flushed();
      return result;
    } finally {
      inFlight.delete(one);
      steps.delete(token);
    }
  }
  async function answer(client: Client, request: Request, { mcpReq }: ServerContext): Promise<Result> {
    const listening = notifierOf(mcpReq);
    if (!MAY_ASK.has(request.method)) return passOn(client, request, { ...listening, ask: undefined });
    const state = mcpReq.requestState<string>();
    const listener = { signal: mcpReq.signal, progress: () => {} };
    const step =
      state === undefined
        ? await paused.begin(({ signal, ask }) => passOn(client, request, { ...listening, signal, ask }), listener)
        : await paused.resume(state, () => mcpReq.inputResponses?.question as Result | undefined, listener);
    if (!step) throw new Error('The request that was waiting for this answer is over; send it again');
    if ('done' in step) return step.done;
    const { id, request: needed } = step.paused;
    return inputRequired({ inputRequests: { question: needed as never }, requestState: id }) as Result;
  }
  function serverBefore(client: Client): Server {
    const instructions = client.getInstructions();
    const before = new Server(client.getServerVersion() ?? { name: server, version: '0' }, {
      capabilities: client.getServerCapabilities() ?? {},
      ...(instructions !== undefined && { instructions }),
    });
    before.fallbackRequestHandler = ({ method, params }, context) => answer(client, { method, params: plain(params) }, context);
    return before;
  }
  const { fetch, notify } = createMcpHandler(async () => serverBefore(await (behind as Promise<Client>)), { legacy: 'reject' });

  return async (request, parsedBody) => {
    if (request.method !== 'POST') return refusal(405, HANDSHAKE_FIRST, 'Method not allowed before initialize', parsedBody);
    if (await isLegacyRequest(request, parsedBody)) return refusal(400, HANDSHAKE_FIRST, 'The first request is initialize', parsedBody);
    try {
      await connected(parsedBody);
    } catch (error) {
      return refusal(502, SERVER_GONE, (error as Error).message, parsedBody);
    }
    return fetch(request, { parsedBody });
  };
}

/** Accepts any answer of the server. */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'acp-switchboard', validate: (value: unknown) => ({ value }) },
} as const;

/** Removes fields that only the 2026 era has. */
function plain({ _meta, inputResponses: _, requestState: __, ...params }: Params = {}): Params {
  const meta = Object.entries((_meta ?? {}) as Params).filter(([key]) => !key.startsWith(META) && key !== 'progressToken');
  return { ...params, ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) };
}

/** Sends messages about a request in order, all of them before its answer. */
type Notifier = {
  readonly signal: AbortSignal;
  readonly progressToken: unknown;
  notify(method: string, params: Params): void;
  flushed(): Promise<void>;
};

function notifierOf({ _meta, notify, signal }: ServerContext['mcpReq']): Notifier {
  const sent = createSerialQueue();
  return {
    signal,
    progressToken: _meta?.progressToken,
    notify(method, params) {
      void sent.run(() => notify({ method, params } as never)).catch(() => {}); // the client may have disconnected
    },
    flushed: sent.idle,
  };
}
