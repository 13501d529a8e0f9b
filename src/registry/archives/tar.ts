// Unpacks tar archives: ustar, and the long names of GNU and pax.
import { createByteReader } from './byte-reader.ts';
import { LIMITS, type Limits, shown, type Tree, unsafe } from './tree.ts';

const BLOCK = 512;
/** Of a header that holds names. */
const MAX_EXTENSION = 1024 * 1024;

export async function unpackTar(source: AsyncIterable<Buffer>, tree: Tree, limits: Limits = LIMITS): Promise<void> {
  // Headers and padding come on top of the files.
  const reader = createByteReader(source, limits.maxBytes + limits.maxEntries * 4 * BLOCK);
  let extended: Extended = {};
  let isEmpty = true;
  let headers = 0;
  for (;;) {
    const block = await reader.read(BLOCK);
    if (block.length === 0 || block.every((byte) => byte === 0)) break;
    if (block.length < BLOCK) throw unsafe('it ends within a header');
    if (++headers > limits.maxEntries * 3) throw unsafe(`it has more than ${limits.maxEntries} entries`);
    isEmpty = false;
    const header = readHeader(block);
    const size = extended.size ?? header.size;
    const content = reader.pass(size);
    if ('LKxg'.includes(header.type)) {
      if (size > MAX_EXTENSION) throw unsafe('it has a header of more than 1 MiB');
      const text = await textOf(content);
      if (header.type === 'L') extended = { ...extended, name: untilNul(text) };
      else if (header.type === 'K') extended = { ...extended, link: untilNul(text) };
      else if (header.type === 'x') extended = { ...extended, ...readPax(text) };
    } else {
      const name = extended.name ?? header.name;
      const link = extended.link ?? header.link;
      if (header.type === '0' && name.endsWith('/')) tree.directory(name);
      else if (header.type === '0') await tree.file(name, (header.mode & 0o111) !== 0, content);
      else if (header.type === '5') tree.directory(name);
      else if (header.type === '2') tree.symlink(name, link);
      else if (header.type === '1') tree.hardLink(name, link);
      else throw unsafe(`${shown(name)} is ${KINDS[header.type] ?? 'an entry of an unknown kind'}`);
      if (header.type !== '0' || name.endsWith('/')) for await (const _ of content); // entries without content should have none
      extended = {};
    }
    await reader.read((BLOCK - (size % BLOCK)) % BLOCK);
  }
  if (isEmpty) throw unsafe('it is empty, or not a tar archive');
  tree.finish();
}

type Extended = { readonly name?: string; readonly link?: string; readonly size?: number };

const KINDS: Readonly<Record<string, string>> = {
  3: 'a device',
  4: 'a device',
  6: 'a named pipe',
  S: 'a sparse file',
  D: 'a GNU directory',
};

function readHeader(block: Buffer) {
  const text = (start: number, length: number) => untilNul(block.toString('utf8', start, start + length));
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (numberAt(block, 148, 8) !== sum) throw unsafe('a header in it is damaged, or it is not a tar archive');
  const prefix = text(257, 5) === 'ustar' && block[262] === 0 ? text(345, 155) : '';
  const type = block[156] === 0 || block[156] === 0x37 ? '0' : String.fromCharCode(block[156] as number);
  return {
    type,
    name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`,
    link: text(157, 100),
    mode: numberAt(block, 100, 8),
    size: numberAt(block, 124, 12),
  };
}

/** Octal digits; or, with the first bit set, the number itself. */
function numberAt(block: Buffer, start: number, length: number): number {
  const bytes = block.subarray(start, start + length);
  const value =
    ((bytes[0] as number) & 0x80) === 0
      ? Number.parseInt(bytes.toString('latin1').replace(/\0.*$/s, '').trim() || '0', 8)
      : bytes.reduce((total, byte, index) => total * 256 + (index === 0 ? byte & 0x7f : byte), 0);
  if (!Number.isSafeInteger(value)) throw unsafe('a header in it has an invalid number');
  return value;
}

/** Records of the form `LENGTH KEY=VALUE`. */
function readPax(text: string): Extended {
  const bytes = Buffer.from(text, 'utf8');
  let found: Extended = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.toString('latin1', at, space));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > bytes.length) throw unsafe('it has a damaged pax header');
    const record = bytes.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key.startsWith('GNU.sparse')) throw unsafe('it has a sparse file');
    if (value.includes('\0')) throw unsafe('it has a name with a NUL');
    if (key === 'path') found = { ...found, name: value };
    if (key === 'linkpath') found = { ...found, link: value };
    if (key === 'size') found = { ...found, size: sizeOf(value) };
    at += length;
  }
  return found;
}

function sizeOf(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw unsafe('a header in it has an invalid number');
  return Number(value);
}

const untilNul = (text: string): string => text.replace(/\0.*$/s, '');

async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
