// The text of a chunk where it stands in the frame. Nearly all frames are chunks, written in one of a few ways; those are read
// without a parse.
import type { Frame } from '../../wire/frame.ts';
import { isAt, stringEnd } from '../../wire/json-path.ts';
import { isLarge } from '../../wire/scanner/large-frame.ts';
import { factOf } from '../../wire/scanner/template-cache.ts';

export type Role = 'agent' | 'thought' | 'user';

const KINDS: readonly (readonly [kind: string, role: Role])[] = [
  ['agent_message_chunk', 'agent'],
  ['agent_thought_chunk', 'thought'],
  ['user_message_chunk', 'user'],
];
const BEGINNINGS = KINDS.map(([kind, role]) => ({
  bytes: Buffer.from(`,"update":{"sessionUpdate":"${kind}","content":{"type":"text","text":"`),
  role,
}));
const END = Buffer.from('}}}}');
const QUOTE = 0x22;

/** Where in the frame the text lies, still escaped. */
export type ChunkSpan = { readonly role: Role; readonly start: number; readonly end: number };

export const roleOf = (kind: unknown): Role | undefined => KINDS.find(([name]) => name === kind)?.[1];

/** Undefined when it is not a chunk of text and nothing else, or is written in another way. */
export function chunkSpan(frame: Frame): ChunkSpan | undefined {
  const { text } = frame;
  const role = text && factOf(frame, roleOfTemplate);
  return role ? { role, start: text.start + 1, end: text.end - 1 } : chunkIn(frame);
}

/** The role if the text in which the frames of this template differ is the text of a chunk. */
export function roleOfTexts(frame: Frame): Role | undefined {
  return frame.template && factOf(frame, roleOfTemplate);
}

/** The role of the chunks of a template, if the text in which they differ is the text of the chunk. */
function roleOfTemplate(frame: Frame): Role | undefined {
  const chunk = chunkIn(frame);
  return chunk && chunk.start - 1 === frame.text?.start ? chunk.role : undefined;
}

function chunkIn(frame: Frame): ChunkSpan | undefined {
  if (isLarge(frame) && !chunkIn(frame.brief)) return undefined;
  const { bytes, sessionId, end } = frame;
  if (sessionId === undefined) return undefined;
  for (const { bytes: beginning, role } of BEGINNINGS) {
    if (!isAt(bytes, sessionId.end, beginning)) continue;
    const start = sessionId.end + beginning.length;
    const close = end - END.length - 1;
    // The first quote behind it is usually the last one too; else escapes must be counted.
    if (bytes.indexOf(QUOTE, start) !== close && stringEnd(bytes, start - 1) !== close + 1) return undefined;
    return isAt(bytes, close + 1, END) ? { role, start, end: close } : undefined;
  }
  return undefined;
}
