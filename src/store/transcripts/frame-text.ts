// Finds a chunk's text in its frame. Nearly all frames are chunks in one of a few layouts, which need no parse.
import { type Frame, isAt } from '../../wire/frame.ts';
import { stringEnd } from '../../wire/json-path.ts';
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

/** The position of the text in the frame, still escaped. */
export type ChunkSpan = { readonly role: Role; readonly start: number; readonly end: number };

export const roleOf = (kind: unknown): Role | undefined => KINDS.find(([name]) => name === kind)?.[1];

/** Undefined for anything but a plain text chunk in a known layout. */
export function chunkSpan(frame: Frame): ChunkSpan | undefined {
  const { text } = frame;
  const role = text && factOf(frame, roleOfTemplate);
  return role ? { role, start: text.start + 1, end: text.end - 1 } : chunkIn(frame);
}

/** The role if the text in which the frames of this template differ is the text of a chunk. */
export function roleOfTexts(frame: Frame): Role | undefined {
  return frame.template && factOf(frame, roleOfTemplate);
}

/** The role of a template's chunks, if the varying part is the chunk's text. */
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
    // The first quote after it usually ends the string; otherwise escapes must be counted.
    if (bytes.indexOf(QUOTE, start) !== close && stringEnd(bytes, start - 1) !== close + 1) return undefined;
    return isAt(bytes, close + 1, END) ? { role, start, end: close } : undefined;
  }
  return undefined;
}
