// A frame with some of its values replaced, as a frame of its own: for whoever must see what is sent on, and not what came.
import { type Frame, LF } from './frame.ts';
import { scan } from './scan.ts';
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
  const made = scan(Buffer.concat(parts), 0);
  if (made === undefined) throw new Error('a patch has broken a frame');
  return made;
}
