// Makes a new frame with some values replaced, for code that must see the frame as it is sent.

import { type Frame, LF } from './frame.ts';
import { strictParse } from './scanner/strict-parse.ts';
import { inOrder, type Patch } from './writer.ts';

/** The replacements must be valid JSON. All other bytes stay as they were. */
export function patched(frame: Frame, patches: readonly Patch[]): Frame {
  if (patches.length === 0) return frame;
  const parts: Buffer[] = [];
  let at = frame.start;
  for (const { span, text } of inOrder(patches)) {
    parts.push(frame.bytes.subarray(at, span.start), Buffer.from(text));
    at = span.end;
  }
  parts.push(frame.bytes.subarray(at, frame.end), Buffer.of(LF));
  const bytes = Buffer.concat(parts);
  const made = strictParse(bytes, 0, bytes.length - 1);
  if ('why' in made) throw new Error(`a patch broke a frame: ${made.reason}`);
  return made;
}
