// Frames that must wait hold up their own session, never the connection.
import type { ClientPort, ClientRequest } from '../boundary.ts';

export type Step = { readonly run: () => void; readonly request: ClientRequest | undefined; readonly bytes?: number };

/** A class: closures of its own would be most of the memory of an idle session. */
export class FrameQueue {
  #isHeld = false;
  #isRunning = false;
  #holder: ClientRequest | undefined;
  #steps: Step[] | undefined;
  #bytes = 0;

  get isHeld(): boolean {
    return this.#isHeld;
  }
  /** Bytes of the waiting frames. */
  get bytes(): number {
    return this.#bytes;
  }
  /** `by` is the request that the others wait for. */
  hold(by?: ClientRequest): void {
    this.#isHeld = true;
    this.#holder = by;
  }
  /** Runs the waiting steps in order, until one of them holds the queue again. */
  release(): void {
    this.#isHeld = false;
    this.#holder = undefined;
    // A step that holds and releases the queue at once is in this loop already. Nested calls for thousands of them would overflow the stack.
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (!this.#isHeld) {
        const next = this.#steps?.shift();
        if (!next) return;
        this.#bytes -= next.bytes ?? 0;
        if (!next.request?.isAnswered) next.run();
      }
    } finally {
      this.#isRunning = false;
    }
  }
  /** Only while held. */
  wait(step: Step): void {
    this.#steps ??= [];
    this.#steps.push(step);
    this.#bytes += step.bytes ?? 0;
  }
  /** Only while held; runs before all others. */
  waitFirst(step: Step): void {
    this.#steps ??= [];
    this.#steps.unshift(step);
    this.#bytes += step.bytes ?? 0;
  }
  /** Removes and returns the waiting requests that match; the caller answers them. */
  withdraw(isMeant: (request: ClientRequest) => boolean): readonly ClientRequest[] {
    if (!this.#steps) return [];
    const meant = this.#steps.flatMap(({ request }) => (request && isMeant(request) ? [request] : []));
    this.#keep(this.#steps.filter(({ request }) => !request || !isMeant(request)));
    return meant;
  }
  /** Removes one waiting step; false when it no longer waits. */
  remove(step: Step): boolean {
    if (!this.#steps?.includes(step)) return false;
    this.#keep(this.#steps.filter((one) => one !== step));
    return true;
  }
  /** Removes and returns all requests, also the one that holds the queue. */
  empty(): readonly ClientRequest[] {
    const requests = [this.#holder, ...(this.#steps ?? []).map(({ request }) => request)].filter((request) => request !== undefined);
    this.#keep([]);
    this.#holder = undefined;
    return requests;
  }
  #keep(steps: Step[]): void {
    this.#steps = steps;
    this.#bytes = steps.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  }
}

export const createFrameQueue = (): FrameQueue => new FrameQueue();

/** A step that fails alone: a bug in it fails its request, and the steps behind it go on. */
export function contained(client: ClientPort, request: ClientRequest | undefined, method: string, run: () => void): () => void {
  return () => {
    try {
      run();
    } catch (error) {
      client.failInternally(request, method, error);
    }
  };
}
