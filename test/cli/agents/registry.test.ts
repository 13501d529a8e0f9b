// `switchboard agents search`, `update`, `rollback` and `remove`, and what `doctor` says about installed agents.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { expect, test } from 'vitest';
import { createHome, HAS_TERMINAL } from '../command.ts';
import { npmPackage, npx, startRegistry } from './local-registry.ts';

test('search finds agents by all words, says how they would be installed, and what is installed', async () => {
  const home = createHome();
  const { run, json, binary, list } = await startRegistry(home);
  list(
    npx('1.0.0'),
    binary('3.0.0', { sha256: undefined }),
    { ...npx('1.0.0'), id: 'Bad' },
    { ...npx('1'), id: 'elsewhere', distribution: { binary: { 'plan9-mips': { archive: 'https://x.example/a.zip', cmd: 'a' } } } },
  );
  const { code, stdout, stderr } = await run('search');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('left out: Bad') });
  expect(stdout).toMatch(/^one +One Agent +1\.0\.0 +npx +- +a coding agent$/m);
  expect(stdout).toMatch(/^two +Two +3\.0\.0 +binary, unverified/m);
  expect(stdout).toMatch(/^elsewhere +One Agent +1 +- /m);
  expect((await run('search', 'CODING', 'two')).stdout).not.toContain('One Agent');
  expect((await run('search', 'nothing')).stdout).toBe('The registry has no agent for "nothing".\n');
  const { data } = await json('search', 'one');
  expect(data).toMatchObject({
    registry: { from: 'fetched' },
    agents: [
      { id: 'one', from: 'npx', installed: [] },
      { id: 'elsewhere', from: null },
    ],
  });
});

test('an npm package is installed at its exact version, runs without npx, is updated, rolled back and removed', async () => {
  const home = createHome();
  const { run, config, audit, list, folders, json, state, env } = await startRegistry(home);
  const added = await run('add', 'one', '--env', 'MINE=1', '--', '--own');
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('\n  npm package: @x/one, version 1.0.0\n') });
  const [first] = folders();
  const script = (folder: string | undefined) => path.join(state, 'agents/store', folder ?? '', 'node_modules/.bin/one-agent');
  expect(config().one).toEqual({ label: 'One Agent', command: process.execPath, args: [script(first), '--own'], env: { MINE: '1' } });
  expect((await json('test', 'one')).data.agents).toMatchObject([{ ok: true }]);
  expect((await run('add', 'one', '--env', 'MINE=1', '--', '--own')).stdout).toContain('no changes');

  expect((await run('update')).stdout).toBe('Everything is up to date.\n');
  list(npx('1.1.0', { args: ['--acp'], env: { ONE_MODE: 'acp' } }));
  const look = await run('update', '--dry-run');
  for (const line of ['-version: 1.0.0', '+version: 1.1.0', '-arguments: none', '+arguments: "--acp"', '+variable: ONE_MODE=acp'])
    expect(look.stdout).toContain(line);
  expect(await run('update')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect(folders()).toEqual([first]);
  const updated = await run('update', '--yes');
  expect(updated).toMatchObject({ code: 0, stdout: expect.stringContaining('one: 1.0.0 -> 1.1.0') });
  const second = folders().find((one) => one !== first);
  expect(config().one).toEqual({
    label: 'One Agent',
    command: process.execPath,
    args: [script(second), '--acp', '--own'],
    env: { ONE_MODE: 'acp', MINE: '1' },
  });
  expect((await json('test', 'one')).data.agents).toMatchObject([{ ok: true }]);

  expect(await run('rollback', 'one', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('one: 1.1.0 -> 1.0.0') });
  expect(config().one).toEqual({ label: 'One Agent', command: process.execPath, args: [script(first), '--own'], env: { MINE: '1' } });
  expect(folders()).toHaveLength(2);
  list(npx('2.0.0'));
  await run('update', 'one', '--yes');
  expect(folders()).toHaveLength(2);
  expect(folders()).not.toContain(second);

  const removed = await run('remove', 'one');
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('Deleted what was installed for it: 2.0.0, 1.0.0') });
  expect({ left: folders(), config: config() }).toEqual({ left: [], config: {} });
  expect(audit().map(({ method }) => method)).toEqual([
    ...['install', 'installed', 'install', 'installed', 'rollback', 'install', 'installed', 'remove'].map((one) => `agents/${one}`),
  ]);
  expect(audit()[1]).toMatchObject({
    agent: 'one',
    by: 'user',
    summary: expect.stringMatching(/installed one 1\.0\.0 \(@x\/one@1\.0\.0, by npm\), sha512-/),
  });
  expect((await home.quick(['audit', 'verify'], env)).code).toBe(0);
}, 60_000);

