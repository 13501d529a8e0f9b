// `switchboard agents add` with an index on this machine: binaries, refusals, and where agents come from.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { expect, test } from 'vitest';
import { createHome } from '../command.ts';
import { agentFiles, npmPackage, npx, startRegistry } from './local-registry.ts';

test('a binary is verified, installed, and started directly; another version of a package is chosen by @', async () => {
  const home = createHome();
  const { list, binary, run, config, json, folders, state } = await startRegistry(home);
  list(binary('3.0.0'), npx('1.0.0'));
  const { data } = await json('add', 'two');
  expect(data).toMatchObject({ name: 'two', installed: { version: '3.0.0', verifiedBy: 'index' } });
  expect(config().two).toMatchObject({ label: 'Two', command: path.join(state, 'agents/store', folders()[0] ?? '', 'one/cli.mjs') });
  expect((await json('test', 'two')).data.agents).toMatchObject([{ ok: true }]);
  expect((await run('add', 'one@1.1.0', '--name', 'older')).stderr).toContain('installing @x/one@1.1.0, by npm');
  expect((await json('search')).data.agents).toMatchObject([
    { id: 'two', installed: [{ name: 'two', version: '3.0.0' }] },
    { id: 'one', installed: [{ name: 'older', version: '1.1.0' }] },
  ]);
}, 30_000);

test('a binary without a checksum needs --allow-unverified; then another one under that address is refused', async () => {
  const home = createHome();
  const { list, binary, run, folders } = await startRegistry(home);
  list(binary('3.0.0', { sha256: undefined }));
  expect(await run('add', 'two')).toMatchObject({ code: 1, stderr: expect.stringContaining('--allow-unverified') });
  expect(folders()).toEqual([]);
  expect((await run('add', 'two', '--allow-unverified')).stderr).toContain('its checksum is now pinned');
  list(binary('3.0.0', { sha256: undefined }, agentFiles('evil', 'one')));
  expect(await run('update', '--force', '--yes', '--allow-unverified')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not the one that was installed'),
  });
  expect(folders()).toHaveLength(1);
});

test('a hostile archive changes nothing: no folder, no entry, and one line in the audit log', async () => {
  const home = createHome();
  const { list, binary, run, json, folders, audit, config } = await startRegistry(home);
  list(binary('3.0.0', {}, [{ name: '../../../evil', content: 'x' }]));
  expect(await run('add', 'two')).toMatchObject({
    code: 1,
    stdout: expect.not.stringContaining('Written'),
    stderr: expect.stringContaining('leads out of its folder'),
  });
  expect(await json('add', 'two')).toMatchObject({ ok: false, error: { code: 'ARCHIVE_UNSAFE', hint: expect.any(String) } });
  list(binary('3.0.0', { sha256: '0'.repeat(64) }));
  expect(await json('add', 'two')).toMatchObject({ ok: false, error: { code: 'CHECKSUM' } });
  list({ ...npx('1.0.0', { env: { NODE_OPTIONS: '--require=/tmp/x.js' } }) });
  expect(await json('add', 'one')).toMatchObject({ ok: false, error: { code: 'NOT_INSTALLABLE' } });
  expect({ folders: folders(), config: config() }).toEqual({ folders: [], config: {} });
  expect(audit().map(({ method }) => method)).toEqual(['agents/install', 'agents/install', 'agents/install']);
});

test('--dry-run installs nothing, and an existing agent is refused before anything is fetched', async () => {
  const home = createHome();
  const { run, server, folders, config } = await startRegistry(home);
  expect((await run('add', 'one', '--dry-run')).stdout).toContain('Nothing was installed (--dry-run).');
  await run('add', 'one', '--name', 'mine', '--command', 'x');
  const before = server.requests.length;
  await run('add', 'mine', '--command', 'our-agent', '--force');
  expect(await run('add', 'one', '--name', 'mine')).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
  expect(server.requests.slice(before).map(({ url }) => url)).toEqual(['/registry.json']);
  expect({ folders: folders(), mine: config().mine.command }).toEqual({ folders: [], mine: 'our-agent' });
});

test('--no-install writes an entry for npx, and fetches nothing', async () => {
  const home = createHome();
  const { run, config, folders } = await startRegistry(home, [npx('1.0.0', { cmd: 'one-agent', args: ['--acp'] })]);
  await run('add', 'one', '--no-install');
  expect({ ...config().one, folders: folders() }).toEqual({
    label: 'One Agent',
    command: 'npx',
    args: ['-y', '--package', '@x/one@1.0.0', 'one-agent', '--acp'],
    folders: [],
  });
});

test('without the registry the last list is used; a registry of your own is never replaced by the public one', async () => {
  const home = createHome();
  const { run, server, json } = await startRegistry(home);
  await run('search');
  await server.close();
  expect((await run('search')).stderr).toMatch(/cannot fetch .*; using the list of /);
  expect((await json('search', '--offline')).data.registry.from).toBe('cached');
  home.write(home.userFile, { registry: { url: 'http://127.0.0.1:9/other.json' } });
  expect(await run('add', 'gemini', '--install')).toMatchObject({ code: 1, stderr: expect.stringContaining('no earlier copy') });
  home.write(home.userFile, {});
  expect((await json('search', '--offline', 'gemini')).data).toMatchObject({ registry: { from: 'bundled' }, agents: [{ id: 'gemini' }] });
  expect((await run('search', '--offline')).stderr).toMatch(/the list that came with switchboard, of \d{4}/);
});

test('a known agent under another id gets the settings of the catalogue', async () => {
  const home = createHome();
  const { run, server, config, list, env } = await startRegistry(home);
  npmPackage(server.paths, server.url, '@google/gemini-cli', ['9.0.0'], { bin: { gemini: 'cli.mjs' } });
  list({
    ...npx('9.0.0'),
    id: 'google-gemini',
    name: 'Gemini',
    distribution: { npx: { package: '@google/gemini-cli@9.0.0', args: ['--acp'] } },
  });
  const { stderr } = await run('add', 'gemini', '--install');
  expect(stderr).toContain('agent "gemini" asks');
  expect(config().gemini.args[0]).toMatch(/\.bin\/gemini$/);
  home.write(home.userFile, { ...parse(readFileSync(home.userFile, 'utf8')), policy: 'standard' });
  const { stdout } = await home.quick(['doctor', '--no-start', '--json'], env);
  expect(stdout).toContain('switchboard changes how it starts: --approval-mode default');
}, 30_000);

test('programs on PATH are used as they are, unless a copy is asked for', async () => {
  const home = createHome();
  const { run, server, config, list } = await startRegistry(home);
  const [bin, folder] = [path.join(home.home, 'bin'), path.join(home.home, 'lib/node_modules/@google/gemini-cli')];
  for (const one of [bin, folder]) mkdirSync(one, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: '@google/gemini-cli', version: '0.1.0' }));
  writeFileSync(path.join(folder, 'cli.js'), '#!/usr/bin/env node\n', { mode: 0o755 });
  symlinkSync(path.join(folder, 'cli.js'), path.join(bin, 'gemini'));
  list({ ...npx('1.0.0'), id: 'gemini' });
  const before = process.env.PATH;
  const { code } = await home.quick(['agents', 'add', 'gemini'], { PATH: `${bin}:${before}` });
  expect({ code, requests: server.requests.length, args: config().gemini.args }).toEqual({
    code: 0,
    requests: 0,
    args: [path.join(bin, 'gemini'), '--acp'],
  });
  expect((await run('add', 'gemini', '--install', '--force')).stdout).toContain('npm package: @x/one');
}, 30_000);
