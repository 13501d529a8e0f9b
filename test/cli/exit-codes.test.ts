// Every exit code, produced by the built command. Programs rely on them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, type Home } from './command.ts';

const fixture = (home: Home, name: string, options: object = {}) => ({
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, `../fixtures/${name}.mjs`), name, '9'],
  env: { FIXTURE_DIR: home.tmp },
  ...options,
});
const agents = (home: Home) => ({
  agent_servers: {
    crashes: fixture(home, 'crash-mid-turn'),
    silent: fixture(home, 'silent-initialize', { timeouts: { initialize_ms: 200, stop_grace_ms: 200 } }),
    absent: { command: 'no-such-program' },
  },
});
const SECRET = ['--policy', 'standard', '--agent', 'a', '--action', 'read', '--path', '.env'];

const CASES: readonly { code: number; meaning: string; words: readonly string[] }[] = [
  { code: 0, meaning: 'done: the turn ended', words: ['config', 'path'] },
  { code: 1, meaning: 'failure of an agent, the protocol or the machine', words: ['run', '-a', 'crashes', 'crash'] },
  { code: 2, meaning: 'usage', words: ['demo', '--fats'] },
  { code: 3, meaning: 'time is up', words: ['agents', 'test', 'silent'] },
  { code: 4, meaning: 'no such agent', words: ['run', '-a', 'crashse', 'crash'] },
  { code: 5, meaning: 'denied by the policy', words: ['policy', 'explain', ...SECRET, '--exit-code'] },
  { code: 6, meaning: 'configuration or policy invalid', words: ['config', 'validate', 'missing.jsonc'] },
  { code: 7, meaning: 'an agent could not be started', words: ['agents', 'test', 'absent'] },
  { code: 8, meaning: 'a check found problems', words: ['doctor', '--no-start'] },
];

test.each(CASES)('exit code $code: $meaning', async ({ code, words }) => {
  const home = createHome();
  home.write(home.userFile, agents(home));
  const ended = await home.run(words);
  expect(ended.code).toBe(code);
  expect(ended.stderr).not.toMatch(/^ {4}at /m); // no stack trace
});

test('`run` has the same codes for a silent and for a missing agent, and explains the failure the first time', async () => {
  const home = createHome();
  home.write(home.userFile, agents(home));
  const [silent, absent] = await Promise.all([home.run(['run', '-a', 'silent', 'x']), home.run(['run', '-a', 'absent', 'x'])]);
  expect(silent).toMatchObject({ code: 3, stderr: expect.stringMatching(/^switchboard: Agent "silent" did not answer initialize/) });
  expect(absent).toMatchObject({ code: 7, stderr: expect.stringMatching(/^switchboard: Agent "absent" did not start/) });
});

test('exit code 130: interrupted', async () => {
  const home = createHome();
  const turn = home.start(['run', '-o', 'simple', '/slow 60']);
  turn.child.stdin.end();
  await turn.printed('1 of 1200');
  turn.child.kill('SIGINT');
  expect(await turn.ended).toMatchObject({ code: 130 });
});

test('docs/commands.md lists these codes and their meanings', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/commands.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning = '']) => ({ code: Number(code), meaning }));
  const all = [...CASES, { code: 130, meaning: 'Ctrl-C' }];
  expect(rows).toEqual(all.map(({ code, meaning }) => ({ code, meaning: expect.stringContaining(meaning) })));
});
