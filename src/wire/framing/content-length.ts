// Messages with a `Content-Length` header, as language servers send them. The reader turns each body into a line, so that the line splitter
// enforces the frame limit here as well.

import { type Sink, type Source, sinkThrough, sourceThrough } from '../byte-stream.ts';
import { LF } from '../frame.ts';
import { createLineSplitter } from './ndjson.ts';

const CR = 0x0d;
const SPACE = 0x20;
const LINE_END = Buffer.of(LF);
/** A header has a few dozen bytes; a longer line is no header. */
const MAX_HEADER_BYTES = 4096;
const HEADER = /^(content-length|content-type)[ \t]*:[ \t]*(.*?)[ \t]*$/i;
const LENGTH = /^\d{1,15}$/;

/** Prefix of a line that is no header, so that it cannot pass for a message: an agent may log one. */
export const OUTSIDE = 'outside of a body: ';

/** Turns bodies into lines. Lines that are neither header nor body pass with a prefix, and the connection refuses them. */
export function createBodyReader(emit: (bytes: Buffer) => void): { push(chunk: Buffer): void; end(): void } {
  let bodyLeft = 0;
  let length: number | undefined;
  let isInHeader = false;
  /** The pieces of an incomplete line. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isPassing = false;

  function body(piece: Buffer): void {
    bodyLeft -= piece.length;
    emit(inOneLine(piece));
    if (bodyLeft === 0) emit(LINE_END);
  }
  function line(bytes: Buffer): void {
    const end = bytes.at(-2) === CR ? bytes.length - 2 : bytes.length - 1;
    if (end === 0) {
      if (length !== undefined) bodyLeft = length;
      length = undefined;
      isInHeader = false;
      return;
    }
    const [, name, value = ''] = HEADER.exec(bytes.toString('latin1', 0, end)) ?? [];
    const isLength = name?.toLowerCase() === 'content-length';
    const isBad = isLength && (!LENGTH.test(value) || (length !== undefined && length !== Number(value)));
    if (isLength && !isBad) length = Number(value);
    if (name !== undefined && !isBad) isInHeader = true;
    // Unknown headers are ignored. Outside a header, an unknown line is a log line on stdout.
    else if (isBad || !isInHeader) outside(bytes);
    if (isBad) length = undefined;
  }
  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; ) {
        if (bodyLeft > 0) {
          const piece = chunk.subarray(at, at + bodyLeft);
          at += piece.length;
          body(piece);
          continue;
        }
        const lf = chunk.indexOf(LF, at);
        const piece = chunk.subarray(at, lf === -1 ? chunk.length : lf + 1);
        at += piece.length;
        if (isPassing) emit(piece);
        else {
          held.push(piece);
          heldBytes += piece.length;
        }
        if (lf !== -1) {
          const whole = isPassing ? undefined : Buffer.concat(held, heldBytes);
          forget();
          isPassing = false;
          if (whole) line(whole);
        } else if (heldBytes > MAX_HEADER_BYTES) {
          outside(Buffer.concat(held, heldBytes));
          forget();
          isPassing = true;
        }
      }
    },
    end() {
      if (heldBytes > 0) outside(Buffer.concat(held, heldBytes));
      forget();
    },
  };
  function outside(bytes: Buffer): void {
    emit(Buffer.from(OUTSIDE));
    emit(bytes);
  }
  function forget(): void {
    held = [];
    heldBytes = 0;
  }
}

/** A body may have several lines. Between values a line feed is white space; inside a string it is not allowed. */
function inOneLine(piece: Buffer): Buffer {
  if (piece.indexOf(LF) === -1) return piece;
  return piece.map((byte) => (byte === LF ? SPACE : byte)) as Buffer;
}

/** Turns lines into bodies with headers. */
export function createBodyWriter(): (chunk: Buffer) => readonly Buffer[] {
  let out: Buffer[] = [];
  const splitter = createLineSplitter({
    maxFrameBytes: Number.POSITIVE_INFINITY, // the limit was checked when the frame arrived
    onOversized: () => {},
    onLines(bytes, start, end) {
      for (let at = start; at < end; ) {
        const lf = bytes.indexOf(LF, at);
        if (lf > at) out.push(Buffer.from(`Content-Length: ${lf - at}\r\n\r\n`, 'latin1'), bytes.subarray(at, lf));
        at = lf + 1;
      }
    },
  });
  return (chunk) => {
    out = [];
    splitter.push(chunk);
    return out;
  };
}

/** Reads messages with `Content-Length` as lines. */
export const linesFromBodies = (source: Source): Source => sourceThrough(source, createBodyReader);

/** Writes lines as messages with `Content-Length`. */
export const bodiesFromLines = (sink: Sink): Sink => sinkThrough(sink, createBodyWriter());
