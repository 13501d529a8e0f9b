// Frames from the client that their session does not admit yet. They hold up their own session, never the connection.
import type { ClientPort, ClientRequest } from '../boundary.ts';

export type Step = {
  readonly method: string;
  readonly request: ClientRequest | undefined;
  readonly bytes: number;
  /** Takes the frame; called once the session admits it. */
  readonly run: () => void;
};
type Waiting = { readonly step: Step; isAfterEnd: boolean };

/** A class: closures of its own would be most of the memory of an idle session. */
export class FrameQueue {
  #waiting: Waiting[] = [];
  #bytes = 0;
  #isRunning = false;
  /** While a step runs: how many wait that came before it. */
  #overtaken: number | undefined;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }
  /** Bytes of the waiting frames. */
  get bytes(): number {
    return this.#bytes;
  }
  /** `isAfterEnd`: the session is being closed or deleted. */
  wait(step: Step, isAfterEnd: boolean): void {
    this.#waiting.push({ step, isAfterEnd });
    this.#bytes += step.bytes;
  }
  /** The step runs before all others. */
  waitFirst(step: Step): void {
    this.#waiting.unshift({ step, isAfterEnd: false });
    this.#bytes += step.bytes;
  }
  /** Runs the steps that `mayRun` admits, in order. After one that must wait, only those go on that overtake. */
  run(mayRun: (step: Step) => boolean, overtakes: (method: string) => boolean): void {
    // A step that begins and ends an operation at once is in this loop already. Nested calls for thousands of them would overflow the stack.
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (;;) {
        const index = this.#waiting.findIndex(({ step }, at) => (at === 0 || overtakes(step.method)) && mayRun(step));
        // Not by splice in front: that moves all the others.
        const next = index === 0 ? this.#waiting.shift() : index < 0 ? undefined : this.#waiting.splice(index, 1)[0];
        if (!next) return;
        this.#bytes -= next.step.bytes;
        this.#overtaken = index;
        if (!next.step.request?.isAnswered) next.step.run();
      }
    } finally {
      this.#overtaken = undefined;
      this.#isRunning = false;
    }
  }
  /** A close or delete begins: tells the frames that came before it from those after it. */
  markEnd(): void {
    const before = this.#overtaken ?? this.#waiting.length;
    for (const [at, one] of this.#waiting.entries()) one.isAfterEnd = at >= before;
  }
  /** The session has ended: removes and returns the requests that came before the end. */
  takeBeforeEnd(): readonly ClientRequest[] {
    return this.#take(({ isAfterEnd }) => !isAfterEnd);
  }
  /** Removes and returns the waiting requests that match; the caller answers them. */
  withdraw(isMeant: (request: ClientRequest) => boolean): readonly ClientRequest[] {
    return this.#take(({ step: { request } }) => request !== undefined && isMeant(request));
  }
  /** Removes one waiting step; false when it no longer waits. */
  remove(step: Step): boolean {
    const count = this.#waiting.length;
    this.#take((one) => one.step === step);
    return this.#waiting.length < count;
  }

  #take(isMeant: (one: Waiting) => boolean): readonly ClientRequest[] {
    const taken = this.#waiting.filter(isMeant);
    if (taken.length === 0) return [];
    this.#waiting = this.#waiting.filter((one) => !taken.includes(one));
    this.#bytes = this.#waiting.reduce((sum, { step }) => sum + step.bytes, 0);
    return taken.flatMap(({ step: { request } }) => request ?? []);
  }
}

/** A step that fails alone: a bug in it fails its request, and the steps after it go on. */
export function catchingBugs(client: ClientPort, request: ClientRequest | undefined, method: string, run: () => void): () => void {
  return () => {
    try {
      run();
    } catch (error) {
      client.failInternally(request, method, error);
    }
  };
}
