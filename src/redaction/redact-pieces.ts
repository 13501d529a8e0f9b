// What tools and terminals put out comes in pieces too: as it grows, or a piece at a time, and the end of a piece may go through a secret.
// Beginning, end and what came before are looked at with each of them.
import type { Redactor, Secrets } from './redact.ts';

type Fields = Readonly<Record<string, unknown>>;

export type PieceCleaner = {
  /** The `update` of a tool call, its output without what its ends have cut in two. Everything else is for whoever redacts the message. */
  update(owner: string, update: Fields): Fields;
  /** The same for a whole message, be it such an update or the answer with a terminal's output; any other is returned as it is. */
  message(owner: string, message: Fields): Fields;
};

/** The last of a text that came in pieces: what may go on in the next, and how the piece began. */
type Seen = { readonly head: string; readonly length: number; readonly shown: string; readonly tail: string };

const OUTPUT = ['content', 'rawInput', 'rawOutput', '_meta'] as const;
const HEAD = 256;
const MOST_TEXTS = 2000;
const DEEPEST = 20;

export function createPieceCleaner(secrets: Secrets): PieceCleaner {
  const seen = new Map<string, Seen>();

  function next(key: string, text: string): string {
    const before = seen.get(key);
    const shown = before ? after(before, text) : secrets.redactCut(text);
    seen.delete(key);
    seen.set(key, {
      ...{ head: text.slice(0, HEAD), length: text.length, shown: text.length <= HEAD ? shown : '' },
      tail: ((before?.tail ?? '') + text).slice(-secrets.longest()),
    });
    const [oldest] = seen.size > MOST_TEXTS ? seen.keys() : [];
    if (oldest !== undefined) seen.delete(oldest);
    return shown;
  }
  function after({ head, length, shown, tail }: Seen, text: string): string {
    // The same once more may be a piece that is like the last, or all there is so far; in either case it is shown as it was.
    if (text === head && text.length === length) return shown;
    // Most agents say all there is so far each time.
    if (text.length >= length && text.startsWith(head)) return secrets.redactCut(text);
    // Once more: it may as well be the end of all there is, of which the beginning was left out.
    return secrets.redactCut(following(secrets.redactCut, tail, text));
  }
  function texts(value: unknown, key: string, depth: number): unknown {
    if (typeof value === 'string') return value.length === 0 ? value : next(key, value);
    if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
    if (Array.isArray(value)) return value.map((one, at) => texts(one, `${key}.${at}`, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, texts(one, `${key}.${name}`, depth + 1)]));
  }
  function update(owner: string, given: Fields): Fields {
    const { toolCallId, status } = given;
    const key = `${owner}\n${String(toolCallId)}\n`;
    const output = OUTPUT.filter((name) => given[name] !== undefined).map((name) => [name, texts(given[name], `${key}${name}`, 0)]);
    if (status === 'completed' || status === 'failed') for (const one of [...seen.keys()]) if (one.startsWith(key)) seen.delete(one);
    return output.length === 0 ? given : { ...given, ...Object.fromEntries(output) };
  }

  return {
    update,
    message(owner, message) {
      const { method, params, result } = message as { method?: unknown; params?: Fields; result?: Fields };
      const news = params?.update as Fields | undefined;
      if (method === 'session/update' && (news?.sessionUpdate === 'tool_call' || news?.sessionUpdate === 'tool_call_update'))
        return { ...message, params: { ...params, update: update(`${owner}\n${String(params?.sessionId)}`, news) } };
      if (typeof result?.output === 'string' && typeof result.truncated === 'boolean')
        return { ...message, result: { ...result, output: secrets.redactCut(result.output) } };
      return message;
    },
  };
}

/** What a text becomes behind what came before it. */
export function following(redact: Redactor, before: string, text: string): string {
  const whole = redact(before + text);
  return whole.slice(commonLength(whole, redact(before)));
}

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let at = 0; at < most; at++) if (one[at] !== other[at]) return at;
  return most;
}
