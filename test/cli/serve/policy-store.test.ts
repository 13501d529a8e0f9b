// Where the console saves rules, and how it writes them.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EnforcedPolicy } from '../../../src/app/policy.ts';
import { policyStore } from '../../../src/cli/serve/policy-store.ts';
import type { PolicySource } from '../../../src/config/config.ts';

const from = '/home/ada/config.jsonc';
const source = (policy: PolicySource['policy']): PolicySource => ({ layer: 'user', from, policy, isFromTrusted: true });

function storeOf(policies: readonly PolicySource[], otherwise?: Parameters<typeof policyStore>[0]['otherwise'], file = '/x/y.yaml') {
  const used: unknown[] = [];
  const policy = {
    state: () => ({ policies, layers: [{ name: 'command-line', policy: { file } }] }),
    use: async (wanted: unknown) => void used.push(wanted),
    reload: async () => void used.push('again'),
  } as unknown as EnforcedPolicy;
  return { used, ...policyStore({ policy, otherwise, stateDir: '/nowhere', stored: () => [] }) };
}

test.each([
  ['a file', [source('policy.yaml')], { file: '/home/ada/policy.yaml', isNew: false }],
  ['a preset', [source('standard')], { why: expect.stringContaining('the preset "standard", which you cannot edit') }],
  ['a policy in the configuration', [source({ version: 1 })], { why: expect.stringContaining(`is inline in ${from}`) }],
  ['--policy FILE', [], { file: '/x/y.yaml' }],
])('rules go into a file of the user; otherwise a message says what to do: %s', (_, policies, place) => {
  expect(storeOf(policies).place()).toMatchObject(place);
});

test('rules cannot be saved with --policy PRESET or without a policy', async () => {
  expect(storeOf([], undefined, '/pkg/config/policies/ci.yaml').place()).toMatchObject({
    why: expect.stringContaining('not one of your files'),
  });
  const none = policyStore({ policy: undefined, otherwise: undefined, stateDir: '/nowhere', stored: () => [] });
  expect(none.place()).toMatchObject({ why: expect.stringContaining('there is no policy') });
  await expect(none.write((text) => text)).rejects.toThrow('there is no policy');
});

test("the console's own file starts as a copy of the shipped policy, is private, and each change keeps a backup", async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-policy-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [shipped, own] = ['shipped.yaml', 'own.yaml'].map((name) => path.join(dir, name)) as [string, string];
  writeFileSync(shipped, '# ours\n');
  const otherwise = { shipped, own, source: () => source(existsSync(own) ? own : shipped) };
  const first = storeOf([source(shipped)], otherwise);
  expect(first.place()).toEqual({ file: own, isNew: true, insteadOf: shipped });
  await first.write((text) => `${text}one\n`);
  expect([readFileSync(own, 'utf8'), statSync(own).mode & 0o777, first.used]).toEqual(['# ours\none\n', 0o600, [[source(own)]]]);

  const second = storeOf([source(own)], otherwise);
  await second.write((text) => `${text}two\n`);
  expect([readFileSync(own, 'utf8'), readFileSync(`${own}.bak`, 'utf8'), second.used]).toEqual([
    '# ours\none\ntwo\n',
    '# ours\none\n',
    ['again'],
  ]);
  // If the file was deleted, it starts again as a copy.
  rmSync(own);
  expect(await second.read()).toBe('# ours\n');
});

test('rules that several pages save at once are all kept, even if one of the writes fails', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-policy-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [shipped, own] = ['shipped.yaml', 'own.yaml'].map((name) => path.join(dir, name)) as [string, string];
  writeFileSync(shipped, '# ours\n');
  const { write } = storeOf([source(shipped)], { shipped, own, source: () => source(existsSync(own) ? own : shipped) });
  const saved = await Promise.allSettled([
    write((text) => `${text}one\n`),
    write((text) => `${text}two\n`),
    write(() => {
      throw new Error('no rule');
    }),
    write((text) => `${text}three\n`),
  ]);
  expect(saved.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(readFileSync(own, 'utf8')).toBe('# ours\none\ntwo\nthree\n');
});
