// `switchboard agents add` and `agents remove`, run as the built command.
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { expect, test } from 'vitest';
import { createHome, type Home } from './command.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const CATALOGUE = JSON.parse(read(path.resolve(import.meta.dirname, '../../config/agent-catalog.json'))).agents as {
  id: string;
  version: string;
  distribution: { npx: { package: string } };
}[];
const pinned = (id: string) => CATALOGUE.find((agent) => agent.id === id)?.distribution.npx.package ?? '';
const USING_NPX = `using npx, which fetches ${pinned('gemini')} on first use`;

const WRITTEN = `// my agents
{
  "agent_servers": {
    "claude": { "command": "claude-agent-acp" }, // the one I like
    /* rarely used */
    "old": { "command": "old-agent", "env": { "OLD_API_KEY": "canary-7c1f" } }, // soon to go
  },
  "default_agent": "claude", // as said
}
`;

/** Puts a program on PATH that belongs to an npm package, as `npm install --global` would. */
function installed(home: Home, name: string, pack: string, version: string): string {
  const folder = path.join(home.home, 'lib', 'node_modules', pack);
  const bin = path.join(home.home, 'bin');
  for (const directory of [folder, bin]) mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: pack, version, bin: { [name]: 'cli.js' } }));
  writeFileSync(path.join(folder, 'cli.js'), '#!/usr/bin/env node\n');
  chmodSync(path.join(folder, 'cli.js'), 0o755);
  symlinkSync(path.join(folder, 'cli.js'), path.join(bin, name));
  return bin;
}

test('without a configuration file, add creates one: commented, private, valid, with the agent pinned to a version', async () => {
  const home = createHome();
  const { code, stdout, stderr } = await home.run(['agents', 'add', 'gemini', '--no-install', '--offline'], { PATH: '/usr/bin:/bin' });
  expect(code).toBe(0);
  expect(stdout).toContain(`+      "args": ["-y", "${pinned('gemini')}", "--acp"]`);
  expect(stderr).toContain(USING_NPX);
  expect(stderr).toContain('the list that came with switchboard');
  expect(statSync(home.userFile).mode & 0o777).toBe(0o600);
  expect(read(home.userFile)).toContain('// The agents by name');
  expect(await home.quick(['config', 'validate'])).toMatchObject({ code: 0, stdout: expect.stringContaining('agents: gemini (default)') });
});

test('an installed program is started directly, by the absolute paths of node and its script', async () => {
  const home = createHome();
  const bin = installed(home, 'gemini', '@google/gemini-cli', '0.50.0');
  const { stderr } = await home.quick(['agents', 'add', 'gemini', '--name', 'g'], { PATH: `${bin}:/usr/bin` });
  expect(parse(read(home.userFile)).agent_servers).toEqual({
    g: { label: 'Gemini CLI', command: process.execPath, args: [path.join(bin, 'gemini'), '--acp'] },
  });
  expect(stderr).toContain('the installed version is 0.50.0');
});

test("the same program in an editor's settings is the same agent", async () => {
  const home = createHome();
  const env = { PATH: `${installed(home, 'gemini', '@google/gemini-cli', '0.61.0')}:/usr/bin` };
  await home.quick(['agents', 'add', 'gemini'], env);
  const Gemini = { command: 'gemini', args: ['--acp'], env: { GEMINI_MODEL: 'pro' } };
  home.write(path.join(home.home, '.config/zed/settings.json'), { agent_servers: { Gemini } });
  const { stdout } = await home.quick(['import'], env);
  expect(stdout).toMatch(/^skipped: Gemini from Zed .*: already configured as "gemini"; not imported: its variables GEMINI_MODEL$/m);
  expect(Object.keys(parse(read(home.userFile)).agent_servers)).toEqual(['gemini']);
});

test("a program with the agent's name from another package is not used", async () => {
  const home = createHome();
  const bin = installed(home, 'gemini', 'gemini-protocol-browser', '1.0.0');
  const { stderr } = await home.quick(['agents', 'add', 'gemini', '--no-install', '--offline'], { PATH: `${bin}:/usr/bin` });
  expect(stderr).toContain(USING_NPX);
});

