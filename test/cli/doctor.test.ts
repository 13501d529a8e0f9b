// `switchboard doctor`, run as the built command: its findings and its advice.
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { checkCatalogue } from '../../src/cli/doctor/check-program.ts';
import { createHome, type Home } from './command.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const fixture = (name: string) => ({ command: process.execPath, args: [path.resolve(import.meta.dirname, '../fixtures', name)] });
const CANARY = 'ghp_0123456789012345678901234567890123';

type Found = { check: string; status: string; what: string; why?: string; next?: string };
type Report = { ok: boolean; data: { healthy: boolean; problems: number; warnings: number; findings: Found[] } };

async function examine(home: Home, words: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await home.quick(['doctor', '--json', ...words], env);
  const { data } = JSON.parse(stdout) as Report;
  const find = (check: string, about = '') => data.findings.filter((one) => one.check === check && one.what.includes(about));
  for (const { status, why, next } of data.findings)
    if (status !== 'ok') expect([why, next]).toEqual([expect.any(String), expect.any(String)]);
  return { code, stderr, stdout, data, find };
}

test('a complete installation has no problems: exit code 0', async () => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { one: fixture('well-behaved.mjs') }, policy: 'standard' });
  mkdirSync(path.join(home.home, '.config', 'zed'), { recursive: true });
  await home.quick(['connect', 'zed']);
  const { code, data, find } = await examine(home);
  expect(data).toMatchObject({ healthy: true, problems: 0 });
  expect(code).toBe(0);
  expect(find('agent.start', 'agent "one" answered in')).toMatchObject([{ status: 'ok' }]);
  expect(find('editor.entry', 'Zed starts switchboard')).toMatchObject([{ status: 'ok' }]);
  expect(find('policy')).toMatchObject([
    { status: 'ok', what: expect.stringMatching(/^the policy is valid: .*standard\.yaml \(yours\)$/) },
  ]);
  expect(find('node')).toMatchObject([{ status: 'ok' }]);
  expect(home.processesLeft()).toEqual([]);
});

test('it says whether each agent asks before it acts, and under a policy what makes it', async () => {
  const home = createHome();
  const program = (name: string) => {
    const file = home.write(path.join(home.home, 'bin', name), '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  };
  const agents = {
    codex: { command: program('codex-acp') },
    copilot: { command: program('copilot'), args: ['--acp', '--allow-all-tools'] },
    pi: { command: program('pi-acp') },
    inhouse: fixture('well-behaved.mjs'),
  };
  home.write(home.userFile, { agent_servers: agents, policy: 'standard' });
  const { find } = await examine(home, ['--no-start']);
  expect(find('agent.asks').map(({ status, what }) => [status, what])).toEqual([
    [
      'ok',
      expect.stringMatching(/^agent "codex" asks for everything under a policy.*changes how it starts: INITIAL_AGENT_MODE=read-only$/),
    ],
    ['ok', 'agent "copilot" asks for everything; switchboard changes how it starts: without --allow-all-tools'],
    ['warning', expect.stringMatching(/^agent "pi" does not ask/)],
    ['warning', expect.stringMatching(/^agent "inhouse" is not in the catalogue/)],
  ]);
});

test.each([
  { now: '2026-12-01', status: 'ok', says: 'from 2026-11-16' },
  { now: '2027-11-16', status: 'warning', says: '365 days old' },
])('a catalogue of 2026-11-16 on $now: $status', ({ now, status, says }) => {
  expect(checkCatalogue('2026-11-16', Date.parse(now))).toMatchObject({ status, what: expect.stringContaining(says) });
});

test('every problem is reported with its reason and advice: exit code 8', async () => {
  const home = createHome();
  home.write(home.userFile, {
    agent_servers: {
      missing: { command: 'no-such-agent' },
      qwen: { command: 'qwen', args: ['--acp'] },
      me: { command: process.execPath, args: [BIN, 'acp'] },
      crashes: fixture('crash-before-initialize.mjs'),
      newer: fixture('wrong-version.mjs'),
      old: { command: process.execPath, args: [fixture('well-behaved.mjs').args[0] ?? '', '@zed-industries/claude-code-acp'] },
    },
    policy: 'policy.yaml',
  });
  home.write(path.join(path.dirname(home.userFile), 'policy.yaml'), 'version: 1\nallow:\n  - nonsense(\n');
  home.write(
    path.join(home.home, '.config/zed/settings.json'),
    '{ "agent_servers": { "S": { "command": "/gone/node", "args": ["/gone/bin/switchboard.js", "acp"] } } }',
  );
  home.write(path.join(home.home, '.jetbrains/acp.json'), '{ // no comments here\n}');
  home.write(path.join(home.home, '.acpx/config.json'), '{}');
  const state = path.join(home.home, 'state');
  home.write(path.join(state, 'sessions.jsonl'), '');
  home.write(path.join(state, 'running', 'x.json'), { owner: { pid: 1, startTime: 'long ago' }, mark: 'x', children: [], health: {} });
  for (const file of ['sessions.jsonl', '']) chmodSync(path.join(state, file), 0o755);

  const { code, data, find } = await examine(home, [], { SWITCHBOARD_HOME: state });
  expect(code).toBe(8);
  expect(data.healthy).toBe(false);
  expect(find('agent.command', '"missing"')).toMatchObject([
    { status: 'problem', next: 'install no-such-agent, or switchboard agents remove missing' },
  ]);
  expect(find('agent.command', '"qwen"')).toMatchObject([
    { status: 'problem', next: 'switchboard agents add qwen-code --name qwen --install --force' },
  ]);
  expect(find('agent.loop', '"me"')).toMatchObject([{ status: 'problem', next: 'switchboard agents remove me' }]);
  expect(find('agent.start', '"crashes"')).toMatchObject([{ status: 'problem', next: 'switchboard agents test crashes' }]);
  expect(find('agent.start', '"newer"')).toMatchObject([{ status: 'problem', why: expect.stringMatching(/version/i) }]);
  expect(find('agent.drift', '"old"')).toMatchObject([
    { status: 'warning', why: expect.stringContaining('is now @agentclientprotocol/claude-agent-acp') },
  ]);
  expect(find('policy')).toMatchObject([{ status: 'problem', why: expect.stringContaining('policy.yaml:3') }]);
  expect(find('editor.entry', 'Zed')).toMatchObject([
    { status: 'problem', what: expect.stringContaining('/gone/node'), next: 'switchboard connect zed' },
  ]);
  expect(find('editor.file', 'JetBrains')).toMatchObject([{ status: 'problem', why: expect.stringContaining('acp.json:1:3') }]);
  expect(find('editor.entry', 'acpx')).toMatchObject([{ status: 'warning', next: 'switchboard connect acpx' }]);
  expect(find('state.private')).toMatchObject([{ status: 'problem', next: `chmod -R go= ${state}` }]);
  expect(find('state.leftovers')).toMatchObject([{ status: 'warning' }]);
});

test('the text output has a line for each finding, and a count', async () => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { one: { command: 'no-such-agent' } } });
  const { code, stdout } = await home.quick(['doctor']);
  expect(code).toBe(8);
  expect(stdout).toContain(
    'PROBLEM  agent "one": command not found: no-such-agent\n         why:  switchboard cannot start this agent\n         next: install no-such-agent',
  );
  expect(stdout).toMatch(/\n1 problem, \d+ warnings?\n$/);
});

