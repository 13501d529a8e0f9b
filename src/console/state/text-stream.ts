// Text of a session on its way to pages: pieces that come close together go out as one, without secrets, also without those that came in two pieces.
import type { Redactor } from '../../redaction/redact.ts';
import type { Event, Role } from '../protocol/conversation.ts';
import { type CleanStream, createCleanStream } from './clean-stream.ts';

export type Chunk = { readonly role: Role; readonly messageId: string | undefined; readonly text: string };

export type TextSayer = {
  add(chunk: Chunk): void;
  /** Says what waits. */
  flush(): void;
  /** Says what waits; the message that was being told has ended. */
  end(): void;
};

export function createTextSayer(redact: Redactor, tell: (event: Event) => void): TextSayer {
  let pending: { readonly role: Role; readonly messageId: string | undefined; text: string } | undefined;
  let stream: { readonly key: string; readonly clean: CleanStream } | undefined;

  function flush(): void {
    if (!pending) return;
    const { role, messageId, text: said } = pending;
    pending = undefined;
    const key = `${role}\n${messageId ?? ''}`;
    if (stream?.key !== key) stream = { key, clean: createCleanStream(redact) };
    const { drop, text } = stream.clean.push(said);
    if (drop > 0 || text !== '') tell({ e: 'text', role, messageId, text, ...(drop > 0 && { drop }) });
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
