// What was said and done in one session, as the console shows it. Pure, and the same code on both sides: the server keeps a conversation so
// that a page can begin anywhere, the page keeps its own, and both become what they are by the same events in the same order.

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name?: string | undefined }
  | { readonly type: 'resource'; readonly uri: string; readonly text?: string | undefined; readonly mimeType?: string | undefined }
  | { readonly type: 'other'; readonly text: string };

export type ToolContent =
  | { readonly type: 'content'; readonly content: Block }
  | { readonly type: 'diff'; readonly path: string; readonly oldText: string | undefined; readonly newText: string }
  | { readonly type: 'terminal'; readonly terminalId: string };

export type Role = 'user' | 'agent' | 'thought';
export type PlanEntry = { readonly content: string; readonly status: string; readonly priority?: string | undefined };
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
  | { readonly kind: 'plan'; entries: readonly PlanEntry[] }
  | {
      readonly kind: 'decision';
      readonly title: string;
      readonly outcome: string;
      readonly by: string;
      readonly isYes: boolean | undefined;
    }
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'end'; readonly stopReason: string | undefined; readonly error: string | undefined }
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
  | { readonly e: 'plan'; readonly entries: readonly PlanEntry[] }
  /** `isYes` by the kind of the option, whatever the agent calls it; undefined when it is not known. */
  | { readonly e: 'decision'; readonly title: string; readonly outcome: string; readonly by: string; readonly isYes?: boolean | undefined }
  | { readonly e: 'note'; readonly text: string }
  | { readonly e: 'end'; readonly stopReason?: string | undefined; readonly error?: string | undefined }
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
      return plan(conversation, event.entries);
    case 'decision':
      return add(conversation, { kind: 'decision', title: event.title, outcome: event.outcome, by: event.by, isYes: event.isYes });
    case 'note':
      return add(conversation, { kind: 'note', text: event.text });
    case 'end':
      conversation.isRunning = false;
      return add(conversation, { kind: 'end', stopReason: event.stopReason, error: event.error });
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

function sizeOf(item: Item): number {
  if (item.kind === 'message') return item.text.length + item.blocks.reduce((sum, block) => sum + blockSize(block), 0);
  if (item.kind !== 'tool') return 100;
  const content = (item.content ?? []).reduce((sum, one) => {
    if (one.type === 'diff') return sum + one.newText.length + (one.oldText?.length ?? 0);
    return sum + (one.type === 'content' ? blockSize(one.content) : 20);
  }, 0);
  return 200 + content + (item.input?.length ?? 0) + (item.output?.length ?? 0);
}

function blockSize(block: Block): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length;
  return 50 + ('text' in block ? (block.text?.length ?? 0) : 0);
}

function addText(conversation: Conversation, role: Role, messageId: string | undefined, text: string, drop: number): Item {
  const last = conversation.items.at(-1);
  const goesOn = last?.kind === 'message' && last.role === role && last.messageId === messageId && last.blocks.length === 0;
  if (!goesOn) return add(conversation, { kind: 'message', role, messageId, text, blocks: [] });
  last.text = (drop > 0 ? last.text.slice(0, -drop) : last.text) + text;
  // Not measured anew: a long message comes in many small pieces.
  conversation.size += text.length - drop;
  last.size += text.length - drop;
  return last;
}

function addBlock(conversation: Conversation, role: Role, block: Block): Item {
  const last = conversation.items.at(-1);
  if (last?.kind !== 'message' || last.role !== role)
    return add(conversation, { kind: 'message', role, messageId: undefined, text: '', blocks: [block] });
  last.blocks = [...last.blocks, block];
  return grown(conversation, last);
}

function tool(conversation: Conversation, { e: _, ...news }: { readonly e: 'tool' } & ToolNews): Item {
  const known = conversation.items.findLast((item) => item.kind === 'tool' && item.toolCallId === news.toolCallId);
  if (known?.kind !== 'tool') return add(conversation, { kind: 'tool', ...news });
  for (const [key, value] of Object.entries(news)) if (value !== undefined) Object.assign(known, { [key]: value });
  return grown(conversation, known);
}

/** A turn has one plan, however often it is told. */
function plan(conversation: Conversation, entries: readonly PlanEntry[]): Item {
  const begun = conversation.items.findLastIndex((item) => item.kind === 'message' && item.role === 'user');
  const known = conversation.items.findLast((item, index) => item.kind === 'plan' && index > begun);
  if (known?.kind !== 'plan') return add(conversation, { kind: 'plan', entries });
  known.entries = entries;
  return known;
}

/** Returns the tool call that shows the terminal. */
function output(conversation: Conversation, terminalId: string, news: Output): Item | undefined {
  const kept = Object.entries(conversation.outputs).slice(-MOST_OUTPUTS);
  conversation.outputs = { ...Object.fromEntries(kept), [terminalId]: news };
  return conversation.items.findLast(
    (item) => item.kind === 'tool' && item.content?.some((one) => one.type === 'terminal' && one.terminalId === terminalId),
  );
}
