// Frames as both sides create them, so that the client knows every byte to expect. The same as in load.c.

const WORDS = [
  ' the function',
  ' returns a new array of',
  ' that `splice` leaves alone,\\n',
  ' and so on',
  ' const total = ',
  ' sums.reduce((a, b) =>',
  ' a + b, 0);\\n\\n',
  ' Next we look at',
  ' the \\"strict\\" flag',
  ' in tsconfig.json',
  ' — which is off,',
  ' café',
  ' so null',
  ' checks are not made\\n',
  ' for this file. I will change',
  ' it.',
];
const CODE =
  '  const ü = items.filter((item) => item.name !== \\"\\" && item.size > 0); // → keep\\n' +
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is text about code
  '\\tif (ü.length === 0) throw new Error(`nothing left of ${items.length} items`);\\n' +
  '  return ü.map(({ name, size }) => ({ label: name.trim(), bytes: size * 1024 }));\\n}\\n\\n';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export const UPDATE = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"';
const NOTE = '{"jsonrpc":"2.0","method":"_bench/note","params":{"sessionId":"%s","text":"%n%t"}}\n';
const LAYOUTS = {
  usual: {
    small: `${UPDATE}%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%n%t"}}}}\n`,
    diff: `${UPDATE}%s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_%n","content":[{"type":"diff","path":"/bench/file.ts","oldText":"","newText":"%t%n"}]}}}\n`,
    base64: `${UPDATE}%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"%n%t%n","mimeType":"image/png"}}}}\n`,
    note: NOTE,
  },
  sdk: {
    small: `${UPDATE}%s","update":{"content":{"text":"%n%t","type":"text"},"sessionUpdate":"agent_message_chunk"}}}\n`,
    diff: `${UPDATE}%s","update":{"toolCallId":"call_%n","content":[{"path":"/bench/file.ts","oldText":"","newText":"%t%n","type":"diff"}],"sessionUpdate":"tool_call_update"}}}\n`,
    base64: `${UPDATE}%s","update":{"content":{"data":"%n%t%n","mimeType":"image/png","type":"image"},"sessionUpdate":"agent_message_chunk"}}}\n`,
    note: NOTE,
  },
};

function textOf(kind, size, index) {
  if (kind === 'small' || kind === 'note') return Buffer.from(WORDS[index]);
  if (kind === 'diff') return Buffer.from(CODE.repeat(Math.ceil(size / Buffer.byteLength(CODE))));
  const text = Buffer.alloc(size);
  for (let i = 0, x = 1; i < size; i++, x = (Math.imul(x, 1664525) + 1013904223) >>> 0) text[i] = BASE64.charCodeAt(x >>> 26);
  return text;
}

/** Returns a function that gives the frame with a number; its buffer is valid until the next call for the same index of the set. */
export function makeFrames(kind, size, session, layout = 'usual') {
  const frames = Array.from({ length: kind === 'small' || kind === 'note' ? WORDS.length : 1 }, (_, index) => {
    const parts = [];
    const places = [];
    let length = 0;
    const add = (part) => {
      parts.push(part);
      length += part.length;
    };
    for (const piece of LAYOUTS[layout][kind].split(/(%[snt])/)) {
      if (piece === '%s') add(Buffer.from(session));
      else if (piece === '%t') add(textOf(kind, size, index));
      else if (piece === '%n') {
        places.push(length);
        add(Buffer.alloc(8));
      } else add(Buffer.from(piece));
    }
    return { bytes: Buffer.concat(parts), places };
  });
  return (seq) => {
    const { bytes, places } = frames[seq % frames.length];
    for (const place of places) for (let i = 7, n = seq; i >= 0; i--, n = Math.floor(n / 10)) bytes[place + i] = 48 + (n % 10);
    return bytes;
  };
}

export function digest(before, bytes, start, end) {
  let h = before | 0;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    h = Math.imul(h ^ bytes.readInt32LE(i), 0x9e3779b1);
    h ^= h >>> 15;
  }
  for (; i < end; i++) h = Math.imul(h ^ bytes[i], 0x01000193);
  return h >>> 0;
}

/** `key=value,key=value`; numbers may end in k or m. */
export function options(part) {
  const found = new Map(part.split(',').map((pair) => pair.split('=')));
  return {
    text: (key) => found.get(key),
    number(key, otherwise = 0) {
      const [, digits, unit] = /^(\d+)([km]?)/.exec(found.get(key) ?? '') ?? [];
      return digits === undefined ? otherwise : Number(digits) * (unit === 'k' ? 1024 : unit === 'm' ? 1 << 20 : 1);
    },
  };
}

/** Calls back for each complete line: its buffer, its start, and the end after its line feed. */
export function eachLine(onLine) {
  let pieces = [];
  return (chunk) => {
    let from = 0;
    for (let lf = chunk.indexOf(10); lf !== -1; lf = chunk.indexOf(10, from)) {
      if (pieces.length === 0) onLine(chunk, from, lf + 1);
      else {
        const line = Buffer.concat([...pieces, chunk.subarray(from, lf + 1)]);
        pieces = [];
        onLine(line, 0, line.length);
      }
      from = lf + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  };
}
