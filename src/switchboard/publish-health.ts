// How the agents of a connection are, for `switchboard agents list`.
import type { RunningRecordWriter } from '../agents/running-record.ts';
import type { Redactor } from '../log/redact.ts';
import type { Connection } from '../proxy/connection.ts';

const PUBLISH_EVERY_MS = 2000;
const STDERR_LINES = 10;

/** Words of an agent's own may hold secrets, so they are cleaned of those before they are written anywhere. Returns how to stop. */
export function publishHealth(connection: Connection, redact: Redactor, running: RunningRecordWriter): () => void {
  const words = (text: string | undefined) => (text === undefined ? undefined : redact(text));
  const timer = setInterval(() => {
    const health = Object.entries(connection.health()).map(([id, { stderrTail, lastError, unavailable, uptimeMs, ...kept }]) => {
      const since = uptimeMs === undefined ? undefined : Math.round((Date.now() - uptimeMs) / 1000) * 1000;
      const why = { lastError: lastError?.key, lastErrorText: words(lastError?.message), unavailable: words(unavailable?.message) };
      const tail = redact(stderrTail.slice(-STDERR_LINES).join('\n'))
        .split('\n')
        .filter((line) => line !== '');
      return [id, { ...kept, ...why, stderrTail: tail, since: since && new Date(since).toISOString() }];
    });
    running.healthIs(Object.fromEntries(health));
  }, PUBLISH_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
