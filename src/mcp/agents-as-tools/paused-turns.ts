// Turns that wait for an answer of the client's. In the 2026 era of MCP a server cannot ask: it answers that it needs something, and is called again with
// it. So the turn goes on without the request that began it, and the next request with its id takes it up again.
import { randomUUID } from 'node:crypto';

export type Asked = {
  readonly title: string;
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
};

/** What one request is to a turn: where its words go, and whether anybody still waits. */
export type Listener = { readonly progress: (text: string) => void; readonly signal: AbortSignal };

export type Step<T, A = Asked> = { readonly done: T } | { readonly paused: { readonly id: string; readonly asked: A } };

type Turn<T, A, R> = {
  listener: Listener;
  readonly outcome: Promise<T>;
  /** The questions that are open, the oldest first: they are put one after the other. */
  readonly questions: { readonly asked: A; readonly answer: (answer: R) => void }[];
  /** Called when there is another question. */
  onQuestion: () => void;
  readonly ended: AbortController;
  idle: NodeJS.Timeout | undefined;
};

/** `A` is what is asked, `R` what is answered. */
export type PausedTurns<T, A = Asked, R = string | undefined> = {
  /** Until the turn has ended, or the client has to be asked. */
  begin(run: (companion: Listener & { ask(asked: A): Promise<R> }) => Promise<T>, listener: Listener): Promise<Step<T, A>>;
  /** Undefined when there is no such turn: it was answered, or nobody came back in time. */
  resume(id: string, answer: (asked: A) => R | undefined, listener: Listener): Promise<Step<T, A>> | undefined;
};

/** Who has not agreed has refused. */
export const refusalIn = ({ options }: Asked): string | undefined =>
  (options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always'))?.optionId;

/** `refuse` is the answer of whoever gives none. */
export function createPausedTurns<T, A = Asked, R = string | undefined>(patienceMs: number, refuse: (asked: A) => R): PausedTurns<T, A, R> {
  const paused = new Map<string, Turn<T, A, R>>();

  async function step(turn: Turn<T, A, R>, listener: Listener): Promise<Step<T, A>> {
    turn.listener = listener;
    const cancel = () => turn.ended.abort();
    listener.signal.addEventListener('abort', cancel, { once: true });
    if (listener.signal.aborted) cancel();
    try {
      const asked = new Promise<'asked'>((resolve) => {
        turn.onQuestion = () => resolve('asked');
        if (turn.questions.length > 0) resolve('asked');
      });
      const first = await Promise.race([turn.outcome.then((done) => ({ done })), asked]);
      const question = turn.questions[0];
      return first !== 'asked' || !question ? { done: await turn.outcome } : pause(turn, question.asked);
    } finally {
      listener.signal.removeEventListener('abort', cancel);
    }
  }
  function pause(turn: Turn<T, A, R>, asked: A): Step<T, A> {
    const id = randomUUID();
    paused.set(id, turn);
    turn.idle = setTimeout(() => {
      paused.delete(id);
      turn.ended.abort();
    }, patienceMs);
    turn.idle.unref();
    return { paused: { id, asked } };
  }

  return {
    begin(run, listener) {
      const ended = new AbortController();
      const companion = {
        signal: ended.signal,
        progress: (words: string) => turn.listener.progress(words),
        ask: (asked: A) =>
          new Promise<R>((answer) => {
            turn.questions.push({ asked, answer });
            ended.signal.addEventListener('abort', () => answer(refuse(asked)), { once: true });
            turn.onQuestion();
          }),
      };
      const turn: Turn<T, A, R> = {
        ...{ listener, questions: [], onQuestion: () => {}, ended, idle: undefined },
        outcome: Promise.resolve().then(() => run(companion)),
      };
      turn.outcome.catch(() => {}); // whoever takes the turn up again hears of it
      return step(turn, listener);
    },
    resume(id, answer, listener) {
      const turn = paused.get(id);
      if (!turn) return undefined;
      paused.delete(id);
      clearTimeout(turn.idle);
      const question = turn.questions.shift();
      question?.answer(answer(question.asked) ?? refuse(question.asked));
      return step(turn, listener);
    },
  };
}
