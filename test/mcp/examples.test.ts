// The examples of docs/tools.md, unchanged, with test agents behind the names.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { expect } from 'vitest';
import { type Json, open, type Stage, testAtOnce as test } from '../e2e/harness.ts';
import { called, mcpAgent, notified, wordsOf } from './tool-sessions.ts';

const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/tools.md'), 'utf8');
const examples = text
  .slice(text.indexOf('## Five examples'))
  .split('\n### ')
  .slice(1)
  .map((words) => ({
    title: words.slice(0, words.indexOf('\n')),
    config: /```jsonc\n(.*?)```/s.exec(words)?.[1] ?? '',
    module: /```js\n(.*?)```/s.exec(words)?.[1],
  }));

/** The example, with only its agents replaced. */
async function start(stage: Stage, number: number) {
  const { config, module } = examples[number - 1] as (typeof examples)[number];
  const errors: ParseError[] = [];
  const { agent_servers, ...rest } = parse(config, errors, { allowTrailingComma: false });
  expect(errors).toEqual([]);
  if (module !== undefined) writeFileSync(path.join(stage.dir, 'tools.mjs'), module);
  const agents = Object.entries(agent_servers as Record<string, Json>).map(([name, { command, args, ...options }]) => {
    expect(command).toEqual(expect.any(String));
    return [name, { ...mcpAgent('stdio', name), ...options }] as const;
  });
  const client = stage.proxy(Object.fromEntries(agents), { config: { host_tools: {}, ...rest }, env: { GITHUB_TOKEN: 'not-a-real-one' } });
  const { agentCapabilities } = await client.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
  client.on('session/request_permission', ({ options }) => ({ outcome: { outcome: 'selected', optionId: options[0].optionId } }));
  const { id } = await open(client, stage.cwd);
  return { client, id, agentCapabilities };
}

test('there are five examples', () => {
  expect(examples.map(({ title }) => title.slice(0, 2))).toEqual(['1.', '2.', '3.', '4.', '5.']);
});

test('1: a program of the project', async ({ stage }) => {
  const { client, id } = await start(stage, 1);
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: stage.cwd });
  git('init', '-q');
  writeFileSync(path.join(stage.cwd, 'a.txt'), 'one');
  git('add', '.');
  git('commit', '-qm', 'one');
  writeFileSync(path.join(stage.cwd, 'a.txt'), 'two');
  expect(wordsOf(await called(client, id, 'changed_files', { since: 'HEAD' }))).toBe('a.txt\n');
  expect(wordsOf(await called(client, id, 'changed_files', { since: 'HEAD', paths: ['b.txt'] }))).toBe('[exit code 0]');
  expect(wordsOf(await called(client, id, 'changed_files', { since: '--output=x' }))).toContain('not valid');
});

test('2, 3 and 5: their settings are accepted', async ({ stage }) => {
  const [, bridges, delegate] = await Promise.all([start(stage, 2), start(stage, 3), start(stage, 5)]);
  expect(bridges.agentCapabilities.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
  const ask = (agent: string) => called(delegate.client, delegate.id, 'delegate', { agent, prompt: 'call session_info' });
  expect(wordsOf(await ask('gemini'))).toContain('denied by policy');
  expect(wordsOf(await ask('codex'))).toContain('codex');
  expect(delegate.client.all('session/request_permission')).toEqual([]);
});

test('4: tools in a module', async ({ stage }) => {
  const { client, id } = await start(stage, 4);
  mkdirSync(path.join(stage.cwd, 'node_modules/left'), { recursive: true });
  writeFileSync(path.join(stage.cwd, 'node_modules/left/package.json'), '{"version":"1.2.3"}');
  expect((await notified(client, id, 'tools')).map(({ name }: Json) => name)).toContain('package_version');
  expect(wordsOf(await called(client, id, 'package_version', { name: 'left' }))).toBe('1.2.3');
});
