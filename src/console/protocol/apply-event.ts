// Applies an event to a conversation, on the server and on the page alike. Pure; a conversation has a bounded size.
import {
  type Block,
  type Compaction,
  type Conversation,
  createConversation,
  type Event,
  type Item,
  type Option,
  type Output,
  type Plan,
  type Role,
  type Subagent,
  type ToolNews,
} from './conversation.ts';

export const MAX_ITEMS = 2000;
export const MAX_SIZE = 6_000_000;
const MOST_OUTPUTS = 64;

/** Applies an event. Returns the item it changed, if any. */
export function apply(conversation: Conversation, event: Event): Item | undefined {
  switch (event.e) {
    case 'text':
      return addText(conversation, event);
    case 'block':
      return addBlock(conversation, event.role, event.block, event.at);
    case 'prompt':
      conversation.isRunning = true;
      return add(conversation, {
        ...{ kind: 'message', role: 'user', messageId: undefined, text: event.text, blocks: [...event.blocks] },
        at: event.at,
      });
    case 'tool':
      return tool(conversation, event);
    case 'plan':
      return plan(conversation, event);
    case 'unplan':
      return unplan(conversation, event.planId);
    case 'compaction':
      return compaction(conversation, event);
    case 'subagent':
      return subagent(conversation, event);
    case 'unknown':
      return unknown(conversation, event.name, event.text);
    case 'decision':
      return add(conversation, {
        kind: 'decision',
        title: event.title,
        outcome: event.outcome,
        by: event.by,
        isAccepted: event.isAccepted,
      });
    case 'note':
      return add(conversation, { kind: 'note', text: event.text, severity: event.severity });
    case 'end':
      conversation.isRunning = false;
      return add(conversation, {
        ...{ kind: 'end', stopReason: event.stopReason, error: event.error, data: event.data, hint: event.hint, logins: event.logins },
        at: event.at,
      });
    case 'commands':
      conversation.commands = event.commands;
      return undefined;
    case 'options':
      conversation.options = event.options;
      return undefined;
    case 'option':
      conversation.options = conversation.options.map((one) => (isMeant(one, event) ? ({ ...one, value: event.value } as Option) : one));
      return undefined;
    case 'running':
      conversation.isRunning = event.isRunning;
      return undefined;
    case 'usage':
      conversation.usage = event.usage;
      return undefined;
    case 'accepts':
      conversation.accepts = event.accepts;
      return undefined;
    case 'output':
      return output(conversation, event.terminalId, event.output);
    case 'reset':
      Object.assign(conversation, createConversation(conversation.sessionId));
      return undefined;
  }
}

type NewItem = Item extends infer I ? (I extends Item ? Omit<I, 'id' | 'size'> : never) : never;

function add(conversation: Conversation, made: NewItem): Item {
  const item = { ...made, id: conversation.nextId++, size: 0 } as Item;
  conversation.items.push(item);
  return grown(conversation, item);
}

/** Updates the item's size and drops the oldest items when the conversation is too large. */
function grown(conversation: Conversation, item: Item): Item {
  const size = sizeOf(item);
  conversation.size += size - item.size;
  item.size = size;
  const { items } = conversation;
  let over = 0;
  while (items.length - over > 1 && (items.length - over > MAX_ITEMS || conversation.size > MAX_SIZE))
    conversation.size -= (items[over++] as Item).size;
  if (over > 0) conversation.items = items.slice(over);
  conversation.dropped += over;
  return item;
}

/** Counts everything: an agent could make an uncounted field grow without limit. */
function sizeOf(item: Item): number {
  return item.kind === 'message' ? item.text.length + sizeIn(item.blocks) : 100 + sizeIn(item);
}

function sizeIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const one of Object.values(value)) sum += 10 + sizeIn(one);
  return sum;
}

/** Keeps the end of an oversized text. */
const kept = (text: string): string => (text.length > MAX_SIZE ? `…${text.slice(-MAX_SIZE / 2)}` : text);

/** Whether an event of an option is about this one. */
export const isMeant = (option: Option, { id, category }: Extract<Event, { e: 'option' }>): boolean =>
  option.id === id || (category !== undefined && option.category === category);

type Text = Extract<Event, { e: 'text' }>;

/** The message that a text continues. */
export function continuedBy({ items }: Conversation, { role, messageId }: Text): Extract<Item, { kind: 'message' }> | undefined {
  const last = items.at(-1);
  const goesOn = last?.kind === 'message' && last.role === role && last.messageId === messageId && last.blocks.length === 0;
  return goesOn ? last : undefined;
}

