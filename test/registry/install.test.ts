// Installing: downloads are verified and unpacked, packages installed at one version, and the store notices every change.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type InstallOptions, install } from '../../src/registry/install.ts';
import { type Plan, planInstall } from '../../src/registry/plan.ts';
import { createInstallRecords, type Installed } from '../../src/registry/records.ts';
import { readIndex } from '../../src/registry/schema.ts';
import { createStore } from '../../src/registry/store.ts';
import { removeDirectory } from '../remove-directory.ts';
import { serve, sha256 } from './local-server.ts';
import { tarGz, zip } from './make-archives.ts';

const SCRIPT = '#!/bin/sh\necho hello\n';
const GOOD = tarGz([{ name: 'one/bin/agent', content: SCRIPT, mode: 0o755 }]);

function state(): string {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-install-')));
  onTestFinished(() => removeDirectory(dir));
  return dir;
}

const planOf = (distribution: unknown): Plan => {
  const { agents } = readIndex(JSON.stringify({ agents: [{ id: 'one', name: 'One', version: '1.0.0', distribution }] }));
  if (!agents[0]) throw new Error('the entry is not valid');
  return planInstall(agents[0], { platform: 'linux', arch: 'x64', isLocal: true });
};
const binaryOf = (archive: string, more: object = {}) =>
  planOf({ binary: { 'linux-x86_64': { archive, cmd: './one/bin/agent', ...more } } });

function optionsIn(dir: string, more: Partial<InstallOptions> = {}): InstallOptions {
  const run = (): { child: ChildProcess; end(): void } => ({ child: spawn('/nowhere/no-program'), end: () => {} });
  return {
    store: createStore(dir),
    run,
    isLocal: true,
    platform: 'linux',
    allowScripts: false,
    allowUnverified: false,
    ...more,
  };
}
const staged = (dir: string) => (existsSync(path.join(dir, 'agents', 'staging')) ? readdirSync(path.join(dir, 'agents', 'staging')) : []);

test('an archive is verified and unpacked; the same content twice is one folder', async () => {
  const server = await serve({ '/a.tar.gz': GOOD });
  const dir = state();
  const options = optionsIn(dir);
  const plan = binaryOf(`${server.url}/a.tar.gz`, { sha256: sha256(GOOD) });
  const first = await install(plan, options);
  expect(first).toMatchObject({ version: '1.0.0', verifiedBy: 'index', checksum: sha256(GOOD), program: 'one/bin/agent' });
  expect(readFileSync(path.join(options.store.folder(first.folder), 'one/bin/agent'), 'utf8')).toBe(SCRIPT);
  expect((await install(plan, options)).folder).toBe(first.folder);
  expect(staged(dir)).toEqual([]);
  expect(await options.store.changes(first.folder)).toEqual([]);
});

test('a zip whose program is not marked as one, and a single program', async () => {
  const server = await serve({ '/a.zip': zip([{ name: 'agent.bin', content: SCRIPT }]), '/agent-linux': SCRIPT });
  const options = optionsIn(state(), { allowUnverified: true });
  for (const [archive, cmd] of [
    ['/a.zip', 'agent.bin'],
    ['/agent-linux', './bin/agent'],
  ] as const) {
    const { folder, program, verifiedBy } = await install(binaryOf(server.url + archive, { cmd }), options);
    const file = path.join(options.store.folder(folder), program);
    expect({ isProgram: (existsSync(file) && readFileSync(file, 'utf8')) === SCRIPT, verifiedBy }).toEqual({
      isProgram: true,
      verifiedBy: 'seen',
    });
  }
});

test('a tar.bz2 archive', async () => {
  // Made by Python's tarfile and bz2, with the same program.
  const archive = Buffer.from(
    'QlpoOTFBWSZTWTSx30UAAH1bgMqSaAD6gAgAeuWeAAgIIAB1DSNQGjENGnqGmmQSVNA0AMgAyH0bRiEFMyEIyg5pJW2hAiQIdSjMfo9vY+oWCgQRZCJpwt6QuvJOVBzYw98ptOYxpQdmbPmOq9tXJIPxdyRThQkDSx30UA==',
    'base64',
  );
  const server = await serve({ '/a.tar.bz2': archive });
  const options = optionsIn(state());
  const { folder, program } = await install(binaryOf(`${server.url}/a.tar.bz2`, { sha256: sha256(archive) }), options);
  expect(readFileSync(path.join(options.store.folder(folder), program), 'utf8')).toBe(SCRIPT);
});

