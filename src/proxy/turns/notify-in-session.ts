// A message of the proxy inside a session: a notice where the client shows notices, else a thought, which every client shows.

import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

export function notifyInSession(
  proxy: Parts<'pool' | 'client'>,
  session: Session,
  severity: 'info' | 'warning' | 'error',
  title: string,
  description: string,
): void {
  const update = showsNotices(proxy)
    ? { sessionUpdate: 'notice', severity, title, description }
    : { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: `[switchboard] ${title}. ${description}\n` } };
  proxy.client.line(updateLine(session.publicId, JSON.stringify(update)));
}

export function showsNotices({ pool }: Parts<'pool'>): boolean {
  const capabilities = pool.initializeParams?.clientCapabilities as { session?: { notices?: unknown } | null } | null | undefined;
  const notices = capabilities?.session?.notices;
  return notices !== undefined && notices !== null && notices !== false;
}
