// `switchboard connect` and `disconnect`, run as the built command on realistic editor settings.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ParseError, parse } from 'jsonc-parser/lib/esm/main.js';
import { describe, expect, test } from 'vitest';
import { ACP_UI, ACPX, JETBRAINS, VSCODE, ZED } from '../setup/samples.ts';
import { createHome, HAS_TERMINAL, type Home } from './command.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const read = (file: string) => readFileSync(file, 'utf8');

const EDITORS = [
  {
    id: 'zed',
    file: '.config/zed/settings.json',
    sample: ZED,
    path: ['agent_servers', 'Switchboard'],
    entry: { type: 'custom', command: process.execPath, args: [BIN, 'acp'] },
  },
  {
    id: 'jetbrains',
    file: '.jetbrains/acp.json',
    sample: JETBRAINS,
    path: ['agent_servers', 'Switchboard'],
    entry: { command: process.execPath, args: [BIN, 'acp'] },
  },
  {
    id: 'vscode',
    file: '.config/Code/User/settings.json',
    sample: VSCODE,
    path: ['acp.agents', 'Switchboard'],
    entry: { command: process.execPath, args: [BIN, 'acp'] },
  },
  {
    id: 'acp-ui',
    file: '.config/acp-ui/agents.json',
    sample: ACP_UI,
    path: ['agents', 'Switchboard'],
    entry: { command: process.execPath, args: [BIN, 'acp'] },
  },
  {
    id: 'acpx',
    file: '.acpx/config.json',
    sample: ACPX,
    path: ['agents', 'switchboard'],
    entry: { command: `${process.execPath} ${BIN} acp` },
  },
];

const valueAt = (text: string, keys: readonly string[]) => {
  const errors: ParseError[] = [];
  const value = keys.reduce((at, key) => at?.[key], parse(text, errors, { allowTrailingComma: true }));
  expect(errors).toEqual([]);
  return value;
};
const put = (home: Home, file: string, text: string) => home.write(path.join(home.home, file), text);

