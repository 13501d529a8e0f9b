// Which agent a new session goes to.
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, choosing, hello, open, prompt, type Stage, testAtOnce as test } from './harness.ts';

/** The agent that answers in a session. */
async function owner(client: Client, sessionId: string): Promise<string> {
  await prompt(client, sessionId, 'who');
  return /^(\w+) heard who$/.exec(client.agentText(sessionId))?.[1] ?? client.agentText(sessionId);
}
const three = (stage: Stage) => [stage.agent('alpha'), stage.agent('beta'), stage.agent('gamma')];

test('the first listed agent serves unless default_agent names another', async ({ stage }) => {
  const agents = three(stage);
  const first = await stage.connect(agents);
  expect(await owner(first, (await open(first, stage.cwd)).id)).toBe('alpha');
  const named = await stage.connect(agents, { config: { default_agent: 'gamma' } });
  expect(await owner(named, (await open(named, stage.cwd)).id)).toBe('gamma');
});

test('_meta precedes routes, the first matching route precedes later ones, any route precedes the default', async ({ stage }) => {
  const routes = [
    { cwd: path.join(stage.dir, 'legacy/**'), agent: 'beta' },
    { cwd: path.join(stage.dir, '**'), agent: 'gamma' },
  ];
  const client = await stage.connect(three(stage), { config: { routes } });
  const inside = path.join(stage.dir, 'legacy/.hidden/project');
  expect(await owner(client, (await open(client, inside)).id)).toBe('beta');
  expect(await owner(client, (await open(client, path.join(stage.dir, 'legacy'))).id)).toBe('beta');
  expect(await owner(client, (await open(client, path.join(stage.dir, 'other'))).id)).toBe('gamma');
  expect(await owner(client, (await open(client, '/elsewhere')).id)).toBe('alpha');
  expect(await owner(client, (await open(client, inside, 'alpha')).id)).toBe('alpha');
});

test('an unknown agent is named in the error, with the known ones', async ({ stage }) => {
  const client = await stage.connect(three(stage));
  const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing('nobody') });
  expect(error.code).toBe(-32602);
  for (const name of ['nobody', 'alpha', 'beta', 'gamma']) expect(error.message).toContain(name);
});

test('a relative or missing cwd is refused, and no agent sees it', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  const client = await stage.connect([alpha, beta]);
  for (const cwd of ['relative/path', '', undefined, 5])
    expect(await client.refused('session/new', { cwd, mcpServers: [] })).toMatchObject({ code: -32602 });
  await open(client, stage.cwd);
  expect(alpha.all('session/new')).toHaveLength(1);
});

test('--agent leaves a single agent: its own responses, no option, no command, and the others are not started', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  const client = stage.proxy([alpha, beta], {
    args: ['--agent', 'beta'],
    config: { default_agent: 'alpha', routes: [{ cwd: '/**', agent: 'alpha' }] },
  });
  expect((await hello(client)).agentInfo.name).toBe('beta');
  const session = await open(client, stage.cwd);
  expect(session.result.configOptions.map(({ id }: { id: string }) => id)).toEqual(['model']);
  expect(await owner(client, session.id)).toBe('beta');
  expect(client.updates(session.id)).toHaveLength(1);
  expect(alpha.pids).toEqual([]);
});

test('--agent with an unknown name exits with code 4 and lists the known ones', async ({ stage }) => {
  const client = stage.proxy(three(stage), { args: ['--agent', 'nobody'] });
  expect(await client.ended).toBe(4);
  expect(client.stderr()).toMatch(/nobody.*\n.*alpha, beta, gamma/);
});
