// Builds archives with any content, also what no honest program writes.
import { deflateRawSync, gzipSync } from 'node:zlib';
import { createCrc32 } from '../../src/registry/archives/crc32.ts';

export type TarEntry = {
  readonly name: string;
  /** `0` file, `1` hard link, `2` symlink, `3` device, `5` folder, `6` pipe, … */
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly link?: string;
  readonly mode?: number;
  /** Instead of the real one. */
  readonly size?: number;
};

export function tar(entries: readonly TarEntry[], { isEnded = true } = {}): Buffer {
  const blocks = entries.flatMap(({ name, type = '0', content = '', link = '', mode = 0o644, size }) => {
    const body = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${(size ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
    header.fill(' ', 148, 156);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write('ustar\0', 257);
    header.write('00', 263);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, ...(isEnded ? [Buffer.alloc(1024)] : [])]);
}

export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(tar(entries));

export const pax = (fields: Readonly<Record<string, string>>): TarEntry => ({
  name: 'pax',
  type: 'x',
  content: Object.entries(fields)
    .map(([key, value]) => {
      const rest = Buffer.byteLength(` ${key}=${value}\n`);
      let length = rest + String(rest).length;
      if (String(length).length !== String(rest).length) length = rest + String(length).length;
      return `${length} ${key}=${value}\n`;
    })
    .join(''),
});

export type ZipEntry = {
  readonly name: string;
  readonly content?: string | Buffer;
  /** With the type bits: 0o120777 is a link. */
  readonly mode?: number;
  readonly isStored?: boolean;
  /** Instead of the real ones. */
  readonly localName?: string;
  readonly size?: number;
  readonly crc?: number;
  readonly at?: number;
  readonly flags?: number;
};

export function zip(entries: readonly ZipEntry[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', mode = 0o100644, isStored = false, localName = name, size, crc, at, flags = 0x800 } of entries) {
    const body = Buffer.from(content);
    const packed = isStored ? body : deflateRawSync(body);
    const sum = createCrc32();
    sum.update(body);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(isStored ? 0 : 8, 8);
    local.writeUInt16LE(Buffer.byteLength(localName), 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central[5] = 3;
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(isStored ? 0 : 8, 10);
    central.writeUInt32LE(crc ?? sum.value(), 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size ?? body.length, 24);
    central.writeUInt16LE(Buffer.byteLength(name), 28);
    central.writeUInt16LE(mode, 40);
    central.writeUInt32LE(at ?? offset, 42);
    parts.push(local, Buffer.from(localName), packed);
    directory.push(central, Buffer.from(name));
    offset += 30 + Buffer.byteLength(localName) + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([...parts, listed, end, Buffer.from(comment)]);
}
