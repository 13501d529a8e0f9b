// Observers of a connection, for logs and transcripts. An observer sees every frame in order, never changes or delays one, and does its work
// later.
import type { Frame } from './frame.ts';
import { type FrameBatch, framesOf } from './scanner/frame-batch.ts';
import { idTextOf } from './scanner/large-frame.ts';
import type { Patch } from './writer.ts';

const NO_PATCHES: readonly Patch[] = [];

export type Observer = {
  /** Notifications the observer does not want. Nearly all frames are notifications, so this saves most calls. */
  readonly skips?: { readonly receivedNotes?: boolean; readonly sentNotes?: boolean };
  /** A frame from the peer. */
  received(frame: Frame): void;
  /** A line from the peer that is no frame. */
  refused(line: Buffer): void;
  /** A frame to the peer, with its patches. */
  sent(frame: Frame, patches: readonly Patch[]): void;
  /** Notifications that differ in one text and their session only. Without these, the observer gets them one by one. */
  receivedBatch?(batch: FrameBatch): void;
  sentBatch?(batch: FrameBatch): void;
  /** A line that the proxy wrote itself. */
  sentLine(line: string): void;
};

/** Combines observers. One that throws is reported and not called again: a record is not worth a frame. */
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
  // Notifications have their own loops, so that V8 need not recompile them when a response comes. By index: `for … of` takes longer to
  // compile.
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
  function receivedBatch(batch: FrameBatch): void {
    for (const observer of ofReceivedNotes)
      try {
        observeReceived(observer, batch);
      } catch (error) {
        failed(observer, error);
      }
  }
  function sentBatch(batch: FrameBatch): void {
    for (const observer of ofSentNotes)
      try {
        observeSent(observer, batch);
      } catch (error) {
        failed(observer, error);
      }
  }
  // The method is passed by name. With a closure per call, V8 would discard and recompile its code for each turn.
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
    receivedBatch,
    sentBatch,
    refused: (line) => each('refused', line),
    sentLine: (line) => each('sentLine', line),
  };
}

export function observeReceived(observer: Observer, batch: FrameBatch): void {
  if (observer.receivedBatch) observer.receivedBatch(batch);
  else for (const frame of framesOf(batch)) observer.received(frame);
}

export function observeSent(observer: Observer, batch: FrameBatch): void {
  if (observer.sentBatch) observer.sentBatch(batch);
  else for (const frame of framesOf(batch)) observer.sent(frame, NO_PATCHES);
}

/** The records of one connection. */
export type ConnectionRecords = {
  readonly observer: Observer | undefined;
  /** The last frames that may be shown, oldest first. */
  lastFrames(): readonly unknown[];
  /** The peer has gone; `reason` is one word. */
  down(reason: string): void;
};

/** The text of a frame with its patches. */
export function patchedText({ bytes, start, end }: Pick<Frame, 'bytes' | 'start' | 'end'>, patches: readonly Patch[]): string {
  let text = '';
  let at = start;
  for (const { span, text: replacement } of patches) {
    text += bytes.toString('utf8', at, span.start) + replacement;
    at = span.end;
  }
  return text + bytes.toString('utf8', at, end);
}

/** The id of a frame with its patches. */
export function patchedId(frame: Frame, patches: readonly Patch[]): string | undefined {
  const { id } = frame;
  if (id === undefined) return undefined;
  return patches.find(({ span }) => span.start === id.start)?.text ?? idTextOf(frame);
}
