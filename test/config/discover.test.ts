// Which configuration files are found, and in which order they apply.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { userConfigFile } from '../../src/config/discover.ts';
import { becomeOrdinaryUser } from '../ordinary-user.ts';
import { configError, createSandbox } from './sandbox.ts';

const naming = (name: string) => ({ agent_servers: { [name]: { command: name } } });

test('without any file the origin is none, there are no agents, and all settings have their defaults', async () => {
  const { config, ...rest } = await createSandbox().load();
  expect(rest).toMatchObject({ files: [], notices: [], origin: 'none' });
  expect(config).toMatchObject({ agents: [], defaultAgent: '', explicitDefault: false, routes: [], initializeWaitMs: 10_000 });
});

test('--config overrides $SWITCHBOARD_CONFIG, which overrides the user file', async () => {
  const sandbox = createSandbox();
  const flag = sandbox.write('project/flag.jsonc', naming('flag'));
  const env = sandbox.write('project/env.jsonc', naming('env'));
  sandbox.write(sandbox.userFile, naming('user'));
  const variables = { SWITCHBOARD_CONFIG: 'env.jsonc' };
  expect(await sandbox.load({ configFlag: 'flag.jsonc', env: variables })).toMatchObject({ origin: 'flag', files: [flag] });
  expect(await sandbox.load({ env: variables })).toMatchObject({ origin: 'env', files: [env] });
  expect(await sandbox.load({ env: { SWITCHBOARD_CONFIG: '' } })).toMatchObject({ origin: 'user', files: [sandbox.userFile] });
});

test('a file that is given explicitly is used alone, without the user file and project files', async () => {
  const sandbox = createSandbox();
  const flag = sandbox.write('flag.jsonc', naming('flag'));
  sandbox.write(sandbox.userFile, naming('user'));
  sandbox.write('project/switchboard.jsonc', { default_agent: 'user', agent_servers: {} });
  const { config, notices } = await sandbox.load({ configFlag: flag });
  expect(config.agents.map(({ name }) => name)).toEqual(['flag']);
  expect(notices).toEqual([]);
});

test.each([
  { by: '--config', options: { configFlag: 'gone.jsonc' } },
  { by: '$SWITCHBOARD_CONFIG', options: { env: { SWITCHBOARD_CONFIG: 'gone.jsonc' } } },
])('a missing file set by $by is an error that says so', async ({ by, options }) => {
  const sandbox = createSandbox();
  const { message } = await configError(sandbox.load(options));
  expect(message).toBe(`${path.join(sandbox.project, 'gone.jsonc')}:1:1: file not found (set by ${by})`);
});

test('a user file that exists and cannot be read is an error', async () => {
  const sandbox = createSandbox();
  mkdirSync(sandbox.userFile, { recursive: true });
  expect((await configError(sandbox.load())).message).toContain('cannot read the file (EISDIR)');
});

test.each([
  { platform: 'linux', env: { XDG_CONFIG_HOME: '/xdg' }, dir: '/xdg' },
  { platform: 'linux', env: { XDG_CONFIG_HOME: 'relative' }, dir: '/home/u/.config' },
  { platform: 'linux', env: {}, dir: '/home/u/.config' },
  { platform: 'darwin', env: { XDG_CONFIG_HOME: '/xdg' }, dir: '/home/u/Library/Application Support' },
  { platform: 'win32', env: { APPDATA: '/appdata' }, dir: '/appdata' },
  { platform: 'win32', env: {}, dir: '/home/u/AppData/Roaming' },
] as const)('on $platform with $env the user file is in $dir', ({ platform, env, dir }) => {
  expect(userConfigFile({ env, home: '/home/u', platform })).toBe(path.join(dir, 'acp-switchboard', 'config.jsonc'));
});

test('the nearest project file in a parent directory applies, and .jsonc comes before .json', async () => {
  const sandbox = createSandbox();
  sandbox.write(sandbox.userFile, { agent_servers: { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } } });
  sandbox.write('project/switchboard.json', { default_agent: 'b' });
  const cwd = path.join(sandbox.project, 'deep', 'er');
  mkdirSync(cwd, { recursive: true });
  expect((await sandbox.load({ cwd })).config.defaultAgent).toBe('b');
  const jsonc = sandbox.write('project/switchboard.jsonc', { default_agent: 'c' });
  const loaded = await sandbox.load({ cwd });
  expect(loaded.config.defaultAgent).toBe('c');
  expect(loaded.files).toEqual([sandbox.userFile, jsonc]);
  sandbox.write('project/deep/switchboard.json', { default_agent: 'a' });
  expect((await sandbox.load({ cwd })).config.defaultAgent).toBe('a');
});

test('the user file is not a project file, even if the search finds it', async () => {
  const sandbox = createSandbox();
  sandbox.write(sandbox.userFile, naming('user'));
  symlinkSync(sandbox.userFile, path.join(sandbox.project, 'switchboard.jsonc'));
  expect(await sandbox.load()).toMatchObject({ notices: [], origin: 'user', files: [sandbox.userFile] });
});

test.each([
  { what: 'a directory', make: (file: string) => mkdirSync(file) },
  { what: 'a link to an endless device', make: (file: string) => symlinkSync('/dev/zero', file) },
  { what: 'a pipe that nobody writes to', make: (file: string) => execFileSync('mkfifo', [file]) },
])('$what in place of a project file is skipped with a notice', async ({ make }) => {
  const sandbox = createSandbox();
  sandbox.write(sandbox.userFile, naming('user'));
  make(path.join(sandbox.project, 'switchboard.jsonc'));
  const { config, notices } = await sandbox.load();
  expect(config.defaultAgent).toBe('user');
  expect(notices).toEqual([expect.stringMatching(/^ignoring .*switchboard\.jsonc: cannot read it \(not a regular file\)$/)]);
});

test('a project file that is too large is skipped with a notice', async () => {
  const sandbox = createSandbox();
  sandbox.write('project/switchboard.jsonc', ' '.repeat(300_000));
  expect((await sandbox.load()).notices).toEqual([expect.stringContaining('larger than')]);
});

test.skipIf(process.platform === 'win32')('a project file without read permission is skipped with a notice', async () => {
  becomeOrdinaryUser(); // permanent, so this test is the last: modules that load later may be readable only by root
  const sandbox = createSandbox();
  chmodSync(sandbox.write('project/switchboard.jsonc', {}), 0);
  expect((await sandbox.load()).notices).toEqual([expect.stringContaining('EACCES')]);
});
