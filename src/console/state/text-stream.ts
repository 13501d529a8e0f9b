// Text of a session on its way to pages: pieces that come close together go out as one, without secrets, also without those that came in two pieces.
import type { Redactor } from '../../redaction/redact.ts';
import type { Event, Role } from '../protocol/conversation.ts';
import { neutralise } from './clean-text.ts';

// Text that comes in pieces and is shown as it comes. A secret may begin in one piece and end in the next; holding text back until that is
// ruled out would stop the stream, so what has been shown is taken back instead as soon as more of it is known.
export type CleanStream = {
  /** What is to be shown now: take so many characters back, then add the text. */
  push(text: string): { readonly drop: number; readonly text: string };
};

const KEPT = 8192;
const MOST = 2 * KEPT;
/** No secret is as long; whatever may still change after so much must not be cleaned anew with every piece for ever. */
const LONGEST = 4 * KEPT;

export function createCleanStream(redact: (text: string) => string): CleanStream {
  /** What may still change, as it came and as it is shown. */
  let raw = '';
  let shown = '';
  const clean = (text: string) => neutralise(redact(text));

  /** What is long over does not change any more. */
  function settle(): void {
    if (raw.length <= MOST) return;
    // A text without lines is cut anywhere: that nothing is hidden or shown by it is seen to either way.
    const at = raw.lastIndexOf('\n', raw.length - KEPT) + 1 || raw.length - KEPT;
    const [before, after] = [clean(raw.slice(0, at)), clean(raw.slice(at))];
    if (before + after === shown) {
      raw = raw.slice(at);
      shown = after;
    } else if (raw.length > LONGEST) {
      raw = '';
      shown = '';
    }
  }

  return {
    push(text) {
      raw += text;
      const now = clean(raw);
      let same = 0;
      if (now.startsWith(shown)) same = shown.length;
      else while (same < now.length && same < shown.length && now[same] === shown[same]) same++;
      const news = { drop: shown.length - same, text: now.slice(same) };
      shown = now;
      settle();
      return news;
    },
  };
}

export type Chunk = { readonly role: Role; readonly messageId: string | undefined; readonly text: string };

export type TextStream = {
  add(chunk: Chunk): void;
  /** Says what waits. */
  flush(): void;
  /** Says what waits; the message that was being told has ended. */
  end(): void;
};

export function createTextStream(redact: Redactor, emit: (event: Event) => void): TextStream {
  let pending: { readonly role: Role; readonly messageId: string | undefined; text: string } | undefined;
  let stream: { readonly key: string; readonly clean: CleanStream } | undefined;

  function flush(): void {
    if (!pending) return;
    const { role, messageId, text: pendingText } = pending;
    pending = undefined;
    const key = `${role}\n${messageId ?? ''}`;
    if (stream?.key !== key) stream = { key, clean: createCleanStream(redact) };
    const { drop, text } = stream.clean.push(pendingText);
    if (drop > 0 || text !== '') emit({ e: 'text', role, messageId, text, ...(drop > 0 && { drop }) });
  }
  return {
    add(chunk) {
      if (pending && (pending.role !== chunk.role || pending.messageId !== chunk.messageId)) flush();
      if (pending) pending.text += chunk.text;
      else pending = { ...chunk };
    },
    flush,
    end() {
      flush();
      stream = undefined;
    },
  };
}
