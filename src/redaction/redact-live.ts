// Messages as they pass, for somebody who looks on: each is shown at once, without the secrets in it, and without what has become of one
// that began in the chunk before.
import type { Secrets } from './redact.ts';
import { redactJson } from './redact-json.ts';
import { createPieceCleaner, following } from './redact-pieces.ts';

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
