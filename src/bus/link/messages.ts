// The messages of a link. A link carries one connection over a bus that may lose, repeat and reorder messages.
import { Buffer } from 'node:buffer';

/** Bytes of the stream from `offset` on. */
export type DataMessage = { readonly kind: 'data'; readonly epoch: number; readonly offset: number; readonly bytes: Buffer };
/** Everything before `offset` has arrived; the sender may send up to `credit`. `hasGap`: something after `offset` arrived, so resend from there. */
export type AckMessage = {
  readonly kind: 'ack';
  readonly epoch: number;
  readonly offset: number;
  readonly credit: number;
  readonly hasGap: boolean;
};
/** The stream ends at `offset`. */
export type EndMessage = { readonly kind: 'end'; readonly epoch: number; readonly offset: number; readonly reason: string };
/** The sender of this message does not know the link, or not in this epoch. */
export type ResetMessage = { readonly kind: 'reset'; readonly epoch: number; readonly reason: string };
export type LinkMessage = DataMessage | AckMessage | EndMessage | ResetMessage;

const KINDS = ['data', 'ack', 'end', 'reset'] as const;
/** Kind, epoch, offset. */
export const HEADER_BYTES = 13;
const ACK_BYTES = HEADER_BYTES + 9;
const MAX_REASON_BYTES = 1024;
const TWO_32 = 2 ** 32;

export function encodeMessage(message: LinkMessage): Buffer {
  const offset = 'offset' in message ? message.offset : 0;
  if (message.kind === 'data') {
    const buffer = Buffer.allocUnsafe(HEADER_BYTES + message.bytes.length);
    header(buffer, message.kind, message.epoch, offset);
    message.bytes.copy(buffer, HEADER_BYTES);
    return buffer;
  }
  if (message.kind === 'ack') {
    const buffer = Buffer.allocUnsafe(ACK_BYTES);
    header(buffer, message.kind, message.epoch, offset);
    writeOffset(buffer, message.credit, HEADER_BYTES);
    buffer[ACK_BYTES - 1] = message.hasGap ? 1 : 0;
    return buffer;
  }
  const reason = Buffer.from(message.reason).subarray(0, MAX_REASON_BYTES);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + reason.length);
  header(buffer, message.kind, message.epoch, offset);
  reason.copy(buffer, HEADER_BYTES);
  return buffer;
}

/** Undefined for bytes that are no message of a link. */
export function decodeMessage(bytes: Buffer): LinkMessage | undefined {
  const kind = KINDS[bytes[0] ?? KINDS.length];
  if (kind === undefined || bytes.length < HEADER_BYTES) return undefined;
  const epoch = bytes.readUInt32BE(1);
  const offset = readOffset(bytes, 5);
  if (!Number.isSafeInteger(offset)) return undefined;
  const rest = bytes.subarray(HEADER_BYTES);
  if (kind === 'data') return { kind, epoch, offset, bytes: rest };
  if (kind === 'end') return { kind, epoch, offset, reason: rest.toString() };
  if (kind === 'reset') return { kind, epoch, reason: rest.toString() };
  if (bytes.length < ACK_BYTES) return undefined;
  const credit = readOffset(bytes, HEADER_BYTES);
  if (!Number.isSafeInteger(credit)) return undefined;
  return { kind, epoch, offset, credit, hasGap: bytes[ACK_BYTES - 1] === 1 };
}

function header(buffer: Buffer, kind: LinkMessage['kind'], epoch: number, offset: number): void {
  buffer[0] = KINDS.indexOf(kind);
  buffer.writeUInt32BE(epoch, 1);
  writeOffset(buffer, offset, 5);
}

function writeOffset(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / TWO_32), at);
  buffer.writeUInt32BE(value % TWO_32, at + 4);
}

const readOffset = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at) * TWO_32 + bytes.readUInt32BE(at + 4);
