// Edges and hosts as real processes on a real NATS server: what works, and what each loss means for a client.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type NatsServer, startNats } from '../bus/nats-server.ts';
import { builtAs, clusterOn, type HostProcess } from './bus.ts';
import { type Client, type Json, open, prompt, type Stage, test } from './harness.ts';

let server: NatsServer;
beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server.stop());

const at = (stage: Stage) => clusterOn(stage, server.url);
/** What the agent of a session says of itself. */
const whoami = async (client: Client, id: string): Promise<{ readonly pid: number; readonly sessionId: string }> => {
  const from = client.agentText(id).length;
  const { error } = await prompt(client, id, '/whoami');
  if (error) throw new Error(JSON.stringify(error));
  return JSON.parse(client.agentText(id).slice(from));
};
const pidOf = async (client: Client, id: string): Promise<number> => (await whoami(client, id)).pid;
/** Which of the hosts runs this process. */
async function hostOf(pid: number, hosts: readonly HostProcess[]): Promise<HostProcess> {
  const { readFileSync } = await import('node:fs');
  for (let at = pid; at > 1; at = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${at}/stat`, 'latin1'))?.[1])) {
    const host = hosts.find(({ child }) => child.pid === at);
    if (host) return host;
  }
  throw new Error(`no host runs process ${pid}`);
}

describe('a session on a host', () => {
  test('works as with a local agent, and is in the directory', async ({ stage }) => {
    const cluster = at(stage);
    const host = await cluster.host('works', { args: ['--label', 'gpu=true'] });
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    expect((await prompt(client, id, 'hello')).result.stopReason).toBe('end_turn');
    expect(client.agentText(id)).toContain('You said: "hello"');
    const { stdout } = await cluster.command('host', 'list', '--config', cluster.config(), '--json');
    expect(JSON.parse(stdout).data).toMatchObject([{ host: 'works', agents: ['demo'], labels: { gpu: 'true' }, isDraining: false }]);
    expect(await client.close()).toBe(0);
    expect(await host.stop()).toBe(143);
  });

  test('obeys the policy of the host, whatever the edge allows', async ({ stage }) => {
    const cluster = at(stage);
    await cluster.host('strict', { config: { policy: { version: 1, default: 'allow', deny: ['edit(**)'] } } });
    const client = await cluster.edge();
    client.on('session/request_permission', ({ options }: Json) => ({
      outcome: { outcome: 'selected', optionId: options.find(({ kind }: Json) => kind === 'allow_once').optionId },
    }));
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, '/edit notes.txt');
    const { existsSync } = await import('node:fs');
    expect(existsSync(`${stage.cwd}/notes.txt`)).toBe(false);
    expect(client.all('fs/write_text_file')).toEqual([]);
    await client.close();
  });

  test('is placed by the labels of its route', async ({ stage }) => {
    const cluster = at(stage);
    const [plain, gpu] = [await cluster.host('plain'), await cluster.host('gpu', { args: ['--label', 'gpu=true'] })];
    const client = await cluster.edge({ config: { routes: [{ cwd: '/**', agent: 'demo', labels: { gpu: 'true' } }] } });
    for (let k = 0; k < 3; k++) {
      const { id } = await open(client, stage.cwd);
      expect((await hostOf(await pidOf(client, id), [plain, gpu])).name).toBe('gpu');
    }
    await client.close();
  });
});

describe('when something is lost', () => {
  test('a host that dies fails its open requests by name, and the next prompt continues the session on another host', async ({ stage }) => {
    const cluster = at(stage);
    const hosts = [await cluster.host('one'), await cluster.host('two')];
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const first = await hostOf(await pidOf(client, id), hosts);
    const running = prompt(client, id, '/slow 60');
    await client.until((msg) => JSON.stringify(msg).includes('3 of'));
    const killedAt = performance.now();
    first.kill();
    const { error } = await running;
    expect(error.message).toContain(`host "${first.name}" is gone`);
    expect(performance.now() - killedAt).toBeLessThan(25_000);
    const { pid, sessionId } = await whoami(client, id);
    expect((await hostOf(pid, hosts)).name).not.toBe(first.name);
    expect(sessionId).toBe(id);
    await client.close();
  });

  test('a restart of the broker loses nothing of a running turn', async ({ stage }) => {
    const cluster = at(stage);
    await cluster.host('steady');
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const running = prompt(client, id, '/slow 4');
    await client.until((msg) => JSON.stringify(msg).includes('5 of'));
    await server.restart();
    expect((await running).result.stopReason).toBe('end_turn');
    const answer = client.agentText(id);
    expect(answer).toBe(`${Array.from({ length: 80 }, (_, k) => `${k + 1} of 80\n`).join('')}Done.`);
    await client.close();
  });

  test('a session outlives its edge: another edge finds it on its host, with its history', async ({ stage }) => {
    const cluster = at(stage);
    const hosts = [await cluster.host('left'), await cluster.host('right')];
    const first = await cluster.edge();
    const { id } = await open(first, stage.cwd);
    const pid = await pidOf(first, id);
    const where = await hostOf(pid, hosts);
    void prompt(first, id, '/slow 60').catch(() => {});
    await first.until((msg) => JSON.stringify(msg).includes('2 of'));
    await first.kill();
    const second = await cluster.edge();
    await second.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
    await second.until((msg) => JSON.stringify(msg).includes('2 of'));
    expect(where.child.exitCode).toBeNull();
    await second.close();
  });

  test('a host that was frozen past its lease ends what it did, and offers its agents anew', async ({ stage }) => {
    const cluster = at(stage);
    const host = await cluster.host('frozen');
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const running = prompt(client, id, '/slow 120');
    await client.until((msg) => JSON.stringify(msg).includes('2 of'));
    host.kill('SIGSTOP');
    expect((await running).error.message).toContain('host "frozen"');
    host.kill('SIGCONT');
    await host.says('has lost its place on the bus');
    await host.says('offers its agents again');
    expect((await prompt(client, id, 'hello again')).result.stopReason).toBe('end_turn');
    await client.close();
  });
});

describe('draining', () => {
  test('a host that drains keeps its sessions, and new ones go elsewhere', async ({ stage }) => {
    const cluster = at(stage);
    const hosts = [await cluster.host('a'), await cluster.host('b')];
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const where = await hostOf(await pidOf(client, id), hosts);
    expect((await cluster.command('host', 'drain', where.name, '--config', cluster.config())).code).toBe(0);
    for (let k = 0; k < 3; k++) {
      const next = await open(client, stage.cwd);
      expect((await hostOf(await pidOf(client, next.id), hosts)).name).not.toBe(where.name);
    }
    expect((await hostOf(await pidOf(client, id), hosts)).name).toBe(where.name);
    await client.close();
  });
});

describe('a rolling upgrade', () => {
  test('the running turn ends on the draining host, new sessions go to the next version, and then the old ones, too', async ({ stage }) => {
    const cluster = at(stage);
    const before = await cluster.host('before');
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const turn = prompt(client, id, '/slow 3');
    await client.got('session/update');
    const next = await cluster.host('next', { program: builtAs('9.9.9', path.join(stage.dir, 'next-version')) });
    expect((await cluster.command('host', 'drain', 'before', '--config', cluster.config())).code).toBe(0);
    const other = await open(client, stage.cwd);
    expect((await hostOf(await pidOf(client, other.id), [before, next])).name).toBe('next');
    const { stdout } = await cluster.command('host', 'list', '--config', cluster.config(), '--json');
    const hosts: readonly Json[] = JSON.parse(stdout).data;
    expect(hosts.find(({ host }) => host === 'next')).toMatchObject({ version: '9.9.9', isDraining: false });
    expect(hosts.find(({ host }) => host === 'before')).toMatchObject({ version: expect.not.stringMatching('9.9.9'), isDraining: true });
    expect((await turn).result.stopReason).toBe('end_turn');
    await before.stop();
    expect((await hostOf(await pidOf(client, id), [next])).name).toBe('next');
    expect(await client.close()).toBe(0);
  });
});

describe('what goes wrong', () => {
  const wrong: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
    [['host'], 2, 'the command needs a bus'],
    [['host', '--bus', 'redis://x'], 2, 'invalid bus address'],
    [['host', '--bus', 'nats://user:secret@127.0.0.1:1'], 2, 'must not contain a password'],
    [['host', 'list', '--bus', 'nats://127.0.0.1:1'], 1, 'cannot reach the bus at nats://127.0.0.1:1'],
    [['host', '--bus', 'nats://127.0.0.1:1', '--label', 'gpu'], 2, 'invalid label "gpu"'],
  ];
  for (const [args, code, message] of wrong)
    test(`switchboard ${args.join(' ')}: ${message}`, async ({ stage }) => {
      const given = await at(stage).command(...args);
      expect([given.code, given.stderr]).toEqual([code, expect.stringContaining(message)]);
    });

  test('a second host of the same name, an unknown host, and a bus without hosts are told', async ({ stage }) => {
    const cluster = at(stage);
    await cluster.host('same');
    const again = await cluster.host('same').catch((error: Error) => error.message);
    expect(again).toContain('a host named \\"same\\" is on the bus already');
    expect(await cluster.command('host', 'drain', 'nobody', '--config', cluster.config())).toMatchObject({ code: 4 });
    const { code, stderr } = await at(stage).command('run', '--config', at(stage).config(), 'hi');
    expect([code, stderr]).toEqual([7, expect.stringContaining('no host offers an agent')]);
  });
});
