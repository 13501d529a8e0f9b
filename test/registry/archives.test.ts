// Archives are unpacked into one folder, and nothing is written outside it, whatever they hold.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { bunzip2 } from '../../src/registry/archives/bzip2.ts';
import { unpackTar } from '../../src/registry/archives/tar.ts';
import { createTree, type Limits } from '../../src/registry/archives/tree.ts';
import { unpackZip } from '../../src/registry/archives/zip.ts';
import { removeDirectory } from '../remove-directory.ts';
import { pax, type TarEntry, tar, type ZipEntry, zip } from './make-archives.ts';

const SMALL: Limits = { maxBytes: 64 * 1024, maxEntries: 50 };

function places() {
  const outer = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-archive-')));
  onTestFinished(() => removeDirectory(outer));
  const root = path.join(outer, 'root');
  mkdirSync(root);
  return { outer, root };
}

/** Pieces of odd lengths: nothing may depend on how a stream is cut. */
function streamOf(bytes: Buffer): AsyncIterable<Buffer> {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
    })(),
  );
}

async function untar(bytes: Buffer, limits = SMALL) {
  const { outer, root } = places();
  const result = unpackTar(streamOf(bytes), createTree(root, limits), limits);
  return {
    outer,
    root,
    error: await result.then(
      () => undefined,
      (error: Error) => error,
    ),
  };
}

async function unzip(bytes: Buffer, limits = SMALL) {
  const { outer, root } = places();
  const file = path.join(outer, 'archive.zip');
  writeFileSync(file, bytes);
  const error = await unpackZip(file, createTree(root, limits), limits).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return { outer, root, error };
}

const LONG = `${'deep/'.repeat(30)}file`;

test('a tar archive: files, programs, folders, links inside it, hard links as copies, long names of GNU and pax', async () => {
  const { root, error } = await untar(
    tar([
      { name: './' },
      { name: 'bin/', type: '5' },
      { name: './bin/agent', content: '#!/bin/sh\n', mode: 0o6755 },
      { name: 'lib/data', content: 'x'.repeat(5000) },
      { name: 'bin/again', type: '1', link: 'bin/agent' },
      { name: 'lib/program', type: '2', link: '../bin/agent' },
      { name: '@LongLink', type: 'L', content: `${LONG}\0` },
      { name: 'cut', content: 'long' },
      pax({ path: 'ü/pax', mtime: '1' }),
      { name: 'ignored', content: 'pax' },
      { name: 'empty' },
    ]),
  );
  expect(error).toBeUndefined();
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  expect(lstatSync(path.join(root, 'bin/agent')).mode & 0o7777).toBe(0o755);
  expect(lstatSync(path.join(root, 'lib/data')).mode & 0o111).toBe(0);
  expect([read('bin/again'), read('lib/program'), read(LONG), read('ü/pax'), read('empty')]).toEqual([
    '#!/bin/sh\n',
    '#!/bin/sh\n',
    'long',
    'pax',
    '',
  ]);
  expect(readlinkSync(path.join(root, 'lib/program'))).toBe('../bin/agent');
  expect(lstatSync(path.join(root, 'bin/again')).nlink).toBe(1);
});

test('a zip archive: stored and compressed files, programs, folders, links inside it, a comment', async () => {
  const { root, error } = await unzip(
    zip(
      [
        { name: 'bin/', mode: 0o040755 },
        { name: 'bin/agent', content: '#!/bin/sh\n', mode: 0o100755 },
        { name: 'data', content: 'y'.repeat(50_000) },
        { name: 'stored', content: 'plain', isStored: true },
        { name: 'latest', content: 'bin/agent', mode: 0o120777, isStored: true },
        { name: 'empty', isStored: true },
      ],
      'PK and more',
    ),
  );
  expect(error).toBeUndefined();
  expect(lstatSync(path.join(root, 'bin/agent')).mode & 0o111).not.toBe(0);
  expect(readFileSync(path.join(root, 'data'), 'utf8')).toBe('y'.repeat(50_000));
  expect(readFileSync(path.join(root, 'latest'), 'utf8')).toBe('#!/bin/sh\n');
});

