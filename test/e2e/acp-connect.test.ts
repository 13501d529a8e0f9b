// `switchboard acp --connect`: an editor's stdio on a daemon, byte for byte, also when the daemon goes away and comes back.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { createToken, type Daemon, startDaemon } from './daemon.ts';
import { type Client, fixture, hello, open, prompt, type Stage, SWITCHBOARD, test } from './harness.ts';

const agents = { a: fixture('well-behaved', 'a') };

const bridge = (stage: Stage, { socketUrl }: Daemon, token: string): Client =>
  stage.run(process.execPath, [SWITCHBOARD, 'acp', '--connect', socketUrl], { SWITCHBOARD_TOKEN: token });

test('an editor works through the bridge, with a token from the environment or a file', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const token = createToken(stage, 'editor');
  const editor = bridge(stage, daemon, token);
  await hello(editor);
  const { id } = await open(editor, stage.cwd);
  expect((await prompt(editor, id, 'hello')).result.stopReason).toBe('end_turn');
  expect(editor.agentText(id)).toMatch(/^hello by/);
  expect(await editor.close()).toBe(0);

  const file = path.join(stage.dir, 'token');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const other = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--connect', new URL(daemon.address).host, '--token-file', file]);
  expect((await hello(other)).protocolVersion).toBe(1);
});

test('odd frames pass unchanged in both directions', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const editor = bridge(stage, daemon, createToken(stage, 'editor'));
  await hello(editor);
  editor.line('{"id" : 18014398509481985, "jsonrpc":"2.0","method":"_odd\\u002fmethod","params":{"b":1.0,"a":[]}}');
  const { line } = await editor.until((msg) => msg?.error !== undefined);
  expect(line).toContain('18014398509481985');
});

test('a daemon that goes away fails each open request once, and the next request reaches the new one', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const token = createToken(stage, 'editor');
  const editor = bridge(stage, daemon, token);
  await hello(editor);
  const { id } = await open(editor, stage.cwd);
  await prompt(editor, id, 'hello');
  const turn = prompt(editor, id, 'wait', 'the-turn');
  await editor.until((msg) => msg?.params?.update?.content?.text === 'waiting;');
  daemon.child.kill('SIGKILL');
  const { error } = await turn;
  expect(error).toMatchObject({ code: -32603, data: { retryable: true } });
  expect(error.message).toMatch(/^The switchboard daemon at ws:\/\/127\.0\.0\.1:\d+\/acp went away: .*The next request connects again\.$/);
  const refused = await editor.refused('session/list', {});
  expect(refused.message).toContain('Cannot reach the switchboard daemon');
  expect(refused.message).toContain('Check the address after --connect, and that switchboard serve is running there');

  await startDaemon(stage, agents, { args: ['--listen', new URL(daemon.address).host] });
  const again = await prompt(editor, id, 'once more');
  expect(again.result.stopReason).toBe('end_turn');
  expect(editor.answersTo('the-turn')).toHaveLength(1);
});

test.for([
  [{}, [], /SWITCHBOARD_TOKEN is not set.*switchboard token create/s],
  [{}, ['--token-file', '/nowhere/token'], /cannot read the token \/nowhere\/token \(ENOENT\).*check the path/s],
  [{ SWITCHBOARD_TOKEN: 'x' }, ['--connect', 'ws://user:pass@127.0.0.1:1/acp'], /must not contain credentials/],
] as const)('what cannot work is refused at once: %o %s', async ([env, args, text], { expect: expects }) => {
  const { execFile } = await import('node:child_process');
  const stderr = await new Promise<string>((resolve) => {
    const all = { ...process.env, SWITCHBOARD_TOKEN: '', ...env };
    execFile(process.execPath, [SWITCHBOARD, 'acp', '--connect', 'ws://127.0.0.1:1/acp', ...args], { env: all }, (_, __, err) =>
      resolve(err),
    );
  });
  expects(stderr).toMatch(text);
});

test('a token that the daemon does not know is an error of initialize that says what to do', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const editor = bridge(stage, daemon, 'swb_wrong');
  const error = await editor.refused('initialize', { protocolVersion: 1 });
  expect(error.message).toContain('it rejected the credentials (HTTP 401). Check the token in SWITCHBOARD_TOKEN or --token-file');
  expect(JSON.stringify(error)).not.toContain('swb_wrong');
});
