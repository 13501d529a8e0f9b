// Which files make up a policy, and what happens when one is broken, missing or untrusted.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readLayers } from '../../src/app/policy-layers.ts';
import { managedPolicyFile } from '../../src/config/config.ts';
import { trust } from '../../src/config/trust.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-layers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (name: string) => path.join(dir, name);
function write(name: string, text: string): string {
  writeFileSync(at(name), text, { mode: 0o644 });
  return at(name);
}
const read = (given: Partial<Parameters<typeof readLayers>[0]>) =>
  readLayers({ policies: [], flag: undefined, managedFile: at('managed.yaml'), stateDir: dir, ...given });
const source = (layer: 'user' | 'project', policy: string | Readonly<Record<string, unknown>>, isFromTrusted = layer === 'user') => ({
  layer,
  from: at('config.jsonc'),
  policy,
  isFromTrusted,
});
const POLICY = 'version: 1\nallow: ["execute(make)"]\n';

test('without policy files there are no layers', async () => {
  expect((await read({})).layers).toEqual([]);
});

test('each place is a layer: managed, user, project, command line', async () => {
  write('managed.yaml', POLICY);
  write('mine.yaml', POLICY);
  write('theirs.yaml', POLICY);
  const flag = write('flag.yaml', POLICY);
  const { layers, files } = await read({ policies: [source('user', 'mine.yaml'), source('project', 'theirs.yaml')], flag });
  expect(layers.map(({ name, policy, isTrusted }) => [name, path.basename(policy.file), isTrusted])).toEqual([
    ['managed', 'managed.yaml', undefined],
    ['user', 'mine.yaml', undefined],
    ['project', 'theirs.yaml', false],
    ['command-line', 'flag.yaml', undefined],
  ]);
  expect(files.map((file) => path.basename(file))).toEqual(['managed.yaml', 'mine.yaml', 'theirs.yaml', 'flag.yaml']);
});

test('a preset is found by its name, whatever files of that name a repository holds', async () => {
  const { layers } = await read({ policies: [source('user', 'readonly')] });
  expect(layers[0]?.policy.file).toMatch(/config.policies.readonly\.yaml$/);
  write('readonly', POLICY);
  expect((await read({ policies: [source('user', 'readonly')] })).layers[0]?.policy.file).toMatch(/config.policies.readonly\.yaml$/);
  expect((await read({ policies: [source('user', './readonly')] })).layers[0]?.policy.file).toBe(at('readonly'));
});

test("a project's policy is trusted by its content, an inline one by its file", async () => {
  const file = write('theirs.yaml', POLICY);
  await trust(dir, file);
  const { layers } = await read({
    policies: [source('project', 'theirs.yaml'), source('project', { version: 1 }, true), source('project', { version: 1 }, false)],
  });
  expect(layers.map(({ isTrusted }) => isTrusted)).toEqual([true, true, false]);
});

test.each([
  ['broken', 'version: 1\nalow: []\n', /theirs\.yaml:2:1.* and is ignored/],
  ['absent', undefined, /cannot be read \(ENOENT\) and is ignored/],
])("a project's policy that is %s stops nobody", async (_, text, words) => {
  if (text !== undefined) write('theirs.yaml', text);
  const { layers, notices } = await read({ policies: [source('project', 'theirs.yaml')] });
  expect(layers).toEqual([]);
  expect(notices).toEqual([expect.stringMatching(words)]);
});

test("a project's policy that becomes invalid stays in force as it was", async () => {
  write('theirs.yaml', POLICY);
  const given = { policies: [source('project', 'theirs.yaml')], flag: undefined, managedFile: at('managed.yaml'), stateDir: dir };
  const { layers } = await readLayers(given);
  for (const spoil of [() => write('theirs.yaml', 'version: 2\n'), () => rmSync(at('theirs.yaml'))]) {
    spoil();
    const again = await readLayers(given, layers);
    expect(again.layers).toEqual(layers);
    expect(again.notices).toEqual([expect.stringContaining('the previous policy stays in force')]);
  }
});

test.each([
  ['a broken file', 'mine.yaml', 'version: 1\nalow: []\n', /mine\.yaml:2:1: .*"alow"/],
  ['an absent file', 'nothing.yaml', undefined, /nothing\.yaml cannot be read \(ENOENT\)/],
  ['a preset with a slip', 'standart', undefined, /standart cannot be read/],
])("the user's own policy must be valid: %s", async (_, name, text, words) => {
  if (text !== undefined) write(name, text);
  await expect(read({ policies: [source('user', name)] })).rejects.toMatchObject({
    code: 'POLICY_INVALID',
    message: expect.stringMatching(words),
  });
});

test.each([0o664, 0o646, 0o666])(
  'a managed policy that others can write to (%o) is an error, neither applied nor skipped',
  async (mode) => {
    chmodSync(write('managed.yaml', POLICY), mode);
    await expect(read({})).rejects.toMatchObject({
      code: 'POLICY_INVALID',
      message: expect.stringContaining('is writable by other users'),
    });
  },
);

test('the managed policy lies where only an administrator can write', () => {
  expect(managedPolicyFile('linux', {})).toBe('/etc/acp-switchboard/policy.yaml');
  expect(managedPolicyFile('darwin', {})).toBe('/Library/Application Support/acp-switchboard/policy.yaml');
  expect(managedPolicyFile('win32', { ProgramData: 'D:\\Data' })).toBe('D:\\Data\\acp-switchboard\\policy.yaml');
});
