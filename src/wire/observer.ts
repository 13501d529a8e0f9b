// Someone who looks on at a leg. A tap never alters or delays a frame: it takes note of what passes, in the order in which it passes, and
// works on it later.
import type { Frame } from './frame.ts';
import { idTextOf } from './scanner/large-frame.ts';
import type { Patch } from './writer.ts';

const NO_PATCHES: readonly Patch[] = [];

export type Observer = {
  /** It has no ear for notifications of the peer's, or for those that go to it: nearly all that passes, so it need not be called for them. */
  readonly skips?: { readonly receivedNotes?: boolean; readonly sentNotes?: boolean };
  /** A frame of the peer's. */
  received(frame: Frame): void;
  /** A line of the peer's that is none. */
  refused(line: Buffer): void;
  /** A frame that goes to the peer, and what is replaced in it. */
  sent(frame: Frame, patches: readonly Patch[]): void;
  /** A line of our own. */
  sentLine(line: string): void;
};

/** Several as one. One that fails is heard of, and not called again: a record is not worth a frame. */
export function joinObservers(observers: readonly Observer[], onProblem: (error: unknown) => void): Observer | undefined {
  let working = observers;
  let ofReceivedNotes: readonly Observer[] = [];
  let ofSentNotes: readonly Observer[] = [];
  if (working.length === 0) return undefined;
  function use(those: readonly Observer[]): void {
    working = those;
    ofReceivedNotes = those.filter(({ skips }) => !skips?.receivedNotes);
    ofSentNotes = those.filter(({ skips }) => !skips?.sentNotes);
  }
  function failed(observer: Observer, error: unknown): void {
    use(working.filter((other) => other !== observer));
    onProblem(error);
  }
  // Nearly all frames are notifications, which few taps hear. They have loops of their own, so that V8 need not compile these again when an
  // answer comes, and by index, since what `for … of` stands for takes long to compile.
  function receivedNote(frame: Frame): void {
    for (let k = 0; k < ofReceivedNotes.length; k++) {
      const observer = ofReceivedNotes[k] as Observer;
      try {
        observer.received(frame);
      } catch (error) {
        failed(observer, error);
      }
    }
  }
  function sentNote(frame: Frame, patches: readonly Patch[]): void {
    for (let k = 0; k < ofSentNotes.length; k++) {
      const observer = ofSentNotes[k] as Observer;
      try {
        observer.sent(frame, patches);
      } catch (error) {
        failed(observer, error);
      }
    }
  }
  // What to call is named instead of handed over as a function: V8 throws away what it compiled for one that nobody holds on to, and each
  // turn would have its own.
  function each(
    what: 'received' | 'sent' | 'sentLine' | 'refused',
    one: Frame | Buffer | string,
    patches: readonly Patch[] = NO_PATCHES,
  ): void {
    for (const observer of working)
      try {
        if (what === 'received') observer.received(one as Frame);
        else if (what === 'sent') observer.sent(one as Frame, patches);
        else if (what === 'sentLine') observer.sentLine(one as string);
        else observer.refused(one as Buffer);
      } catch (error) {
        failed(observer, error);
      }
  }
  use(observers);
  return {
    received: (frame) => (frame.kind === 'notification' ? receivedNote(frame) : each('received', frame)),
    sent: (frame, patches) => (frame.kind === 'notification' ? sentNote(frame, patches) : each('sent', frame, patches)),
    refused: (line) => each('refused', line),
    sentLine: (line) => each('sentLine', line),
  };
}

/** What a record keeper wants to be told of one leg. */
export type Watcher = {
  readonly observer: Observer | undefined;
  /** The last frames of the leg as far as they may be shown, oldest first. */
  lastFrames(): readonly unknown[];
  /** The peer is gone; `reason` in a word. */
  down(reason: string): void;
};

/** The text of a frame as it leaves, patches put in. */
export function patchedText({ bytes, start, end }: Pick<Frame, 'bytes' | 'start' | 'end'>, patches: readonly Patch[]): string {
  let text = '';
  let at = start;
  for (const { span, text: replacement } of patches) {
    text += bytes.toString('utf8', at, span.start) + replacement;
    at = span.end;
  }
  return text + bytes.toString('utf8', at, end);
}

/** The id of a frame as it leaves. */
export function patchedId(frame: Frame, patches: readonly Patch[]): string | undefined {
  const { id } = frame;
  if (id === undefined) return undefined;
  return patches.find(({ span }) => span.start === id.start)?.text ?? idTextOf(frame);
}
