// Generates the WebAssembly module of src/wire/scanner/text-end.ts from readable instructions. Run it to print the constant for that file.
import { fileURLToPath } from 'node:url';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
const LETTER_U = 0x75;
/** The classes of bytes in the table at the beginning of the memory. */
const SIMPLE = 1;
const HEX = 2;
const MEMORY_PAGES = 2;
const BLOCK_BYTES = 16;

// The instructions it uses. Each leaves its result on the stack.
const I32 = 0x7f;
const V128 = 0x7b;
const get = (local) => [0x20, local];
const set = (local) => [0x21, local];
const tee = (local) => [0x22, local];
const constant = (value) => [0x41, ...signed(value)];
const loadByte = (offset = 0) => [0x2d, 0, offset];
const block = (...body) => [0x02, 0x40, ...body.flat(), 0x0b];
const loop = (...body) => [0x03, 0x40, ...body.flat(), 0x0b];
const when = (...body) => [0x04, 0x40, ...body.flat(), 0x0b];
const again = (depth) => [0x0c, depth];
const leaveIf = (depth) => [0x0d, depth];
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

/** `textEnd(at, to)`: skips blocks without a stop, then single bytes, then checks the stop. */
function textEndBody() {
  const [at, to, found, bytes, quotes, backslashes, spaces] = [0, 1, 2, 3, 4, 5, 6];
  const forward = (by) => [...get(at), ...constant(by), ...add, ...set(at)];
  const isHexAt = (offset) => [...get(at), ...loadByte(offset), ...loadByte()];
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

/** The bytes of the module: `textEnd` and its memory. */
export function textEndModule() {
  const section = (id, ...content) => [id, ...signed(content.length), ...content];
  const name = (text) => [text.length, ...Buffer.from(text)];
  const code = [2, 1, I32, 4, V128, ...textEndBody()]; // the locals after the two parameters, in two groups
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

/** LEB128: seven bits in each byte, the lowest first. */
function signed(value) {
  const low = value & 0x7f;
  const rest = value >> 7;
  return rest === 0 && low < 0x40 ? [low] : [low | 0x80, ...signed(rest)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(Buffer.from(textEndModule()).toString('base64'));
