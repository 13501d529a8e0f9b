// The text of a chunk where it stands in the frame. Nearly all frames are chunks, written in one of a few ways; those are read
// without a parse.
import type { Frame } from '../../wire/frame.ts';
import { stringEnd } from '../../wire/json-path.ts';
import { isLong } from '../../wire/scanner/large-frame.ts';

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

/** What chunks of the last shape were. */
let lastShape: object | undefined;
let lastRole: Role = 'agent';

/** Undefined when it is not a chunk of text and nothing else, or is written in another way. */
export function chunkSpan(frame: Frame): ChunkSpan | undefined {
  const { shape, text } = frame;
  if (shape === undefined || text === undefined) return chunkIn(frame);
  if (shape === lastShape) return { role: lastRole, start: text.start + 1, end: text.end - 1 };
  const chunk = chunkIn(frame);
  if (chunk?.start === text.start + 1) {
    lastShape = shape;
    lastRole = chunk.role;
  }
  return chunk;
}

function chunkIn(frame: Frame): ChunkSpan | undefined {
  if (isLong(frame) && !chunkIn(frame.brief)) return undefined;
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

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let k = 0; k < wanted.length; k++) if (bytes[at + k] !== wanted[k]) return false;
  return true;
}
