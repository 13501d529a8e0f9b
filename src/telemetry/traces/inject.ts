// Puts a trace context into `params._meta` of a frame. All other bytes stay as they are.
import type { Frame } from '../../wire/frame.ts';
import { member, memberAt, members } from '../../wire/json-path.ts';
import { isLarge } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';

const OPEN_BRACE = 0x7b;

/** A large frame is not joined for it. */
export function tracePatches(frame: Frame, traceparent: string): readonly Patch[] {
  if (isLarge(frame)) return [];
  const { bytes, body } = frame;
  if (!body || bytes[body.start] !== OPEN_BRACE) return [];
  const text = JSON.stringify(traceparent);
  const meta = member(bytes, body.start, '_meta');
  if (!meta) return [first(bytes, body.start, `"_meta":{"traceparent":${text}}`)];
  if (bytes[meta.start] !== OPEN_BRACE) return meta.end - meta.start === 4 ? [{ span: meta, text: `{"traceparent":${text}}` }] : []; // null
  const own = memberAt(bytes, meta, 'traceparent');
  return [own ? { span: own, text } : first(bytes, meta.start, `"traceparent":${text}`)];
}

/** As the first member of the object at `at`. */
function first(bytes: Buffer, at: number, text: string): Patch {
  return { span: { start: at + 1, end: at + 1 }, text: members(bytes, at).length > 0 ? `${text},` : text };
}
