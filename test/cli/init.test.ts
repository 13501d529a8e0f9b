// `switchboard init`, run as the built command: with --yes, and interactively on a terminal.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { describe, expect, test } from 'vitest';
import { ACP_UI, ZED } from '../setup/samples.ts';
import { createHome, HAS_TERMINAL, type Home } from './command.ts';

const read = (file: string) => readFileSync(file, 'utf8');

/** A home with an installed agent of the catalogue, Zed with its own agents, and acp-ui. */
function furnished(home: Home): NodeJS.ProcessEnv {
  const bin = path.join(home.home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'codex-acp'), '#!/bin/sh\n');
  chmodSync(path.join(bin, 'codex-acp'), 0o755);
  home.write(path.join(home.home, '.config/zed/settings.json'), ZED);
  home.write(path.join(home.home, '.config/acp-ui/agents.json'), ACP_UI);
  return { PATH: `${bin}:/usr/bin:/bin` };
}

test("--yes accepts all that is found: installed agents, the editors' agents and a policy; it also connects the editors", async () => {
  const home = createHome();
  const env = furnished(home);
  const { code, stdout, stderr } = await home.run(['init', '--yes'], env);
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).not.toContain('canary');
  const config = read(home.userFile);
  expect(Object.keys(parse(config).agent_servers)).toEqual(['codex', 'Claude-Code', 'gemini']);
  expect(parse(config)).toMatchObject({
    policy: 'standard',
    agent_servers: { codex: { command: path.join(home.home, 'bin', 'codex-acp') } },
  });
  expect(config).toContain('// The agents by name');
  expect(await home.quick(['config', 'validate'], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('agents: codex (default), gemini'),
  });
  expect(read(path.join(home.home, '.config/zed/settings.json'))).toContain('"Switchboard"');
  expect(read(path.join(home.home, '.config/acp-ui/agents.json'))).toContain('"Switchboard"');
  expect(existsSync(path.join(home.home, '.jetbrains'))).toBe(false);
  expect(stdout).toContain('Next: switchboard doctor');
  expect(stdout).toMatch(/^left out: qwen from acp-ui \(.*\): command not found: qwen$/m);
  expect(stdout).toMatch(/^left out: unheard-of from Zed /m);

  const again = await home.quick(['init', '--yes', '--json'], env);
  expect(JSON.parse(again.stdout)).toMatchObject({
    ok: true,
    data: { changed: false, agents: [], imported: [], editors: [{ changed: false }, { changed: false }] },
  });
  expect(read(home.userFile)).toBe(config);
});

test('options exclude steps, and an existing configuration keeps its content', async () => {
  const home = createHome();
  const env = furnished(home);
  home.write(home.userFile, '{\n  // mine\n  "agent_servers": { "own": { "command": "own-agent" } },\n  "policy": "careful",\n}\n');
  await home.quick(['init', '--yes', '--no-import', '--no-connect'], env);
  const text = read(home.userFile);
  expect(parse(text)).toMatchObject({ agent_servers: { own: {}, codex: {} }, policy: 'careful' });
  expect(Object.keys(parse(text).agent_servers)).toEqual(['own', 'codex']);
  expect(text).toContain('// mine');
  expect(read(path.join(home.home, '.config/zed/settings.json'))).toBe(ZED);
});

test('--dry-run writes nothing at all', async () => {
  const home = createHome();
  const { stdout } = await home.quick(['init', '--yes', '--dry-run', '--policy', 'none'], furnished(home));
  expect(stdout.match(/Nothing was written/g)).toHaveLength(3);
  expect(stdout).not.toContain('"policy": "');
  expect(existsSync(home.userFile)).toBe(false);
  expect(read(path.join(home.home, '.config/zed/settings.json'))).toBe(ZED);
});

test('without any usable agent it fails, and names the agents of editors that it leaves out', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.config/zed/settings.json'), '{"agent_servers": {"Foo": {"command": "no-such-foo"}}}');
  const { code, stderr } = await home.quick(['init', '--yes'], { PATH: '/nowhere' });
  expect([code, stderr]).toEqual([4, expect.stringMatching(/no agents found.*\n {2}left out: Foo from .*\n {2}to add one/)]);
});

test('--dry-run shows the defaults without a terminal and without --yes', async () => {
  const home = createHome();
  const env = furnished(home);
  const { code, stdout } = await home.quick(['init', '--dry-run'], env);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing was written')]);
  expect(existsSync(home.userFile)).toBe(false);
  expect((await home.quick(['init'], env)).code).toBe(2);
});

test('--default-agent names the default; an unknown one is refused', async () => {
  const home = createHome();
  const env = furnished(home);
  const unknown = await home.quick(['init', '--yes', '--default-agent', 'codx'], env);
  expect(unknown).toMatchObject({ code: 6, stderr: expect.stringContaining('default_agent') });
  await home.quick(['init', '--yes', '--default-agent', 'gemini'], env);
  expect(parse(read(home.userFile)).default_agent).toBe('gemini');
});

test('an editor with a broken file is reported, and the other steps are done', async () => {
  const home = createHome();
  const env = furnished(home);
  home.write(path.join(home.home, '.config/zed/settings.json'), '{ "agent_servers": ');
  const { code, stderr } = await home.quick(['init', '--yes'], env);
  expect(code).toBe(0);
  expect(stderr).toContain('Zed was not connected');
  expect(parse(read(home.userFile)).agent_servers).toMatchObject({ codex: {} });
});

