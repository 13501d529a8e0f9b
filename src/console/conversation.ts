// What was said and done in one session, as the console shows it. Pure, and the same code on both sides: the server keeps a conversation so
// that a page can begin anywhere, the page keeps its own, and both become what they are by the same events in the same order.
import type { LoginMethod } from './wire/chat.ts';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
    }
  | { readonly type: 'resource'; readonly uri: string; readonly text?: string | undefined; readonly mimeType?: string | undefined }
  | { readonly type: 'other'; readonly text: string };

export type ToolContent =
  | { readonly type: 'content'; readonly content: Block }
  | {
      readonly type: 'diff';
      readonly path: string;
      readonly oldText: string | undefined;
      readonly newText: string;
      /** There when it is shown as the agent told it, character by character. No two changes have the same, whatever an agent tries. */
      readonly print?: string | undefined;
    }
  | { readonly type: 'terminal'; readonly terminalId: string };

export type Role = 'user' | 'agent' | 'thought';
export type PlanEntry = { readonly content: string; readonly status: string; readonly priority?: string | undefined };
/** A turn has one, or several that go by ids. Some are a text, or lie in a file. */
export type Plan = {
  readonly planId?: string | undefined;
  readonly entries: readonly PlanEntry[];
  readonly text?: string | undefined;
  readonly uri?: string | undefined;
};
/** The agent makes what was said so far shorter. `null` takes back what was told before. */
export type Compaction = {
  readonly compactionId: string;
  readonly status?: string | undefined;
  readonly summary?: string | null | undefined;
  readonly error?: string | null | undefined;
};
/** A session that the agent has begun for a part of the work. */
export type Subagent = {
  readonly childId: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly state?: string | null | undefined;
};
/** What can be done about a failure, and how one logs in where that is what it takes. */
export type Advice = { readonly hint?: string | undefined; readonly logins?: readonly LoginMethod[] | undefined };
export type Command = { readonly name: string; readonly description: string; readonly hint?: string | undefined };
export type Choice = { readonly value: string; readonly name: string; readonly description?: string | undefined };
export type Option =
  | {
      readonly type: 'select';
      readonly id: string;
      readonly name: string;
      readonly category?: string | undefined;
      readonly value: string;
      readonly choices: readonly Choice[];
    }
  | {
      readonly type: 'boolean';
      readonly id: string;
      readonly name: string;
      readonly category?: string | undefined;
      readonly value: boolean;
    };
export type Usage = { readonly used: number; readonly size: number; readonly cost?: string | undefined };
export type Accepts = { readonly image: boolean; readonly audio: boolean; readonly embeddedContext: boolean };
export type Output = { readonly text: string; readonly isTruncated: boolean; readonly exit?: string | undefined };

/** What an update says of a tool call; what it leaves out stays as it was. */
export type ToolNews = {
  readonly toolCallId: string;
  readonly title?: string | undefined;
  readonly toolKind?: string | undefined;
  readonly status?: string | undefined;
  readonly content?: readonly ToolContent[] | undefined;
  readonly locations?: readonly string[] | undefined;
  readonly input?: string | undefined;
  readonly output?: string | undefined;
};

export type Item = { readonly id: number; size: number } & (
  | { readonly kind: 'message'; readonly role: Role; readonly messageId: string | undefined; text: string; blocks: Block[] }
  | ({ readonly kind: 'tool' } & { -readonly [K in keyof ToolNews]: ToolNews[K] })
  | ({ readonly kind: 'plan' } & { -readonly [K in keyof Plan]: Plan[K] })
  | ({ readonly kind: 'compaction' } & { -readonly [K in keyof Compaction]: Compaction[K] })
  | ({ readonly kind: 'subagent' } & { -readonly [K in keyof Subagent]: Subagent[K] })
  /** Updates of a kind that is not known here: how many in a row, and the last of them. */
  | { readonly kind: 'unknown'; readonly name: string; count: number; text: string }
  | {
      readonly kind: 'decision';
      readonly title: string;
      readonly outcome: string;
      readonly by: string;
      readonly isYes: boolean | undefined;
    }
  | { readonly kind: 'note'; readonly text: string; readonly severity?: string | undefined }
  | ({ readonly kind: 'end'; readonly stopReason: string | undefined; readonly error: string | undefined } & Advice)
);

