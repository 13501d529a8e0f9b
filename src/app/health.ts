// How the agents of a connection are, for `switchboard agents list`.
import type { RunningRecordWriter } from '../agents/running-record.ts';
import type { Connection } from '../proxy/api.ts';
import type { Redactor } from '../redaction/redact.ts';

const PUBLISH_EVERY_MS = 2000;
/** An agent that starts, crashes and starts again is written down once. */
const SOON_MS = 50;
const STDERR_LINES = 10;

export type HealthPublisher = {
  /** The state of an agent has changed. What only counts up is for the next round. */
  soon(): void;
  stop(): void;
};

/** Words of an agent's own may hold secrets, so they are cleaned of those before they are written anywhere. */
export function publishHealth(healthNow: Connection['health'], redact: Redactor, running: RunningRecordWriter): HealthPublisher {
  const words = (text: string | undefined) => (text === undefined ? undefined : redact(text));
  let isStopped = false;
  let pending: NodeJS.Timeout | undefined;
  function publish(): void {
    pending = undefined;
    const health = Object.entries(healthNow()).map(([id, { stderrTail, lastError, unavailable, uptimeMs, ...kept }]) => {
      const since = uptimeMs === undefined ? undefined : Math.round((Date.now() - uptimeMs) / 1000) * 1000;
      const why = { lastError: lastError?.key, lastErrorText: words(lastError?.message), unavailable: words(unavailable?.message) };
      const tail = redact(stderrTail.slice(-STDERR_LINES).join('\n'))
        .split('\n')
        .filter((line) => line !== '');
      return [id, { ...kept, ...why, stderrTail: tail, since: since && new Date(since).toISOString() }];
    });
    running.healthIs(Object.fromEntries(health));
  }
  const timer = setInterval(publish, PUBLISH_EVERY_MS);
  timer.unref();
  return {
    soon() {
      if (!isStopped) pending ??= setTimeout(publish, SOON_MS).unref();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(pending);
    },
  };
}