const HOSTILE: readonly (readonly [string, readonly TarEntry[], string])[] = [
  ['a path that leads out', [{ name: '../evil', content: 'x' }], 'leads out of its folder'],
  ['a path that leads out further down', [{ name: 'a/../../evil', content: 'x' }], 'leads out'],
  ['an absolute path', [{ name: '/tmp/evil', content: 'x' }], 'absolute'],
  ['a drive', [{ name: 'C:/evil', content: 'x' }], 'absolute'],
  ['a backslash', [{ name: '..\\evil', content: 'x' }], 'backslash'],
  ['a stream of a file', [{ name: 'ab:evil', content: 'x' }], 'not a name'],
  ['a device of Windows', [{ name: 'lib/NUL.txt', content: 'x' }], 'not a name'],
  ['a name that ends with a dot', [{ name: 'evil.', content: 'x' }], 'not a name'],
  ['a control character', [{ name: 'ev\u001bil', content: 'x' }], 'not a name'],
  ['a mark that reverses the text', [{ name: 'ev\u202eil', content: 'x' }], 'not a name'],
  [
    'a name without a part',
    [
      { name: './', content: '' },
      { name: '.', content: 'x' },
    ],
    'without a name',
  ],
  ['a link that leads out', [{ name: 'a', type: '2', link: '../evil' }], 'outside its folder'],
  ['an absolute link', [{ name: 'a', type: '2', link: '/etc/passwd' }], 'outside its folder'],
  ['a link that leads to nothing', [{ name: 'a', type: '2', link: 'gone' }], 'outside its folder'],
  ['a link to itself', [{ name: 'a', type: '2', link: 'a' }], 'outside its folder'],
  [
    'a file behind a link',
    [
      { name: 'a', type: '2', link: 'b' },
      { name: 'a/evil', content: 'x' },
    ],
    'behind a link',
  ],
  [
    'a file in place of a link',
    [
      { name: 'a', type: '2', link: 'b' },
      { name: 'a', content: 'x' },
    ],
    'behind a link',
  ],
  [
    'a link in place of a folder',
    [
      { name: 'a/b', content: 'x' },
      { name: 'a', type: '2', link: 'c' },
    ],
    'twice',
  ],
  [
    'links that lead out over each other',
    [
      { name: 'r/f', content: 'x' },
      { name: 'p/x/f', content: 'x' },
      { name: 'p/q/d', type: '2', link: '../../r' },
      { name: 'e', type: '2', link: 'p/q/d/../../outer' },
    ],
    'outside its folder',
  ],
  ['a hard link that leads out', [{ name: 'a', type: '1', link: '../outside' }], 'leads out'],
  ['a hard link to a file of the system', [{ name: 'a', type: '1', link: '/etc/passwd' }], 'absolute'],
  ['a hard link to what is not there', [{ name: 'a', type: '1', link: 'later' }], 'outside its folder'],
  [
    'a hard link to a link',
    [
      { name: 'l', type: '2', link: 'x' },
      { name: 'a', type: '1', link: 'l' },
    ],
    'outside its folder',
  ],
  ['a character device', [{ name: 'a', type: '3' }], 'a device'],
  ['a block device', [{ name: 'a', type: '4' }], 'a device'],
  ['a pipe', [{ name: 'a', type: '6' }], 'a named pipe'],
  ['a sparse file', [{ name: 'a', type: 'S' }], 'a sparse file'],
  ['a sparse file of pax', [pax({ 'GNU.sparse.name': 'x' }), { name: 'a' }], 'a sparse file'],
  [
    'a name twice',
    [
      { name: 'a', content: '1' },
      { name: 'a', content: '2' },
    ],
    'twice',
  ],
  [
    'a name twice, written differently',
    [
      { name: 'b/a', content: '1' },
      { name: './b//a', content: '2' },
    ],
    'twice',
  ],
  [
    'names that differ in case',
    [
      { name: 'Run', content: '1' },
      { name: 'run', content: '2' },
    ],
    'only in case',
  ],
  [
    'folders that differ in case',
    [
      { name: 'Bin/a', content: '1' },
      { name: 'bin/b', content: '2' },
    ],
    'only in case',
  ],
  [
    'names that differ in their form',
    [
      { name: '\u00e9', content: '1' },
      { name: 'e\u0301', content: '2' },
    ],
    'only in case',
  ],
  [
    'a file that is also a folder',
    [
      { name: 'a', content: '1' },
      { name: 'a/b', content: '2' },
    ],
    'twice',
  ],
  ['a pax path that leads out', [pax({ path: '../evil' }), { name: 'good', content: 'x' }], 'leads out'],
  [
    'a GNU name that leads out',
    [
      { name: 'L', type: 'L', content: '../evil\0' },
      { name: 'good', content: 'x' },
    ],
    'leads out',
  ],
  ['a pax link that leads out', [pax({ linkpath: '/etc' }), { name: 'good', type: '2', link: 'x' }], 'outside its folder'],
  ['more bytes than allowed', [{ name: 'a', content: Buffer.alloc(65 * 1024) }], 'more than 0 MiB'],
  ['more entries than allowed', Array.from({ length: 60 }, (_, index) => ({ name: `f${index}` })), 'more than 50 entries'],
  [
    'hard links that fill the disk',
    [{ name: 'a', content: Buffer.alloc(30_000) }, ...[1, 2, 3].map((n) => ({ name: `b${n}`, type: '1', link: 'a' }))],
    'more than',
  ],
  ['a size that is longer than the archive', [{ name: 'a', content: 'x', size: 40_000 }], 'ends within a file'],
  ['an unknown kind', [{ name: 'a', type: 'Z' }], 'unknown kind'],
  ['a path that is too deep', [{ name: 'L', type: 'L', content: `${'a/'.repeat(70)}f\0` }, { name: 'x' }], 'folders deep'],
];

