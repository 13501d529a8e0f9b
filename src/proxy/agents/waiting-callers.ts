// Callers that wait for an agent to start.
import type { ProxyError } from '../../errors.ts';

export type Caller = {
  readonly onReady: () => void;
  readonly onFail: (error: ProxyError) => void;
  /** Nobody waits for an answer, so that no process is started for it alone. */
  readonly isNotification: boolean;
};

export class WaitingCallers {
  #callers: Caller[] = [];
  #bytes = 0;

  get size(): number {
    return this.#callers.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(caller: Caller, bytes: number): void {
    this.#callers.push(caller);
    this.#bytes += bytes;
  }

  /** Calls them in their order while `isReady`: one of them may end the connection, and the others then wait for the next. */
  runWhile(isReady: () => boolean): void {
    while (isReady() && this.#callers.length > 0) (this.#callers.shift() as Caller).onReady();
    if (this.#callers.length === 0) this.#bytes = 0;
  }

  take(): readonly Caller[] {
    const taken = this.#callers;
    this.#callers = [];
    this.#bytes = 0;
    return taken;
  }

  takeNotifications(): readonly Caller[] {
    const notifications = this.#callers.filter(({ isNotification }) => isNotification);
    this.#callers = this.#callers.filter(({ isNotification }) => !isNotification);
    return notifications;
  }
}
