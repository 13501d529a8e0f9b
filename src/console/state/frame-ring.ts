// Recent frames: rows in a ring, bodies while they fit.
import { fields } from '../../json-object.ts';
import { type FrameRecord, parseFilter, termsOf } from '../../store/frame-log/frame-filter.ts';
import { lastRecords } from '../../store/frame-log/read-frames.ts';
import { list, text } from './read-update.ts';

export type Kept = {
  readonly n: number;
  readonly record: FrameRecord;
  /** Shared with the same frame on the other connection. */
  readonly pair?: number | undefined;
  /** How long it stayed here before it was forwarded. */
  readonly addedMs?: number | undefined;
  /** What it is about, in a few words. */
  readonly what?: string | undefined;
  /** From the log of another process. */
  readonly isOther?: boolean | undefined;
};
export type Wanted = (row: Kept) => boolean;

const MAX_ROWS = 60_000;
const MAX_BODY_CHARACTERS = 32 * 1024 * 1024;
const HISTORY = 2000;
/** Log files are named after their process. */
const OWN_FILE = new RegExp(`-${process.pid}(?:\\D|$)`);
const MAX_SUBJECT = 120;
/** Size limit of one export response. */
const EXPORT_CHARACTERS = 1024 * 1024;

/** `dir` holds the frame log of all processes. */
export function createFrameRing(dir: string) {
  const bodies = new Map<number, string>();
  let rows: Kept[] = [];
  /** Lower numbers are for frames from the log. */
  let next = 2 * HISTORY;
  let hasHistory = false;
  let bodySize = 0;

  /** Puts frames from the log, from before the first page, in front of the live ones. */
  function readHistory(): void {
    hasHistory = true;
    const since = rows[0]?.record.t ?? Number.POSITIVE_INFINITY;
    const read = (isOther: boolean) =>
      lastRecords(
        dir,
        ({ t }) => t < since,
        HISTORY,
        (file) => OWN_FILE.test(file) !== isOther,
      ).map((record) => ({ record, isOther }));
    const before = [...read(true), ...read(false)].sort((a, b) => a.record.t - b.record.t);
    rows = [...before.map(({ record: { msg, line, ...record }, isOther }, n) => ({ n, record, isOther })), ...rows];
  }
  return {
    take({ msg, line, ...record }: FrameRecord, more: Pick<Kept, 'pair' | 'addedMs'> | undefined): void {
      const n = next++;
      rows.push({ n, record, ...more, what: subjectOf(msg) });
      // In large steps, so that not every frame moves the whole array.
      if (rows.length > MAX_ROWS) rows = rows.slice(MAX_ROWS / 6);
      const body = msg === undefined ? line : JSON.stringify(msg);
      if (body === undefined) return;
      bodies.set(n, body);
      bodySize += body.length;
      for (const [oldest, text] of bodies) {
        if (bodySize <= MAX_BODY_CHARACTERS) break;
        bodies.delete(oldest);
        bodySize -= text.length;
      }
    },
    rows: (): readonly Kept[] => {
      if (!hasHistory) readHistory();
      return rows;
    },
    /** The number of the next frame. */
    get next(): number {
      return next;
    },
    row: (n: number): Kept | undefined => rows.find((one) => one.n === n),
    body: (n: number): string | undefined => bodies.get(n),
    /** A predicate for the filter, or its invalid term. Bodies are searched only if the filter asks for it. */
    wanted(filter: string): Wanted | { readonly wrong: string } {
      const terms = termsOf(filter);
      const takes = parseFilter(terms);
      if (typeof takes !== 'function') return takes;
      if (!terms.some((term) => /^!?text:/.test(term))) return ({ record }) => takes(record);
      return ({ n, record }) => takes({ ...record, line: bodies.get(n) ?? '' });
    },
    /** Frames after this number in the format of the frame log, as many as fit into one response. */
    lines: (wanted: Wanted, after: number): Lines => collect(wanted, after, (row) => lineOf(row, bodies.get(row.n))),
    /** The same as a recording, which `switchboard replay` plays back: the frames of one connection that are kept with their content. */
    recording(connection: string, after: number): Lines {
      const start = rows.find(({ n, record }) => record.leg === connection && bodies.has(n))?.record.t ?? 0;
      return collect(
        ({ n, record }) => record.leg === connection && record.kind !== 'refused' && bodies.has(n),
        after,
        ({ n, record }) => recordedLine(record, bodies.get(n) as string, start),
      );
    },
  };

  function collect(wanted: Wanted, after: number, write: (row: Kept) => string): Lines {
    let text = '';
    for (const row of rows) {
      if (row.n <= after || !wanted(row)) continue;
      text += `${write(row)}\n`;
      if (text.length > EXPORT_CHARACTERS) return { text, next: row.n };
    }
    return { text };
  }
}

type Lines = { readonly text: string; readonly next?: number };

function recordedLine({ t, dir, bytes = 0 }: FrameRecord, body: string, start: number): string {
  const way = dir === 'fromEditor' || dir === 'toAgent' ? 'client->agent' : 'agent->client';
  return `{"t":${Math.round(t - start)},"proc":1,"dir":"${way}","n":${bytes},"msg":${body}}`;
}

function lineOf({ record, addedMs }: Kept, body: string | undefined): string {
  const head = JSON.stringify({ ...record, ...(addedMs !== undefined && { addedMs: Math.round(addedMs * 1000) / 1000 }) });
  if (body === undefined) return head;
  return `${head.slice(0, -1)},${record.kind === 'refused' ? `"line":${JSON.stringify(body)}` : `"msg":${body}`}}`;
}

/** What a frame is about, in a few words: the kind of an update, the title of a tool call, a path, a command. */
function subjectOf(message: unknown): string | undefined {
  const { method, params, error } = fields(message);
  const given = fields(params);
  const found = error === undefined ? subjectOfParams(text(method), given) : text(fields(error).message);
  if (found === undefined || found === '') return undefined;
  const line = found.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_SUBJECT ? `${line.slice(0, MAX_SUBJECT - 1)}…` : line;
}

function subjectOfParams(method: string | undefined, params: Record<string, unknown>): string | undefined {
  switch (method) {
    case 'session/update':
      return subjectOfUpdate(fields(params.update));
    case 'session/prompt':
      return list(params.prompt)
        .map((block) => text(fields(block).text) ?? `[${String(fields(block).type)}]`)
        .join(' ');
    case 'session/request_permission':
      return text(fields(params.toolCall).title);
    case 'session/set_mode':
      return text(params.modeId);
    case 'session/set_model':
      return text(params.modelId);
    case 'session/set_config_option':
      return `${String(params.configId)} = ${String(params.value)}`;
    case 'terminal/create':
      return [text(params.command), ...list(params.args).map(String)].filter((word) => word !== undefined).join(' ');
    case 'fs/read_text_file':
    case 'fs/write_text_file':
      return text(params.path);
    case 'session/new':
    case 'session/load':
      return text(params.cwd);
    case 'elicitation/create':
      return text(params.message);
    case 'initialize':
      return text(fields(params.clientInfo).name);
    default:
      return undefined;
  }
}

function subjectOfUpdate(update: Record<string, unknown>): string | undefined {
  const kind = text(update.sessionUpdate);
  const more =
    text(update.title) ??
    text(fields(update.content).text) ??
    text(update.currentModeId) ??
    (typeof update.used === 'number' ? `${update.used} of ${String(update.size)}` : undefined) ??
    text(update.status) ??
    text(update.toolCallId);
  return [kind, more].filter((part) => part !== undefined).join(' · ');
}
