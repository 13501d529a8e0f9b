// The built program and its V8 code cache.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

describe('the built program', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(path.join(os.tmpdir(), 'switchboard-start-'));
    for (const part of ['bin', 'dist', 'package.json']) cpSync(path.join(root, part), path.join(copy, part), { recursive: true });
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));
  const cache = () => path.join(copy, 'dist', `cli.cjs.${process.version}-${process.platform}-${process.arch}.cache`);
  const version = (env: NodeJS.ProcessEnv = {}) =>
    execFileSync(process.execPath, [path.join(copy, 'bin', 'switchboard.js'), '--version'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    }).trim();
  const wanted = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;

  test('has a code cache that this Node accepts', () => {
    const source = readFileSync(path.join(copy, 'dist', 'cli.cjs'), 'latin1');
    const script = new Script(source, { cachedData: readFileSync(cache()) });
    expect(script.cachedDataRejected).toBe(false);
  });

  test('is all ASCII, because it is read as Latin-1', () => {
    expect(readFileSync(path.join(copy, 'dist', 'cli.cjs')).every((byte) => byte < 0x80)).toBe(true);
  });

  // `--version` is answered by a chunk that is loaded later and shares modules with the entry.
  test('works if its code cache is truncated, from another version or missing, and with source maps enabled', () => {
    expect(version()).toBe(wanted);
    expect(version({ NODE_OPTIONS: '--enable-source-maps' })).toBe(wanted);
    truncateSync(cache(), 1000);
    expect(version()).toBe(wanted);
    writeFileSync(cache(), 'made by another version');
    expect(version()).toBe(wanted);
    rmSync(cache());
    expect(version()).toBe(wanted);
  });

  // V8 checks its own version only, and Nodes with the same V8 differ: 20.19 crashes with the code of 20.20.
  test('does not use the code cache of another Node with the same V8', () => {
    const other = path.join(copy, 'dist', `cli.cjs.v20.0.0-${process.platform}-${process.arch}.cache`);
    const source = readFileSync(path.join(copy, 'dist', 'cli.cjs'), 'latin1');
    writeFileSync(other, new Script(source.replace('(f=>', '(g=>')).createCachedData());
    const pretend = path.join(copy, 'pretend.cjs');
    writeFileSync(
      pretend,
      `const fs = require('fs'), read = fs.readFileSync; fs.readFileSync = (file, ...more) => {
      if (/cache$/.test(file)) process.stderr.write('read ' + file + '\\n');
      return read(file, ...more); };`,
    );
    const { stderr } = spawnSync(process.execPath, ['--require', pretend, path.join(copy, 'bin', 'switchboard.js'), '--version'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe(`read ${cache()}\n`);
  });

  test.each(['18.20.8', '20.10.0', '20.18.3', '21.7.0', '22.2.0'])('says under Node %s which Node it needs, with every command', (old) => {
    const pretend = path.join(copy, 'old.cjs');
    writeFileSync(
      pretend,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${old}' } }); delete process.getBuiltinModule;`,
    );
    for (const words of [['--version'], ['acp'], ['doctor'], ['mcp-shim']]) {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--require', pretend, path.join(copy, 'bin', 'switchboard.js'), ...words],
        { encoding: 'utf8' },
      );
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^switchboard: this is Node \S+; switchboard needs Node 20\.19 or newer .*\n {2}install a newer Node, .*\n$/);
    }
  });

  test.each([
    ['is missing', undefined, /ENOENT/],
    ['was built by another version', "const path = require('node:path');", /require is not defined/],
    ['is truncated', '(function(exports', /Unexpected end of input/],
  ])('that %s exits with an error that says what to do', (_, text, why) => {
    const file = path.join(copy, 'dist', 'cli.cjs');
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    const { status, stderr } = spawnSync(process.execPath, [path.join(copy, 'bin', 'switchboard.js'), 'acp'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(why);
    expect(stderr).toMatch(
      /^switchboard: .*cli\.cjs is not what belongs to this program .*: build it anew \(npm run build\), or install it again\n$/,
    );
  });
});
