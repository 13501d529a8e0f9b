// Builds the transcript of one session: joins chunks to messages, and keeps tool calls until they end.
import type { Span } from '../../wire/frame.ts';
import { endOf, type FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { type Role, roleOf } from './frame-text.ts';
import { giveBack, SPARE_BYTES, takeBuffer } from './pending-lines.ts';
import type { Entry, ToolRecord } from './transcript-record.ts';

/** Redacts a value, and a text that arrives in pieces. */
export type Cleaner = {
  json(value: unknown): unknown;
  text(text: string): string;
  stream(): { push(text: string): string; end(): string };
  /** Redacts tool output that arrives in pieces; `owner` names the session. */
  pieces(): { update(owner: string, update: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> };
  /** How many characters at the end of a text may be the start of a secret. */
  longest(): number;
};

/** Receives entries; an entry with text that is still JSON-escaped comes as `before`, text and `after`. */
export type TranscriptSink = {
  entry(entry: Entry): void;
  escaped(before: string, bytes: Buffer, start: number, end: number, after: string): void;
};

export type Transcript = {
  /** The text of a chunk: `bytes[start..end)`, still JSON-escaped. */
  chunk(role: Role, messageId: unknown, bytes: Buffer, start: number, end: number): void;
  /** The texts of chunks that differ in these only; `text` is that of the first, with its quotes. */
  chunks(role: Role, batch: FrameBatch, text: Span): void;
  /** Any `update` of a session/update. */
  update(update: Readonly<Record<string, unknown>>): void;
  /** The text of a prompt, likewise. */
  prompt(bytes: Buffer, start: number, end: number): void;
  add(entry: Entry): void;
  /** Ends the turn, its open message and its tool calls. */
  end(): void;
  title(): string | undefined;
  /** The first words of the first prompt since the transcript was opened. */
  firstWords(): string | undefined;
  /** The usage that the agent reported last. */
  usage(): unknown;
};

/** Messages are written in parts of this length, so that an endless one does not fill the memory. */
const PART_BYTES = 64 * 1024;
const SHORT_BYTES = 256;
/** Nobody reads more of a message, and scanning it for secrets takes time. The omitted part is counted. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MOST_OPEN_TOOLS = 1000;
const NO_PART = Buffer.alloc(0);
/** The JSON around a text that is written as received. */
const PROMPT = '"kind":"prompt","text":"';
const MESSAGE: Readonly<Record<Role, string>> = {
  agent: '"kind":"message","role":"agent","text":"',
  thought: '"kind":"message","role":"thought","text":"',
  user: '"kind":"message","role":"user","text":"',
};
const END = '"}\n';
const MORE = '","more":true}\n';

export function createTranscript(clean: Cleaner, sink: TranscriptSink): Transcript {
  return new OpenTranscript(clean, sink);
}

// A class, so that a chunk touches one object: with many sessions, none of it is in the CPU cache.
class OpenTranscript implements Transcript {
  /** The role of the current message; undefined if there is none. */
  #role: Role | undefined = undefined;
  #messageId: unknown = undefined;
  /** The current message since its last part, in `part[0..length)`, and its total length. */
  #part: Buffer = NO_PART;
  #length = 0;
  #total = 0;
  #leftOut = 0;
  /** Set once a part of the message needed redaction. */
  #stream: ReturnType<Cleaner['stream']> | undefined = undefined;
  readonly #clean: Cleaner;
  readonly #sink: TranscriptSink;
  #tools: Map<string, ToolRecord> | undefined = undefined;
  /** The calls of this turn that have ended, and are written. */
  #endedTools: Set<string> | undefined = undefined;
  #pieces: ReturnType<Cleaner['pieces']> | undefined = undefined;
  #reportedTitle: string | undefined = undefined;
  #reportedUsage: unknown = undefined;
  #firstWords: string | undefined = undefined;

  constructor(clean: Cleaner, sink: TranscriptSink) {
    this.#clean = clean;
    this.#sink = sink;
  }

  chunk(role: Role, messageId: unknown, bytes: Buffer, start: number, end: number): void {
    if (this.#role !== role || this.#messageId !== messageId) this.#beginMessage(role, messageId);
    const length = end - start;
    this.#total += length;
    if (this.#total > MAX_MESSAGE_BYTES) {
      this.#leftOut += length;
      return;
    }
    if (this.#length + length > this.#part.length && !this.#makeRoom(role, length))
      return this.#pushDecoded(role, decoded(this.#takePart() + bytes.toString('utf8', start, end)));
    copy(bytes, start, end, this.#part, this.#length);
    this.#length += length;
  }

  chunks(role: Role, batch: FrameBatch, { start, end }: Span): void {
    const { first, ends } = batch;
    if (this.#role !== role || this.#messageId !== undefined) this.#beginMessage(role, undefined);
    // What stands around each text, with its quotes and the line feed.
    const before = start + 1 - first.start;
    const behind = first.end + 1 - (end - 1);
    const length = endOf(batch) - first.start - ends.length * (before + behind);
    const isShort = this.#total + length <= MAX_MESSAGE_BYTES;
    if (isShort && (this.#length + length <= this.#part.length || this.#makeRoom(role, length))) {
      this.#total += length;
      copyTexts(batch, before, behind, this.#part, this.#length);
      this.#length += length;
      return;
    }
    let from = first.start;
    for (const feed of ends) {
      this.chunk(role, undefined, first.bytes, from + before, feed + 1 - behind);
      from = feed + 1;
    }
  }

  update(update: Readonly<Record<string, unknown>>): void {
    const { sessionUpdate: kind, content, messageId } = update;
    const role = roleOf(kind);
    if (role !== undefined) {
      const { type, text } = (content ?? {}) as { type?: unknown; text?: unknown };
      if (type === 'text' && typeof text === 'string') {
        const bytes = Buffer.from(JSON.stringify(text));
        return this.chunk(role, messageId, bytes, 1, bytes.length - 1);
      }
      return this.add({ kind: 'block', role, content });
    }
    if (kind === 'tool_call' || kind === 'tool_call_update') {
      this.#endMessage();
      this.#pieces ??= this.#clean.pieces();
      this.#toolCall(this.#pieces.update('', update), kind);
    } else if (kind === 'plan') this.add({ kind: 'plan', entries: update.entries });
    else if (kind === 'current_mode_update') this.add({ kind: 'mode', modeId: update.currentModeId });
    else if (kind === 'session_info_update' && typeof update.title === 'string') {
      this.#reportedTitle = this.#clean.json(update.title) as string;
      this.add({ kind: 'title', title: this.#reportedTitle });
    } else if (kind === 'usage_update') {
      const { sessionUpdate: _, ...reported } = update;
      this.#reportedUsage = this.#clean.json(reported);
    }
  }

  prompt(bytes: Buffer, start: number, end: number): void {
    const escaped = bytes.toString('utf8', start, end);
    this.#firstWords ??= firstWordsOf(this.#clean.text(decoded(escaped)));
    if (!this.#isPlain(escaped)) return this.add({ kind: 'prompt', text: decoded(escaped) });
    this.#endMessage();
    this.#sink.escaped(PROMPT, bytes, start, end, END);
  }

  add(entry: Entry): void {
    this.#endMessage();
    const cleaned = this.#cleaned(entry);
    if (cleaned.kind === 'prompt') this.#firstWords ??= firstWordsOf(cleaned.own ?? cleaned.text);
    this.#sink.entry(cleaned);
  }

  end(): void {
    this.#endMessage();
    if (this.#tools) for (const tool of [...this.#tools.values()]) this.#endTool(tool);
    this.#endedTools = undefined;
  }

  title(): string | undefined {
    return this.#reportedTitle;
  }

  firstWords(): string | undefined {
    return this.#firstWords;
  }

  usage(): unknown {
    return this.#reportedUsage;
  }

  #beginMessage(role: Role, messageId: unknown): void {
    this.#endMessage();
    this.#role = role;
    this.#messageId = messageId;
  }

  #endMessage(): void {
    const role = this.#role;
    const stream = this.#stream;
    const leftOut = this.#leftOut;
    if (role === undefined) return;
    const part = this.#part;
    const length = this.#length;
    const escaped = this.#takePart();
    this.#role = undefined;
    this.#messageId = undefined;
    this.#part = NO_PART;
    this.#total = 0;
    this.#leftOut = 0;
    this.#stream = undefined;
    if (!stream && this.#isPlain(escaped)) {
      if (length > 0) this.#sink.escaped(MESSAGE[role], part, 0, length, END);
    } else {
      const last = stream ?? this.#clean.stream();
      const text = last.push(decoded(escaped)) + last.end();
      if (text !== '') this.#sink.entry({ kind: 'message', role, text });
    }
    giveBack(part);
    if (leftOut > 0) this.#sink.entry({ kind: 'omitted', bytes: leftOut });
  }

  #takePart(): string {
    const escaped = this.#part.toString('utf8', 0, this.#length);
    this.#length = 0;
    return escaped;
  }

  /**
   * Text without secrets is written as received. The check uses the unescaped text: an escape such as `\n` would hide the start of a word.
   */
  #isPlain(escaped: string): boolean {
    if (escaped.includes('\\u')) return false;
    const text = decoded(escaped);
    return this.#clean.text(text) === text;
  }

  /** False if the text is longer than a part. */
  #makeRoom(role: Role, length: number): boolean {
    if (this.#length + length > PART_BYTES) this.#writePart(role);
    const wanted = this.#length + length;
    if (wanted <= this.#part.length) return true;
    if (wanted > PART_BYTES) return false;
    const larger = takeBuffer(wanted <= SPARE_BYTES ? wanted : Math.min(PART_BYTES, wanted * 2));
    this.#part.copy(larger, 0, 0, this.#length);
    giveBack(this.#part);
    this.#part = larger;
    return true;
  }

  #writePart(role: Role): void {
    const length = this.#length;
    const escaped = this.#takePart();
    // Cuts at a space: never inside an escape, and hardly inside a secret. A possible start of a secret stays.
    const cut = this.#stream || !this.#isPlain(escaped) ? -1 : escaped.lastIndexOf(' ', escaped.length - this.#clean.longest());
    if (cut <= 0) return this.#pushDecoded(role, decoded(escaped));
    const kept = Buffer.byteLength(escaped.slice(cut));
    this.#sink.escaped(MESSAGE[role], this.#part, 0, length - kept, MORE);
    this.#part.copyWithin(0, length - kept, length);
    this.#length = kept;
  }

  #pushDecoded(role: Role, text: string): void {
    this.#stream ??= this.#clean.stream();
    const sure = this.#stream.push(text);
    if (sure !== '') this.#sink.entry({ kind: 'message', role, text: sure, more: true });
  }

  #toolCall(update: Readonly<Record<string, unknown>>, updateKind: 'tool_call' | 'tool_call_update'): void {
    const { toolCallId, title: name, kind, status, content, locations, rawInput, rawOutput } = update;
    if (typeof toolCallId !== 'string') return;
    const isWritten = updateKind === 'tool_call_update' && !this.#tools?.has(toolCallId) && this.#endedTools?.has(toolCallId);
    // An update names only what changes: without a status, a call that has ended stays as it is.
    if (isWritten && (status === undefined || status === null)) return;
    const given = { title: name, toolKind: kind, status, content, locations, rawInput, rawOutput };
    const news = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
    this.#tools ??= new Map();
    const tool: ToolRecord = { ...this.#tools.get(toolCallId), ...news, toolCallId };
    this.#tools.set(toolCallId, tool);
    const [oldest] = this.#tools.size > MOST_OPEN_TOOLS ? this.#tools.values() : [];
    if (oldest) this.#endTool(oldest);
    if (status === 'completed' || status === 'failed') this.#endTool(tool);
  }

  #endTool(tool: ToolRecord): void {
    this.#tools?.delete(tool.toolCallId);
    this.#endedTools ??= new Set();
    if (this.#endedTools.size < MOST_OPEN_TOOLS) this.#endedTools.add(tool.toolCallId);
    this.#sink.entry(this.#cleaned({ kind: 'tool', ...tool }));
  }

  /** Its keys and its kind are constants, so they are not redacted. */
  #cleaned(entry: Entry): Entry {
    const copy: Record<string, unknown> = { kind: entry.kind };
    for (const key in entry) {
      if (key === 'kind') continue;
      const value: unknown = entry[key as keyof Entry];
      if (typeof value === 'string') copy[key] = this.#clean.text(value);
      else copy[key] = typeof value === 'object' ? (this.#clean.json({ [key]: value }) as typeof copy)[key] : value;
    }
    return copy as Entry;
  }
}

const MAX_TITLE = 60;

/** The first line, cut between words. */
function firstWordsOf(text: string): string | undefined {
  const line = text.trim().split('\n', 1)[0]?.replace(/\s+/g, ' ') ?? '';
  if (line.length <= MAX_TITLE) return line === '' ? undefined : line;
  return `${line.slice(0, MAX_TITLE).replace(/\s+\S*$/, '')}…`;
}

const decoded = (escaped: string): string => (escaped.includes('\\') ? JSON.parse(`"${escaped}"`) : escaped);

/** The texts one after another. By itself: V8 optimizes a function with a loop as a whole, with all that it calls (goal G15). */
function copyTexts({ first, ends }: FrameBatch, before: number, behind: number, to: Buffer, at: number): void {
  const { bytes } = first;
  let i = first.start;
  let k = at;
  for (let n = 0; n < ends.length; n++) {
    const next = (ends[n] as number) + 1;
    for (i += before; i < next - behind; i++) to[k++] = bytes[i] as number;
    i = next;
  }
}

/** Most pieces are short; for those, calling `Buffer.copy` takes longer than a loop. */
function copy(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > SHORT_BYTES) from.copy(to, at, start, end);
  else for (let i = start, k = at; i < end; i++, k++) to[k] = from[i] as number;
}
