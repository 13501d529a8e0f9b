// One end of a link, without timers and without a bus: what to send next, and what a message means. Bytes arrive exactly once and in order,
// whatever the bus loses, repeats or reorders. A reader that stops lets the window fill, and then the other end stops sending.
import { decodeMessage, encodeMessage } from './messages.ts';

export type LinkLimits = {
  /** How much may be on its way or unread. */
  readonly windowBytes: number;
  /** The largest message. */
  readonly chunkBytes: number;
};

/** What a message brought. */
export type Received =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** The other end has sent everything. */
  | { readonly kind: 'end'; readonly reason: string }
  /** The other end does not know this link. */
  | { readonly kind: 'reset'; readonly reason: string }
  /** From another epoch, or no message of a link. */
  | { readonly kind: 'stale' };

export type LinkState = {
  write(bytes: Buffer): void;
  /** No `write` may follow. */
  end(reason: string): void;
  receive(message: Buffer): Received;
  /** The reader took this many bytes. */
  consumed(bytes: number): void;
  /** The next message to send; undefined if there is nothing to send now. */
  take(): Buffer | undefined;
  /** Some time has passed: sends again what was not acknowledged meanwhile, and an acknowledgement. */
  tick(): void;
  /** Messages may have been lost: sends again from the last acknowledged byte. */
  resend(): void;
  /** Written and not acknowledged. */
  readonly heldBytes: number;
  /** Times that something was sent again. */
  readonly resends: number;
  /** Both ends have sent and received everything. */
  readonly isOver: boolean;
};

const NOTHING: Received = { kind: 'nothing' };
const STALE: Received = { kind: 'stale' };

export function createLinkState(epoch: number, { windowBytes, chunkBytes }: LinkLimits): LinkState {
  const sender = createSender(epoch, windowBytes, chunkBytes);
  const receiver = createReceiver(epoch, windowBytes);
  return {
    write: sender.write,
    end: sender.end,
    consumed: receiver.consumed,
    receive(bytes) {
      const message = decodeMessage(bytes);
      if (!message || message.epoch !== epoch) return STALE;
      switch (message.kind) {
        case 'ack':
          sender.acknowledged(message.offset, message.credit, message.hasGap);
          return NOTHING;
        case 'data':
          return receiver.data(message.offset, message.bytes);
        case 'end':
          return receiver.end(message.offset, message.reason);
        case 'reset':
          return { kind: 'reset', reason: message.reason };
      }
    },
    take: () => receiver.takeAck() ?? sender.take(),
    tick() {
      sender.tick();
      receiver.acknowledge();
    },
    resend() {
      sender.rewind();
      receiver.acknowledge();
    },
    get heldBytes() {
      return sender.heldBytes();
    },
    get resends() {
      return sender.resends();
    },
    get isOver() {
      return sender.isDone() && receiver.isDone();
    },
  };
}

/** A chunk as it was written; `start` is its offset in the stream. */
type Chunk = { readonly start: number; readonly bytes: Buffer };

