// Finds turns in which the agent sends nothing any more. The user is notified once per silence; time in which the agent waits for the user, or
// for us, does not count.
import type { ClientRequest } from '../boundary.ts';
import type { Clock } from '../context.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { cancelTurns } from './cancel.ts';
import { notifyInSession } from './notify-in-session.ts';

/** Checks per limit. A frame only sets a flag, which is cheaper than noting its time. */
const CHECKS = 6;

type StallDeps = {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly isInTurn: () => boolean;
  /** The agent waits for a user or for the proxy. */
  readonly isWaiting: () => boolean;
  readonly onStall: () => void;
};

export class StallWatch {
  readonly #deps: StallDeps;
  #wasActive = false;
  #isRunning = false;
  #isReported = false;
  #quietSinceMs = 0;

  constructor(deps: StallDeps) {
    this.#deps = deps;
  }
  /** The agent has sent something, or got an answer it waited for. */
  noteActivity(): void {
    this.#wasActive = true;
  }
  turnStarted(): void {
    this.#quietSinceMs = this.#deps.clock.monotonicMs();
    this.#wasActive = false;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#isReported = false;
    this.#checkLater();
  }
  #checkLater(): void {
    this.#deps.clock.after(this.#deps.limitMs / CHECKS, () => this.#check());
  }
  #check(): void {
    const { clock, limitMs, isInTurn, isWaiting, onStall } = this.#deps;
    if (!isInTurn()) {
      this.#isRunning = false;
      return;
    }
    const nowMs = clock.monotonicMs();
    if (this.#wasActive || isWaiting()) {
      this.#quietSinceMs = nowMs;
      this.#isReported = false;
    }
    this.#wasActive = false;
    if (!this.#isReported && nowMs - this.#quietSinceMs >= limitMs) {
      this.#isReported = true;
      onStall();
    }
    this.#checkLater();
  }
}

export function watchForStalls(proxy: Parts<'context' | 'pool' | 'client' | 'requests'>, session: Session): void {
  const { stallMs: limitMs } = session.agent.spec.timeouts;
  if (limitMs === 0) return;
  session.stallWatch ??= new StallWatch({
    clock: proxy.context.clock,
    limitMs,
    isInTurn: () => session.turns.size > 0,
    isWaiting: () => proxy.requests.isWaiting(session) || session.serving.size > 0,
    onStall: () => stalled(proxy, session),
  });
  session.stallWatch.turnStarted();
}

function stalled(proxy: Parts<'context' | 'pool' | 'client' | 'requests'>, session: Session): void {
  const { timeouts, onStall } = session.agent.spec;
  const next = onStall === 'notice' ? 'Cancel the turn if it hangs.' : 'The turn is being cancelled.';
  notifyInSession(proxy, session, 'warning', `${session.agent.title} has been silent for ${Math.round(timeouts.stallMs / 1000)} s`, next);
  const turns = [...session.turns];
  if (onStall !== 'notice') {
    proxy.context.onStallCancel(session.publicId);
    cancelTurns(proxy, session);
  }
  if (onStall === 'end') proxy.context.clock.after(timeouts.cancelMs, () => endUnresponsive(proxy, turns));
}

/** An agent that does not answer cancelled turns does not read any more. Its sessions are recovered in its next process. */
function endUnresponsive(proxy: Parts<'context'>, turns: readonly ClientRequest[]): void {
  for (const turn of turns) {
    const { forwardedTo } = turn;
    if (forwardedTo?.agent.findCall(forwardedTo.id)?.request !== turn) continue;
    const { agent } = forwardedTo;
    proxy.context.report(`agent "${agent.name}" was stopped: its turn was silent and did not end after it was cancelled`);
    agent.kill();
  }
}
