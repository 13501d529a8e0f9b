// Seeded JSON-RPC lines, written in every legal way and then damaged, for the tests of the wire.

export type Random = () => number;

/** mulberry32: small, fast, and the same on every machine. */
export function seeded(seed: number): Random {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const SPACES = ['', '', '', '', ' ', '\t', '\r', '  '];
const NUMBERS = ['0', '-0', '1', '7', '1.0', '1e400', '9007199254740993', '-12.5e-3', '2E+8', '1e2'];
const TEXTS = [
  '',
  'a',
  'session/update',
  's-1',
  'é',
  '\u{1f600}',
  '"id":1',
  'x'.repeat(40),
  'line\nbreak',
  '\\',
  '\u2028',
  `${'long '.repeat(150)}end`,
];
const ID_KEYS = ['id', 'method', 'params', 'result', 'error', 'jsonrpc', 'sessionId', 'ID', 'idx', '__proto__', ''];

/** A string token, sometimes with needless escapes. */
function string(random: Random, text: string): string {
  if (random() < 0.98) return JSON.stringify(text);
  const escaped = [...JSON.stringify(text).slice(1, -1)];
  const at = Math.floor(random() * escaped.length);
  const c = escaped[at];
  if (c !== undefined && /[\w/]/.test(c) && escaped[at - 1] !== '\\' && !/\\u[0-9a-f]{0,3}$/.test(escaped.slice(0, at).join('')))
    escaped[at] = c === '/' ? '\\/' : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `"${escaped.join('')}"`;
}

export function jsonValue(random: Random, depth = 0): string {
  const kind = random();
  if (depth > 4 || kind < 0.35) return string(random, pick(random, TEXTS));
  if (kind < 0.55) return pick(random, NUMBERS);
  if (kind < 0.65) return pick(random, ['true', 'false', 'null']);
  const count = Math.floor(random() * 4);
  const space = () => pick(random, SPACES);
  const items = Array.from({ length: count }, () => {
    const value = space() + jsonValue(random, depth + 1) + space();
    return kind < 0.8 ? value : `${space()}${string(random, pick(random, ID_KEYS))}${space()}:${value}`;
  });
  return kind < 0.8 ? `[${items.join(',') || space()}]` : `{${items.join(',') || space()}}`;
}

/** A line that is nearly always a JSON-RPC message: members in any order, some duplicated, some missing. */
export function message(random: Random): string {
  const space = () => pick(random, SPACES);
  const object = (members: string[]) => {
    for (let i = members.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [members[i], members[j]] = [members[j] as string, members[i] as string];
    }
    return `${space()}{${space()}${members.join(`${space()},${space()}`)}${space()}}${space()}`;
  };
  const entry = (key: string, value: string) => `${string(random, key)}${space()}:${space()}${value}`;
  const body = () => {
    if (random() < 0.1) return jsonValue(random);
    const members = Array.from({ length: Math.floor(random() * 3) }, () =>
      entry(pick(random, ['update', '_meta', 'x', 'prompt']), jsonValue(random)),
    );
    if (random() < 0.8) members.push(entry('sessionId', random() < 0.9 ? string(random, pick(random, TEXTS)) : jsonValue(random)));
    if (random() < 0.03) members.push(entry('sessionId', '"twice"'));
    return object(members);
  };
  const members = [entry('jsonrpc', '"2.0"')];
  if (random() < 0.7) members.push(entry('id', jsonValue(random, 3)));
  if (random() < 0.6) members.push(entry('method', random() < 0.97 ? string(random, pick(random, TEXTS)) : jsonValue(random)));
  if (random() < 0.6) members.push(entry('params', body()));
  if (random() < 0.3) members.push(entry('result', body()));
  if (random() < 0.15) members.push(entry('error', jsonValue(random)));
  if (random() < 0.2) members.push(entry('extra', jsonValue(random)));
  if (random() < 0.03) members.push(entry(pick(random, ID_KEYS), jsonValue(random)));
  return object(members);
}

/** Changes, removes or inserts one to three bytes; never a line feed, which would make two lines. */
export function damaged(random: Random, line: Buffer): Buffer {
  let bytes = Buffer.from(line);
  for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
    const at = Math.floor(random() * bytes.length);
    const byte =
      random() < 0.6
        ? pick(
            random,
            [...'{}[]",:\\0123456789eE+-.tfnu \t\r'].map((c) => c.charCodeAt(0)),
          )
        : Math.floor(random() * 256);
    const put = byte === 0x0a ? 0x20 : byte;
    const how = random();
    if (how < 0.4) bytes[at] = put;
    else if (how < 0.7) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
    else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([put]), bytes.subarray(at)]);
  }
  return bytes;
}
