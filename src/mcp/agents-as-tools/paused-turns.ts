// Turns that wait for an answer from the client. In the 2026 era of MCP a server cannot ask: it answers that it needs input, and the client
// calls again with it. The turn continues between these requests, and the next request with its id resumes it.
import { randomUUID } from 'node:crypto';

export type PermissionRequest = {
  readonly title: string;
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
};

/** One request's view of a turn: where progress goes, and whether the client still waits. */
export type Listener = { readonly progress: (text: string) => void; readonly signal: AbortSignal };

export type Step<T, A = PermissionRequest> = { readonly done: T } | { readonly paused: { readonly id: string; readonly request: A } };

type Turn<T, A, R> = {
  listener: Listener;
  readonly outcome: Promise<T>;
  /** Open requests, oldest first: they are sent one after the other. */
  readonly pending: { readonly request: A; readonly answer: (answer: R) => void }[];
  /** Called when there is another request. */
  onRequest: () => void;
  readonly ended: AbortController;
  idle: NodeJS.Timeout | undefined;
};

/** `A` is the request, `R` the answer. */
export type PausedTurns<T, A = PermissionRequest, R = string | undefined> = {
  /** Runs until the turn ends or the client must answer. */
  begin(run: (handlers: Listener & { ask(request: A): Promise<R> }) => Promise<T>, listener: Listener): Promise<Step<T, A>>;
  /** Undefined if there is no such turn: it was answered, or the client came back too late. */
  resume(id: string, answer: (request: A) => R | undefined, listener: Listener): Promise<Step<T, A>> | undefined;
};

/** The option that rejects: no approval means rejection. */
export const refusalIn = ({ options }: PermissionRequest): string | undefined =>
  (options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always'))?.optionId;

/** `refuse` gives the answer of a client that sends none. */
export function createPausedTurns<T, A = PermissionRequest, R = string | undefined>(
  patienceMs: number,
  refuse: (request: A) => R,
): PausedTurns<T, A, R> {
  const paused = new Map<string, Turn<T, A, R>>();

  async function step(turn: Turn<T, A, R>, listener: Listener): Promise<Step<T, A>> {
    turn.listener = listener;
    const cancel = () => turn.ended.abort();
    listener.signal.addEventListener('abort', cancel, { once: true });
    if (listener.signal.aborted) cancel();
    try {
      const requested = new Promise<'requested'>((resolve) => {
        turn.onRequest = () => resolve('requested');
        if (turn.pending.length > 0) resolve('requested');
      });
      const first = await Promise.race([turn.outcome.then((done) => ({ done })), requested]);
      const next = turn.pending[0];
      return first !== 'requested' || !next ? { done: await turn.outcome } : pause(turn, next.request);
    } finally {
      listener.signal.removeEventListener('abort', cancel);
    }
  }
  function pause(turn: Turn<T, A, R>, request: A): Step<T, A> {
    const id = randomUUID();
    paused.set(id, turn);
    turn.idle = setTimeout(() => {
      paused.delete(id);
      turn.ended.abort();
    }, patienceMs);
    turn.idle.unref();
    return { paused: { id, request: request } };
  }

  return {
    begin(run, listener) {
      const ended = new AbortController();
      const handlers = {
        signal: ended.signal,
        progress: (text: string) => turn.listener.progress(text),
        ask: (request: A) =>
          new Promise<R>((answer) => {
            turn.pending.push({ request: request, answer });
            ended.signal.addEventListener('abort', () => answer(refuse(request)), { once: true });
            turn.onRequest();
          }),
      };
      const turn: Turn<T, A, R> = {
        ...{ listener, pending: [], onRequest: () => {}, ended, idle: undefined },
        outcome: Promise.resolve().then(() => run(handlers)),
      };
      turn.outcome.catch(() => {}); // the request that resumes the turn reports it
      return step(turn, listener);
    },
    resume(id, answer, listener) {
      const turn = paused.get(id);
      if (!turn) return undefined;
      paused.delete(id);
      clearTimeout(turn.idle);
      const next = turn.pending.shift();
      next?.answer(answer(next.request) ?? refuse(next.request));
      return step(turn, listener);
    },
  };
}
