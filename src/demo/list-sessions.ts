// session/list: newest first, filtered by cwd, a page at a time.
import { type ListSessionsRequest, type ListSessionsResponse, RequestError } from '@agentclientprotocol/sdk';
import type { SessionRecord } from './session-record.ts';

const PAGE_SIZE = 20;

/** The cursor is the last session of the page before. */
export function listSessions(records: readonly SessionRecord[], { cwd, cursor }: ListSessionsRequest): ListSessionsResponse {
  const found = records
    .filter((record) => cwd === undefined || cwd === null || record.cwd === cwd)
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.sessionId.localeCompare(b.sessionId));
  const previous = found.findIndex((record) => record.sessionId === cursor);
  if (typeof cursor === 'string' && previous === -1) throw RequestError.invalidParams({ cursor }, 'no such cursor');

  const page = found.slice(previous + 1, previous + 1 + PAGE_SIZE);
  const last = page.at(-1);
  return {
    sessions: page.map(({ sessionId, cwd, title, updatedAt }) => ({ sessionId, cwd, title, updatedAt })),
    ...(last !== undefined && last !== found.at(-1) ? { nextCursor: last.sessionId } : {}),
  };
}
