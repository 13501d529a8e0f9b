// Forwards requests over one connection to a server, for clients of either era. A server of the 2026 era answers that it needs input, and that
// answer passes unchanged. A server of the 2025 era sends a request of its own: the client receives it as the answer to its call, and calls
// again with the result (paused-turns.ts).
import type { Client, Transport } from '@modelcontextprotocol/client';
import { inputRequired, ProtocolError, type Result, type ServerContext } from '@modelcontextprotocol/server';
import { createSerialQueue } from '../../serial-queue.ts';
import { createPausedTurns } from '../server/paused-turns.ts';

type Params = Readonly<Record<string, unknown>>;
export type Request = { readonly method: string; readonly params: Params };
/** A request or a notification of the server. */
export type ServerMessage = { readonly method: string; readonly params?: Params | undefined };
type McpRequest = ServerContext['mcpReq'];

/** A request in flight at the server, which receives the server's messages. */
export type InFlight = {
  /** Requests with the same owner may receive each other's messages. */
  readonly owner: string;
  /** Undefined if its client cannot be asked. */
  readonly ask: ((request: ServerMessage) => Promise<Result>) | undefined;
  notify(message: ServerMessage): void;
};

export type ForwardCaller = {
  readonly owner: string;
  readonly mcpReq: McpRequest;
  readonly signal: AbortSignal;
  /** Answers a request without the client; undefined if it cannot. */
  readonly answer?: ((request: ServerMessage) => Promise<Result> | undefined) | undefined;
  /** Whether the client wants this log message. */
  readonly wants?: ((message: ServerMessage) => boolean) | undefined;
};

export type Forwarder = {
  forward(request: Request, caller: ForwardCaller): Promise<Result>;
  /** A request that is sent in another way. Returns a function for its end. */
  track(one: InFlight): () => void;
};

