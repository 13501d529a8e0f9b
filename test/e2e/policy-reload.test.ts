// A policy file that changes while the proxy runs.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { noticed } from '../faults/setup.ts';
import { open, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';
import { audit, execution, selected } from './policy-support.ts';

async function running(stage: Stage, text: string) {
  const file = path.join(stage.dir, 'policy.yaml');
  writeFileSync(file, text);
  const agent = stage.agent('agent');
  const client = await stage.connect([agent], { config: { policy: 'policy.yaml' } });
  client.on('session/request_permission', () => selected('a1'));
  const { id } = await open(client, stage.cwd);
  const ask = (command: string) => agent.call('session/request_permission', execution(id, command));
  return { file, client, agent, id, ask };
}

test('applies at once to live sessions, also when an editor replaces the file', async ({ stage }) => {
  const { file, client, ask } = await running(stage, 'version: 1\nallow: ["execute(make ...)"]\n');
  expect(await ask('make')).toEqual(selected('a1'));
  expect(client.all('session/request_permission')).toEqual([]);
  writeFileSync(`${file}.new`, 'version: 1\ndeny: ["execute(make ...)"]\n');
  renameSync(`${file}.new`, file);
  await noticed(client, 'the policy changed; the new version applies to all sessions');
  expect(await ask('make')).toEqual(selected('r1'));
});

test('is the one that the configuration names, also after the configuration names another', async ({ stage }) => {
  const { client, ask } = await running(stage, 'version: 1\nallow: ["execute(make ...)"]\n');
  const config = path.join(stage.dir, 'config-0.json');
  const parsed = JSON.parse(readFileSync(config, 'utf8'));
  writeFileSync(config, JSON.stringify({ ...parsed, policy: 'nowhere.yaml' }));
  await noticed(client, /THE CHANGED POLICY IS INVALID.*nowhere\.yaml/);
  expect(await ask('make')).toEqual(selected('a1'));
  const other = path.join(stage.dir, 'other.yaml');
  writeFileSync(other, 'version: 1\ndeny: ["execute(make ...)"]\n');
  writeFileSync(config, JSON.stringify({ ...parsed, policy: 'other.yaml' }));
  await noticed(client, 'applies to all sessions from now on');
  expect(await ask('make')).toEqual(selected('r1'));
  writeFileSync(other, 'version: 1\nallow: ["execute(make ...)"]\n');
  await vi.waitFor(async () => expect(await ask('make')).toEqual(selected('a1')), { timeout: 20_000 });
});

test('that is invalid leaves the previous one in force, with a prominent message', async ({ stage }) => {
  const { file, client, ask } = await running(stage, 'version: 1\ndeny: ["execute(make ...)"]\n');
  writeFileSync(file, 'version: 1\nalow: [execute]\n');
  await noticed(client, 'THE CHANGED POLICY IS INVALID');
  await noticed(client, /policy\.yaml:2:1/);
  expect(await ask('make')).toEqual(selected('r1'));
  writeFileSync(file, 'version: 1\nallow: ["execute(make ...)"]\n');
  await noticed(client, 'applies to all sessions');
  expect(await ask('make')).toEqual(selected('a1'));
});

test('that is removed leaves the previous one in force', async ({ stage }) => {
  const { file, client, ask } = await running(stage, 'version: 1\ndeny: ["execute(make ...)"]\n');
  renameSync(file, `${file}.away`);
  await noticed(client, 'cannot be read (ENOENT)');
  expect(await ask('make')).toEqual(selected('r1'));
});

test('applies to pending requests: an earlier allow does not override it, and the record says so', async ({ stage }) => {
  const { file, client, agent, id, ask } = await running(stage, 'version: 1\n');
  client.on('session/request_permission', () => UNANSWERED);
  const permission = ask('make');
  const write = agent.request('fs/write_text_file', { sessionId: id, path: path.join(stage.cwd, 'x'), content: '' });
  const first = await client.got('session/request_permission', ({ toolCall }) => toolCall.kind === 'execute');
  const second = await client.got('session/request_permission', ({ toolCall }) => toolCall.kind === 'edit');
  writeFileSync(file, 'version: 1\ndeny: [{ id: no-make, command: "make ..." }, { id: no-edit, action: edit }]\n');
  await noticed(client, 'applies to all sessions');
  client.reply(first.msg, selected('a1'));
  client.reply(second.msg, selected('allow'));
  expect(await permission).toEqual(selected('r1'));
  expect((await write).error).toMatchObject({ message: expect.stringContaining('denied by policy'), data: { rule: 'no-edit' } });
  expect(client.all('fs/write_text_file')).toEqual([]);
  expect(audit(stage).filter(({ verdict }) => verdict === 'deny')).toMatchObject([
    { method: 'session/request_permission', rule: { id: 'no-make' }, by: 'policy', option: 'r1' },
    { method: 'fs/write_text_file', rule: { id: 'no-edit' }, by: 'policy', option: 'refused' },
  ]);
});
