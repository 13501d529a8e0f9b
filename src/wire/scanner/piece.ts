// Bytes that are expected at a place, ready to be compared with what is there: whole words first, then what is left.
import { viewOf } from './view.ts';

export type Piece = { readonly words: Int32Array; readonly rest: Uint8Array; readonly length: number };

/** A copy of `bytes[start..end)`. */
export function pieceOf(bytes: Buffer, start = 0, end: number = bytes.length): Piece {
  const length = end - start;
  const words = new Int32Array(length >> 2);
  for (let k = 0; k < words.length; k++) words[k] = bytes.readInt32LE(start + 4 * k);
  return { words, rest: Uint8Array.from(bytes.subarray(start + 4 * words.length, end)), length };
}

export function isAt({ words, rest, length }: Piece, bytes: Buffer, start: number): boolean {
  if (start + length > bytes.length) return false;
  const view = viewOf(bytes);
  let i = start;
  for (let k = 0; k < words.length; k++, i += 4) if (view.getInt32(i, true) !== words[k]) return false;
  for (let k = 0; k < rest.length; k++) if (bytes[i + k] !== rest[k]) return false;
  return true;
}
