// Agents of the 2026 era at a bridge over HTTP: there is no handshake, and every request is complete in itself. The server behind it knows connections, so
// there is one for all of them, in the words of the 2025 era. What the server asks in the middle of a request is answered with a question there, and the
// agent comes again with the answer (paused-turns.ts).
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
/** Tools may take as long as they like, as they may without us; the agent has a limit of its own. */
const REQUEST_MS = 2 ** 31 - 1;
/** A person may be away for a while. */
const ANSWER_MS = 30 * 60_000;
const META = 'io.modelcontextprotocol/';
/** The requests that may be answered with a question. */
const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

type Params = Readonly<Record<string, unknown>>;
type Question = { readonly method: string; readonly params: Params | undefined };
type Request = { readonly method: string; readonly params: Params };
/** A request under way at the server: whom what it says meanwhile is for. */
type UnderWay = { readonly ask: ((question: Question) => Promise<Result>) | undefined; tell(method: string, params: Params): void };

/** Requests that belong to no connection. `connect` opens one to the server, whose other end is here. */
export function modernFront(server: string, connect: (front: Transport) => void): HttpHandler {
  const underWay = new Set<UnderWay>();
  const paused = createPausedTurns<Result, Question, Result>(ANSWER_MS, () => ({ action: 'cancel' }));
  const steps = new Map<unknown, (step: Params) => void>();
  let nextToken = 0;
  let behind: Promise<Client> | undefined;

  /** A server does not say which request it speaks of; where there is one, it is that. */
  const only = (): UnderWay | undefined => (underWay.size === 1 ? [...underWay][0] : undefined);

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
    client.fallbackNotificationHandler = async ({ method, params = {} }) => only()?.tell(method, params);
    client.fallbackRequestHandler = ({ method, params }) => {
      const ask = only()?.ask;
      return ask ? ask({ method, params }) : Promise.reject(new Error('whose question this is cannot be told, so nobody was asked'));
    };
    await client.connect(ours);
    // Read off the wire: the SDK drops the progress of a request that it has heard the answer to, and both may come at once.
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
  async function passOn(client: Client, { method, params }: Request, about: Listening & Pick<UnderWay, 'ask'>): Promise<Result> {
    const { signal, tell, progressToken, flushed, ask } = about;
    const one: UnderWay = { ask, tell };
    const token = `step-${nextToken++}`;
    const meta = { ...(params._meta as Params | undefined), progressToken: token };
    underWay.add(one);
    if (progressToken !== undefined) steps.set(token, (step) => tell('notifications/progress', { ...step, progressToken }));
    try {
      const asked = { method, params: { ...params, ...(progressToken !== undefined && { _meta: meta }) } };
      const result = (await client.request(asked, AS_IT_IS, { signal, timeout: REQUEST_MS })) as Result;
      await flushed();
      return result;
    } finally {
      underWay.delete(one);
      steps.delete(token);
    }
  }
  async function answer(client: Client, request: Request, { mcpReq }: ServerContext): Promise<Result> {
    const listening = listeningOf(mcpReq);
    if (!MAY_ASK.has(request.method)) return passOn(client, request, { ...listening, ask: undefined });
    const state = mcpReq.requestState<string>();
    const listener = { signal: mcpReq.signal, progress: () => {} };
    const step =
      state === undefined
        ? await paused.begin(({ signal, ask }) => passOn(client, request, { ...listening, signal, ask }), listener)
        : await paused.resume(state, () => mcpReq.inputResponses?.question as Result | undefined, listener);
    if (!step) throw new Error('The request that was waiting for this answer is over; send it again');
    if ('done' in step) return step.done;
    const { id, asked } = step.paused;
    return inputRequired({ inputRequests: { question: asked as never }, requestState: id }) as Result;
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

/** Whatever the server answers is what the agent gets. */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'acp-switchboard', validate: (value: unknown) => ({ value }) },
} as const;

/** Without what only the 2026 era has. */
function plain({ _meta, inputResponses: _, requestState: __, ...params }: Params = {}): Params {
  const meta = Object.entries((_meta ?? {}) as Params).filter(([key]) => !key.startsWith(META) && key !== 'progressToken');
  return { ...params, ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) };
}

/** Whom what is said of a request goes to, all of it before the answer. */
type Listening = {
  readonly signal: AbortSignal;
  readonly progressToken: unknown;
  tell(method: string, params: Params): void;
  flushed(): Promise<void>;
};

function listeningOf({ _meta, notify, signal }: ServerContext['mcpReq']): Listening {
  const sent = createSerialQueue();
  return {
    signal,
    progressToken: _meta?.progressToken,
    tell(method, params) {
      void sent.run(() => notify({ method, params } as never)).catch(() => {}); // the client may be gone
    },
    flushed: sent.idle,
  };
}
