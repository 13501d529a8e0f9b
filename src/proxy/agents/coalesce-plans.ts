// `coalesce_plans_ms`: the first plan of a session passes at once; of those within the time after it, the last stands for all. Each is the
// whole plan, so nothing is lost. What else the agent sends in the session is never overtaken by a plan.
import { detach, type Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { sessionIdOf } from '../../wire/scanner/large-frame.ts';
import type { Clock } from '../context.ts';
import type { ConnectionEvents } from './agent-connection.ts';

export type PlanCoalescer = {
  readonly events: ConnectionEvents;
  /** Passes on every plan that is held. */
  flush(): void;
  /** Ends the timers, and forgets what is held. */
  stop(): void;
};

type Window = { held: Frame | undefined; cancel: () => void };

export function coalescePlans(on: ConnectionEvents, after: Clock['after'], windowMs: number): PlanCoalescer {
  /** By session, for windowMs after a plan has passed. */
  const windows = new Map<string, Window>();

  function plan(sessionId: string, frame: Frame): void {
    const window = windows.get(sessionId);
    if (window) {
      window.held = detach(frame);
      return;
    }
    open(sessionId);
    on.frame(frame);
  }
  function open(sessionId: string): void {
    const cancel = after(windowMs, () => {
      windows.delete(sessionId);
      if (!window.held) return;
      open(sessionId);
      on.frame(window.held);
    });
    const window: Window = { held: undefined, cancel };
    windows.set(sessionId, window);
  }
  function pass(window: Window | undefined): void {
    const frame = window?.held;
    if (!window || !frame) return;
    window.held = undefined;
    on.frame(frame);
  }
  function flush(): void {
    for (const window of windows.values()) pass(window);
  }

  return {
    flush,
    stop() {
      for (const { cancel } of windows.values()) cancel();
      windows.clear();
    },
    events: {
      ...on,
      frame(frame) {
        const sessionId = sessionIdOf(frame);
        if (sessionId !== undefined && isPlan(frame)) return plan(sessionId, frame);
        if (sessionId === undefined) flush();
        else pass(windows.get(sessionId));
        on.frame(frame);
      },
      batch(batch) {
        if (isPlan(batch.first)) return false;
        flush();
        return on.batch?.(batch) ?? false;
      },
      answer(idText, frame) {
        flush();
        on.answer(idText, frame);
      },
      oversized(refusal) {
        flush();
        on.oversized(refusal);
      },
    },
  };
}

function isPlan({ method, bytes, body }: Frame): boolean {
  if (method !== 'session/update') return false;
  const update = memberAt(bytes, body, 'update');
  return update !== undefined && stringAt(bytes, memberAt(bytes, update, 'sessionUpdate')) === 'plan';
}
