// How far the text of a JSON string goes, sixteen bytes at a time. Megabytes of it pass in one frame, and JavaScript looks at four bytes at
// once at best, and at one until V8 has compiled the loop. So the loop is a function of WebAssembly, put together here instruction by
// instruction; where there is no WebAssembly the same is done in JavaScript.

/** What it can look at in one go: what one read brings. */
export const WINDOW_BYTES = 64 * 1024;

export type TextScanner = {
  /** Takes what is looked at from now on; at most WINDOW_BYTES of it. */
  look(bytes: Buffer): void;
  /**
   * From `from`, inside a string: where it ends. There is the quote that closes it, a byte that must not be in a string, or an escape that
   * is none or not whole before `to`; or `to` itself.
   */
  textEnd(from: number, to: number): number;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
const LETTER_U = 0x75;

/** What may follow a backslash, and what may follow `\u`. */
const SIMPLE = 1;
const HEX = 2;
const classes = new Uint8Array(256);
for (const c of '"\\/bfnrt') classes[c.charCodeAt(0)] = SIMPLE;
for (const c of '0123456789abcdefABCDEF') classes[c.charCodeAt(0)] = (classes[c.charCodeAt(0)] as number) | HEX;

let shared: TextScanner | undefined;

/** The one of this process: whoever uses it is done with it before anybody else gets a turn. */
export function textScanner(): TextScanner {
  shared ??= inWebAssembly() ?? inJavaScript();
  return shared;
}

export function inJavaScript(): TextScanner {
  let bytes: Buffer = Buffer.alloc(0);
  const isHex = (at: number): boolean => ((classes[bytes[at] as number] as number) & HEX) !== 0;
  return {
    look(those) {
      bytes = those;
    },
    textEnd(from, to) {
      let i = from;
      while (i < to) {
        const c = bytes[i] as number;
        if (c !== BACKSLASH) {
          if (c === QUOTE || c < FIRST_PLAIN) return i;
          i++;
        } else if (i + 1 < to && ((classes[bytes[i + 1] as number] as number) & SIMPLE) !== 0) i += 2;
        else if (i + 6 <= to && bytes[i + 1] === LETTER_U && isHex(i + 2) && isHex(i + 3) && isHex(i + 4) && isHex(i + 5)) i += 6;
        else return i;
      }
      return to;
    },
  };
}

/** What is used of it; its types come with those of a browser. */
type Engine = {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly textEnd: (from: number, to: number) => number } };
};

/** Undefined where it cannot be had: V8 without a compiler, or without the address space that it sets aside for a memory. */
export function inWebAssembly(): TextScanner | undefined {
  try {
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: Engine }).WebAssembly;
    const { memory, textEnd } = new Instance(new Module(moduleBytes())).exports;
    const room = new Uint8Array(memory.buffer);
    room.set(classes);
    return {
      look: (bytes) => room.set(bytes, WINDOW_AT),
      textEnd: (from, to) => textEnd(WINDOW_AT + from, WINDOW_AT + to) - WINDOW_AT,
    };
  } catch {
    return undefined;
  }
}

/** In the memory: the classes, then the window. */
const WINDOW_AT = 256;
const MEMORY_PAGES = 2;
const BLOCK_BYTES = 16;

// The instructions that it takes; each leaves its result on the stack for the next.
const I32 = 0x7f;
const V128 = 0x7b;
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const tee = (local: number) => [0x22, local];
const constant = (value: number) => [0x41, ...signed(value)];
const loadByte = (offset = 0) => [0x2d, 0, offset];
const block = (...body: number[][]) => [0x02, 0x40, ...body.flat(), 0x0b];
const loop = (...body: number[][]) => [0x03, 0x40, ...body.flat(), 0x0b];
const when = (...body: number[][]) => [0x04, 0x40, ...body.flat(), 0x0b];
const again = (depth: number) => [0x0c, depth];
const leaveIf = (depth: number) => [0x0d, depth];
const giveBack = [0x0f];
const unreachable = [0x00];
const [isZero, isEqual, isOther, isLess, isMore, isAtLeast] = [[0x45], [0x46], [0x47], [0x49], [0x4b], [0x4f]];
const [add, and, or, trailingZeros] = [[0x6a], [0x71], [0x72], [0x68]];
const loadBlock = [0xfd, 0, 0, 0];
const inEachByte = [0xfd, 15];
const equalBytes = [0xfd, 35];
const lowerBytes = [0xfd, 38];
const eitherBytes = [0xfd, 80];
const highestBits = [0xfd, 100];