test.each(HOSTILE)('a tar archive with %s is refused, and nothing outside its folder changes', async (_, entries, why) => {
  const { outer, error } = await untar(tar(entries));
  expect(error).toMatchObject({ name: 'RegistryError', code: 'ARCHIVE_UNSAFE' });
  expect(error?.message).toContain(why);
  expect(readdirSync(outer)).toEqual(['root']);
  expect(existsSync('/tmp/evil')).toBe(false);
});

test.each([
  ['no archive at all', Buffer.from('hello')],
  ['an empty file', Buffer.alloc(0)],
  ['a damaged header', tar([{ name: 'a', content: 'x' }]).fill(1, 0, 3)],
  ['a cut header', tar([{ name: 'a', content: 'x' }]).subarray(0, 300)],
])('%s is refused as a tar archive', async (_, bytes) => {
  expect((await untar(bytes)).error).toMatchObject({ code: 'ARCHIVE_UNSAFE' });
});

const ZIPS: readonly (readonly [string, readonly ZipEntry[], string])[] = [
  ['a path that leads out', [{ name: '../evil', content: 'x' }], 'leads out of its folder'],
  ['an absolute path', [{ name: '/tmp/evil', content: 'x' }], 'absolute'],
  ['a backslash', [{ name: 'a\\..\\..\\evil', content: 'x' }], 'backslash'],
  ['a link that leads out', [{ name: 'a', content: '../../etc', mode: 0o120777 }], 'outside its folder'],
  [
    'a file behind a link',
    [
      { name: 'a', content: 'b', mode: 0o120777 },
      { name: 'a/evil', content: 'x' },
    ],
    'behind a link',
  ],
  ['a device', [{ name: 'a', mode: 0o060644 }], 'a device'],
  ['a socket', [{ name: 'a', mode: 0o140644 }], 'a socket'],
  [
    'a name twice',
    [
      { name: 'a', content: '1' },
      { name: 'a', content: '2' },
    ],
    'twice',
  ],
  [
    'names that differ in case',
    [
      { name: 'A', content: '1' },
      { name: 'a', content: '2' },
    ],
    'only in case',
  ],
  ['two names for one entry', [{ name: 'good', localName: 'evil', content: 'x' }], 'named differently'],
  [
    'entries that overlap',
    [
      { name: 'a', content: 'x', at: 0 },
      { name: 'a', content: 'x', at: 0 },
    ],
    'overlap',
  ],
  ['a bomb', [{ name: 'a', content: Buffer.alloc(10_000_000) }], 'unpacks to more than'],
  ['a bomb with a wrong size', [{ name: 'a', content: Buffer.alloc(10_000_000), size: 10 }], 'larger than the archive says'],
  ['a wrong checksum', [{ name: 'a', content: 'x', crc: 1 }], 'is damaged'],
  ['a wrong size', [{ name: 'a', content: 'x', size: 2 }], 'is damaged'],
  ['an encrypted file', [{ name: 'a', content: 'x', flags: 1 }], 'encrypted'],
  ['more entries than allowed', Array.from({ length: 60 }, (_, index) => ({ name: `f${index}` })), 'more than 50 entries'],
];

test.each(ZIPS)('a zip archive with %s is refused, and nothing outside its folder changes', async (_, entries, why) => {
  const { outer, error } = await unzip(zip(entries));
  expect(error).toMatchObject({ code: 'ARCHIVE_UNSAFE' });
  expect(error?.message).toContain(why);
  expect(readdirSync(outer).toSorted()).toEqual(['archive.zip', 'root']);
});