test('an invalid configuration is reported with the location of each problem, and the other checks still run', async () => {
  const home = createHome();
  home.write(home.userFile, '{ "agent_servers": { "a": { "comand": "x" } } }');
  const { code, find } = await examine(home);
  expect(code).toBe(8);
  expect(find('config').map(({ why }) => why?.replace(/^.*config\.jsonc/, ''))).toEqual([
    ':1:27: agent_servers.a: missing key "command"; expected a program, or "url" for a remote agent',
    ':1:29: unknown key "comand"; did you mean "command"?',
  ]);
  expect(find('state.writable')).toMatchObject([{ status: 'ok' }]);
});

test('a fresh machine is not a problem; doctor says how to begin', async () => {
  const { code, find } = await examine(createHome());
  expect(code).toBe(0);
  expect(find('config')).toMatchObject([{ status: 'warning', next: 'switchboard init' }]);
});

test('--no-start starts nothing, --config checks another file, and possible secrets are hidden', async () => {
  const home = createHome();
  const file = home.write('given.jsonc', {
    agent_servers: { one: fixture('crash-before-initialize.mjs'), two: { command: `/x/${CANARY}` } },
  });
  const { find, stdout } = await examine(home, ['--no-start', '--config', file]);
  expect(find('agent.command', '"one"')).toMatchObject([{ status: 'ok' }]);
  expect(find('agent.start')).toEqual([]);
  expect(stdout).not.toContain(CANARY);
});

test('a state directory that cannot be written is a problem', async () => {
  const home = createHome();
  const file = home.write('a-file', '');
  const { code, find } = await examine(home, [], { SWITCHBOARD_HOME: path.join(file, 'state') });
  expect(code).toBe(8);
  expect(find('state.writable')).toMatchObject([{ status: 'problem', what: `${file} is not a directory` }]);
});

test('an audit log that was tampered with is a problem', async () => {
  const home = createHome();
  const state = path.join(home.home, 'state');
  home.write(path.join(state, 'audit.jsonl'), 'not a line of the log\n');
  for (const name of ['audit.jsonl', '']) chmodSync(path.join(state, name), 0o700);
  const { code, find } = await examine(home, [], { SWITCHBOARD_HOME: state });
  expect(code).toBe(8);
  expect(find('state.audit')).toMatchObject([{ status: 'problem', next: 'switchboard audit verify' }]);
  expect(readFileSync(path.join(state, 'audit.jsonl'), 'utf8')).toBe('not a line of the log\n');
});
