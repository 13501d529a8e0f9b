// Finds a prompt's text and a turn's stop reason in their frames: nearly all have one layout and need no parse.
import { type Frame, isAt, type Span } from '../../wire/frame.ts';
import { stringEnd } from '../../wire/json-path.ts';
import { isLarge } from '../../wire/scanner/large-frame.ts';

type Fields = Readonly<Record<string, unknown>>;

const PROMPT = Buffer.from(',"prompt":[{"type":"text","text":"');
const PROMPT_END = Buffer.from('"}]}');
const STOP_REASON = Buffer.from('{"stopReason":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const S = 0x73;
const U = 0x75;

/** The text of a text-only prompt, still escaped; undefined if it has more content or another layout. */
export function promptSpan(frame: Frame): Span | undefined {
  if (isLarge(frame)) return undefined; // its `bytes` would join its chunks
  const { bytes, sessionId, body } = frame;
  if (sessionId === undefined || body === undefined || !isAt(bytes, sessionId.end, PROMPT)) return undefined;
  const start = sessionId.end + PROMPT.length;
  const end = body.end - PROMPT_END.length;
  return end >= start && isAt(bytes, end, PROMPT_END) && stringEnd(bytes, start - 1) === end + 1 ? { start, end } : undefined;
}

/** The stop reason, if the response contains nothing else of interest; undefined if it may, or has another layout. */
export function stopReasonIn({ bytes, body, outcome }: Frame): string | undefined {
  if (outcome !== 'result' || body === undefined || !isAt(bytes, body.start, STOP_REASON)) return undefined;
  const start = body.start + STOP_REASON.length;
  let end = start;
  for (let c = bytes[end] as number; (c > 0x60 && c < 0x7b) || c === UNDERSCORE; c = bytes[end] as number) end++;
  if (bytes[end] !== QUOTE) return undefined;
  // `usage`, or another `stopReason`, would start like this.
  for (let i = end + 1; i < body.end; i++)
    if (bytes[i] === BACKSLASH || (bytes[i] === QUOTE && (bytes[i + 1] === U || bytes[i + 1] === S))) return undefined;
  return bytes.toString('latin1', start, end);
}

/** The text of a prompt; other content is listed without its data. */
export function promptText(prompt: unknown): { text: string; own?: string; other?: readonly unknown[] } {
  const texts: string[] = [];
  const own: string[] = []; // without what a client adds for the agent alone
  const other: unknown[] = [];
  for (const block of Array.isArray(prompt) ? (prompt as readonly Fields[]) : []) {
    if (typeof block?.text === 'string') {
      texts.push(block.text);
      if (!isForAgent(block)) own.push(block.text);
    } else other.push({ ...block, ...('data' in block && { data: '[omitted]' }) });
  }
  return {
    text: texts.join('\n'),
    ...(own.length < texts.length && { own: own.join('\n') }),
    ...(other.length > 0 && { other }),
  };
}

const isForAgent = ({ annotations }: Fields): boolean => String((annotations as Fields | null | undefined)?.audience) === 'assistant';