test.each([
  ['no archive at all', Buffer.from('hello')],
  ['a cut archive', zip([{ name: 'a', content: 'x' }]).subarray(0, -4)],
  ['an archive with something in front', Buffer.concat([Buffer.from('#!/bin/sh\n'), zip([{ name: 'a', content: 'x' }])])],
])('%s is refused as a zip archive', async (_, bytes) => {
  expect((await unzip(bytes)).error).toMatchObject({ code: 'ARCHIVE_UNSAFE' });
});

// Made by bzip2 1.0.8: `printf 'hello bzip2\n' | bzip2`, 300,000 zeros, and the numbers from 1 to 2000, one in a line.
const SAMPLES = {
  hello: 'QlpoOTFBWSZTWatrofEAAALZgAAQQAAQABJkwBAgADEA000EAB6j705RogeLuSKcKEhVtdD4gA==',
  zeros: 'QlpoOTFBWSZTWd9HTW8AAkxAgMAABAAACCAAMMwFKaYURsRRHi7kinChIb6Omt4=',
  numbers:
    'QlpoOTFBWSZTWenJbjMABRZIAEAQf+BgFHwAAAAAAAAQACHwCEAhAIQCEAhAIQCEAGypU0f41VMQNA0CBoGgRT0DP1SoIGgaCFP//1UiH+p+qqpt7/fTrvqtn60gFGgHhsDocBwHQ2B4aAUSAWgALRIBacAZmaAeGwOhwHAdDYHhoBRIBaAApDQC0gFGgHhsDocBwHQ2B4aAUSAWgAPINgWkAo0A8NgdDgOA6GwPDQCiQC0AB1A4C0gFGgHhsDocBwHQ2B4aAUSAWgAOIDoWkAo0A8NgdDgOA6GwPDQCiQC0ABtAPC0gFGgHhsDocBwHQ2B4aAUSAWgANIAotIBRoB4bA6HAcB0NgeGgFEgFoACUALWkAo0A8NgdDgOA6GwPDQCiQC0ABCABaQCjQDw2B0OA4DobA8NAKJALQAFPmgFpAKNAPDYHQ4DgOhsDw0AokAtAAeQbAtIBRoB4bA6HAcB0NgeGgFEgFoADqBwFpAKNAPDYHQ4DgOhsDw0AokAtAAcQHQtIBRoB4bA6HAcB0NgeGgFEgFoADaAeFpAKNAPDYHQ4DgOhsDw0AokAtAAaQBRaQCjQDw2B0OA4DobA8NAKJALQAEoAWtIBRoB4bA6HAcB0NgeGgFEgFoACEAC0gFGgHhsDocBwHQ2B4aAUSAWgAL+u7u7u1pgAWkAo0A8NgdDgOA6GwPDQCiQC1pAKNAPDYHQ4DgOhsDw0AokAtCACqqqqqq4+hMaAVVVVVVx9CYAKqqqqq4+hMAFVVVVVcfQmACqqqqquPoTABVVVVVXH0JgAqqqqqrj6EwAVVVVVVx9CYAKqqqqq4+hMAFVVVVVf30JkAsAWlAAtIBRoB4bA6HAcB0NgeGgFfszIzMzMwtIBRoB4bA6HAcB0NgeGgFMyMzMzMyqqqqqchFCKEUIoRQihFCKEWEa+ttttzMzMzN5hFCKEUIoRQihFCKEUJfS/lttt3MzMzO4IoRQihFCKEUIoRQihL6W/Lbbd3MzMzuCKEUIoRQihFCKEUIoS+lt/bbbu7mZmdwRQihFCKEUIoRQihFCX0tt/rbd3dzMzuCKEUIoRQihFCKEUIoS+ltty27u7uZncEUIoRQihFCKEUIoRQl9Lbbdt3d3dzO4IoRQihFCKEUIoRQihL6W223ru7u7udwRQihFCKEUIoRQihFCX0ttttu7u7u73BFCKEUIoRQihFCKEUJfX1tttzue7uC0ALSQALSAUaAeGwOhwHAdDYHhADMzMjMzMwWkAo0A8NgdDgOA6GwPEAGXd3d3u9/gAALn9VVVtttt3oAAFyVVWtttt3AAAXJVVa2223cAABclVVrbbbdwAAFyVVWtttt3AAAXJVVa2223cAABclVVrbbbdwAAFyVVWtttt3AAAXJVVa2223cAABcryqr73ved6CiQC0AWkQALSAUaAeGwOhwHAdCQC0AZmZmRmZmBaQCjQDw2B0OA4DokBeXd3e3cAABclVVrbbbdwAAFyVVWtttt3AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXK5VVtbbbd/AAAXKvaq+d73vnQeGgFEgFoBaQgAWkAo0A8NgdDgNAKJALQDMzMzIzMwFpAKNAPDYHQ4GgLvLu727+AAAuVyqra2227+AAAuVyqra2227+AAAuVyqra2227+AAAuVeVVtrbbd+gAAXKvKq21ttu/QAALlXlVba223foAAFyryqttbbbv0AAC5V5VW2ttt36AABcq8qrbW2279AAAuVXyq973ve+g6GwPDQCiQC0BaQQALSAUaAeGwNgeGgFEgFoDMzMzMjMwC0gFGgHhsGwXd5d3t36AABcq8qrbW2279AAAuVeVVtrbbd+gAAXKvKq21ttu/QAALlXlVba223foAAFyq9qttrbbvwAAC5Ve1W21tt34AABcqvarba2278AAAuVXtVttbbd+AAAXKr2q22ttu/AAALlVfavO973vehwHAdDYHhoBRIBaBaQIAFpAKNAOA6GwPDQCiQC0DMzMzMyMwBaQCjQHAu7vLvbvwAAC5Ve1W21tt34AABcqvarba2278AAAuVXtVttbbd+AAAXKr2q22ttu/AAALlV7VbbW23fgAAFyqvlW22tt30AAC5VXyrbbW276AABcqr5Vttrbd9AAAuVV8q221tu+gAAXKqv1c73ve9eGwOhwHAdDYHhoBRIBaC0gIAFpAOhwHAdDYHhoBRIBaDMzMzMzIwAtIDou7u8vbvoAAFyqvlW22tt30AAC5VXyrbbW276AABcqr5Vttrbd9AAAuVV8q221tu+gAAXKq+Vbba23fQAALlVfKtttbbvoAAFyqr7W221t3wAAC5VV9rbba274AABcqq+1tttbd8AAAuVVWne973pRoB4bA6HAcB0NgeGgFEgFoWkAgAeGwOhwHAdDYHhoBRIBaGZmZmZmZAB4u7u7zbvgAAFyqr7W221t3wAAC5VV9rbba274AABcqq+1tttbd8AAAuVVfa222tu+AAAXKqvtbbbW3fAAALlVX2tttrbvgAAFyqr7W221t3wAAC5VVfrbbbW7wAAC5VVfrbbbW7wAAD+5/XlVVuu96CjQDw2B0OA4DobA8NAKJALQAFIaAeGwOhwHAdDYHhoBRIBaAAu7u7u7pd3d3du8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAAuVVX62221u8AAA/uXlVV+7ttttAAB/P8LuSKcKEh05LcZgA==',
};
const decoded = async (bytes: Buffer) => {
  const chunks: Buffer[] = [];
  for await (const chunk of bunzip2(streamOf(bytes))) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const sample = (name: keyof typeof SAMPLES) => Buffer.from(SAMPLES[name], 'base64');

test('bzip2 data is decompressed: text, long runs, several tables, several streams', async () => {
  expect((await decoded(sample('hello'))).toString()).toBe('hello bzip2\n');
  expect((await decoded(sample('zeros'))).equals(Buffer.alloc(300_000))).toBe(true);
  expect((await decoded(sample('numbers'))).toString()).toBe(Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join(''));
  expect((await decoded(Buffer.concat([sample('hello'), sample('hello')]))).toString()).toBe('hello bzip2\nhello bzip2\n');
});

test('damaged bzip2 data is refused, whatever bit is wrong', async () => {
  const good = sample('hello');
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bad = Buffer.from(good);
    bad[bit >> 3] = (bad[bit >> 3] as number) ^ (0x80 >> (bit & 7));
    const result = await decoded(bad).catch((error: Error) => error);
    // The level only says how large a block may be, and some padding is not read.
    if (Buffer.isBuffer(result)) expect(result.toString()).toBe('hello bzip2\n');
    else expect(result).toMatchObject({ code: 'ARCHIVE_UNSAFE' });
  }
  for (const length of [0, 3, 10, good.length - 1])
    await expect(decoded(good.subarray(0, length))).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' });
});
