// Reading and writing text files, whole or by lines.
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { appendFile, open } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDescriptors, type Descriptors, linux } from '../../src/workspace/descriptors.ts';
import { MAX_TEXT_BYTES, readTextFile } from '../../src/workspace/read-file.ts';
import { writeTextFile } from '../../src/workspace/write-file.ts';
import fc from '../generated.ts';
import { becomeOrdinaryUser } from '../ordinary-user.ts';
import { createSandbox } from './sandbox.ts';

beforeAll(becomeOrdinaryUser);

describe('reading', () => {
  test.each([
    ['all of it', {}, 'one\ntwo\nthree'],
    ['null means all of it', { line: null, limit: null }, 'one\ntwo\nthree'],
    ['from the first line on', { line: 1 }, 'one\ntwo\nthree'],
    ['the first line', { limit: 1 }, 'one\n'],
    ['the second line', { line: 2, limit: 1 }, 'two\n'],
    ['from the second line on', { line: 2 }, 'two\nthree'],
    ['the last line, which has no end', { line: 3, limit: 5 }, 'three'],
    ['no lines', { line: 2, limit: 0 }, ''],
    ['behind the end', { line: 4 }, ''],
    ['far behind the end', { line: 4294967295, limit: 4294967295 }, ''],
  ])('%s', async (_, range, expected) => {
    const { at, read } = createSandbox();
    writeFileSync(at('root/lines'), 'one\ntwo\nthree');
    expect(await read(at('root/lines'), range)).toBe(expected);
  });

  test.each([{ line: 0 }, { line: -1 }, { limit: 1.5 }, { line: '2' }, { limit: Number.MAX_VALUE }])('%j is refused', async (range) => {
    const { at, read } = createSandbox();
    expect(await read(at('root/a.txt'), range)).toBe('PARAMS');
  });

  test('pieces of any size together are the file, whatever its line endings', async () => {
    const { at, read } = createSandbox();
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '日', '😀', '\r', ' '), maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (lines, limit) => {
        const text = lines.join('\n');
        writeFileSync(at('root/lines'), text);
        let together = '';
        for (let next = 1; next <= lines.length; next += limit) together += await read(at('root/lines'), { line: next, limit });
        expect(together).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  test('a byte order mark and CRLF are kept, an empty file is empty, NUL is a character', async () => {
    const { at, read } = createSandbox();
    for (const text of ['\ufeffa\r\nb\r\n', '', 'a\0b']) {
      writeFileSync(at('root/odd'), text);
      expect(await read(at('root/odd'))).toBe(text);
    }
  });

  test('a missing file is -32002 with its URI', async () => {
    const { at, roots } = createSandbox();
    for (const file of [at('root/none.txt'), at('root/none/none.txt'), at('root/a.txt/none')])
      await expect(readTextFile(createDescriptors(), roots, { path: file })).rejects.toMatchObject({
        rpc: -32002,
        data: { uri: pathToFileURL(file).href },
      });
  });

  test('invalid UTF-8 is refused, because a later write would destroy it; a valid part can be read', async () => {
    const { at, read } = createSandbox();
    writeFileSync(at('root/latin'), Buffer.from('plain\ncaf\xe9\n', 'latin1'));
    expect(await read(at('root/latin'))).toBe('FILE_UNUSABLE');
    expect(await read(at('root/latin'), { limit: 1 })).toBe('plain\n');
  });

  test('a file that is too large is refused with advice, and can be read in parts', async () => {
    const { at, read, roots } = createSandbox();
    writeFileSync(at('root/large'), `${'x'.repeat(70_000)}\nlast`);
    expect(await read(at('root/large'), { line: 2 })).toBe('last');
    const handle = await open(at('root/large'), 'a');
    await handle.truncate(MAX_TEXT_BYTES);
    expect((await read(at('root/large'))).length).toBe(MAX_TEXT_BYTES);
    await handle.truncate(MAX_TEXT_BYTES + 1);
    await handle.close();
    await expect(readTextFile(createDescriptors(), roots, { path: at('root/large') })).rejects.toThrow(
      /read it in parts with line and limit/,
    );
    expect(await read(at('root/large'), { line: 1, limit: 1 })).toBe(`${'x'.repeat(70_000)}\n`);
  });

  test('reading a file that grows as fast as it is read ends', async () => {
    const { at, roots } = createSandbox();
    const file = at('root/grows');
    truncateSync(writeEmpty(file), 100_000);
    const strict = createDescriptors();
    const growing: Descriptors = {
      ...strict,
      async openFile(...args) {
        const opened = await strict.openFile(...args);
        const { handle } = opened;
        const reads = handle.read.bind(handle);
        return Object.assign(opened, {
          handle: Object.assign(handle, {
            async read(buffer: Buffer, offset: number, length: number) {
              await appendFile(file, Buffer.alloc(200_000));
              return reads(buffer, offset, length, null);
            },
          }),
        });
      },
    };
    await expect(readTextFile(growing, roots, { path: file, line: 5 })).rejects.toMatchObject({ key: 'FILE_TOO_LARGE' });
  });
});

function writeEmpty(file: string): string {
  writeFileSync(file, '');
  return file;
}

describe('writing', () => {
  test('creates the file and its parent directories', async () => {
    const { at, write } = createSandbox();
    expect(await write(at('root/x/y/new.txt'), 'text')).toBe('{}');
    expect(readFileSync(at('root/x/y/new.txt'), 'utf8')).toBe('text');
    expect(await write(at('root/empty'), '')).toBe('{}');
    expect(readFileSync(at('root/empty'), 'utf8')).toBe('');
  });

  test('replaces the file, keeps its mode, and leaves nothing else behind', async () => {
    const { at, write } = createSandbox();
    chmodSync(at('root/a.txt'), 0o751);
    const text = '\ufeffnew\r\n😀';
    expect(await write(at('root/a.txt'), text)).toBe('{}');
    expect(readFileSync(at('root/a.txt'), 'utf8')).toBe(text);
    expect(statSync(at('root/a.txt')).mode & 0o7777).toBe(0o751);
    expect(readdirSync(at('root')).sort()).toEqual(['a.txt', 'sub']);
  });

  test('a new file has the default mode', async () => {
    const { at, write } = createSandbox();
    writeFileSync(at('root/usual'), '');
    await write(at('root/new'));
    expect(statSync(at('root/new')).mode).toBe(statSync(at('root/usual')).mode);
  });

  test('content that is not a string is refused', async () => {
    const { at, write } = createSandbox();
    for (const content of [null, 1, ['x'], 'half \ud83d a character']) expect(await write(at('root/a.txt'), content)).toBe('PARAMS');
    expect(readFileSync(at('root/a.txt'), 'utf8')).toBe('inside');
  });

  test('a file in place of a directory is an error', async () => {
    const { at, write } = createSandbox();
    expect(await write(at('root/a.txt/x'))).toBe('FILE_MISSING');
    expect(readFileSync(at('root/a.txt'), 'utf8')).toBe('inside');
  });

  test('a read-only file is not replaced, although its directory permits it', async () => {
    const { at, write } = createSandbox();
    chmodSync(at('root/a.txt'), 0o444);
    expect(await write(at('root/a.txt'))).toBe('FILE_UNUSABLE');
    expect(readFileSync(at('root/a.txt'), 'utf8')).toBe('inside');
  });

  test('with concurrent writes the file is always the whole text of one of them', async () => {
    const { at, read, write } = createSandbox();
    const texts = Array.from({ length: 8 }, (_, n) => `${n}`.repeat(200_000));
    const writes = texts.map((text) => write(at('root/a.txt'), text));
    const seen = await Promise.all(Array.from({ length: 8 }, () => read(at('root/a.txt'))));
    expect(await Promise.all(writes)).toEqual(texts.map(() => '{}'));
    for (const text of seen) expect(['inside', ...texts]).toContain(text);
    expect(texts).toContain(await read(at('root/a.txt')));
    expect(readdirSync(at('root')).sort()).toEqual(['a.txt', 'sub']);
  });

  test.each([
    ['ENOSPC', /the disk is full/],
    ['EROFS', /the disk is read-only/],
    ['EACCES', /permission denied/],
    ['EIO', /EIO/],
  ])('%s during the write leaves the old text and nothing else', async (code, words) => {
    const { at, roots } = createSandbox();
    const strict = linux(async (file, flags, mode) => {
      const handle = await open(file, flags, mode);
      if (mode === undefined) return handle;
      return Object.assign(handle, { writeFile: () => Promise.reject(Object.assign(new Error(code), { code })) });
    });
    await expect(writeTextFile(strict, roots, { path: at('root/a.txt'), content: 'new' })).rejects.toThrow(words);
    expect(readFileSync(at('root/a.txt'), 'utf8')).toBe('inside');
    expect(readdirSync(at('root')).sort()).toEqual(['a.txt', 'sub']);
  });

  test('a link that replaces the file at the end is replaced itself, and its target is untouched', async () => {
    const { at, roots } = createSandbox();
    const strict = linux(open);
    const raced: Descriptors = {
      ...strict,
      async openDirectory(...args) {
        const directory = await strict.openDirectory(...args);
        const verify = async () => {
          await directory.verify();
          symlinkSync(at('outside/a.txt'), at('root/new.txt'));
        };
        return { ...directory, verify };
      },
    };
    await writeTextFile(raced, roots, { path: at('root/new.txt'), content: 'mine' });
    expect(readFileSync(at('outside/a.txt'), 'utf8')).toBe('the secret');
    expect(readFileSync(at('root/new.txt'), 'utf8')).toBe('mine');
  });
});
