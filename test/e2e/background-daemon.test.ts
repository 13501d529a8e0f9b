// The daemon of a user: started in the background or by `acp --connect auto`, shown, stopped, and a session of it in the terminal.
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, fixture, hello, type Json, open, prompt, type Stage, SWITCHBOARD, test, UNANSWERED } from './harness.ts';

const agents = { a: fixture('well-behaved', 'a') };

function run(stage: Stage, args: readonly string[], input?: string) {
  const env = { ...process.env, SWITCHBOARD_HOME: stage.state, SWITCHBOARD_CONFIG: '', SWITCHBOARD_TOKEN: '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [SWITCHBOARD, ...args], { env, encoding: 'utf8', cwd: stage.cwd, input });
  return { status, stdout, stderr };
}
const json = (text: string): Json => JSON.parse(text).data;
const stop = (stage: Stage) => run(stage, ['serve', 'stop']);
const editor = (stage: Stage, config: string): Client =>
  stage.run(process.execPath, [SWITCHBOARD, 'acp', '--connect', 'auto', '--config', config], { SWITCHBOARD_HOME: stage.state });

test('serve --background starts one daemon per user; status shows it, stop ends it', async ({ stage }) => {
  const config = stage.writeConfig(agents);
  expect(run(stage, ['serve', 'status'])).toMatchObject({ status: 4, stdout: expect.stringContaining('No daemon runs') });
  expect(run(stage, ['serve', 'stop']).status).toBe(4);
  try {
    const first = run(stage, ['serve', '--background', '--json', '--config', config]);
    expect(first).toMatchObject({ status: 0 });
    const { pid, address } = json(first.stdout);
    expect(json(run(stage, ['serve', '--background', '--json', '--config', config]).stdout)).toMatchObject({ pid, isNew: false });
    expect(json(run(stage, ['serve', 'status', '--json']).stdout)).toMatchObject({
      running: true,
      pid,
      address,
      clients: [],
      sessions: [],
    });
    expect((await fetch(`${address}/daemon`)).status).toBe(401);
    for (const file of ['daemon.json', 'daemon.token', 'daemon.log'])
      expect(statSync(path.join(stage.state, file)).mode & 0o777, file).toBe(0o600);
    const token = readFileSync(path.join(stage.state, 'daemon.token'), 'utf8').trim();
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(token);
  } finally {
    expect(stop(stage)).toMatchObject({ status: 0, stdout: expect.stringContaining('has stopped') });
  }
  expect(run(stage, ['serve', 'status']).status).toBe(4);
});

test('a daemon file whose process is gone, or whose process id belongs to another program now, is replaced', async ({ stage }) => {
  const config = stage.writeConfig(agents);
  for (const owner of [`999999999.1.${(await import('node:os')).hostname()}`, `${process.pid}.1.${(await import('node:os')).hostname()}`]) {
    writeFileSync(
      path.join(stage.state, 'daemon.json'),
      JSON.stringify({ owner, pid: process.pid, address: 'http://127.0.0.1:1', startedAt: 'then' }),
    );
    expect(run(stage, ['serve', 'status']).status).toBe(4);
  }
  try {
    expect(run(stage, ['serve', '--background', '--config', config]).status).toBe(0);
  } finally {
    expect(stop(stage).status).toBe(0);
  }
});

test('a background daemon that cannot start says why', ({ stage }) => {
  const config = path.join(stage.dir, 'broken.jsonc');
  writeFileSync(config, '{ "agent_servers": 7 }');
  const { status, stderr } = run(stage, ['serve', '--background', '--config', config]);
  expect(status).toBe(1);
  expect(stderr).toContain('the daemon did not start');
  expect(stderr).toContain('agent_servers');
});

test('acp --connect auto starts the daemon, whose session outlives the editor and shows in the terminal', async ({ stage }) => {
  const config = stage.writeConfig(agents);
  try {
    const first = editor(stage, config);
    await hello(first);
    const { id } = await open(first, stage.cwd);
    await prompt(first, id, 'count 5');
    first.child.kill('SIGKILL');
    const attached = run(stage, ['sessions', 'attach', id.slice(0, -1)], 'count 3\n');
    expect(attached.stderr).toBe('');
    expect(attached.stdout).toContain('[user] count 5');
    expect(attached.stdout).toContain('1 2 3 4 5');
    expect(attached.stdout).toMatch(/\[attached\] .*clients: 1/);
    expect(attached.stdout.trimEnd()).toMatch(/1 2 3$/);
    expect(attached.status).toBe(0);
    const second = editor(stage, config);
    await hello(second, { clientInfo: { name: 'edi\u001b[2Jtor', version: '1' } });
    const { stdout } = run(stage, ['serve', 'status']);
    expect(stdout).toMatch(/local-user +owner +edi.*tor/);
    expect(stdout).not.toContain('\u001b');
    await second.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
    expect(second.agentText(id)).toBe('1 2 3 4 5 1 2 3 ');
    expect(json(run(stage, ['serve', 'status', '--json']).stdout)).toMatchObject({
      clients: [{ principal: 'local-user', role: 'owner', sessions: [id] }],
      sessions: [{ sessionId: id, clients: 1, isRunning: false }],
    });
    // The next request starts a daemon again.
    expect(stop(stage).status).toBe(0);
    const listed = async () => (await second.call('session/list', {})).sessions.map(({ sessionId }: Json) => sessionId);
    expect(await listed()).toContain(id);
    // Also after a kill in mid-turn.
    const { id: another } = await open(second, stage.cwd);
    const turn = prompt(second, another, 'wait');
    await second.until((msg) => msg?.params?.update?.content?.text === 'waiting;');
    process.kill(json(run(stage, ['serve', 'status', '--json']).stdout).pid, 'SIGKILL');
    expect((await turn).error).toMatchObject({ code: -32603, data: { retryable: true } });
    expect(await listed()).toContain(another);
  } finally {
    stop(stage);
  }
});

test('sessions attach answers permission requests with typed lines, and names what is missing', async ({ stage }) => {
  const agent = stage.agent('asks', {
    turn: async ({ id }) => {
      const answer = await agent.call('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 'c', title: 'Write notes.txt', kind: 'edit' },
        options: [
          { optionId: 'fine', name: 'Allow', kind: 'allow_once' },
          { optionId: 'never', name: 'Reject', kind: 'reject_once' },
        ],
      });
      agent.sendText(id, `chosen: ${answer.outcome.optionId}`);
      return { stopReason: 'end_turn' };
    },
  });
  expect(run(stage, ['sessions', 'attach', 'x'])).toMatchObject({ status: 4, stderr: expect.stringContaining('no daemon runs') });
  const config = stage.writeConfig([agent]);
  try {
    const client = editor(stage, config);
    await hello(client);
    const { id } = await open(client, stage.cwd);
    expect(run(stage, ['sessions', 'attach', 'nowhere']).status).toBe(4);
    const terminal = stage.spawn(process.execPath, [SWITCHBOARD, 'sessions', 'attach', id], { SWITCHBOARD_HOME: stage.state });
    let shown = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      shown += chunk;
    });
    const showed = (text: string) => expect.poll(() => shown, { timeout: 20_000 }).toContain(text);
    client.on('session/request_permission', () => UNANSWERED);
    const turn = prompt(client, id, 'go');
    await showed('[permission]');
    expect(shown).toContain('Write notes.txt');
    terminal.stdin.write('what\n');
    await showed('type one of: y, n');
    terminal.stdin.write('y\n');
    expect((await turn).result.stopReason).toBe('end_turn');
    expect(client.agentText(id)).toBe('chosen: fine');
    await client.got('$/cancel_request');
    await showed('[turn ended] end_turn');
    terminal.stdin.end();
    expect(await new Promise((resolve) => terminal.once('exit', resolve))).toBe(0);
  } finally {
    stop(stage);
  }
});
