// Frames as peers write them, in the various forms JSON allows, and the few fields that the simulator reads from a line.
import type { Random } from './random.ts';

export type Shape = {
  readonly id?: string;
  readonly method?: string;
  readonly sessionId?: string;
  readonly as: 'params' | 'result' | 'error';
  readonly body: Readonly<Record<string, unknown>>;
};

export type Writing = {
  /** The line without its line feed. */
  readonly line: string;
  /** The same line with other values in the places that a proxy must change. */
  rewritten(id: string | undefined, sessionId: string | undefined, method?: string): string;
};

/** A way of writing, chosen once so that the rewritten line differs in nothing else. `isPlain`: as most programs write. */
export function write(random: Random, shape: Shape, isPlain = false): Writing {
  const space = isPlain
    ? ''
    : random.weighted([
        [8, ''],
        [1, ' '],
        [1, '\t'],
      ]);
  const isIdLast = !isPlain && random.chance(0.15);
  const isSessionLast = !isPlain && random.chance(0.15);
  const isEscaped = !isPlain && random.chance(0.05);
  const rest = JSON.stringify(shape.body).slice(1, -1);
  const token = (text: string, withEscape: boolean): string => {
    const plain = JSON.stringify(text);
    return withEscape && text !== '' ? `"\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${plain.slice(2)}` : plain;
  };
  const member = (key: string, value: string) => `${space}"${key}"${space}:${space}${value}${space}`;
  const render = (id: string | undefined, sessionId: string | undefined, method: string | undefined, isOriginal: boolean): string => {
    const named = sessionId === undefined ? [] : [member('sessionId', token(sessionId, isEscaped && isOriginal))];
    const others = rest === '' ? [] : [rest];
    const body = `{${(isSessionLast ? [...others, ...named] : [...named, ...others]).join(',')}}`;
    const ids = id === undefined ? [] : [member('id', id)];
    const middle = [...(method === undefined ? [] : [member('method', JSON.stringify(method))]), member(shape.as, body)];
    return `{${[member('jsonrpc', '"2.0"'), ...(isIdLast ? [...middle, ...ids] : [...ids, ...middle])].join(',')}}`;
  };
  return {
    line: render(shape.id, shape.sessionId, shape.method, true),
    rewritten: (id, sessionId, method = shape.method) => render(id, sessionId, method, sessionId === shape.sessionId),
  };
}

/** The `id` of a message as written: parsing would make 1.0 and 1 the same. */
export function idTextIn(line: string): string | undefined {
  let depth = 0;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
    else if (c === '"') {
      const end = stringEnd(line, i);
      const value = depth === 1 && line.slice(i, end) === '"id"' ? /^\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}]+)/.exec(line.slice(end)) : null;
      if (value) return value[1];
      i = end - 1;
    }
  }
  return undefined;
}

function stringEnd(line: string, from: number): number {
  let i = from + 1;
  while (i < line.length && line[i] !== '"') i += line[i] === '\\' ? 2 : 1;
  return i + 1;
}

/** Splits what a peer reads into lines. */
export function createLineReader(onLine: (line: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let at = rest.indexOf(0x0a); at !== -1; at = rest.indexOf(0x0a)) {
      const line = rest.toString('utf8', 0, at);
      rest = rest.subarray(at + 1);
      onLine(line);
    }
  };
}
