// A policy file that changes while the proxy runs.
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { type Editor, open, type Stage, testAtOnce as test } from './harness.ts';
import { execution, selected } from './policy-support.ts';

const told = (editor: Editor, words: string) =>
  vi.waitFor(() => expect(editor.stderr()).toContain(words), { timeout: 20_000, interval: 50 });

async function running(stage: Stage, text: string) {
  const file = path.join(stage.dir, 'policy.yaml');
  writeFileSync(file, text);
  const agent = stage.agent('agent');
  const editor = await stage.connect([agent], { config: { policy: 'policy.yaml' } });
  editor.on('session/request_permission', () => selected('a1'));
  const { id } = await open(editor, stage.cwd);
  const ask = (command: string) => agent.call('session/request_permission', execution(id, command));
  return { file, editor, ask };
}

test('holds at once for live sessions, also when an editor replaces the file by another', async ({ stage }) => {
  const { file, editor, ask } = await running(stage, 'version: 1\nallow: ["execute(make ...)"]\n');
  expect(await ask('make')).toEqual(selected('a1'));
  expect(editor.all('session/request_permission')).toEqual([]);
  writeFileSync(`${file}.new`, 'version: 1\ndeny: ["execute(make ...)"]\n');
  renameSync(`${file}.new`, file);
  await told(editor, 'the policy has changed; it holds for all sessions');
  expect(await ask('make')).toEqual(selected('r1'));
});

test('that is broken leaves the one from before in force, and says so loudly', async ({ stage }) => {
  const { file, editor, ask } = await running(stage, 'version: 1\ndeny: ["execute(make ...)"]\n');
  writeFileSync(file, 'version: 1\nalow: [execute]\n');
  await told(editor, 'THE POLICY HAS CHANGED AND CANNOT BE USED');
  expect(editor.stderr()).toMatch(/policy\.yaml:2:1/);
  expect(await ask('make')).toEqual(selected('r1'));
  writeFileSync(file, 'version: 1\nallow: ["execute(make ...)"]\n');
  await told(editor, 'it holds for all sessions');
  expect(await ask('make')).toEqual(selected('a1'));
});

test('that is taken away leaves the one from before in force', async ({ stage }) => {
  const { file, editor, ask } = await running(stage, 'version: 1\ndeny: ["execute(make ...)"]\n');
  renameSync(file, `${file}.away`);
  await told(editor, 'cannot be read (ENOENT)');
  expect(await ask('make')).toEqual(selected('r1'));
});
