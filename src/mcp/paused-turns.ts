// Turns that wait for an answer of the client's. In the 2026 era of MCP a server cannot ask: it answers that it needs something, and is called again with
// it. So the turn goes on without the request that began it, and the next request with its id takes it up again.
import { randomUUID } from 'node:crypto';

export type Asked = {
  readonly title: string;
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
};

/** What one request is to a turn: where its words go, and whether anybody still waits. */
export type Listener = { readonly progress: (text: string) => void; readonly signal: AbortSignal };

export type Step<T> = { readonly done: T } | { readonly paused: { readonly id: string; readonly asked: Asked } };

type Turn<T> = {
  listener: Listener;
  readonly outcome: Promise<T>;
  /** The questions that are open, the oldest first: they are put one after the other. */
  readonly questions: { readonly asked: Asked; readonly answer: (optionId: string | undefined) => void }[];
  /** Called when there is another question. */
  onQuestion: () => void;
  readonly ended: AbortController;
  idle: NodeJS.Timeout | undefined;
};

export type PausedTurns<T> = {
  /** Until the turn has ended, or the client has to be asked. */
  begin(
    run: (companion: Listener & { permission(asked: Asked): Promise<string | undefined> }) => Promise<T>,
    listener: Listener,
  ): Promise<Step<T>>;
  /** Undefined when there is no such turn: it was answered, or nobody came back in time. */
  resume(id: string, choose: (options: Asked['options']) => string | undefined, listener: Listener): Promise<Step<T>> | undefined;
};

/** Who has not agreed has refused. */
export const refusalIn = ({ options }: Asked): string | undefined =>
  (options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always'))?.optionId;

export function createPausedTurns<T>(patienceMs: number): PausedTurns<T> {
  const paused = new Map<string, Turn<T>>();

  async function step(turn: Turn<T>, listener: Listener): Promise<Step<T>> {
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
  function pause(turn: Turn<T>, asked: Asked): Step<T> {
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
        permission: (asked: Asked) =>
          new Promise<string | undefined>((answer) => {
            turn.questions.push({ asked, answer });
            ended.signal.addEventListener('abort', () => answer(refusalIn(asked)), { once: true });
            turn.onQuestion();
          }),
      };
      const turn: Turn<T> = {
        ...{ listener, questions: [], onQuestion: () => {}, ended, idle: undefined },
        outcome: Promise.resolve().then(() => run(companion)),
      };
      turn.outcome.catch(() => {}); // whoever takes the turn up again hears of it
      return step(turn, listener);
    },
    resume(id, choose, listener) {
      const turn = paused.get(id);
      if (!turn) return undefined;
      paused.delete(id);
      clearTimeout(turn.idle);
      const question = turn.questions.shift();
      question?.answer(choose(question.asked.options) ?? refusalIn(question.asked));
      return step(turn, listener);
    },
  };
}
