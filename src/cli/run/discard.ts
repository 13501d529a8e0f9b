// A session in which nothing was asked: it is not listed, and its agent need not keep it either.
import type { Client } from '../../client/client.ts';
import { createSessionLog } from '../../store/sessions/session-store.ts';
import { surroundings } from '../resolve-config.ts';

/** Nobody waits for the agent: whether it forgets the session is its own affair. */
export function discard(client: Client, sessionId: string, sessionCapabilities: unknown): void {
  const canDelete = (sessionCapabilities as { delete?: unknown } | null)?.delete ?? false;
  if (canDelete !== false) client.request('session/delete', { sessionId }).catch(() => {});
  const log = createSessionLog(surroundings({}).stateDir, () => {});
  const record = log.records().get(sessionId);
  if (record) log.append({ ...record, at: new Date().toISOString(), isGone: true });
}