export type Conversation = {
  readonly sessionId: string;
  items: Item[];
  /** Items of before that are not kept any more. */
  dropped: number;
  nextId: number;
  size: number;
  isRunning: boolean;
  commands: readonly Command[];
  options: readonly Option[];
  usage: Usage | undefined;
  accepts: Accepts;
  outputs: Record<string, Output>;
};

export type Event =
  /** `drop`: so many characters at the end of the message are taken back first. */
  | { readonly e: 'text'; readonly role: Role; readonly messageId?: string | undefined; readonly text: string; readonly drop?: number }
  | { readonly e: 'block'; readonly role: Role; readonly block: Block }
  | { readonly e: 'prompt'; readonly text: string; readonly blocks: readonly Block[] }
  | ({ readonly e: 'tool' } & ToolNews)
  | ({ readonly e: 'plan' } & Plan)
  | { readonly e: 'unplan'; readonly planId: string }
  /** `isMore`: the summary goes on, after so many characters of it are taken back. */
  | ({ readonly e: 'compaction'; readonly isMore?: boolean; readonly drop?: number } & Compaction)
  | ({ readonly e: 'subagent' } & Subagent)
  | { readonly e: 'unknown'; readonly name: string; readonly text: string }
  /** `isYes` by the kind of the option, whatever the agent calls it; undefined when it is not known. */
  | { readonly e: 'decision'; readonly title: string; readonly outcome: string; readonly by: string; readonly isYes?: boolean | undefined }
  | { readonly e: 'note'; readonly text: string; readonly severity?: string | undefined }
  | ({ readonly e: 'end'; readonly stopReason?: string | undefined; readonly error?: string | undefined } & Advice)
  | { readonly e: 'commands'; readonly commands: readonly Command[] }
  | { readonly e: 'options'; readonly options: readonly Option[] }
  /** A mode or option that the agent has changed by itself. */
  | { readonly e: 'option'; readonly id: string; readonly value: string | boolean }
  | { readonly e: 'usage'; readonly usage: Usage }
  | { readonly e: 'accepts'; readonly accepts: Accepts }
  | { readonly e: 'output'; readonly terminalId: string; readonly output: Output }
  | { readonly e: 'running'; readonly isRunning: boolean }
  /** Everything is told anew from here on. */
  | { readonly e: 'reset' };

export const MAX_ITEMS = 2000;
export const MAX_SIZE = 6_000_000;
const MOST_OUTPUTS = 64;

export function createConversation(sessionId: string): Conversation {
  return {
    sessionId,
    items: [],
    dropped: 0,
    nextId: 0,
    size: 0,
    isRunning: false,
    commands: [],
    options: [],
    usage: undefined,
    accepts: { image: false, audio: false, embeddedContext: false },
    outputs: {},
  };
}