test('without a checksum nothing is fetched, unless that is allowed; then what came is pinned', async () => {
  const server = await serve({ '/a.tar.gz': GOOD });
  const dir = state();
  const plan = binaryOf(`${server.url}/a.tar.gz`);
  await expect(install(plan, optionsIn(dir))).rejects.toMatchObject({
    code: 'UNVERIFIED',
    next: expect.stringContaining('--allow-unverified'),
  });
  expect(server.requests).toEqual([]);
  const allowed = optionsIn(dir, { allowUnverified: true });
  const { program, skippedScripts, ...first } = await install(plan, allowed);
  const present: Installed = { ...first, plan, command: program, prefix: skippedScripts, at: '' };
  server.paths['/a.tar.gz'] = tarGz([{ name: 'one/bin/agent', content: '#!/bin/sh\nevil\n', mode: 0o755 }]);
  await expect(install(plan, { ...allowed, present })).rejects.toMatchObject({
    code: 'CHECKSUM',
    message: expect.stringContaining('pinned'),
  });
});

test.each([
  ['another archive than the checksum says', GOOD, { sha256: '0'.repeat(64) }, 'CHECKSUM'],
  ['a zip slip', tarGz([{ name: '../../evil', content: 'x' }]), {}, 'ARCHIVE_UNSAFE'],
  ['a link out', tarGz([{ name: 'one/bin/agent', type: '2', link: '/bin/sh' }]), {}, 'ARCHIVE_UNSAFE'],
  ['no program', tarGz([{ name: 'README', content: 'x' }]), {}, 'ARCHIVE_UNSAFE'],
  ['a folder as the program', tarGz([{ name: 'one/bin/agent/', type: '5' }]), {}, 'ARCHIVE_UNSAFE'],
  ['no gzip', Buffer.from('hello'), {}, 'ARCHIVE_UNSAFE'],
  ['a cut gzip', GOOD.subarray(0, -20), {}, 'ARCHIVE_UNSAFE'],
  ['an address that is gone', undefined, {}, 'REGISTRY_UNREACHABLE'],
])('%s: nothing is installed, and nothing is left', async (_, archive, more, code) => {
  const server = await serve(archive === undefined ? {} : { '/a.tar.gz': archive });
  const dir = state();
  const plan = binaryOf(`${server.url}/a.tar.gz`, {
    ...(archive && { sha256: sha256(archive) }),
    ...(code === 'REGISTRY_UNREACHABLE' && { sha256: sha256(GOOD) }),
    ...more,
  });
  await expect(install(plan, optionsIn(dir))).rejects.toMatchObject({ code });
  expect(staged(dir)).toEqual([]);
  expect(existsSync(path.join(dir, 'agents', 'store'))).toBe(false);
});

test('the store notices files that were changed, added, removed or made programs', async () => {
  const store = createStore(state());
  const folder = store.stage();
  mkdirSync(path.join(folder, 'lib/__pycache__'), { recursive: true });
  for (const name of ['a', 'b', 'c', 'lib/d']) writeFileSync(path.join(folder, name), name);
  symlinkSync('lib/d', path.join(folder, 'link'));
  const name = await store.commit(folder);
  const at = (file: string) => path.join(store.folder(name), file);
  writeFileSync(at('lib/__pycache__/d.pyc'), 'what Python writes');
  expect(await store.changes(name)).toEqual([]);
  writeFileSync(at('a'), 'A');
  rmSync(at('b'));
  chmodSync(at('c'), 0o755);
  writeFileSync(at('lib/new'), '');
  rmSync(at('link'));
  symlinkSync('/bin/sh', at('link'));
  expect(await store.changes(name)).toEqual(['a was changed', 'c was changed', 'lib/new was added', 'link was changed', 'b is missing']);
  rmSync(store.folder(name), { recursive: true });
  expect(await store.changes(name)).toEqual(['its folder is missing']);
  store.remove(name);
  expect(await store.changes(name)).toEqual(['its list of files is missing']);
});

test('installing again repairs what was changed', async () => {
  const server = await serve({ '/a.tar.gz': GOOD });
  const options = optionsIn(state());
  const plan = binaryOf(`${server.url}/a.tar.gz`, { sha256: sha256(GOOD) });
  const { folder, program } = await install(plan, options);
  writeFileSync(path.join(options.store.folder(folder), program), '#!/bin/sh\nevil\n');
  expect((await install(plan, options)).folder).toBe(folder);
  expect(await options.store.changes(folder)).toEqual([]);
});

test('a package manager that brings a link out of its folder is refused, except for Python environments', async () => {
  const store = createStore(state());
  const links = () => {
    const folder = store.stage();
    symlinkSync('/bin/sh', path.join(folder, 'sh'));
    return folder;
  };
  await expect(store.commit(links())).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' });
  expect(await store.changes(await store.commit(links(), { mayLinkOut: true }))).toEqual([]);
});

/** A package manager that writes these files into the folder. */
function manager(files: (args: readonly string[], folder: string) => Record<string, string>, exit = 0) {
  const calls: (readonly string[])[] = [];
  const run: InstallOptions['run'] = (command, args, cwd) => {
    calls.push([command, ...args]);
    for (const [name, content] of Object.entries(files([command, ...args], cwd))) {
      mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
      writeFileSync(path.join(cwd, name), content, { mode: 0o755 });
    }
    return { child: spawn(process.execPath, ['-e', `process.exit(${exit})`]), end: () => {} };
  };
  return { run, calls };
}
const npmFiles =
  (bin: unknown, lock: object = {}) =>
  () => ({
    'node_modules/@x/one/package.json': JSON.stringify({ name: '@x/one', version: '1.0.7', bin }),
    'node_modules/@x/one/cli.js': '#!/usr/bin/env node\n',
    'package-lock.json': JSON.stringify({ packages: { 'node_modules/@x/one': { version: '1.0.7', integrity: 'sha512-abc' }, ...lock } }),
  });

