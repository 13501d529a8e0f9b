// Text that comes in pieces: a secret may begin in one and end in the next, so what may still be the beginning of one is held back.
import type { Secrets } from './redact.ts';

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
