// The transcript of one session as it comes about: chunks become messages, tool calls are kept until they have ended.
import { type Role, roleOf } from './chunk-text.ts';
import type { Entry, ToolRecord } from './transcript-record.ts';

/** Takes secrets out: of a value, and of a text that comes in pieces. */
export type Cleaner = {
  json(value: unknown): unknown;
  text(text: string): string;
  stream(): { push(text: string): string; end(): string };
  /** For what tools put out, a piece at a time; `owner` tells whose tools. */
  pieces(): { update(owner: string, update: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> };
  /** How much at the end of a text may be the beginning of a secret, in characters. */
  longest(): number;
};

/** Where a transcript goes: entries, and messages whose text is still escaped as it stood in JSON. */
export type TranscriptSink = {
  entry(entry: Entry): void;
  escapedMessage(role: Role, escaped: string, more: boolean): void;
};

export type Transcript = {
  /** The text of a chunk, as it stands in JSON: `bytes[start..end)`, still escaped. */
  chunk(role: Role, messageId: unknown, bytes: Buffer, start: number, end: number): void;
  /** Any `update` of a session/update. */
  update(update: Readonly<Record<string, unknown>>): void;
  add(entry: Entry): void;
  /** The turn is over, and with it what was open. */
  end(): void;
  title(): string | undefined;
  /** Usage as the agent reported it last. */
  usage(): unknown;
};

/** `stream` is there once something in the message had to be looked at more closely. */
type Message = {
  readonly role: Role;
  readonly messageId: unknown;
  stream: ReturnType<Cleaner['stream']> | undefined;
  length: number;
  total: number;
};

/** A message is written in parts of this length, so that one without an end does not fill the memory. */
const PART_BYTES = 64 * 1024;
const FIRST_BYTES = 4 * 1024;
const SHORT_BYTES = 256;
/** Nobody reads more of a message than this, and looking for secrets in it takes time. What is left out is counted. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MOST_OPEN_TOOLS = 1000;

export function createTranscript(clean: Cleaner, { entry: write, escapedMessage }: TranscriptSink): Transcript {
  let message: Message | undefined;
  /** What has come of the message since its last part. */
  let part: Buffer | undefined;
  let leftOut = 0;
  const tools = new Map<string, ToolRecord>();
  let pieces: ReturnType<Cleaner['pieces']> | undefined;
  let title: string | undefined;
  let usage: unknown;

  function add(entry: Entry): void {
    write(clean.json(entry) as Entry);
  }
  function endMessage(): void {
    if (!message) return;
    const { role, stream } = message;
    const escaped = takePart(message);
    message = undefined;
    part = undefined;
    if (!stream && isPlain(escaped)) {
      if (escaped !== '') escapedMessage(role, escaped, false);
    } else {
      const last = stream ?? clean.stream();
      const text = last.push(decoded(escaped)) + last.end();
      if (text !== '') write({ kind: 'message', role, text });
    }
    if (leftOut > 0) write({ kind: 'omitted', bytes: leftOut });
    leftOut = 0;
  }
  function takePart(of: Message): string {
    const escaped = part?.toString('utf8', 0, of.length) ?? '';
    of.length = 0;
    return escaped;
  }
  /** Text in which nothing is to be taken out is written as it came; it need not be decoded for that, unless letters are spelled as numbers. */
  function isPlain(escaped: string): boolean {
    return !escaped.includes('\\u') && clean.text(escaped) === escaped;
  }
  function writePart(of: Message): void {
    const escaped = takePart(of);
    // At a blank: not within an escape, nor within most secrets. What may be the beginning of one stays.
    const cut = of.stream || !isPlain(escaped) ? -1 : escaped.lastIndexOf(' ', escaped.length - clean.longest());
    if (cut > 0 && part) {
      escapedMessage(of.role, escaped.slice(0, cut), true);
      of.length = part.write(escaped.slice(cut));
      return;
    }
    pushDecoded(of, decoded(escaped));
  }
  function pushDecoded(of: Message, text: string): void {
    of.stream ??= clean.stream();
    const sure = of.stream.push(text);
    if (sure !== '') write({ kind: 'message', role: of.role, text: sure, more: true });
  }
  function endTool(tool: ToolRecord): void {
    tools.delete(tool.toolCallId);
    add({ kind: 'tool', ...tool });
  }
  function toolCall(update: Readonly<Record<string, unknown>>): void {
    const { toolCallId, title: name, kind, status, content, locations, rawInput, rawOutput } = update;
    if (typeof toolCallId !== 'string') return;
    const given = { title: name, toolKind: kind, status, content, locations, rawInput, rawOutput };
    const news = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
    const tool: ToolRecord = { ...tools.get(toolCallId), ...news, toolCallId };
    tools.set(toolCallId, tool);
    const [oldest] = tools.size > MOST_OPEN_TOOLS ? tools.values() : [];
    if (oldest) endTool(oldest);
    if (status === 'completed' || status === 'failed') endTool(tool);
  }

  const self: Transcript = {
    chunk(role, messageId, bytes, start, end) {
      if (message && (message.role !== role || message.messageId !== messageId)) endMessage();
      message ??= { role, messageId, stream: undefined, length: 0, total: 0 };
      const length = end - start;
      message.total += length;
      if (message.total > MAX_MESSAGE_BYTES) {
        leftOut += length;
        return;
      }
      if (message.length + length > PART_BYTES) writePart(message);
      if (message.length + length > PART_BYTES) {
        pushDecoded(message, decoded(takePart(message) + bytes.toString('utf8', start, end)));
        return;
      }
      part = roomFor(part, message.length, message.length + length);
      copy(bytes, start, end, part, message.length);
      message.length += length;
    },
    update(update) {
      const { sessionUpdate: kind, content, messageId } = update;
      const role = roleOf(kind);
      if (role !== undefined) {
        const { type, text } = (content ?? {}) as { type?: unknown; text?: unknown };
        if (type === 'text' && typeof text === 'string') {
          const bytes = Buffer.from(JSON.stringify(text));
          return self.chunk(role, messageId, bytes, 1, bytes.length - 1);
        }
        endMessage();
        return add({ kind: 'block', role, content });
      }
      if (kind === 'tool_call' || kind === 'tool_call_update') {
        endMessage();
        pieces ??= clean.pieces();
        toolCall(pieces.update('', update));
      } else if (kind === 'plan') self.add({ kind: 'plan', entries: update.entries });
      else if (kind === 'current_mode_update') self.add({ kind: 'mode', modeId: update.currentModeId });
      else if (kind === 'session_info_update' && typeof update.title === 'string') {
        title = clean.json(update.title) as string;
        self.add({ kind: 'title', title });
      } else if (kind === 'usage_update') {
        const { sessionUpdate: _, ...reported } = update;
        usage = clean.json(reported);
      }
    },
    add(entry) {
      endMessage();
      add(entry);
    },
    end() {
      endMessage();
      for (const tool of [...tools.values()]) endTool(tool);
    },
    title: () => title,
    usage: () => usage,
  };
  return self;
}

const decoded = (escaped: string): string => (escaped.includes('\\') ? JSON.parse(`"${escaped}"`) : escaped);

/** Most pieces are short, and for those a call of `Buffer.copy` takes longer than the copying. */
function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > SHORT_BYTES) from.copy(to, at, start, end);
  else for (let i = start, k = at; i < end; i++, k++) to[k] = from[i] as number;
}

function roomFor(part: Buffer | undefined, used: number, wanted: number): Buffer {
  if (part && part.length >= wanted) return part;
  const larger = Buffer.allocUnsafe(Math.min(PART_BYTES, Math.max(FIRST_BYTES, wanted * 2)));
  part?.copy(larger, 0, 0, used);
  return larger;
}
