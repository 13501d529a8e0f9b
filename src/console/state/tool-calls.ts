// What updates said about a tool call, for a permission request that names only its id.
import type { Fields } from './read-update.ts';

/** Of a session. */
const MOST_CALLS = 64;
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed']);

export function noteCall(calls: Map<string, Fields>, update: Fields): void {
  const { toolCallId: id } = update;
  if (typeof id !== 'string') return;
  const call = mergeCall(calls.get(id), update);
  calls.delete(id); // the newest come last
  if (ENDS.has(call.status)) return;
  calls.set(id, call);
  const [oldest] = calls.keys();
  if (calls.size > MOST_CALLS && oldest !== undefined) calls.delete(oldest);
}

/** A field that is absent or empty does not hide what is known. */
export function mergeCall(known: Fields | undefined, news: Fields): Fields {
  const isGiven = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  return { ...known, ...Object.fromEntries(Object.entries(news).filter(([, value]) => isGiven(value))) };
}