test('install scripts do not run, unless that is allowed', async () => {
  const home = createHome();
  const { server, run, json } = await startRegistry(home);
  const proof = path.join(home.home, 'script-ran');
  npmPackage(
    server.paths,
    server.url,
    '@x/one',
    ['1.0.0'],
    { scripts: { install: 'node script.cjs' } },
    `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')`,
  );
  const { warnings } = await json('add', 'one');
  expect(warnings.join('\n')).toContain('install scripts did not run: @x/one');
  expect(existsSync(proof)).toBe(false);
  expect((await run('add', 'one', '--force', '--allow-scripts')).code).toBe(0);
  expect(existsSync(proof)).toBe(true);
}, 30_000);

test('an update neither goes back by itself nor overwrites what the user changed', async () => {
  const home = createHome();
  const { run, list, config } = await startRegistry(home, [npx('1.1.0')]);
  await run('add', 'one');
  list(npx('1.0.0'));
  expect(await run('update', '--yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('older than the installed 1.1.0') });
  list(npx('2.0.0'));
  const written = JSON.parse(JSON.stringify(config()));
  written.one.command = '/my/wrapper';
  const { registry } = parse(readFileSync(home.userFile, 'utf8'));
  home.write(home.userFile, { registry, agent_servers: written });
  expect(await run('update', '--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('another command') });
  expect(config().one.command).toBe('/my/wrapper');
  expect(await run('update', 'nothing')).toMatchObject({ code: 4, stderr: expect.stringContaining('installed: one') });
  expect(await run('rollback', 'one', '--yes')).toMatchObject({ code: 4, stderr: expect.stringContaining('no version before') });
}, 30_000);

test('an update that only changes the arguments can be rolled back, though both versions share a folder', async () => {
  const home = createHome();
  const { run, list, config, folders } = await startRegistry(home);
  await run('add', 'one');
  list(npx('1.0.0', { args: ['--acp'] }));
  await run('update', '--yes');
  expect({ last: config().one.args.at(-1), folders: folders().length }).toEqual({ last: '--acp', folders: 1 });
  await run('rollback', 'one', '--yes');
  expect({ args: config().one.args.length, folders: folders().length }).toEqual({ args: 1, folders: 1 });
}, 30_000);

test('two agents share a folder of the same content, and removing one keeps it for the other', async () => {
  const home = createHome();
  const { run, json, folders } = await startRegistry(home);
  await run('add', 'one');
  await run('add', 'one', '--name', 'again');
  expect(folders()).toHaveLength(1);
  await run('remove', 'one');
  expect((await json('test', 'again')).data.agents).toMatchObject([{ ok: true }]);
  await run('remove', 'again');
  expect(folders()).toEqual([]);
}, 30_000);

test('doctor sees what is changed on disk, what is old, and what is left over', async () => {
  const home = createHome();
  const { run, list, folders, state, env, json } = await startRegistry(home);
  const examine = async () =>
    JSON.parse((await home.quick(['doctor', '--no-start', '--json'], env)).stdout).data.findings.filter(
      ({ check }: { check: string }) => check.startsWith('agent.installed') || check === 'agent.outdated',
    );
  await run('add', 'one');
  expect(await examine()).toMatchObject([
    { check: 'agent.installed', status: 'ok', what: 'agent "one": version 1.0.0 is as it was installed' },
  ]);
  list(npx('1.1.0'));
  await run('search');
  expect(await examine()).toMatchObject([
    { status: 'ok' },
    { check: 'agent.outdated', status: 'warning', next: 'switchboard agents update one' },
  ]);
  writeFileSync(path.join(state, 'agents/store', folders()[0] ?? '', 'node_modules/@x/one/agent.mjs'), 'evil');
  const [changed] = await examine();
  expect(changed).toMatchObject({
    status: 'problem',
    why: 'node_modules/@x/one/agent.mjs was changed',
    next: 'switchboard agents add one@1.0.0 --name one --install --force',
  });
  expect(await run('rollback', 'one', '--yes')).toMatchObject({ code: 4 });
  expect((await json('add', 'one@1.0.0', '--name', 'one', '--install', '--force')).ok).toBe(true);
  expect(await examine()).toMatchObject([{ status: 'ok' }, {}]);
  const { registry } = parse(readFileSync(home.userFile, 'utf8'));
  home.write(home.userFile, { registry, agent_servers: { other: { command: 'x' } } });
  expect(await examine()).toMatchObject([{ status: 'warning', next: 'switchboard agents remove one' }]);
  expect((await run('remove', 'one')).code).toBe(0);
  expect(folders()).toEqual([]);
}, 60_000);

test.runIf(HAS_TERMINAL)(
  'at a terminal, add asks first, and a download shows a bar',
  async () => {
    const home = createHome();
    const { list, binary, env, config, folders } = await startRegistry(home);
    list(binary('3.0.0'));
    const declined = home.startInTerminal(['agents', 'add', 'two'], env);
    await declined.printed('Install it?');
    declined.child.stdin.write('n');
    expect((await declined.ended).code).toBe(1);
    expect(folders()).toEqual([]);
    const accepted = home.startInTerminal(['agents', 'add', 'two'], env);
    await accepted.printed('Install it?');
    accepted.child.stdin.write('y');
    const { code, stdout } = await accepted.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\[#{24}\] 100 %/) });
    expect(config().two.label).toBe('Two');
  },
  30_000,
);
