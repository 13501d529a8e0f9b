// Text that comes in pieces: a secret may begin in one and end in the next, so what may still be the beginning of one is held back.
import type { Secrets } from './redact.ts';
import { redactJson } from './redact-json.ts';
import { createPieceCleaner, following } from './redact-pieces.ts';

export type RedactStream = {
  /** Takes a piece; returns what can be passed on by now, redacted. */
  push(text: string): string;
  /** What is held back, redacted; it stays held back. */
  pending(): string;
  /** The same, and nothing is held back any more. */
  end(): string;
};

/** Redacting anew with every piece would cost a pass over all that is held back each time. */
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
  /** The first place from the overlap backwards where a cut does not go through a secret. */
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

// Messages as they pass, for somebody who looks on: each is shown at once, without the secrets in it, and without what has become of one
// that began in the chunk before.
type Fields = Readonly<Record<string, unknown>>;
export type LiveCleaner = (message: Fields) => Fields;

const CHUNK = /^(?:agent_message|agent_thought|user_message)_chunk$/;
const MOST_SESSIONS = 1000;

export function createLiveCleaner(secrets: Secrets): LiveCleaner {
  const pieces = createPieceCleaner(secrets);
  /** The message that is coming in each session, and the end of what has come of it. */
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
      return redactJson(pieces.message('', message), secrets.redact) as Fields;
    const shown = chunk(String(params?.sessionId), JSON.stringify([kind, messageId]), text);
    const update = { ...params?.update, content: { ...(content as Fields), text: shown } };
    return redactJson({ ...message, params: { ...params, update } }, secrets.redact) as Fields;
  };
}