/** Tools may take any time, as without us; the agent has its own limit. */
const REQUEST_MS = 2 ** 31 - 1;
/** The user may be away for a while. */
const ANSWER_MS = 30 * 60_000;
const META = 'io.modelcontextprotocol/';
const INTERNAL_ERROR = -32603;
const PROGRESS = 'notifications/progress';
/** Requests that may be answered with a request for input. */
const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** `client` is connected over `transport`. Requests and notifications without a handler of their own go to the requests in flight. */
export function createForwarder(client: Client, transport: Transport): Forwarder {
  const inFlight = new Set<InFlight>();
  const paused = createPausedTurns<Result, ServerMessage, Result, ServerMessage>(ANSWER_MS, () => ({ action: 'cancel' }));
  const steps = new Map<unknown, (step: Params) => void>();
  let nextToken = 0;
  const isModern = client.getNegotiatedProtocolVersion()?.startsWith('2026') === true;

  /** A server does not name the request it refers to. Among those of one owner, the latest will do. */
  function receiver(canBeAsked: boolean): InFlight | 'none' | 'several' {
    const [first, ...others] = inFlight;
    if (!first) return 'none';
    if (others.some(({ owner }) => owner !== first.owner)) return 'several';
    return [...inFlight].findLast(({ ask }) => !canBeAsked || ask !== undefined) ?? 'none';
  }
  client.fallbackNotificationHandler = async (message) => {
    const found = receiver(false);
    if (typeof found === 'object') found.notify(message);
  };
  client.fallbackRequestHandler = ({ method, params }) => {
    const found = receiver(true);
    if (typeof found === 'object' && found.ask) return found.ask({ method, params });
    const why =
      found === 'several'
        ? 'several sessions call this server, and it does not name the call it refers to'
        : 'no call is in flight whose client takes it';
    return Promise.reject(new ProtocolError(INTERNAL_ERROR, `${method} was declined: ${why}`));
  };
  // Reads from the wire: the SDK drops the progress of an answered request, and both may arrive together.
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const isStep = 'method' in message && message.method === PROGRESS;
    const found = isStep ? steps.get(message.params?.progressToken) : undefined;
    if (isStep && found) found(message.params as Params);
    else take?.(message, extra);
  };

  async function send({ method, params }: Request, one: InFlight, signal: AbortSignal, wantsProgress: boolean): Promise<Result> {
    const token = `step-${nextToken++}`;
    inFlight.add(one);
    if (wantsProgress) steps.set(token, (step) => one.notify({ method: PROGRESS, params: step }));
    const _meta = { ...(params._meta as Params | undefined), ...(wantsProgress && { progressToken: token }) };
    const given = { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) };
    try {
      const options = { signal, timeout: REQUEST_MS, allowInputRequired: true };
      return (await client.request({ method, params: given }, AS_IT_IS, options)) as Result;
    } finally {
      inFlight.delete(one);
      steps.delete(token);
    }
  }
  /** The whole request, with the fields that the SDK has taken out of it. */
  function whole({ method, params }: Request, { inputResponses, requestState, envelope, _meta }: McpRequest): Request {
    const state = requestState<string>();
    return {
      method,
      params: {
        ...params,
        ...(inputResponses && { inputResponses }),
        ...(state !== undefined && { requestState: state }),
        _meta: { ...(params._meta as Params | undefined), ...withoutToken(_meta), ...envelope },
      },
    };
  }
  async function resumable(request: Request, caller: ForwardCaller, { signal, notify }: Notifier): Promise<Result> {
    const { mcpReq, owner, answer } = caller;
    const wantsProgress = mcpReq._meta?.progressToken !== undefined;
    const state = mcpReq.requestState<string>();
    const listener = { signal, progress: notify };
    const step =
      state === undefined
        ? await paused.begin((turn) => {
            const ask = (message: ServerMessage) => answer?.(message) ?? turn.ask(message);
            return send(request, { owner, ask, notify: turn.progress }, turn.signal, wantsProgress);
          }, listener)
        : await paused.resume(state, () => mcpReq.inputResponses?.question as Result | undefined, listener);
    if (!step) throw new ProtocolError(-32602, 'The request that was waiting for this answer is over; send it again');
    if ('done' in step) return step.done;
    const { id, request: needed } = step.paused;
    return inputRequired({ inputRequests: { question: needed as never }, requestState: id }) as Result;
  }

  return {
    async forward(request, caller) {
      const { mcpReq, owner, answer } = caller;
      const notifier = notifierOf(caller);
      const wantsProgress = mcpReq._meta?.progressToken !== undefined;
      const meta = withoutToken(mcpReq._meta);
      const own = request.params._meta as Params | undefined;
      const plain = Object.keys(meta).length === 0 ? request : { ...request, params: { ...request.params, _meta: { ...own, ...meta } } };
      const { notify, signal } = notifier;
      const result = await (isModern
        ? send(whole(request, mcpReq), { owner, ask: undefined, notify }, signal, wantsProgress)
        : MAY_ASK.has(request.method)
          ? resumable(plain, caller, notifier)
          : send(plain, { owner, ask: answer && ((message) => answer(message) ?? unasked(message)), notify }, signal, wantsProgress));
      await notifier.flushed();
      return result;
    },
    track(one) {
      inFlight.add(one);
      return () => void inFlight.delete(one);
    },
  };
}

const unasked = ({ method }: ServerMessage): Promise<never> =>
  Promise.reject(new ProtocolError(INTERNAL_ERROR, `${method} was declined: the client does not take it`));

/** Accepts any answer of the server. */
const AS_IT_IS = {
  '~standard': { version: 1, vendor: 'acp-switchboard', validate: (value: unknown) => ({ value }) },
} as const;

function withoutToken(meta: object | undefined): Params {
  return Object.fromEntries(Object.entries(meta ?? {}).filter(([key]) => !key.startsWith(META) && key !== 'progressToken'));
}

/** Sends messages about a request in order, all of them before its answer. */
type Notifier = { readonly signal: AbortSignal; notify(message: ServerMessage): void; flushed(): Promise<void> };

function notifierOf({ mcpReq: { _meta, notify }, signal, wants }: ForwardCaller): Notifier {
  const sent = createSerialQueue();
  const progressToken = _meta?.progressToken;
  return {
    signal,
    notify(message) {
      const { method, params } = message;
      if (method === PROGRESS ? progressToken === undefined : wants?.(message) === false) return;
      const given = method === PROGRESS ? { ...params, progressToken } : params;
      void sent.run(() => notify({ method, params: given } as never)).catch(() => {}); // the client may have disconnected
    },
    flushed: sent.idle,
  };
}