/** `textEnd(at, to)`, to be read from the top: skip blocks without a stop, then a byte at a time, then see what the stop is. */
function textEndBody(): number[] {
  const [at, to, found, bytes, quotes, backslashes, spaces] = [0, 1, 2, 3, 4, 5, 6] as const;
  const forward = (by: number) => [...get(at), ...constant(by), ...add, ...set(at)];
  const isHexAt = (offset: number) => [...get(at), ...loadByte(offset), ...loadByte()];
  return [
    ...[...constant(QUOTE), ...inEachByte, ...set(quotes)],
    ...[...constant(BACKSLASH), ...inEachByte, ...set(backslashes)],
    ...[...constant(FIRST_PLAIN), ...inEachByte, ...set(spaces)],
    ...loop(
      block(
        loop(
          [...get(at), ...constant(BLOCK_BYTES), ...add, ...get(to), ...isMore, ...leaveIf(1)],
          [...get(at), ...loadBlock, ...tee(bytes), ...get(quotes), ...equalBytes],
          [...get(bytes), ...get(backslashes), ...equalBytes, ...eitherBytes],
          [...get(bytes), ...get(spaces), ...lowerBytes, ...eitherBytes],
          [...highestBits, ...tee(found), ...isZero],
          when(forward(BLOCK_BYTES), again(1)),
          [...get(at), ...get(found), ...trailingZeros, ...add, ...set(at)],
        ),
      ),
      block(
        loop(
          [...get(at), ...get(to), ...isAtLeast, ...leaveIf(1)],
          [...get(at), ...loadByte(), ...tee(found), ...constant(FIRST_PLAIN), ...isLess],
          [...get(found), ...constant(QUOTE), ...isEqual, ...or],
          [...get(found), ...constant(BACKSLASH), ...isEqual, ...or, ...leaveIf(1)],
          [...forward(1), ...again(0)],
        ),
      ),
      [...get(at), ...get(to), ...isAtLeast],
      when(get(to), giveBack),
      [...get(found), ...constant(BACKSLASH), ...isOther],
      when(get(at), giveBack),
      [...get(at), ...constant(1), ...add, ...get(to), ...isAtLeast],
      when(get(at), giveBack),
      [...get(at), ...loadByte(1), ...tee(found), ...loadByte(), ...constant(SIMPLE), ...and],
      when(forward(2), again(1)),
      [...get(found), ...constant(LETTER_U), ...isOther],
      when(get(at), giveBack),
      [...get(at), ...constant(6), ...add, ...get(to), ...isMore],
      when(get(at), giveBack),
      [...isHexAt(2), ...isHexAt(3), ...and, ...isHexAt(4), ...and, ...isHexAt(5), ...and, ...constant(HEX), ...and, ...isZero],
      when(get(at), giveBack),
      [...forward(6), ...again(0)],
    ),
    ...unreachable,
    0x0b,
  ];
}

function moduleBytes(): Uint8Array {
  const section = (id: number, ...content: number[]) => [id, ...signed(content.length), ...content];
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const code = [2, 1, I32, 4, V128, ...textEndBody()]; // the locals behind the two parameters, in two groups
  const size = signed(code.length);
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, 2, I32, I32, 1, I32),
    ...section(3, 1, 0),
    ...section(5, 1, 0, MEMORY_PAGES),
    ...section(7, 2, ...name('memory'), 2, 0, ...name('textEnd'), 0, 0),
    ...section(10, 1, ...size, ...code),
  ]);
}

/** Seven bits in each byte, the lowest first; a number that is not negative reads the same as one without a sign. */
function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  return rest === 0 && low < 0x40 ? [low] : [low | 0x80, ...signed(rest)];
}