function addText(conversation: Conversation, event: Text): Item {
  const { role, messageId, text, drop = 0, about, at } = event;
  const last = continuedBy(conversation, event);
  if (!last) return add(conversation, { kind: 'message', role, messageId, text, blocks: [], about, at });
  if (about) last.about = about;
  const before = last.text.length;
  last.text = kept((drop > 0 ? last.text.slice(0, -drop) : last.text) + text);
  // Not measured again: a long message comes in many small chunks.
  conversation.size += last.text.length - before;
  last.size += last.text.length - before;
  return last;
}

function addBlock(conversation: Conversation, role: Role, block: Block, at: number | undefined): Item {
  const last = conversation.items.at(-1);
  if (last?.kind !== 'message' || last.role !== role)
    return add(conversation, { kind: 'message', role, messageId: undefined, text: '', blocks: [block], at });
  last.blocks = [...last.blocks, block];
  return grown(conversation, last);
}

function tool(conversation: Conversation, { e: _, ...news }: { readonly e: 'tool' } & ToolNews): Item | undefined {
  const known = conversation.items.findLast((item) => item.kind === 'tool' && item.toolCallId === news.toolCallId);
  // The end of a call that was only asked about, or is no longer kept: nothing to show.
  const isOnlyEnd = (news.status === 'completed' || news.status === 'failed') && Object.keys(defined(news)).length <= 2;
  if (known === undefined && isOnlyEnd) return undefined;
  if (known?.kind !== 'tool') return add(conversation, { kind: 'tool', ...news });
  return grown(conversation, Object.assign(known, defined(news)));
}

/** A turn has one plan, however often it is sent. A plan with an id stays the same in later turns. */
function plan(conversation: Conversation, { e: _, ...news }: { readonly e: 'plan' } & Plan): Item {
  const { planId } = news;
  const begun = conversation.items.findLastIndex((item) => item.kind === 'message' && item.role === 'user');
  const known = conversation.items.findLast(
    (item, index) => item.kind === 'plan' && item.planId === planId && (planId !== undefined || index > begun),
  );
  if (known?.kind !== 'plan') return add(conversation, { kind: 'plan', ...news });
  return grown(conversation, Object.assign(known, { entries: news.entries, text: news.text, uri: news.uri }));
}

/** The item keeps its place, but is empty. */
function unplan(conversation: Conversation, planId: string): Item | undefined {
  const known = conversation.items.findLast((item) => item.kind === 'plan' && item.planId === planId);
  return known && Object.assign(known, { entries: [], text: undefined, uri: undefined });
}

function compaction(
  conversation: Conversation,
  { e: _, isMore, drop = 0, ...news }: { readonly e: 'compaction'; readonly isMore?: boolean; readonly drop?: number } & Compaction,
): Item {
  const known = conversation.items.findLast((item) => item.kind === 'compaction' && item.compactionId === news.compactionId);
  if (known?.kind !== 'compaction') return add(conversation, { kind: 'compaction', status: 'in_progress', ...defined(news) });
  const before = known.summary ?? '';
  const summary = isMore ? kept(before.slice(0, before.length - drop) + (news.summary ?? '')) : news.summary;
  return grown(conversation, Object.assign(known, defined({ ...news, summary })));
}

function subagent(conversation: Conversation, { e: _, ...news }: { readonly e: 'subagent' } & Subagent): Item {
  const known = conversation.items.findLast((item) => item.kind === 'subagent' && item.childId === news.childId);
  return known ? grown(conversation, Object.assign(known, defined(news))) : add(conversation, { kind: 'subagent', ...defined(news) });
}

/** A field missing from an update keeps its value. */
function defined<News extends object>(news: News): News {
  return Object.fromEntries(Object.entries(news).filter(([, value]) => value !== undefined)) as News;
}

/** Consecutive ones form one entry. */
function unknown(conversation: Conversation, name: string, text: string): Item {
  const last = conversation.items.at(-1);
  if (last?.kind !== 'unknown' || last.name !== name) return add(conversation, { kind: 'unknown', name, count: 1, text });
  last.count++;
  last.text = text;
  return grown(conversation, last);
}

/** Returns the tool call that shows the terminal. */
function output(conversation: Conversation, terminalId: string, news: Output): Item | undefined {
  const kept = Object.entries(conversation.outputs).slice(-MOST_OUTPUTS);
  conversation.outputs = { ...Object.fromEntries(kept), [terminalId]: news };
  return conversation.items.findLast(
    (item) => item.kind === 'tool' && item.content?.some((one) => one.type === 'terminal' && one.terminalId === terminalId),
  );
}
