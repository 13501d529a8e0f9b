// A recording: the messages between a client and an agent, one per line, with the time since the start. Other tools record in the same
// format (`t`, `proc`, `dir`, `n`, `msg`), so one program replays both.

export type Message = { readonly [key: string]: unknown };

export type Recorded = {
  /** Milliseconds since the start. */
  readonly t: number;
  /** The run of the agent; our recordings have one. */
  readonly proc: number;
  readonly dir: 'client->agent' | 'agent->client';
  /** The original frame size in bytes. */
  readonly n: number;
  readonly msg: Message;
};

/** Throws with the number of the first invalid line. */
export function parseRecording(text: string): readonly Recorded[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const entry = readLine(line);
    if (!entry) throw new Error(`line ${index + 1} is not a line of a recording`);
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

/** Redacts a message, and a text. */
export type RecordingCleaner = {
  json(value: unknown): unknown;
  text(text: string): string;
  /** Redacts output of tools and terminals that arrives in pieces; `owner` names its source. */
  pieces(): { message(owner: string, message: Message): Message };
};

export type RecordingWriter = {
  add(entry: Recorded): void;
  /** Writes the held-back messages. */
  end(): void;
};

/** The chunks of one message; `text` is their redacted text if it contains a secret. */
type Run = { readonly key: string; readonly session: string; chunks: string[]; isOver: boolean; text: string | undefined };
type Held = { readonly entry: Recorded; readonly run: Run | undefined; readonly isFirst: boolean };

/** Above this size the held-back text is written, and the next chunk starts a new run. */
const MAX_RUN_CHARACTERS = 128 * 1024;

/**
 * Checks the chunks of one message together, because a secret may span several. Chunks with a secret become one chunk; others are written
 * unchanged. The order of messages stays the same.
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
      // Without a session id, it may end any turn.
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
