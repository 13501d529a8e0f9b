// Agents that OpenSSH starts on another machine: a real sshd on loopback is that machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { eventually, isAlive } from '../faults/setup.ts';
import { type SshHost, startSshd } from '../ssh-host.ts';
import { fixture, type Json, open, prompt, type Server, type Stage, SWITCHBOARD, test } from './harness.ts';

let host: SshHost;
beforeAll(async () => {
  host = await startSshd();
});
afterAll(() => host.stop());

const overSsh = (server: Server, more: Json = {}): Server => ({ ssh: 'far', ...server, ...more });
const connect = (stage: Stage, agents: Record<string, Server>, at = host) => stage.connect(agents, { env: { PATH: at.PATH } });

describe('an agent with ssh', () => {
  test('answers prompts next to a local agent, and a broken connection fails only its own requests', async ({ stage }) => {
    const client = await connect(stage, { near: fixture('well-behaved', 'near'), far: overSsh(fixture('well-behaved', 'far')) });
    const [near, far] = [await open(client, stage.cwd, 'near'), await open(client, stage.cwd, 'far')];
    const [one, two] = await Promise.all([prompt(client, near.id, 'one'), prompt(client, far.id, 'two')]);
    expect([one.result.stopReason, two.result.stopReason]).toEqual(['end_turn', 'end_turn']);
    const turn = prompt(client, far.id, 'wait');
    await client.until(({ method, params }) => method === 'session/update' && params.update.content?.text === 'waiting;');
    host.cut();
    const { error } = await turn;
    expect(error).toMatchObject({ code: -32603, data: { agent: 'far', reason: 'disconnected' } });
    expect(error.message).toMatch(/^The connection to agent "far" was lost \(.+\) before it answered$/);
    expect((await prompt(client, near.id, 'three')).result.stopReason).toBe('end_turn');
    expect((await prompt(client, far.id, 'four')).result.stopReason).toBe('end_turn');
    expect(await client.close()).toBe(0);
  });

  test('gets its arguments unchanged, its cwd, and its variables, which no command line shows', async ({ stage }) => {
    const script = path.join(stage.dir, 'tells.mjs');
    const words = ["it's", 'a\\b\\\\', '!x $HOME `id` "q"', '', '* ~ # é', '-n'];
    writeFileSync(
      script,
      `import { serve, sendText } from ${JSON.stringify(path.resolve('test/fixtures/agent.mjs'))};
       serve({ turn(id) { sendText(id, JSON.stringify([process.argv.slice(2), process.env.KEY, process.cwd()])); return { stopReason: 'end_turn' }; } });`,
    );
    const secret = 'top "secret" \'value\'\nin $two lines\\';
    const far = overSsh({ command: process.execPath, args: [script, ...words] }, { env: { KEY: secret }, cwd: stage.cwd });
    const client = await connect(stage, { far });
    const { id } = await open(client, stage.cwd);
    expect(execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })).not.toContain('in $two lines');
    await prompt(client, id, 'tell');
    expect(JSON.parse(client.agentText(id))).toEqual([words, secret, stage.cwd]);
  });

  test('leaves no process there, also if it ignores the end of its input and SIGTERM', async ({ stage }) => {
    const far = overSsh(fixture('ignores-sigterm', 'far'), { env: { FIXTURE_DIR: stage.dir }, timeouts: { stop_grace_ms: 500 } });
    const client = await connect(stage, { far });
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, 'child');
    const pids = [Number(id.split('-')[1]), Number(/child (\d+)/.exec(client.agentText(id))?.[1])];
    expect(pids.map(isAlive)).toEqual([true, true]);
    expect(await client.close()).toBe(0);
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
  });

  test('ends there when the connection breaks', async ({ stage }) => {
    const far = overSsh(fixture('ignores-eof', 'far'), { env: { FIXTURE_DIR: stage.dir }, timeouts: { stop_grace_ms: 500 } });
    const client = await connect(stage, { far });
    const pid = Number((await open(client, stage.cwd)).id.split('-')[1]);
    host.cut();
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  test('works behind a shell that prints lines first, which are reported', async ({ stage }) => {
    const noisy = await startSshd({ shell: `echo Welcome; echo '{"jsonrpc":"2.0"}'; exec sh -c "$SSH_ORIGINAL_COMMAND"` });
    try {
      const agents = {
        far: overSsh(fixture('well-behaved', 'far')),
        gone: overSsh(fixture('crash-mid-turn', 'gone'), { env: { FIXTURE_DIR: stage.dir } }),
      };
      const client = await connect(stage, agents, noisy);
      expect((await prompt(client, (await open(client, stage.cwd, 'far')).id, 'hello')).result.stopReason).toBe('end_turn');
      const { error } = await prompt(client, (await open(client, stage.cwd, 'gone')).id, 'crash');
      expect(error.data).toMatchObject({ reason: 'agent_exited' });
      expect(error.data.stderr).toContain('ignored output of the remote shell: Welcome');
    } finally {
      await noisy.stop();
    }
  });

  test('is tested, listed and diagnosed as other agents are', async ({ stage }) => {
    const file = stage.writeConfig({ far: overSsh(fixture('well-behaved', 'far')) });
    const run = (...words: string[]) => {
      const env = { ...process.env, PATH: host.PATH, SWITCHBOARD_HOME: stage.state, HOME: stage.dir };
      return spawnSync(process.execPath, [SWITCHBOARD, ...words, '--config', file, '--json'], { encoding: 'utf8', env }).stdout;
    };
    expect(JSON.parse(run('agents', 'test')).data.agents).toMatchObject([{ agent: 'far', ok: true }]);
    expect(JSON.parse(run('agents', 'list')).data.agents).toMatchObject([{ name: 'far', command: process.execPath, address: 'far' }]);
    const findings = JSON.parse(run('doctor')).data.findings as { check: string; what: string }[];
    expect(findings.filter(({ check }) => check === 'agent.start').map(({ what }) => what)).toEqual([
      expect.stringMatching(/^agent "far" answered/),
    ]);
  });
});

describe('an ssh agent that cannot start', () => {
  const refused = async (stage: Stage, server: Server, at = host): Promise<string> => {
    const client = await connect(stage, { near: fixture('well-behaved', 'near'), far: server }, at);
    const params = { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'far' } } };
    return (await client.refused('session/new', params)).message;
  };
  test.for([
    [{ command: 'no-such-agent' }, 'the command was not found there. Check "command" in agent_servers.far'],
    [{ command: 'true', cwd: '/no/such' }, 'its cwd does not exist there: /no/such. Check "cwd" in agent_servers.far'],
    [
      { command: 'true', ssh: 'nobody@far' },
      'it rejected the login. Make this work without a password: ssh -o BatchMode=yes nobody@far true',
    ],
    [{ command: 'true', ssh: 'ssh://x@127.0.0.1:1' }, 'the connection was refused. Check "ssh" in agent_servers.far'],
  ] as const)('says why: %j', async ([server, message], { stage }) => {
    expect(await refused(stage, overSsh(server))).toContain(`cannot be reached at ${'ssh' in server ? server.ssh : 'far'}: ${message}`);
  });

  test('because its host key is unknown says how to check it', async ({ stage }) => {
    const stranger = await startSshd({ isKnown: false });
    try {
      expect(await refused(stage, overSsh({ command: 'true' }), stranger)).toContain(
        'its host key is not known. Connect once in a terminal and check the key: ssh far',
      );
    } finally {
      await stranger.stop();
    }
  });
});
