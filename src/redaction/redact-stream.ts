// Redacts text that arrives in pieces. A secret may span two pieces, so the stream holds back a possible start of one.
import type { Redactor, Redactors, Secrets } from './redact.ts';
import { redactJson } from './redact-json.ts';
import { createPieceCleaner, following } from './redact-pieces.ts';

export type RedactStream = {
  /** Adds a piece, and returns the redacted text that can be passed on. */
  push(text: string): string;
  /** The held-back text, redacted. It stays held back. */
  pending(): string;
  /** Like `pending`, and ends the stream. */
  end(): string;
};

/** Redacting with every piece would cost a pass over the held-back text each time. */
const BATCH_CHARACTERS = 64 * 1024;
const CUT_STEP = 61;

export function createRedactStream(secrets: Secrets, batchCharacters = BATCH_CHARACTERS): RedactStream {
  let held: string[] = [];
  let heldCharacters = 0;

  function take(): string {
    const text = held.join('');
    held = [];
    heldCharacters = 0;
    return text;
  }
  /** The last position before the overlap where a cut does not split a secret. */
  function safeCut(text: string, overlap: number): { readonly at: number; readonly clean: string } {
    const whole = secrets.redact(text);
    if (whole === text) return { at: text.length - overlap, clean: text.slice(0, text.length - overlap) };
    for (let at = text.length - overlap; at > 0; at -= CUT_STEP) {
      const clean = secrets.redact(text.slice(0, at));
      if (clean + secrets.redact(text.slice(at)) === whole) return { at, clean };
    }
    return { at: text.length, clean: whole };
  }

  return {
    push(text) {
      if (text === '') return '';
      held.push(text);
      heldCharacters += text.length;
      const overlap = secrets.longest();
      if (heldCharacters < batchCharacters + overlap) return '';
      const all = take();
      const { at, clean } = safeCut(all, overlap);
      const rest = all.slice(at);
      if (rest !== '') held.push(rest);
      heldCharacters = rest.length;
      return clean;
    },
    pending: () => secrets.redact(held.join('')),
    end: () => secrets.redact(take()),
  };
}

// Messages as an observer shows them: each at once, redacted, also where a secret began in the previous chunk.
type Fields = Readonly<Record<string, unknown>>;
export type LiveCleaner = (message: Fields) => Fields;

const CHUNK = /^(?:agent_message|agent_thought|user_message)_chunk$/;
const MOST_SESSIONS = 1000;

/** `structure` finds secrets by their place in a message. */
export function createLiveCleaner(secrets: Redactors, structure: (value: unknown, redact: Redactor) => unknown = redactJson): LiveCleaner {
  const pieces = createPieceCleaner(secrets);
  /** Per session: the current message, and the end of its text so far. */
  const coming = new Map<string, { readonly message: string; readonly tail: string }>();

  function chunk(session: string, message: string, text: string): string {
    const before = coming.get(session);
    const tail = before?.message === message ? before.tail : '';
    if (coming.size > MOST_SESSIONS) coming.clear();
    coming.set(session, { message, tail: (tail + text).slice(-secrets.longest()) });
    return following(secrets.redactStreamed, tail, text);
  }
  return (message) => {
    const { params } = message as { params?: { sessionId?: unknown; update?: Fields } };
    const { sessionUpdate: kind, content, messageId } = params?.update ?? {};
    const { type, text } = (content ?? {}) as Fields;
    if (!CHUNK.test(String(kind)) || type !== 'text' || typeof text !== 'string')
      return structure(pieces.message('', message), secrets.redact) as Fields;
    const shown = chunk(String(params?.sessionId), JSON.stringify([kind, messageId]), text);
    const update = { ...params?.update, content: { ...(content as Fields), text: shown } };
    return structure({ ...message, params: { ...params, update } }, secrets.redact) as Fields;
  };
}
