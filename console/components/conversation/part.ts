// The part of a long conversation that is drawn. Two thousand entries take the browser half a second, so a page draws the last ones, and more
// when the user scrolls there.
import type { Conversation, Item } from '../../../src/console/protocol/conversation.ts';

/** From the entry with this id to the one before `to`. Without `to`, to the end, also as the conversation grows. */
export type Part = { readonly from: number; readonly to: number | undefined };

const AT_FIRST = 40;
const STEP = 30;
/** While the user follows the end, more than this lets go of the earliest. */
const MOST = 80;

type Length = Pick<Conversation, 'items' | 'nextId'>;
const firstId = ({ items, nextId }: Length): number => items[0]?.id ?? nextId;

export const lastPart = ({ nextId }: Length, count = AT_FIRST): Part => ({ from: Math.max(0, nextId - count), to: undefined });

/** Entries around one that the user left off at. */
export function partAround(id: number, conversation: Length): Part {
  return withEnd({ from: id - AT_FIRST / 2, to: id + AT_FIRST }, conversation);
}

export const earlierPart = ({ from, to }: Part, conversation: Length): Part => ({
  from: Math.max(firstId(conversation), Math.min(from, conversation.nextId) - STEP),
  to,
});

export const laterPart = ({ from, to }: Part, conversation: Length): Part =>
  withEnd({ from, to: to === undefined ? undefined : to + STEP }, conversation);

/** What is drawn while the user follows the end. */
export function followingPart(part: Part, conversation: Length): Part {
  const count = conversation.nextId - part.from; // negative, once the conversation has begun anew
  if (part.to !== undefined || count < 0) return lastPart(conversation);
  return count > MOST ? lastPart(conversation, MOST - STEP) : part;
}

const withEnd = ({ from, to }: Part, { nextId }: Length): Part => ({ from, to: to !== undefined && to < nextId ? to : undefined });

/** Ids are consecutive. */
export function entriesIn({ items, nextId }: Length, { from, to }: Part): readonly Item[] {
  const first = firstId({ items, nextId });
  return items.slice(Math.max(0, Math.min(from, nextId) - first), to === undefined ? undefined : Math.max(0, to - first));
}
