// Who answers fs/* and terminal/* of a session on a host: never the client, and everyone can see who does.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type NatsServer, startNats } from '../bus/nats-server.ts';
import { clusterOn } from './bus.ts';
import { type Json, open, prompt, type Stage, test } from './harness.ts';

let server: NatsServer;
beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server.stop());

/** A turn that writes a file, with a client that has files and terminals; returns what the agent says and what the directory tells. */
async function editOn(stage: Stage, config: Json) {
  const cluster = clusterOn(stage, server.url);
  await cluster.host('h', { config: { policy: { version: 1, default: 'allow' }, ...config } });
  const client = await cluster.edge();
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, '/edit notes.txt');
  const list = async (...more: string[]) => {
    const { stdout } = await cluster.command('host', 'list', '--config', cluster.config(), ...more);
    return stdout;
  };
  await vi.waitFor(async () => expect(await list('--sessions')).toContain(id), 10_000);
  const [hosts, sessions, json] = [await list(), await list('--sessions'), JSON.parse(await list('--sessions', '--json')).data];
  const asked = [...client.all('fs/read_text_file'), ...client.all('fs/write_text_file'), ...client.all('terminal/create')];
  const answer = client.agentText(id);
  await client.close();
  return { id, cluster, hosts, sessions, json, asked, answer };
}

test('with a workspace, the host answers: the file is its file, and the client is not asked', async ({ stage }) => {
  const { id, cluster, hosts, sessions, json, asked } = await editOn(stage, { workspace: 'serve-missing' });
  expect([readFileSync(path.join(stage.cwd, 'notes.txt'), 'utf8'), asked]).toEqual([expect.stringContaining('\n'), []]);
  expect(readFileSync(path.join(cluster.state('h'), 'audit.jsonl'), 'utf8')).toContain('fs/write_text_file');
  expect(hosts).toMatch(/^h +ready +\d\/32 +demo +host +–/m);
  expect(sessions).toMatch(new RegExp(`^${id} +h +demo +\\S+ +host +${stage.cwd}$`, 'm'));
  expect(json).toMatchObject([{ sessionId: id, host: 'h', isThere: true, agent: 'demo', served: { fs: 'host', terminal: 'host' } }]);
});

test('without one, nobody answers: the agent is offered no files, whatever the client has', async ({ stage }) => {
  const { hosts, json, asked, answer } = await editOn(stage, {});
  expect([answer, asked]).toEqual(['I am sorry, your editor lets me change no files.', []]);
  expect(hosts).toMatch(/^h +ready +\d\/32 +demo +agent +–/m);
  expect(json).toMatchObject([{ served: { fs: 'agent', terminal: 'agent' } }]);
});

test('a session goes to a host that allows its directory; where none does, the client hears what is to be done', async ({ stage }) => {
  const cluster = clusterOn(stage, server.url);
  const [allowed, elsewhere] = ['allowed', 'elsewhere'].map((name) => path.join(stage.dir, name)) as [string, string];
  for (const dir of [allowed, elsewhere]) mkdirSync(dir);
  const host = (name: string, directory: string) => cluster.host(name, { config: { allow_cwd: [directory] } });
  await Promise.all([host('one', allowed), host('two', elsewhere), host('three', elsewhere)]);
  const client = await cluster.edge();
  for (let k = 0; k < 4; k++) await open(client, allowed);
  const { stdout } = await cluster.command('host', 'list', '--config', cluster.config(), '--json');
  const loads = JSON.parse(stdout).data.map(({ host: name, load }: Json) => [name, load]);
  expect(new Map(loads).get('one')).toBeGreaterThanOrEqual(4);
  const refused = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
  for (const name of ['one', 'two', 'three'])
    expect(refused.message).toContain(`${name}: directory: ${stage.cwd} is missing there, or not in its allow_cwd`);
  await client.close();
});