function createSender(epoch: number, windowBytes: number, chunkBytes: number) {
  // Chunks from the first byte that was not acknowledged; `next` is the chunk that `sent` lies in.
  let chunks: Chunk[] = [];
  let next = 0;
  let written = 0;
  let sent = 0;
  let acked = 0;
  let credit = windowBytes;
  let ending: string | undefined;
  let isEndSent = false;
  let isEndAcked = false;
  let ackedAtTick = -1;
  let resends = 0;

  function rewind(): void {
    const isEndOpen = isEndSent && !isEndAcked;
    if (sent === acked && !isEndOpen) return;
    sent = acked;
    next = 0;
    if (!isEndAcked) isEndSent = false;
    resends += 1;
  }
  function dropAcked(): void {
    let count = 0;
    for (const { start, bytes } of chunks) {
      if (start + bytes.length > acked) break;
      count += 1;
    }
    if (count === 0) return;
    chunks = chunks.slice(count);
    next = Math.max(0, next - count);
  }
  return {
    write(bytes: Buffer): void {
      if (bytes.length === 0 || ending !== undefined) return;
      chunks.push({ start: written, bytes });
      written += bytes.length;
    },
    end(reason: string): void {
      ending ??= reason;
    },
    /** The end counts as one byte after the last. */
    acknowledged(offset: number, limit: number, hasGap: boolean): void {
      if (offset > written + 1) return; // of another link with this id
      if (ending !== undefined && offset === written + 1) isEndAcked = true;
      const upTo = Math.min(offset, written);
      if (upTo > acked) {
        acked = upTo;
        if (sent < acked) {
          // Sent before a rewind, and acknowledged after it.
          sent = acked;
          next = chunks.findIndex(({ start, bytes }) => start + bytes.length > acked);
          if (next === -1) next = chunks.length;
        }
        dropAcked();
      }
      credit = Math.max(credit, limit);
      if (hasGap && offset === acked) rewind();
    },
    take(): Buffer | undefined {
      if (isEndAcked) return undefined;
      const upTo = Math.min(written, credit);
      if (sent < upTo) {
        let chunk = chunks[next] as Chunk;
        while (chunk.start + chunk.bytes.length <= sent) chunk = chunks[++next] as Chunk;
        const from = sent - chunk.start;
        const length = Math.min(chunkBytes, chunk.bytes.length - from, upTo - sent);
        const message = encodeMessage({ kind: 'data', epoch, offset: sent, bytes: chunk.bytes.subarray(from, from + length) });
        sent += length;
        return message;
      }
      if (ending === undefined || isEndSent || sent < written) return undefined;
      isEndSent = true;
      return encodeMessage({ kind: 'end', epoch, offset: written, reason: ending });
    },
    tick(): void {
      if (acked === ackedAtTick) rewind();
      ackedAtTick = acked;
    },
    rewind,
    heldBytes: () => written - acked,
    resends: () => resends,
    isDone: () => isEndAcked,
  };
}

function createReceiver(epoch: number, windowBytes: number) {
  let expected = 0;
  let consumed = 0;
  let ackedUpTo = 0;
  let toldCredit = windowBytes;
  let isAckDue = false;
  let hasGap = false;
  let isEnded = false;
  let isEndAcked = false;
  const offset = () => expected + (isEnded ? 1 : 0);

  function gap(): Received {
    // One request for the missing part is enough until something arrives.
    if (!hasGap) isAckDue = true;
    hasGap = true;
    return NOTHING;
  }
  return {
    data(at: number, bytes: Buffer): Received {
      if (isEnded) {
        isAckDue = true;
        return NOTHING;
      }
      if (at > expected) return gap();
      if (at + bytes.length <= expected) {
        isAckDue = true; // the acknowledgement was lost
        return NOTHING;
      }
      const fresh = bytes.subarray(expected - at);
      expected += fresh.length;
      hasGap = false;
      if (expected - ackedUpTo >= windowBytes / 4) isAckDue = true;
      return { kind: 'data', bytes: fresh };
    },
    end(at: number, reason: string): Received {
      isAckDue = true;
      if (isEnded) return NOTHING;
      if (at > expected) return gap();
      isEnded = true;
      return { kind: 'end', reason };
    },
    consumed(count: number): void {
      consumed += count;
      if (consumed + windowBytes - toldCredit >= windowBytes / 4) isAckDue = true;
    },
    acknowledge(): void {
      isAckDue = true;
    },
    takeAck(): Buffer | undefined {
      if (!isAckDue) return undefined;
      isAckDue = false;
      ackedUpTo = expected;
      toldCredit = consumed + windowBytes;
      if (isEnded) isEndAcked = true;
      return encodeMessage({ kind: 'ack', epoch, offset: offset(), credit: toldCredit, hasGap });
    },
    isDone: () => isEndAcked,
  };
}