test.each(EDITORS)(
  '$id: connect adds only our entry, a second connect changes nothing, and disconnect restores the file',
  async ({ id, file, sample, path: keys, entry }) => {
    const home = createHome();
    const target = put(home, file, sample);
    const first = await home.run(['connect', id]);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(first.stdout).toContain('switchboard.js');
    expect(first.stdout).toContain(`${target}.bak`);
    expect(first.stdout).not.toContain('canary');
    const text = read(target);
    expect(valueAt(text, keys)).toEqual(entry);
    // All lines are still there in their order. A comma may be added, and a one-line file has our entry in that line.
    if (sample.trim().includes('\n')) {
      const without = (line: string) => line.replace(/,(?=\s*(?:\/[/*].*)?$)/, '');
      const lines = text.split('\n').map(without);
      let from = 0;
      for (const line of sample.split('\n')) from = lines.indexOf(without(line), from) + 1 || Number.NaN;
      expect(from).toBeGreaterThan(0);
    }
    expect(read(`${target}.bak`)).toBe(sample);

    const second = await home.quick(['connect', id]);
    expect(second.stdout).toContain('no changes');
    expect(read(target)).toBe(text);

    const gone = await home.quick(['disconnect', id]);
    expect(gone.code).toBe(0);
    expect(read(target)).toBe(sample);
    expect(await home.quick(['disconnect', id])).toMatchObject({ code: 0, stdout: expect.stringContaining('is not connected') });
  },
);

test.each([
  ['a file without a list of agents', '{\n  "ui_font_size": 16\n}\n'],
  ['one with a comment at its end', '{\n  "ui_font_size": 16, // large\n}\n'],
  ['one in a line', '{ "ui_font_size": 16 }'],
  ['one with nothing in it', '{}\n'],
  ['one with an empty list', '{\n  "agent_servers": {}\n}\n'],
])('%s is unchanged after connect and disconnect', async (_, text) => {
  const home = createHome();
  const target = put(home, '.config/zed/settings.json', text);
  await home.quick(['connect', 'zed']);
  expect(valueAt(read(target), ['agent_servers', 'Switchboard', 'type'])).toBe('custom');
  await home.quick(['disconnect', 'zed']);
  expect(read(target)).toBe(text);
});

test('an empty agent list stays if disconnect cannot tell who created it', async () => {
  const home = createHome();
  const target = put(home, '.config/acp-ui/agents.json', '{}');
  const left = async () => {
    await home.quick(['disconnect', 'acp-ui']);
    return JSON.parse(read(target));
  };
  await home.quick(['connect', 'acp-ui']);
  await home.quick(['connect', 'acp-ui', '--agent', 'claude']); // now the backup contains our entry
  expect(await left()).toEqual({ agents: {} });
  rmSync(target);
  rmSync(`${target}.bak`);
  await home.quick(['connect', 'acp-ui']);
  expect(await left()).toEqual({ agents: {} });
});

test("an agent list that contains a user's comment does not count as empty", async () => {
  const home = createHome();
  const target = put(home, '.config/zed/settings.json', '{}\n');
  await home.quick(['connect', 'zed']);
  writeFileSync(target, read(target).replace('"agent_servers": {', '"agent_servers": {\n    // more to come'));
  await home.quick(['disconnect', 'zed']);
  expect(read(target)).toContain('// more to come');
});

test.each(EDITORS)('$id: a missing settings file is created, readable only by the user', async ({ id, file, path: keys, entry }) => {
  const home = createHome();
  const { code, stdout } = await home.quick(['connect', id, '--json']);
  expect(code).toBe(0);
  const target = path.join(home.home, file);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { editor: id, file: target, changed: true, dryRun: false }, warnings: [] });
  expect(valueAt(read(target), keys)).toEqual(entry);
  expect(statSync(target).mode & 0o777).toBe(0o600);
});

test.each(EDITORS)('$id: --dry-run writes nothing', async ({ id, file, sample }) => {
  const home = createHome();
  const target = put(home, file, sample);
  const { stdout } = await home.quick(['connect', id, '--dry-run']);
  expect(stdout).toContain('Nothing was written');
  expect(stdout).toMatch(/^\+.*switchboard\.js/m);
  expect(read(target)).toBe(sample);
  expect(existsSync(`${target}.bak`)).toBe(false);
});

test.each([
  { id: 'zed', file: '.config/zed/settings.json', text: '{ "agent_servers": { "a": }', place: ':1:' },
  {
    id: 'jetbrains',
    file: '.jetbrains/acp.json',
    text: '{\n  // mine\n  "agent_servers": {}\n}',
    place: ':2:3: syntax error: comments are not allowed',
  },
  { id: 'acpx', file: '.acpx/config.json', text: '{\n  "agents": {},\n}', place: ':3:1:' },
  { id: 'vscode', file: '.config/Code/User/settings.json', text: '{ "a": 1, "a": 2 }', place: 'duplicate key "a"' },
  { id: 'zed', file: '.config/zed/settings.json', text: '{ "agent_servers": [] }', place: '"agent_servers" is not an object' },
])('$id: a file that cannot be edited safely is refused with its location and left unchanged', async ({ id, file, text, place }) => {
  const home = createHome();
  const target = put(home, file, text);
  const { code, stdout, stderr } = await home.quick(['connect', id]);
  expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
  expect(stderr).toContain(target);
  expect(stderr).toContain(place);
  expect(read(target)).toBe(text);
});

test("our entry from another installation is updated, and the user's additions to it stay", async () => {
  const home = createHome();
  const target = put(
    home,
    '.config/zed/settings.json',
    `{\n  "agent_servers": {\n    "SB": { "command": "/old/node", "args": ["/old/bin/switchboard.js", "acp"], "env": { "A": "b" }, "default_mode": "x" } // mine\n  }\n}\n`,
  );
  const { code, stderr } = await home.quick(['connect', 'zed', '--agent', 'claude', '--config', 'mine.jsonc']);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining(`${path.join(home.project, 'mine.jsonc')} does not exist; without it the editor cannot start`),
  });
  expect(valueAt(read(target), ['agent_servers'])).toEqual({
    SB: {
      command: process.execPath,
      args: [BIN, 'acp', '--config', path.join(home.project, 'mine.jsonc'), '--agent', 'claude'],
      env: { A: 'b' },
      default_mode: 'x',
      type: 'custom',
    },
  });
  expect(read(target)).toContain('// mine');
});

test("another program's entry with our name is not touched", async () => {
  const home = createHome();
  const text = '{ "agent_servers": { "Switchboard": { "command": "theirs" } } }';
  const target = put(home, '.jetbrains/acp.json', text);
  expect(await home.quick(['connect', 'jetbrains'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--name NAME') });
  expect(await home.quick(['disconnect', 'jetbrains'])).toMatchObject({ code: 0 });
  expect(read(target)).toBe(text);
});

test('a byte order mark and CRLF are kept', async () => {
  const home = createHome();
  const target = put(home, 'Code/settings.json', '\uFEFF{\r\n  "a": 1\r\n}\r\n');
  await home.quick(['connect', 'vscode', '--file', target]);
  const text = read(target);
  expect(text.startsWith('\uFEFF{\r\n  "a": 1,\r\n')).toBe(true);
  expect(text.replaceAll('\r\n', '')).not.toContain('\n');
});

test.each([
  { words: [], says: 'name an editor' },
  { words: ['zde'], says: 'did you mean "zed"?' },
  { words: ['--print', 'perl'], says: 'snippets: lua, elisp, toml' },
])('connect $words is exit code 2', async ({ words, says }) => {
  const { code, stderr } = await createHome().quick(['connect', ...words]);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});

test.each(['lua', 'elisp', 'toml'])('--print %s shows a snippet for editors that are configured in code', async (kind) => {
  const { code, stdout } = await createHome().quick(['connect', '--print', kind]);
  expect(code).toBe(0);
  expect(stdout).toContain(BIN);
});

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  test.each([
    { answer: 'y', isWritten: true },
    { answer: 'n', isWritten: false },
  ])('connect and disconnect show the change and ask: "$answer"', async ({ answer, isWritten }) => {
    const home = createHome();
    const target = put(home, '.config/zed/settings.json', ZED);
    const { child, printed, ended } = home.startInTerminal(['connect', 'zed']);
    await printed('Write this change?');
    expect(read(target)).toBe(ZED);
    child.stdin.write(answer);
    expect((await ended).code).toBe(isWritten ? 0 : 1);
    expect(read(target).includes('"Switchboard"')).toBe(isWritten);
    if (!isWritten) await home.quick(['connect', 'zed', '--yes']);
    const connected = read(target);
    const gone = home.startInTerminal(['disconnect', 'zed']);
    await gone.printed('Write this change?');
    expect(read(target)).toBe(connected);
    gone.child.stdin.write(answer);
    await gone.ended;
    expect(read(target).includes('"Switchboard"')).toBe(!isWritten);
  });

  test('--yes and --dry-run do not ask', async () => {
    const home = createHome();
    const target = put(home, '.config/zed/settings.json', ZED);
    expect(await home.startInTerminal(['connect', 'zed', '--dry-run']).ended).toMatchObject({ code: 0 });
    expect(read(target)).toBe(ZED);
    expect(await home.startInTerminal(['connect', 'zed', '--yes']).ended).toMatchObject({ code: 0 });
    expect(read(target)).toContain('"Switchboard"');
  });
});

test('a diff shows tabs as tabs', async () => {
  const home = createHome();
  put(home, '.config/Code/User/settings.json', VSCODE);
  const { stdout } = await home.quick(['connect', 'vscode', '--dry-run']);
  expect(stdout).toContain(' \t"acp.agents": {');
  expect(stdout).not.toContain('\\u{9}');
});

test('connect acpx ends with a command to copy', async () => {
  const home = createHome();
  expect((await home.quick(['connect', 'acpx'])).stdout).toMatch(/\nNext: run: acpx switchboard exec "hello"\n$/);
});

describe('connect --daemon', () => {
  test('writes the command that bridges the editor to the daemon', async () => {
    const home = createHome();
    const token = home.write('daemon.token', 'swb_x');
    const { code } = await home.run(['connect', 'zed', '--yes', '--daemon', 'https://build:8137', '--token-file', token]);
    expect(code).toBe(0);
    const entry = valueAt(read(path.join(home.home, '.config/zed/settings.json')), ['agent_servers', 'Switchboard']);
    expect(entry.args).toEqual([BIN, 'acp', '--connect', 'wss://build:8137/acp', '--token-file', token]);
  });

  test('with auto uses the daemon of the user, which needs no token', async () => {
    const home = createHome();
    const config = home.write('mine.json', '{}');
    const { code, stderr } = await home.quick(['connect', 'zed', '--yes', '--daemon', 'auto', '--config', config]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const entry = valueAt(read(path.join(home.home, '.config/zed/settings.json')), ['agent_servers', 'Switchboard']);
    expect(entry.args).toEqual([BIN, 'acp', '--config', config, '--connect', 'auto']);
  });

  test('says how the editor gets the token', async () => {
    const { code, stderr } = await createHome().run(['connect', 'zed', '--yes', '--daemon', '127.0.0.1:8137']);
    expect(code).toBe(0);
    expect(stderr).toContain('the editor needs the token in SWITCHBOARD_TOKEN; to read it from a file, add --token-file FILE');
  });

  test.each([
    [['--daemon', 'ws://u:p@h/acp'], 'the address must not contain credentials'],
    [['--daemon', 'ws://h/acp', '--agent', 'a'], '--daemon excludes --config and --agent'],
    [['--daemon', 'auto', '--token-file', 'x'], '--daemon auto excludes --token-file and --agent'],
    [['--token-file', 'x'], '--token-file needs --daemon'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await createHome().run(['connect', 'zed', '--yes', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
