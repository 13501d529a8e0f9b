// What the commands say about the sandbox.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { write } from './support.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sandbox-commands-')));
const config = path.join(dir, 'config.json');
write(path.join(dir, '.env'), '');
write(path.join(dir, 'package.json'), '{}');
write(path.join(dir, 'build/out.js'), '');
write(path.join(dir, 'uncontained.yaml'), 'version: 1\ndefault: ask\n');
write(
  config,
  JSON.stringify({
    agent_servers: {
      one: { command: process.execPath, sandbox: { level: 'workspace', network: 'listed' } },
      two: { command: process.execPath },
    },
  }),
);
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const env = { ...process.env, SWITCHBOARD_HOME: path.join(dir, 'state'), HOME: dir };
const run = (...args: string[]) => JSON.parse(execFileSync(process.execPath, [BIN, ...args], { cwd: dir, env, encoding: 'utf8' }));

test('doctor starts a sandbox with the flags that agents get, and attacks it', () => {
  const { stdout } = spawnSync(process.execPath, [BIN, 'doctor', '--json', '--no-start', '--config', config], {
    cwd: dir,
    env,
    encoding: 'utf8',
  });
  const findings = JSON.parse(stdout).data.findings as readonly { check: string; status: string; what: string }[];
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  expect(of('sandbox.program')).toMatchObject([{ status: 'ok', what: expect.stringContaining('bubblewrap') }]);
  expect(of('sandbox.works')).toMatchObject([
    { status: 'ok', what: expect.stringMatching(/write outside, read a hidden file, .*remount, connect, use a unix socket, nest/) },
  ]);
  expect(of('sandbox.agent')).toMatchObject([{ what: expect.stringMatching(/^one: workspace, network listed; \d+ covers/) }]);
});

test('agents list shows the level', () => {
  const { agents } = run('agents', 'list', '--json', '--config', config).data;
  expect(agents.map(({ name, sandbox }: { name: string; sandbox: string }) => [name, sandbox])).toEqual([
    ['one', 'workspace, listed'],
    ['two', 'off'],
  ]);
});

test.each([
  ['standard', ['--path', '.env'], { level: 'workspace', isPrevented: true, text: /hides the file/ }],
  [
    'standard',
    ['--path', 'package.json', '--action', 'edit'],
    { level: 'workspace', isPrevented: true, text: /an existing file of this name is read-only in the sandbox/ },
  ],
  ['standard', ['--path', 'build', '--action', 'edit'], { level: 'workspace', isPrevented: false, text: /it is a directory/ }],
  ['standard', ['--path', 'Makefile', '--action', 'edit'], { level: 'workspace', isPrevented: false, text: /there is none/ }],
  ['standard', ['--command', 'cat .env.local'], { level: 'workspace', isPrevented: false, text: /there is none/ }],
  ['standard', ['--command', 'cat .env'], { level: 'workspace', isPrevented: true, text: /hides the file/ }],
  ['standard', ['--command', 'sudo ls'], { level: 'workspace', isPrevented: false, text: /cannot tell commands apart/ }],
  ['standard', ['--path', '/etc/x', '--action', 'edit'], { level: 'workspace', isPrevented: true, text: /outside the project/ }],
  ['uncontained.yaml', ['--path', '.env'], { level: 'off', isPrevented: false, text: /there is no sandbox/ }],
])('policy explain with %s says what happens to %j if the agent does not ask', (policy, args, { level, isPrevented, text }) => {
  const { contained } = run('policy', 'explain', '--json', '--policy', policy, '--agent', 'claude', ...args).data;
  expect(contained).toMatchObject({ level, isPrevented, text: expect.stringMatching(text) });
});

test('the demo agents keep their sessions in a sandbox', () => {
  const home = path.join(dir, 'demo-home');
  const project = path.join(home, 'project');
  write(path.join(project, 'a.txt'), '');
  const turn = (...args: string[]) =>
    execFileSync(process.execPath, [BIN, 'run', '--policy', 'standard', '--output', 'json', ...args, '/whoami'], {
      cwd: project,
      env: { ...env, HOME: home, SWITCHBOARD_HOME: path.join(home, 'state') },
      encoding: 'utf8',
    });
  const [, sessionId = ''] = /"sessionId":\s*"([^"]+)"/.exec(turn()) ?? [];
  expect(turn('--resume', sessionId)).toContain(sessionId);
});
