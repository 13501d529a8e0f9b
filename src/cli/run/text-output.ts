// Renders a turn for people: streams the answer, and prints everything else as tagged lines.

import { type DiffLine, diffLines } from '../../client/diff-lines.ts';
import { fields, list } from '../../json-object.ts';
import type { Paint } from './paint.ts';

type Fields = Readonly<Record<string, unknown>>;

export type TurnOutput = {
  /** A `session/update`: its `update`. */
  update(update: unknown): void;
  /** A message of our own. */
  tagged(tag: string, text: string): void;
  /** The turn ended: the next output starts on a new line. */
  end(): void;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const MARKS: Readonly<Record<string, string>> = { completed: 'x', in_progress: '~', pending: ' ' };

export function createTextOutput(write: (text: string) => void, paint: Paint): TurnOutput {
  /** The kind of the unfinished line; undefined at the start of a line. */
  let open: 'message' | 'thought' | undefined;
  /** The agent is giving its answer; lines about the session itself wait for its end. */
  let isAnswering = false;
  let waiting: { readonly tag: string; readonly words: string }[] = [];
  const tools = new Map<string, { title: string; status: string; diffs: Set<string> }>();

  function newLine(): void {
    if (open !== undefined) write('\n');
    open = undefined;
    isAnswering = false;
    const late = waiting;
    waiting = [];
    for (const { tag, words } of late) tagged(tag, words);
  }
  function aside(tag: string, words: string): void {
    if (isAnswering) waiting = [...waiting.filter((one) => one.tag !== tag), { tag, words }];
    else tagged(tag, words);
  }
  function tagged(tag: string, words: string): void {
    newLine();
    write(`${paint.cyan(`[${tag}]`)}${words === '' ? '' : ` ${words}`}\n`);
  }
  function stream(kind: 'message' | 'thought', words: string): void {
    if (words === '') return;
    if (open !== kind && !(kind === 'message' && isAnswering)) newLine();
    isAnswering = kind === 'message';
    const shown = paint.foreign(words);
    if (kind === 'message') write(shown);
    else write(open === kind ? paint.dim(shown) : `${paint.cyan('[thought]')} ${paint.dim(shown)}`);
    open = shown.endsWith('\n') ? undefined : kind;
  }
  function tool(update: Fields): void {
    const id = text(update.toolCallId);
    const known = tools.get(id) ?? { title: id, status: '', diffs: new Set() };
    tools.set(id, known);
    const title = text(update.title) || known.title;
    const status = text(update.status) || known.status || 'pending';
    const places = list(update.locations)
      .map(placeOf)
      .filter((place) => place !== '');
    const where = places.length === 0 ? '' : ` ${places.join(', ')}`;
    if (title !== known.title || status !== known.status)
      tagged(
        'tool',
        `${paint.foreign(title)} ${paint.dim(`(${[text(update.kind), status].filter((part) => part !== '').join(', ')})`)}${paint.foreign(where)}`,
      );
    known.title = title;
    known.status = status;
    for (const entry of list(update.content)) {
      const { type, path, oldText, newText } = fields(entry);
      const key = JSON.stringify([path, oldText, newText]);
      if (type !== 'diff' || known.diffs.has(key)) continue;
      known.diffs.add(key);
      tagged('diff', paint.foreign(text(path)));
      for (const line of diffLines(text(oldText), text(newText))) write(`${diffLine(line, paint)}\n`);
    }
  }
  function plan(entries: readonly unknown[]): void {
    tagged('plan', '');
    for (const entry of entries) {
      const { content, status } = fields(entry);
      write(`  [${MARKS[text(status)] ?? ' '}] ${paint.foreign(text(content))}\n`);
    }
  }

  return {
    tagged,
    end: newLine,
    update(update) {
      const given = fields(update);
      switch (given.sessionUpdate) {
        case 'agent_message_chunk':
          return stream('message', textOf(given.content));
        case 'agent_thought_chunk':
          return stream('thought', textOf(given.content));
        case 'tool_call':
        case 'tool_call_update':
          return tool(given);
        case 'plan':
          return plan(list(given.entries));
        case 'plan_update':
          return plan(list(fields(given.plan).entries));
        case 'available_commands_update':
          return aside(
            'commands',
            list(given.availableCommands)
              .map((command) => `/${paint.foreign(text(fields(command).name))}`)
              .join(' '),
          );
        case 'current_mode_update':
          return tagged('mode', paint.foreign(text(given.currentModeId) || text(given.modeId)));
        case 'usage_update':
          return aside('usage', usage(given));
        case 'notice':
          return tagged('notice', paint.foreign([text(given.title), text(given.description)].filter((part) => part !== '').join('. ')));
        case 'session_info_update':
          return text(given.title) === '' ? undefined : aside('title', paint.foreign(text(given.title)));
        default:
          return undefined;
      }
    },
  };
}

/** A file and its line. Without a line, the title says as much. */
function placeOf(location: unknown): string {
  const { path, line } = fields(location);
  return typeof line === 'number' ? `${text(path)}:${line}` : '';
}

/** Only the assistant's text. */
export function createSimpleOutput(write: (text: string) => void, paint: Paint): TurnOutput {
  let isOpen = false;
  return {
    update(update) {
      const { sessionUpdate, content } = fields(update);
      const { type, text: words } = fields(content);
      if (sessionUpdate !== 'agent_message_chunk' || type !== 'text' || typeof words !== 'string' || words === '') return;
      write(paint.foreign(words));
      isOpen = !words.endsWith('\n');
    },
    tagged: () => {},
    end() {
      if (isOpen) write('\n');
      isOpen = false;
    },
  };
}

/** The text of a content block; other blocks are named. */
function textOf(content: unknown): string {
  const { type, text: words, uri, name, resource, mimeType } = fields(content);
  if (type === 'text') return text(words);
  if (type === 'resource_link') return `[${text(name) || 'link'}](${text(uri)})`;
  if (type === 'resource') return text(fields(resource).text) || `[${text(fields(resource).uri)}]`;
  return type === 'image' || type === 'audio' ? `[${type} ${text(mimeType)}]` : '';
}

function diffLine({ kind, text: line }: DiffLine, paint: Paint): string {
  const shown = paint.foreign(line);
  if (kind === 'hunk') return paint.cyan(shown);
  if (kind === 'added') return paint.green(`+${shown}`);
  if (kind === 'removed') return paint.red(`-${shown}`);
  return ` ${shown}`;
}

function usage({ used, size, cost }: Fields): string {
  const { amount, currency } = fields(cost);
  const tokens = typeof size === 'number' && size > 0 ? `${used} of ${size} tokens` : `${used} tokens`;
  return typeof amount === 'number' ? `${tokens}, ${amount} ${text(currency)}` : tokens;
}