test('an install sees neither the variables that the configuration uses nor our tokens', async () => {
  const home = createHome();
  const bin = path.join(home.home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\nenv > '${home.home}/npm-env'\nexit 1\n`, { mode: 0o755 });
  mkdirSync(path.dirname(home.userFile), { recursive: true });
  writeFileSync(home.userFile, JSON.stringify({ agent_servers: { mine: { command: 'mine', env: { KEY: `\${env:MINE_SECRET}` } } } }));
  const secrets = { MINE_SECRET: 'canary-one', SWITCHBOARD_TOKEN: 'canary-two' };
  await home.quick(['agents', 'add', 'gemini', '--install', '--offline'], { PATH: `${bin}:/usr/bin:/bin`, OTHER: 'kept', ...secrets });
  expect(read(path.join(home.home, 'npm-env'))).toContain('OTHER=kept');
  expect(read(path.join(home.home, 'npm-env'))).not.toContain('canary');
});

test('a failed install is reported and leaves the configuration unchanged', async () => {
  const home = createHome();
  const { code, stderr } = await home.quick(['agents', 'add', 'gemini', '--install', '--offline'], { PATH: '/nowhere' });
  expect(code).toBe(1);
  expect(stderr).toContain('failed: npm was not found');
  expect(existsSync(home.userFile)).toBe(false);
});

test('any agent can be added by its command; comments and commas stay, a backup is kept, and the secrets of other agents are not shown', async () => {
  const home = createHome();
  home.write(home.userFile, WRITTEN);
  const { code, stdout } = await home.quick([
    'agents',
    'add',
    'mine',
    '--command',
    'our-agent',
    '--env',
    'KEY',
    '--env',
    'MODE=plan',
    '--',
    '--acp',
  ]);
  expect(code).toBe(0);
  const entry = `    "mine": {
      "command": "our-agent",
      "args": ["--acp"],
      "env": {
        "KEY": "\${env:KEY}",
        "MODE": "plan"
      }
    },
`;
  expect(read(home.userFile)).toBe(WRITTEN.replace('// soon to go\n', `// soon to go\n${entry}`));
  expect(read(`${home.userFile}.bak`)).toBe(WRITTEN);
  expect(stdout).toContain('"OLD_API_KEY": "…"');
  expect(stdout).not.toContain('canary');
  expect(stdout).toContain(`${home.userFile}.bak`);
});

test('without an id, add lists the available agents', async () => {
  const home = createHome();
  const bin = installed(home, 'gemini', '@google/gemini-cli', '0.50.0');
  const { code, stdout } = await home.quick(['agents', 'add'], { PATH: bin });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^gemini +Gemini CLI +[\d.]+ +installed$/m);
  const { data } = JSON.parse((await home.quick(['agents', 'add', '--json'], { PATH: bin })).stdout);
  expect(data.agents.map(({ id }: { id: string }) => id)).toEqual(CATALOGUE.map(({ id }) => id));
});

test('adding the same agent again changes nothing', async () => {
  const home = createHome();
  const words = ['agents', 'add', 'mine', '--command', 'our-agent', '--', '--acp'];
  await home.quick(words);
  const before = read(home.userFile);
  expect(await home.quick(words)).toMatchObject({ code: 0, stdout: `${home.userFile}: no changes\n` });
  expect(read(home.userFile)).toBe(before);
  expect(existsSync(`${home.userFile}.bak`)).toBe(false);
});

test('an existing agent with another command is replaced only with --force', async () => {
  const home = createHome();
  home.write(home.userFile, WRITTEN);
  const words = ['agents', 'add', 'claude', '--command', 'other'];
  expect(await home.quick(words)).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
  expect(read(home.userFile)).toBe(WRITTEN);
  expect((await home.quick([...words, '--force'])).code).toBe(0);
  expect(read(home.userFile)).toContain(
    '"claude": { "command": "other", "args": [] }, // the one I like'
      .replace('{ ', '{\n      ')
      .replace(', "args"', ',\n      "args"')
      .replace(' }', '\n    }'),
  );
});

test('--dry-run shows the change and writes nothing', async () => {
  const home = createHome();
  home.write(home.userFile, WRITTEN);
  const { stdout } = await home.quick(['agents', 'remove', 'old', '--dry-run']);
  expect(stdout).toContain('-    "old": { "command": "old-agent", "env": { "OLD_API_KEY": "…" } }, // soon to go');
  expect(stdout).toContain('Nothing was written (--dry-run).');
  expect(read(home.userFile)).toBe(WRITTEN);
});

