// Output of tools and terminals also arrives in pieces: repeated with additions, or one piece at a time. A secret may span two pieces, so
// the start, the end and the preceding text are checked with each.
import type { Redactor, Redactors } from './redact.ts';

type Fields = Readonly<Record<string, unknown>>;

export type PieceCleaner = {
  /**
   * The `update` of a tool call, with partial secrets removed from the ends of its output. The message redactor handles the other fields.
   */
  update(owner: string, update: Fields): Fields;
  /** The same for a whole message: such an update, or a response with a terminal's output. Any other message is returned unchanged. */
  message(owner: string, message: Fields): Fields;
};

/** The end of the text so far, which a secret may continue, and how the last piece began. */
type Seen = { readonly head: string; readonly length: number; readonly shown: string; readonly tail: string };

const OUTPUT = ['content', 'rawInput', 'rawOutput', '_meta'] as const;
const HEAD = 256;
const MOST_TEXTS = 2000;
const DEEPEST = 20;

export function createPieceCleaner(secrets: Redactors): PieceCleaner {
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
    // An identical text is either an equal next piece or the whole output again. Both are shown like the previous one.
    if (text === head && text.length === length) return shown;
    // Most agents repeat the whole output so far.
    if (text.length >= length && text.startsWith(head)) return secrets.redactCut(text);
    // Twice: the text may also be the end of the whole output, with its beginning left out.
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

/** Redacts a text in the context of the text before it. */
export function following(redact: Redactor, before: string, text: string): string {
  const whole = redact(before + text);
  return whole.slice(commonLength(whole, redact(before)));
}

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let at = 0; at < most; at++) if (one[at] !== other[at]) return at;
  return most;
}
