// Streams text to pages: joins chunks that arrive together and removes secrets, also those that span chunks.

import { neutralise } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { About, Event, Role } from '../protocol/conversation.ts';

// Cleans a stream as it is shown. A secret may span two chunks. Holding text back would stall the stream, so text already shown is removed
// once it turns out to be part of a secret.
export type CleanStream = {
  /** The change to show: remove `drop` characters, then append the text. */
  push(text: string): { readonly drop: number; readonly text: string };
};

const KEPT = 8192;
const MOST = 2 * KEPT;
/** Longer than any secret. Text further back is not cleaned again with each chunk. */
const LONGEST = 4 * KEPT;

export function createCleanStream(redact: (text: string) => string): CleanStream {
  /** The tail that may still change, raw and cleaned. */
  let raw = '';
  let shown = '';
  const clean = (text: string) => neutralise(redact(text));

  /** Moves text that can no longer change out of the tail. */
  function settle(): void {
    if (raw.length <= MOST) return;
    // Text without line breaks is cut anywhere; the comparison below proves the cut harmless.
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

export type Chunk = {
  readonly role: Role;
  readonly messageId: string | undefined;
  readonly text: string;
  readonly about?: About | undefined;
};

export type TextStream = {
  add(chunk: Chunk): void;
  /** Emits pending text. */
  flush(): void;
  /** Emits pending text and ends the message. */
  end(): void;
};

export function createTextStream(redact: Redactor, emit: (event: Event) => void): TextStream {
  let pending: (Omit<Chunk, 'text' | 'about'> & { text: string; about?: About | undefined }) | undefined;
  let stream: { readonly key: string; readonly clean: CleanStream } | undefined;

  function flush(): void {
    if (!pending) return;
    const { role, messageId, text: pendingText, about } = pending;
    pending = undefined;
    const key = `${role}\n${messageId ?? ''}`;
    if (stream?.key !== key) stream = { key, clean: createCleanStream(redact) };
    const { drop, text } = stream.clean.push(pendingText);
    if (drop > 0 || text !== '') emit({ e: 'text', role, messageId, text, ...(drop > 0 && { drop }), ...(about && { about }) });
  }
  return {
    add(chunk) {
      if (pending && (pending.role !== chunk.role || pending.messageId !== chunk.messageId)) flush();
      if (!pending) pending = { ...chunk };
      else {
        pending.text += chunk.text;
        pending.about = chunk.about ?? pending.about;
      }
    },
    flush,
    end() {
      flush();
      stream = undefined;
    },
  };
}
