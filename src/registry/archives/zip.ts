// Unpacks zip archives by their central directory. An archive that two programs could read differently is refused.
import { type FileHandle, open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { createCrc32 } from './crc32.ts';
import { LIMITS, type Limits, shown, type Tree, unsafe } from './tree.ts';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const MAX_DIRECTORY = 64 * 2 ** 20;

type Entry = {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly mode: number | undefined;
  readonly at: number;
};

export async function unpackZip(file: string, tree: Tree, limits: Limits = LIMITS): Promise<void> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const entries = await readDirectory(handle, size, limits);
    let end = 0;
    for (const entry of entries.toSorted((a, b) => a.at - b.at)) {
      if (entry.at < end) throw unsafe('entries in it overlap');
      const start = await contentStart(handle, entry);
      end = start + entry.packed;
      if (end > size) throw unsafe('it ends within a file');
      await unpackEntry(handle, entry, start, tree, limits);
    }
    tree.finish();
  } finally {
    await handle.close();
  }
}

async function readDirectory(handle: FileHandle, fileSize: number, limits: Limits): Promise<readonly Entry[]> {
  const tail = await bytesAt(handle, Math.max(0, fileSize - 65_557), Math.min(fileSize, 65_557));
  let at = tail.length - 22;
  // The record ends the file: its comment has exactly the length that it names.
  while (at >= 0 && !(tail.readUInt32LE(at) === END && at + 22 + tail.readUInt16LE(at + 20) === tail.length)) at--;
  if (at < 0) throw unsafe('it is not a zip archive, or it is cut off');
  const [disk, count, size, offset] = [
    tail.readUInt16LE(at + 4),
    tail.readUInt16LE(at + 10),
    tail.readUInt32LE(at + 12),
    tail.readUInt32LE(at + 16),
  ];
  if (disk !== 0 || count !== tail.readUInt16LE(at + 8)) throw unsafe('it is a part of a divided archive');
  if (count === 0xffff || size === 0xffffffff || offset === 0xffffffff) throw unsafe('zip64 archives are not supported');
  if (count > limits.maxEntries) throw unsafe(`it has more than ${limits.maxEntries} entries`);
  if (size > MAX_DIRECTORY || offset + size !== fileSize - tail.length + at) throw unsafe('its directory is damaged');
  const directory = await bytesAt(handle, offset, size);
  const entries: Entry[] = [];
  let position = 0;
  for (let index = 0; index < count; index++) {
    const { entry, length } = readCentral(directory.subarray(position));
    entries.push(entry);
    position += length;
  }
  if (position !== size) throw unsafe('its directory is damaged');
  return entries;
}

function readCentral(bytes: Buffer): { readonly entry: Entry; readonly length: number } {
  if (bytes.length < 46 || bytes.readUInt32LE(0) !== CENTRAL) throw unsafe('its directory is damaged');
  const [nameLength, extra, comment] = [bytes.readUInt16LE(28), bytes.readUInt16LE(30), bytes.readUInt16LE(32)];
  const length = 46 + nameLength + extra + comment;
  if (length > bytes.length) throw unsafe('its directory is damaged');
  const name = bytes.toString('utf8', 46, 46 + nameLength);
  if ((bytes.readUInt16LE(8) & 0x2041) !== 0) throw unsafe(`${shown(name)} is encrypted`);
  const isUnix = bytes[5] === 3 || bytes[5] === 19;
  return {
    entry: {
      name,
      method: bytes.readUInt16LE(10),
      crc: bytes.readUInt32LE(16),
      packed: bytes.readUInt32LE(20),
      size: bytes.readUInt32LE(24),
      mode: isUnix ? bytes.readUInt16LE(40) : undefined,
      at: bytes.readUInt32LE(42),
    },
    length,
  };
}

async function contentStart(handle: FileHandle, { name, at, method }: Entry): Promise<number> {
  const header = await bytesAt(handle, at, 30);
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw unsafe(`the header of ${shown(name)} is damaged`);
  const nameLength = header.readUInt16LE(26);
  const localName = (await bytesAt(handle, at + 30, nameLength)).toString('utf8');
  if (localName !== name || header.readUInt16LE(8) !== method) throw unsafe(`${shown(name)} is named differently in its header`);
  return at + 30 + nameLength + header.readUInt16LE(28);
}

const TYPE = 0o170000;
const MAX_TARGET = 1000;

async function unpackEntry(handle: FileHandle, entry: Entry, start: number, tree: Tree, limits: Limits): Promise<void> {
  const { name, mode = 0 } = entry;
  const type = mode & TYPE;
  if (type === 0o040000 || (type === 0 && name.endsWith('/'))) return tree.directory(name);
  if (type === 0o120000) {
    if (entry.size > MAX_TARGET) throw unsafe(`the link ${shown(name)} is too long`);
    const chunks: Buffer[] = [];
    for await (const chunk of contentOf(handle, entry, start, limits)) chunks.push(chunk);
    return tree.symlink(name, Buffer.concat(chunks).toString('utf8'));
  }
  if (type !== 0 && type !== 0o100000) throw unsafe(`${shown(name)} is a device, a pipe or a socket`);
  if (name.endsWith('/')) throw unsafe(`${shown(name)} is a file and a folder`);
  await tree.file(name, (mode & 0o111) !== 0, contentOf(handle, entry, start, limits));
}

async function* contentOf(
  handle: FileHandle,
  { name, method, packed, size, crc }: Entry,
  start: number,
  limits: Limits,
): AsyncIterable<Buffer> {
  if (method !== 0 && method !== 8) throw unsafe(`${shown(name)} is compressed in an unknown way (${method})`);
  if (size > limits.maxBytes) throw unsafe(`it unpacks to more than ${Math.round(limits.maxBytes / 2 ** 20)} MiB`);
  if (size === 0 && packed === 0) return;
  const raw = handle.createReadStream({ start, end: start + packed - 1, autoClose: false });
  const content: AsyncIterable<Buffer> = method === 0 ? raw : inflated(raw, name);
  const sum = createCrc32();
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > size) throw unsafe(`${shown(name)} is larger than the archive says`);
    sum.update(chunk);
    yield chunk;
  }
  if (length !== size || sum.value() !== crc) throw unsafe(`${shown(name)} is damaged`);
}

async function* inflated(raw: NodeJS.ReadableStream, name: string): AsyncIterable<Buffer> {
  const inflate = createInflateRaw();
  raw.once('error', (error) => inflate.destroy(error));
  raw.pipe(inflate);
  try {
    yield* inflate as AsyncIterable<Buffer>;
  } catch (error) {
    throw String((error as NodeJS.ErrnoException).code).startsWith('Z_') ? unsafe(`${shown(name)} is damaged`) : error;
  }
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
