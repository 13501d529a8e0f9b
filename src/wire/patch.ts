// A frame with some of its values replaced, as a frame of its own: for whoever must see what is sent on, and not what came.

import { type Frame, LF } from './frame.ts';
import { scan } from './scanner/scanner.ts';
import { strictParse } from './scanner/strict-parse.ts';
import { inOrder, type Patch } from './writer.ts';

/** The replacements must be valid JSON; the rest stays as it was, byte for byte. */
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
  // What made the scanner unsure of the frame that came, an escape in its session id, say, is still there.
  const made = scan(bytes, 0) ?? strictParse(bytes, 0, bytes.length - 1);
  if ('why' in made) throw new Error(`a patch has broken a frame: ${made.reason}`);
  return made;
}