test('an npm package gets one exact version, without its install scripts, which are named', async () => {
  const { run, calls } = manager(npmFiles({ one: 'cli.js' }, { 'node_modules/a/node_modules/esbuild': { hasInstallScript: true } }));
  const plan = planOf({ npx: { package: '@x/one@^1' } });
  expect(await install(plan, optionsIn(state(), { run }))).toMatchObject({
    version: '1.0.7',
    checksum: 'sha512-abc',
    verifiedBy: 'packages',
    withScripts: false,
    skippedScripts: ['esbuild'],
  });
  expect(calls[0]).toEqual(expect.arrayContaining(['npm', '--ignore-scripts', '--save-exact']));
  expect(calls[0]?.slice(-2)).toEqual(['--', '@x/one@^1']);
  const allowed = await install(plan, optionsIn(state(), { run, allowScripts: true }));
  expect(allowed).toMatchObject({ withScripts: true, skippedScripts: [] });
  expect(calls[1]).not.toContain('--ignore-scripts');
});

test.each([
  ['several programs, and one has the name of the package', { one: 'cli.js', other: 'cli.js' }, {}, undefined],
  ['several programs, and the registry names one', { a: 'cli.js', b: 'cli.js' }, { cmd: 'b' }, undefined],
  ['several programs, and the catalogue knows which', { a: 'cli.js', b: 'cli.js' }, { program: 'a' }, undefined],
  ['several programs', { a: 'cli.js', b: 'cli.js' }, {}, 'the programs a, b'],
  ['no program', undefined, {}, 'no program'],
  ['a program that is missing', { one: 'gone.js' }, {}, '--allow-scripts'],
])('an npm package with %s', async (_, bin, { cmd, program }: { cmd?: string; program?: string }, error) => {
  const { run } = manager(npmFiles(bin));
  const result = install(planOf({ npx: { package: '@x/one', ...(cmd && { cmd }) } }), optionsIn(state(), { run, program }));
  if (error === undefined) expect(await result).toMatchObject({ program: expect.stringContaining('cli.js') });
  else
    await expect(result.catch((thrown) => Promise.reject(new Error(`${thrown.code} ${thrown.message} ${thrown.next}`)))).rejects.toThrow(
      error,
    );
});

test('a Python package gets its own environment, and nothing is built unless that is allowed', async () => {
  const { run, calls } = manager(([, first]) =>
    first === 'venv'
      ? { 'bin/python': '' }
      : { 'lib/python3.11/site-packages/one_agent-2.1.dist-info/METADATA': '', 'bin/one-agent': '#!/bin/sh\n' },
  );
  const plan = planOf({ uvx: { package: 'one-agent@2.1' } });
  expect(await install(plan, optionsIn(state(), { run }))).toMatchObject({ version: '2.1', program: 'bin/one-agent' });
  expect(calls.map(([command, first]) => `${command} ${first}`)).toEqual(['uv venv', 'uv pip']);
  expect(calls[1]).toContain('--no-build');
  expect(calls[1]?.at(-1)).toBe('one-agent==2.1');
});

test('a package manager that fails or is missing: the error says so, and nothing is left', async () => {
  const dir = state();
  const { run } = manager(() => ({ x: '' }), 7);
  await expect(install(planOf({ npx: { package: 'one' } }), optionsIn(dir, { run }))).rejects.toThrow(
    'installing one failed: npm exited with code 7',
  );
  await expect(install(planOf({ uvx: { package: 'one' } }), optionsIn(dir))).rejects.toMatchObject({
    message: expect.stringContaining('uv was not found'),
    next: expect.stringContaining('install uv'),
  });
  expect(staged(dir)).toEqual([]);
});

test('a record is kept for each agent; a damaged one, which could name any folder, does not count', () => {
  const dir = state();
  const records = createInstallRecords(dir);
  const plan = planOf({ npx: { package: 'one' } });
  const current: Installed = {
    plan,
    version: '1',
    checksum: undefined,
    verifiedBy: 'packages',
    withScripts: false,
    folder: 'a'.repeat(40),
    command: 'x',
    prefix: [],
    at: '',
  };
  const record = { name: 'one', id: 'one', registry: 'bundled', isPreview: false, current, previous: undefined };
  records.save(record);
  records.save({ ...record, name: 'two', current: { ...current, folder: '../../..' } });
  expect(records.all()).toEqual([record]);
  expect(records.find('two')).toBeUndefined();
  records.remove('one');
  expect(records.all()).toEqual([]);
});