test('remove deletes the entry with its line, and nothing else', async () => {
  const home = createHome();
  home.write(home.userFile, WRITTEN);
  const { code, stdout } = await home.quick(['agents', 'remove', 'old', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { name: 'old', changed: true, dryRun: false, file: home.userFile } });
  expect(read(home.userFile)).toBe(WRITTEN.replace(/ *"old".*\n/, ''));
});

test('a symlink is followed: its target is edited, and the link stays', async () => {
  const home = createHome();
  const kept = home.write(path.join(home.home, 'dotfiles', 'switchboard.jsonc'), WRITTEN);
  mkdirSync(path.dirname(home.userFile), { recursive: true });
  symlinkSync(kept, home.userFile);
  await home.quick(['agents', 'add', 'mine', '--command', 'our-agent']);
  expect(lstatSync(home.userFile).isSymbolicLink()).toBe(true);
  expect(read(kept)).toContain('our-agent');
});

test('--config and $SWITCHBOARD_CONFIG select the file to edit', async () => {
  const home = createHome();
  home.write('given.jsonc', WRITTEN);
  await home.quick(['agents', 'add', 'mine', '--command', 'our-agent', '--config', 'given.jsonc']);
  await home.quick(['agents', 'remove', 'old'], { SWITCHBOARD_CONFIG: 'given.jsonc' });
  const text = read(path.join(home.project, 'given.jsonc'));
  expect(text).toContain('our-agent');
  expect(text).not.toContain('old-agent');
  expect(existsSync(home.userFile)).toBe(false);
});

test.each([
  { words: ['add', 'gemni', '--offline'], code: 4, says: 'did you mean "gemini"?' },
  { words: ['add', 'no such', '--command', 'x'], code: 2, says: 'invalid agent name "no such"' },
  { words: ['add', 'me', '--command', 'switchboard', '--', 'acp'], code: 2, says: 'switchboard cannot be its own agent' },
  { words: ['add', 'x', '--command', 'x', '--env', 'API_KEY=canary-7c1f'], code: 2, says: 'use --env API_KEY' },
  { words: ['add', 'x', '--command', 'x', '--env', 'A B'], code: 2, says: 'invalid variable name' },
  {
    words: ['add', 'x', '--command', 'x', '--', '--api-key', 'canary-7c1f'],
    code: 2,
    says: `use a reference in single quotes instead: --api-key '\${env:NAME}'`,
  },
  { words: ['add', 'x', '--command', 'x', '--install'], code: 2, says: 'are for agents of the registry' },
  { words: ['remove', 'claud'], code: 4, says: 'did you mean "claude"?' },
  { words: ['remove', 'claude'], code: 6, says: 'default_agent: expected the name of an agent' },
  { words: ['remove'], code: 2, says: 'missing required argument "name"' },
  { words: ['add', '--command', 'x'], code: 2, says: 'switchboard agents add NAME --command' },
])('agents $words is refused', async ({ words, code, says }) => {
  const home = createHome();
  home.write(home.userFile, WRITTEN);
  const plain = await home.quick(['agents', ...words.slice(0, 1), ...words.slice(1)]);
  expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code, stdout: '' });
  expect(plain.stderr).toContain(says);
  expect(plain.stderr).not.toMatch(/canary| {4}at /);
  const json = await home.quick(['agents', words[0] ?? '', '--json', ...words.slice(1)]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    error: { code: expect.stringMatching(/^[A-Z_]+$/), hint: expect.any(String) },
  });
  expect(read(home.userFile)).toBe(WRITTEN);
});

test('a file with a syntax error is refused with its location and left unchanged', async () => {
  const home = createHome();
  home.write(home.userFile, '{ "agent_servers": { ');
  const { code, stderr } = await home.quick(['agents', 'add', 'gemini', '--offline']);
  expect(code).toBe(6);
  expect(stderr).toContain(`${home.userFile}:1:`);
  expect(read(home.userFile)).toBe('{ "agent_servers": { ');
});

test('a file that cannot be written is reported in one sentence', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.config', 'acp-switchboard'), 'a file where a folder should be');
  const { code, stderr } = await home.quick(['agents', 'add', 'x', '--command', 'x']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^switchboard: cannot (?:read|write) .* \(E\w+\)\n$/);
});
