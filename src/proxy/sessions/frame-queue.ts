// Work on a session's frames that must wait holds that session's lane, and never the connection.
import type { ClientPort, ClientRequest } from '../boundary.ts';

export type Step = { readonly run: () => void; readonly request: ClientRequest | undefined; readonly bytes?: number };

/** A class, since every session has one and hardly any of them is ever held: functions of its own for each would be most of a session. */
export class FrameQueue {
  #isHeld = false;
  #isRunning = false;
  #holder: ClientRequest | undefined;
  #steps: Step[] | undefined;
  #bytes = 0;

  get isHeld(): boolean {
    return this.#isHeld;
  }
  /** Of the frames that wait in it. */
  get bytes(): number {
    return this.#bytes;
  }
  /** `by` is the request whose work the others wait for. */
  hold(by?: ClientRequest): void {
    this.#isHeld = true;
    this.#holder = by;
  }
  /** Runs what has waited, in order; stops again when a step holds the lane anew. */
  release(): void {
    this.#isHeld = false;
    this.#holder = undefined;
    // A step that holds the lane and lets go of it at once is in the loop already; thousands of them, one within the other, would be too deep.
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
  /** Likewise, before all others. */
  waitFirst(step: Step): void {
    this.#steps ??= [];
    this.#steps.unshift(step);
    this.#bytes += step.bytes ?? 0;
  }
  /** Takes out the waiting requests that `isMeant`, for whoever answers them instead. */
  withdraw(isMeant: (request: ClientRequest) => boolean): readonly ClientRequest[] {
    if (!this.#steps) return [];
    const meant = this.#steps.flatMap(({ request }) => (request && isMeant(request) ? [request] : []));
    this.#keep(this.#steps.filter(({ request }) => !request || !isMeant(request)));
    return meant;
  }
  /** Takes out one step that waits, for whoever does something else instead; false when it does not wait any more. */
  remove(step: Step): boolean {
    if (!this.#steps?.includes(step)) return false;
    this.#keep(this.#steps.filter((one) => one !== step));
    return true;
  }
  /** Takes out everything, also the request that holds it; the work under way will release a lane in which nobody waits. */
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
