// One page of `session/list` over several agents, and the cursor that continues it.

export type Listed = {
  readonly sessionId: string;
  readonly updatedAt: string | undefined;
  /** The entry as sent to the client. */
  readonly text: string;
};

/** Where each agent's list continues; an agent that is missing is finished. */
export type Cursor = { readonly next: Readonly<Record<string, string>>; readonly cwd: string | undefined };

/** Newest first, each session once. Entries without a time come last, in the order of the agents. */
export function mergePage(pages: readonly (readonly Listed[])[]): readonly Listed[] {
  const seen = new Set<string>();
  const all = pages.flat().filter(({ sessionId }) => !seen.has(sessionId) && seen.add(sessionId));
  return all.sort((a, b) => time(b) - time(a));
}

function time({ updatedAt }: Listed): number {
  const parsed = Date.parse(updatedAt ?? '');
  return Number.isNaN(parsed) ? 0 : parsed;
}

export function writeCursor(cursor: Cursor): string | undefined {
  if (Object.keys(cursor.next).length === 0) return undefined;
  return Buffer.from(JSON.stringify({ v: 1, ...cursor })).toString('base64url');
}

/** Undefined if it is not one of our cursors, or belongs to a list with another filter. */
export function readCursor(text: string, cwd: string | undefined): Cursor | undefined {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (value?.v !== 1 || value.cwd !== cwd || typeof value.next !== 'object' || value.next === null) return undefined;
    if (!Object.values(value.next).every((cursor) => typeof cursor === 'string')) return undefined;
    return { next: value.next, cwd };
  } catch {
    return undefined;
  }
}
