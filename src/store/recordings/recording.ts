// A recording: what a client and an agent said to each other, a line each, with the time since its beginning. The format of recorded
// traffic elsewhere (`t`, `proc`, `dir`, `n`, `msg`), so that one program plays both.

export type Message = { readonly [key: string]: unknown };

export type Recorded = {
  /** Milliseconds since the beginning. */
  readonly t: number;
  /** Which run of the agent; a recording of ours has one. */
  readonly proc: number;
  readonly dir: 'client->agent' | 'agent->client';
  /** The size of the frame as it was, in bytes. */
  readonly n: number;
  readonly msg: Message;
};

/** Throws with the number of the line that is none. */
export function parseRecording(text: string): readonly Recorded[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const entry = readLine(line);
    if (!entry) throw new Error(`line ${index + 1} is no line of a recording`);
    return [entry];
  });
}

function readLine(line: string): Recorded | undefined {
  try {
    const { t, proc = 1, dir, n, msg } = JSON.parse(line);
    const isOne = (dir === 'client->agent' || dir === 'agent->client') && typeof msg === 'object' && msg !== null;
    return isOne ? { t: Number(t) || 0, proc: Number(proc), dir, n: Number(n) || 0, msg } : undefined;
  } catch {
    return undefined;
  }
}

/** Takes secrets out of a message, and out of a text. */
export type RecordingCleaner = {
  json(value: unknown): unknown;
  text(text: string): string;
  /** For what tools and terminals put out, a piece at a time; `owner` tells who does. */
  pieces(): { message(owner: string, message: Message): Message };
};

export type RecordingWriter = {
  add(entry: Recorded): void;
  /** What is held back is written. */
  end(): void;
};

/** The chunks of one message; `text` is what becomes of them when there is a secret in it. */
type Run = { readonly key: string; readonly session: string; chunks: string[]; isOver: boolean; text: string | undefined };
type Held = { readonly entry: Recorded; readonly run: Run | undefined; readonly isFirst: boolean };

/** So much of what has not been written yet is kept in memory; then it is written, and the next chunk begins anew. */
const MAX_RUN_CHARACTERS = 128 * 1024;

/**
 * Chunks of one message are looked at together, since a secret may be split over several. Where there is one they become a single chunk;
 * else each is written as it was. The order of the recording stays what it was.
 */
export function createRecordingWriter(clean: RecordingCleaner, write: (line: string) => void): RecordingWriter {
  let held: Held[] = [];
  let heldCharacters = 0;
  const open = new Map<string, Run>();
  const pieces = clean.pieces();

  function over(run: Run): void {
    const text = run.chunks.join('');
    const without = clean.text(text);
    if (without !== text) run.text = without;
    run.isOver = true;
    open.delete(run.session);
  }
  function pump(): void {
    let done = 0;
    for (const { entry, run, isFirst } of held) {
      if (run && !run.isOver) break;
      done++;
      const msg = clean.json(pieces.message(`${entry.proc} ${entry.dir}`, entry.msg)) as Message;
      if (run?.text === undefined) write(`${JSON.stringify({ ...entry, msg })}\n`);
      else if (isFirst) write(`${JSON.stringify({ ...entry, msg: withText(msg, run.text) })}\n`);
    }
    held = held.slice(done);
    if (held.length === 0) heldCharacters = 0;
  }
  function overAll(): void {
    for (const run of [...open.values()]) over(run);
    pump();
  }

  return {
    add(entry) {
      const chunk = chunkOf(entry.msg);
      const session = sessionOf(entry);
      const current = open.get(session);
      // Without a session it may be the end of any turn.
      if (entry.msg.method === undefined) overAll();
      else if (current && current.key !== chunk?.key) over(current);
      if (chunk === undefined) held.push({ entry, run: undefined, isFirst: true });
      else {
        const run = open.get(session) ?? { key: chunk.key, session, chunks: [], isOver: false, text: undefined };
        open.set(session, run);
        held.push({ entry, run, isFirst: run.chunks.length === 0 });
        run.chunks.push(chunk.text);
        heldCharacters += chunk.text.length;
      }
      if (heldCharacters > MAX_RUN_CHARACTERS) overAll();
      else pump();
    },
    end: overAll,
  };
}

const sessionOf = ({ proc, dir, msg }: Recorded): string => {
  const { sessionId } = (msg.params ?? {}) as { sessionId?: unknown };
  return `${proc} ${dir} ${JSON.stringify(sessionId)}`;
};

type Chunk = {
  readonly sessionId: unknown;
  readonly update: {
    readonly sessionUpdate?: unknown;
    readonly messageId?: unknown;
    readonly content?: { readonly text?: unknown; readonly type?: unknown };
  };
};

function chunkOf({ method, params }: Message): { readonly key: string; readonly text: string } | undefined {
  if (method !== 'session/update') return undefined;
  const { sessionId, update } = (params ?? {}) as Chunk;
  const { sessionUpdate: kind, messageId, content } = update ?? {};
  if (typeof kind !== 'string' || !kind.endsWith('_chunk') || content?.type !== 'text' || typeof content.text !== 'string')
    return undefined;
  return { key: JSON.stringify([sessionId, kind, messageId]), text: content.text };
}

function withText(message: Message, text: string): Message {
  const params = message.params as { update: { content: object } };
  return { ...message, params: { ...params, update: { ...params.update, content: { ...params.update.content, text } } } };
}
