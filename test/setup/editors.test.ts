// The settings files and entries of the supported editors.
import { expect, test } from 'vitest';
import { EDITORS } from '../../src/setup/editors.ts';
import { SNIPPETS } from '../../src/setup/snippets.ts';

const at = (id: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}, home = '/h') =>
  EDITORS.find((editor) => editor.id === id)?.file({ env, home, platform });

test("each editor's settings file is in the place where the editor looks for it", () => {
  expect(at('zed', 'linux')).toBe('/h/.config/zed/settings.json');
  expect(at('zed', 'linux', { XDG_CONFIG_HOME: '/x' })).toBe('/x/zed/settings.json');
  expect(at('zed', 'linux', { XDG_CONFIG_HOME: 'relative' })).toBe('/h/.config/zed/settings.json');
  expect(at('zed', 'darwin', { XDG_CONFIG_HOME: '/x' })).toBe('/h/.config/zed/settings.json');
  expect(at('zed', 'win32', { APPDATA: '/a' })).toBe('/a/zed/settings.json');
  expect(at('jetbrains', 'linux')).toBe('/h/.jetbrains/acp.json');
  expect(at('vscode', 'linux')).toBe('/h/.config/Code/User/settings.json');
  expect(at('vscode', 'darwin')).toBe('/h/Library/Application Support/Code/User/settings.json');
  expect(at('acp-ui', 'linux')).toBe('/h/.config/acp-ui/agents.json');
  expect(at('acpx', 'linux')).toBe('/h/.acpx/config.json');
});

test('an entry is read back as it was written', () => {
  const start = { command: '/opt/my node/bin/node', args: ["/o'clock/switchboard.js", 'acp'] };
  for (const editor of EDITORS) expect(editor.fromEntry(editor.toEntry(start))).toEqual(start);
});

test.each(Object.entries(SNIPPETS))('the %s snippet has the whole command, in quotes', (_, snippet) => {
  expect(snippet({ command: '/a/node', args: ['/b "c"/switchboard.js', 'acp'] })).toMatch(/\/b (?:\\"|\\\\")c/);
});
