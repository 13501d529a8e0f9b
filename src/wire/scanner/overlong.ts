// Whose a line was that is too long to keep: told from its beginning and its end.
import type { Refusal } from './strict-parse.ts';

export type Envelope = Pick<Refusal, 'kind' | 'idText' | 'method'>;

const NOTHING: Envelope = { kind: undefined, idText: undefined, method: undefined };
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`(?:${STRING}|-?\d[\d.eE+-]*|true|false|null)`;
/** Members with plain values before the first nested one, and the name of that one: behind it levels cannot be told apart. */
const HEAD = new RegExp(String.raw`^\s*\{((?:\s*"[^"\\]*"\s*:\s*${SCALAR}\s*,)*)\s*(?:"([^"\\]*)"\s*:)?`);
/** Members with plain values between the last nested one and the closing brace of the whole line. */
const TAIL = new RegExp(String.raw`((?:,\s*"[^"\\]*"\s*:\s*${SCALAR}\s*)+)\}\s*$`);
const MEMBER = new RegExp(String.raw`"([^"\\]*)"\s*:\s*(${SCALAR})`, 'g');

export function envelopeOfOverlong(head: Buffer, tail: Buffer): Envelope {
  const [, before = '', nested] = HEAD.exec(head.toString('utf8')) ?? [];
  const [, behind = ''] = TAIL.exec(tail.toString('utf8')) ?? [];
  const members = new Map([...before.matchAll(MEMBER), ...behind.matchAll(MEMBER)].map(([, key, value]) => [key, value]));
  const idText = members.get('id');
  if (idText !== undefined && !isJson(idText)) return NOTHING;
  const method = methodOf(members.get('method'));
  if (method !== undefined || nested === 'params') return { kind: idText === undefined ? 'notification' : 'request', idText, method };
  return nested === 'result' || nested === 'error' ? { kind: 'response', idText, method } : NOTHING;
}

function methodOf(token: string | undefined): string | undefined {
  return token?.startsWith('"') && isJson(token) ? JSON.parse(token) : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