test.each([
  { words: [], code: 2, says: 'switchboard init --yes' },
  { words: ['--yes'], code: 4, says: 'switchboard agents add ID' },
  { words: ['--yes', '--policy', 'strict'], code: 2, says: 'presets: careful, standard, ci, readonly, none' },
])('init $words on a fresh machine without a terminal is exit code $code', async ({ words, code, says }) => {
  const home = createHome();
  const result = await home.quick(['init', ...words], { PATH: '/nowhere' });
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
  expect(result.stderr).toContain(says);
  expect(existsSync(home.userFile)).toBe(false);
});

/** Zed with agents of which some need a secret. */
const zedWith = (home: Home, agents: object): void =>
  void home.write(path.join(home.home, '.config/zed/settings.json'), { agent_servers: agents });
const keyed = (name: string) => ({ command: process.execPath, args: [name], env: { API_KEY: 'canary-key-0123' } });

test('an only agent whose secret is not set stays enabled: commands name the variable, and need nothing but it', async () => {
  const home = createHome();
  zedWith(home, { keyed: keyed('one') });
  const made = await home.run(['init', '--yes', '--no-connect']);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/Set API_KEY in your environment$/m) });
  expect(read(home.userFile)).not.toMatch(/"enabled"|canary/);
  expect(await home.run(['run', 'hi'])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('environment variable "API_KEY" is not set'),
  });
  expect(await home.run(['config', 'validate'], { API_KEY: 'set-now' })).toMatchObject({ code: 0 });
});

const [ENTER, SPACE, DOWN, CTRL_C] = ['\r', ' ', '\u001b[B', '\u0003'];

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  test('it asks, and applies the choices', async () => {
    const home = createHome();
    const { child, printed, ended } = home.startInTerminal(['init'], furnished(home));
    await printed('Which agents?');
    child.stdin.write(ENTER); // the installed agent is preselected
    await printed('Import these agents');
    child.stdin.write(SPACE); // deselects the first
    child.stdin.write(ENTER);
    await printed('Which agent is the default?');
    child.stdin.write(DOWN);
    child.stdin.write(ENTER); // gemini, the second
    await printed('What may agents do without asking?');
    child.stdin.write(DOWN);
    child.stdin.write(ENTER); // the policy preset "careful"
    await printed('Connect these editors?');
    child.stdin.write(DOWN);
    child.stdin.write(SPACE); // deselects acp-ui
    child.stdin.write(ENTER);
    await printed('Write these changes?');
    expect(existsSync(home.userFile)).toBe(false);
    child.stdin.write(ENTER);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toContain('Next: switchboard doctor');
    const config = parse(read(home.userFile));
    expect(Object.keys(config.agent_servers)).toEqual(['codex', 'gemini']);
    expect(config.default_agent).toBe('gemini');
    expect(stdout).toMatch(/command not found: qwen/);
    expect(stdout).toMatch(/left out: Claude-Code from Zed .*: you did not select it/);
    expect(config.policy).toBe('careful');
    expect(read(path.join(home.home, '.config/zed/settings.json'))).toContain('"Switchboard"');
    expect(read(path.join(home.home, '.config/acp-ui/agents.json'))).toBe(ACP_UI);
  });

  test('agents that it disables are no defaults', async () => {
    const home = createHome();
    zedWith(home, { keyed: keyed('one'), plain: { command: process.execPath, args: ['two'] }, other: { command: process.execPath } });
    const { child, printed, ended } = home.startInTerminal(['init', '--policy', 'careful', '--no-connect'], { PATH: '/usr/bin:/bin' });
    await printed('Which agents?');
    child.stdin.write(ENTER);
    await printed('Import these agents');
    child.stdin.write(ENTER);
    await printed('Which agent is the default?');
    child.stdin.write(ENTER);
    await printed('Write this change?');
    child.stdin.write(ENTER);
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Next: switchboard doctor') });
    expect(parse(read(home.userFile))).toMatchObject({ default_agent: 'plain', agent_servers: { keyed: { enabled: false } } });
  });

  test('it shows the change before it writes: "no" writes nothing', async () => {
    const home = createHome();
    const { child, printed, ended } = home.startInTerminal(['init', '--policy', 'careful', '--no-import', '--no-connect'], furnished(home));
    await printed('Which agents?');
    child.stdin.write(ENTER);
    await printed('Write this change?');
    child.stdin.write('n');
    const { code, stdout } = await ended;
    expect(code).toBe(1);
    expect(stdout.indexOf('"codex": {')).toBeLessThan(stdout.indexOf('Write this change?'));
    expect(stdout).toContain('nothing was written');
    expect(existsSync(home.userFile)).toBe(false);
  });

  test('Ctrl-C at any prompt writes nothing: exit code 130', async () => {
    const home = createHome();
    const { child, printed, ended } = home.startInTerminal(['init'], furnished(home));
    await printed('Which agents?');
    child.stdin.write(ENTER);
    await printed('Import these agents');
    child.stdin.write(CTRL_C);
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(stdout).toContain('Nothing was written.');
    expect(existsSync(home.userFile)).toBe(false);
    expect(read(path.join(home.home, '.config/zed/settings.json'))).toBe(ZED);
  });
});
