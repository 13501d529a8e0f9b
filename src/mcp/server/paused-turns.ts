// Turns that wait for an answer from the client. In the 2026 era of MCP a server cannot ask: it answers that it needs input, and the client
// calls again with it. The turn continues between these requests, and the next request with its id resumes it.
import { randomUUID } from 'node:crypto';

/** One request's view of a turn: where progress goes, and whether the client still waits. `P` is a progress message. */
export type Listener<P = string> = { readonly progress: (progress: P) => void; readonly signal: AbortSignal };

export type Step<T, A> = { readonly done: T } | { readonly paused: { readonly id: string; readonly request: A } };

/** `A` is the request, `R` the answer. */
type Pending<A, R> = { readonly request: A; readonly answer: (answer: R) => void };

type Turn<T, A, R, P> = {
  listener: Listener<P>;
  readonly outcome: Promise<T>;
  /** Open requests, oldest first: they are sent one after the other. */
  readonly pending: Set<Pending<A, R>>;
  /** Called when there is another request. */
  onRequest: () => void;
  readonly ended: AbortController;
};

export type TurnContext<A, R, P> = Listener<P> & {
  /** `withdrawn` means that nobody needs the answer any more. */
  ask(request: A, withdrawn?: AbortSignal): Promise<R>;
};

export type PausedTurns<T, A, R, P = string> = {
  /** Runs until the turn ends or the client must answer. */
  begin(run: (context: TurnContext<A, R, P>) => Promise<T>, listener: Listener<P>): Promise<Step<T, A>>;
  /** Undefined if there is no such turn: it was answered, or the client came back too late. */
  resume(id: string, answer: (request: A) => R | undefined, listener: Listener<P>): Promise<Step<T, A>> | undefined;
};

/** `refuse` gives the answer of a client that sends none. */
export function createPausedTurns<T, A, R, P = string>(patienceMs: number, refuse: (request: A) => R): PausedTurns<T, A, R, P> {
  type Waiting = { readonly turn: Turn<T, A, R, P>; readonly pending: Pending<A, R>; readonly idle: NodeJS.Timeout };
  const paused = new Map<string, Waiting>();

  async function step(turn: Turn<T, A, R, P>, listener: Listener<P>): Promise<Step<T, A>> {
    turn.listener = listener;
    const cancel = () => turn.ended.abort();
    listener.signal.addEventListener('abort', cancel, { once: true });
    if (listener.signal.aborted) cancel();
    try {
      const requested = new Promise<'requested'>((resolve) => {
        turn.onRequest = () => resolve('requested');
        if (turn.pending.size > 0) resolve('requested');
      });
      const first = await Promise.race([turn.outcome.then((done) => ({ done })), requested]);
      const [next] = turn.pending;
      if (first === 'requested' && !next) return await step(turn, listener); // it was withdrawn at once
      return first !== 'requested' || !next ? { done: await turn.outcome } : pause(turn, next);
    } finally {
      listener.signal.removeEventListener('abort', cancel);
    }
  }
  function pause(turn: Turn<T, A, R, P>, pending: Pending<A, R>): Step<T, A> {
    const id = randomUUID();
    const idle = setTimeout(() => {
      paused.delete(id);
      turn.ended.abort();
    }, patienceMs);
    idle.unref();
    paused.set(id, { turn, pending, idle });
    return { paused: { id, request: pending.request } };
  }
  function asked(turn: Turn<T, A, R, P>, request: A, withdrawn: AbortSignal | undefined): Promise<R> {
    return new Promise<R>((resolve) => {
      const refused = () => pending.answer(refuse(request));
      const signals = [turn.ended.signal, ...(withdrawn ? [withdrawn] : [])];
      const pending: Pending<A, R> = {
        request,
        answer(reply) {
          turn.pending.delete(pending);
          for (const signal of signals) signal.removeEventListener('abort', refused);
          resolve(reply);
        },
      };
      turn.pending.add(pending);
      for (const signal of signals) signal.addEventListener('abort', refused, { once: true });
      if (signals.some(({ aborted }) => aborted)) return refused();
      turn.onRequest();
    });
  }

  return {
    begin(run, listener) {
      const ended = new AbortController();
      const context: TurnContext<A, R, P> = {
        signal: ended.signal,
        progress: (progress) => turn.listener.progress(progress),
        ask: (request, withdrawn) => asked(turn, request, withdrawn),
      };
      const turn: Turn<T, A, R, P> = {
        ...{ listener, pending: new Set<Pending<A, R>>(), onRequest: () => {}, ended },
        outcome: Promise.resolve().then(() => run(context)),
      };
      turn.outcome.catch(() => {}); // the request that resumes the turn reports it
      return step(turn, listener);
    },
    resume(id, answer, listener) {
      const waiting = paused.get(id);
      if (!waiting) return undefined;
      const { turn, pending, idle } = waiting;
      paused.delete(id);
      clearTimeout(idle);
      if (turn.pending.has(pending)) pending.answer(answer(pending.request) ?? refuse(pending.request));
      return step(turn, listener);
    },
  };
}