/** Takes an event in; returns the item it changed, if it changed one. */
export function apply(conversation: Conversation, event: Event): Item | undefined {
  switch (event.e) {
    case 'text':
      return addText(conversation, event.role, event.messageId, event.text, event.drop ?? 0);
    case 'block':
      return addBlock(conversation, event.role, event.block);
    case 'prompt':
      conversation.isRunning = true;
      return add(conversation, { kind: 'message', role: 'user', messageId: undefined, text: event.text, blocks: [...event.blocks] });
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
      return add(conversation, { kind: 'decision', title: event.title, outcome: event.outcome, by: event.by, isYes: event.isYes });
    case 'note':
      return add(conversation, { kind: 'note', text: event.text, severity: event.severity });
    case 'end':
      conversation.isRunning = false;
      return add(conversation, { kind: 'end', stopReason: event.stopReason, error: event.error, hint: event.hint, logins: event.logins });
    case 'commands':
      conversation.commands = event.commands;
      return undefined;
    case 'options':
      conversation.options = event.options;
      return undefined;
    case 'option':
      conversation.options = conversation.options.map((one) => (one.id === event.id ? ({ ...one, value: event.value } as Option) : one));
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

/** Counts what an item takes, and lets go of the oldest ones when it has become too much. */
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

/** All of it: whatever was not counted, an agent could have us keep without end. */
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

/** The end of a text that has no end. */
const kept = (text: string): string => (text.length > MAX_SIZE ? `…${text.slice(-MAX_SIZE / 2)}` : text);

function addText(conversation: Conversation, role: Role, messageId: string | undefined, text: string, drop: number): Item {
  const last = conversation.items.at(-1);
  const goesOn = last?.kind === 'message' && last.role === role && last.messageId === messageId && last.blocks.length === 0;
  if (!goesOn) return add(conversation, { kind: 'message', role, messageId, text, blocks: [] });
  const before = last.text.length;
  last.text = kept((drop > 0 ? last.text.slice(0, -drop) : last.text) + text);
  // Not measured anew: a long message comes in many small pieces.
  conversation.size += last.text.length - before;
  last.size += last.text.length - before;
  return last;
}

function addBlock(conversation: Conversation, role: Role, block: Block): Item {
  const last = conversation.items.at(-1);
  if (last?.kind !== 'message' || last.role !== role)
    return add(conversation, { kind: 'message', role, messageId: undefined, text: '', blocks: [block] });
  last.blocks = [...last.blocks, block];
  return grown(conversation, last);
}

function tool(conversation: Conversation, { e: _, ...news }: { readonly e: 'tool' } & ToolNews): Item | undefined {
  const known = conversation.items.findLast((item) => item.kind === 'tool' && item.toolCallId === news.toolCallId);
  // The end of something that was only asked about, or is not kept any more: there is nothing of it to show.
  const isEndAlone = (news.status === 'completed' || news.status === 'failed') && Object.keys(told(news)).length <= 2;
  if (known === undefined && isEndAlone) return undefined;
  if (known?.kind !== 'tool') return add(conversation, { kind: 'tool', ...news });
  return grown(conversation, Object.assign(known, told(news)));
}

/** A turn has one plan, however often it is told; one that has an id stays the same in later turns. */
function plan(conversation: Conversation, { e: _, ...news }: { readonly e: 'plan' } & Plan): Item {
  const { planId } = news;
  const begun = conversation.items.findLastIndex((item) => item.kind === 'message' && item.role === 'user');
  const known = conversation.items.findLast(
    (item, index) => item.kind === 'plan' && item.planId === planId && (planId !== undefined || index > begun),
  );
  if (known?.kind !== 'plan') return add(conversation, { kind: 'plan', ...news });
  return grown(conversation, Object.assign(known, { entries: news.entries, text: news.text, uri: news.uri }));
}

/** It stands where it stood, with nothing in it. */
function unplan(conversation: Conversation, planId: string): Item | undefined {
  const known = conversation.items.findLast((item) => item.kind === 'plan' && item.planId === planId);
  return known && Object.assign(known, { entries: [], text: undefined, uri: undefined });
}

function compaction(
  conversation: Conversation,
  { e: _, isMore, drop = 0, ...news }: { readonly e: 'compaction'; readonly isMore?: boolean; readonly drop?: number } & Compaction,
): Item {
  const known = conversation.items.findLast((item) => item.kind === 'compaction' && item.compactionId === news.compactionId);
  if (known?.kind !== 'compaction') return add(conversation, { kind: 'compaction', status: 'in_progress', ...told(news) });
  const before = known.summary ?? '';
  const summary = isMore ? kept(before.slice(0, before.length - drop) + (news.summary ?? '')) : news.summary;
  return grown(conversation, Object.assign(known, told({ ...news, summary })));
}

function subagent(conversation: Conversation, { e: _, ...news }: { readonly e: 'subagent' } & Subagent): Item {
  const known = conversation.items.findLast((item) => item.kind === 'subagent' && item.childId === news.childId);
  return known ? grown(conversation, Object.assign(known, told(news))) : add(conversation, { kind: 'subagent', ...told(news) });
}

/** What an update leaves out stays as it was. */
function told<News extends object>(news: News): News {
  return Object.fromEntries(Object.entries(news).filter(([, value]) => value !== undefined)) as News;
}

/** Many in a row are one entry. */
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
