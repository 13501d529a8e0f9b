// `switchboard import`, run as the built command on realistic editor settings.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { expect, test } from 'vitest';
import { ACP_UI, ACPX, JETBRAINS, VSCODE, ZED } from '../setup/samples.ts';
import { createHome, type Home } from './command.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const FILES = {
  '.config/zed/settings.json': ZED,
  '.jetbrains/acp.json': JETBRAINS,
  '.config/Code/User/settings.json': VSCODE,
  '.config/acp-ui/agents.json': ACP_UI,
  '.acpx/config.json': ACPX,
};
const ENV = { PATH: '/usr/bin:/bin' };

function withEditors(home: Home): void {
  for (const [file, text] of Object.entries(FILES)) home.write(path.join(home.home, file), text);
}

test('import says so if there is nothing to import', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.config/zed/settings.json'), { theme: 'dark' });
  const { code, stdout } = await home.quick(['import', '--from', 'zed']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Nothing to import: no agents in Zed.\n' });
});

test('the agents of all editors are imported with their origin and without secrets', async () => {
  const home = createHome();
  withEditors(home);
  const { code, stdout, stderr } = await home.run(['import'], ENV);
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).not.toContain('canary');
  const text = read(home.userFile);
  expect(text).not.toContain('canary');
  expect(text).toContain(
    `// imported from Zed (${path.join(home.home, '.config/zed/settings.json')}); set API_KEY and ANTHROPIC_API_KEY in your environment, then remove "enabled"`,
  );
  expect(parse(text).agent_servers).toEqual({
    'Claude-Code': {
      label: 'Claude Code',
      command: 'npx',
      args: ['-y', '@zed-industries/claude-code-acp', '--api-key', `\${env:API_KEY}`],
      env: { ANTHROPIC_API_KEY: `\${env:ANTHROPIC_API_KEY}`, CLAUDE_CODE_EXECUTABLE: '/opt/claude' },
      enabled: false,
    },
    gemini: {
      label: 'Gemini CLI',
      command: 'npx',
      args: ['-y', expect.stringMatching(/^@google\/gemini-cli@\d/), '--acp'],
      env: { GEMINI_MODEL: 'pro' },
    },
    OpenCode: { command: '/usr/local/bin/opencode', args: ['acp'], env: { OPENCODE_TOKEN: `\${env:OPENCODE_TOKEN}` }, enabled: false },
    'Gemini-CLI': { label: 'Gemini CLI', command: 'npx', args: ['@google/gemini-cli@latest', '--experimental-acp'] },
    qwen: { command: 'qwen', args: ['--acp'] },
    codex: { command: 'npx', args: ['-y', '@zed-industries/codex-acp', '--name', 'my codex'] },
  });
  expect(stdout).toContain('skipped: unheard-of from Zed');
  expect(stdout).toMatch(/skipped: far from acp-ui .*remote agent/);
  expect(stderr).toContain('Claude-Code: secrets are not copied. Set API_KEY and ANTHROPIC_API_KEY');
  expect(stderr).toContain('@zed-industries/claude-code-acp is now @agentclientprotocol/claude-agent-acp');
  expect(stderr).toContain('Claude-Code: not imported: default_mode');
  expect(stderr).toContain('--experimental-acp of Gemini CLI is now --acp');
  expect(await home.quick(['config', 'validate'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('agents: gemini (default), Gemini-CLI, qwen, codex'),
  });
  for (const [file, sample] of Object.entries(FILES)) expect(read(path.join(home.home, file))).toBe(sample);
});

test('importing again changes nothing, and agents whose variables are set now are enabled', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.jetbrains/acp.json'), JETBRAINS);
  const env = { ...ENV, OPENCODE_TOKEN: 'x' };
  const first = await home.quick(['import', '--from', 'jetbrains', '--json'], env);
  expect(JSON.parse(first.stdout).data.imported).toEqual([
    { name: 'OpenCode', source: expect.stringContaining('JetBrains'), enabled: true, missing: [] },
  ]);
  const text = read(home.userFile);
  const second = await home.quick(['import', '--json'], env);
  expect(JSON.parse(second.stdout).data).toMatchObject({
    imported: [],
    changed: false,
    skipped: [{ why: 'already configured as "OpenCode"' }],
  });
  expect(read(home.userFile)).toBe(text);
});

test('switchboard itself is left out, a name that is taken gets a suffix, and comments in the configuration stay', async () => {
  const home = createHome();
  home.write(home.userFile, '{\n  "agent_servers": {\n    "qwen": { "command": "another" } // mine\n  }\n}\n');
  home.write(path.join(home.home, '.config/acp-ui/agents.json'), ACP_UI);
  await home.quick(['connect', 'acp-ui'], ENV);
  const { stdout } = await home.quick(['import', '--from', 'acp-ui'], ENV);
  expect(stdout).toMatch(/skipped: Switchboard from acp-ui .*it is switchboard itself/);
  expect(parse(read(home.userFile)).agent_servers).toMatchObject({ qwen: { command: 'another' }, 'qwen-acp-ui': { command: 'qwen' } });
  expect(read(home.userFile)).toContain('// mine');
});

test('remove also deletes the comment about the origin', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.config/acp-ui/agents.json'), ACP_UI);
  home.write(home.userFile, '{\n  "agent_servers": {\n    "own": { "command": "another" }\n  }\n}\n');
  const before = read(home.userFile);
  await home.quick(['import'], ENV);
  expect(read(home.userFile)).toContain('// imported from acp-ui');
  await home.quick(['agents', 'remove', 'qwen']);
  expect(read(home.userFile)).toBe(before);
});

test('one editor with a broken file does not block the import from the others', async () => {
  const home = createHome();
  home.write(path.join(home.home, '.jetbrains/acp.json'), '{ broken');
  home.write(path.join(home.home, '.config/acp-ui/agents.json'), ACP_UI);
  const { code, stdout, stderr } = await home.quick(['import', '--dry-run'], ENV);
  expect(code).toBe(0);
  expect(stdout).toContain('imported: qwen');
  expect(stderr).toContain('skipping JetBrains IDEs');
  expect(existsSync(home.userFile)).toBe(false);
});

test.each([
  { words: ['--from', 'zde'], code: 2, says: 'did you mean "zed"?' },
  { words: ['--from', 'zed'], code: 4, says: 'Zed has no agents' },
  { words: ['--from', 'zed,acpx', '--file', 'x'], code: 2, says: '--file requires a single editor' },
  { words: ['--from', 'jetbrains'], code: 6, says: '/acp.json:1:3' },
])('import $words is refused', async ({ words, code, says }) => {
  const home = createHome();
  home.write(path.join(home.home, '.jetbrains/acp.json'), '{ broken');
  const result = await home.quick(['import', ...words]);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
  expect(result.stderr).toContain(says);
});

test('without any editor there is nothing to import', async () => {
  expect(await createHome().quick(['import'])).toMatchObject({ code: 0, stdout: 'Found no editor with configured agents.\n' });
});
