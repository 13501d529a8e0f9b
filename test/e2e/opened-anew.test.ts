// A session that never had a prompt, at an agent that did not keep it: acpx starts a process for each command, and loads the session there.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, type Json, open, prompt, Refusal, type ScriptedAgent, type Stage, testAtOnce as test } from './harness.ts';

const two = (stage: Stage) => [stage.agent('alpha'), stage.agent('beta')] as const;
const load = (client: Client, sessionId: string, cwd: string, method = 'session/load'): Promise<Json> =>
  client.request(method, { sessionId, cwd, mcpServers: [] });
const set = (client: Client, sessionId: string, configId: string, value: unknown) =>
  client.call('session/set_config_option', { sessionId, configId, value });
const values = (list: readonly Json[]) => Object.fromEntries(list.map(({ id, currentValue }) => [id, currentValue]));
/** What its next process knows of the sessions. */
const forget = (agents: readonly ScriptedAgent[]) => {
  for (const agent of agents) agent.sessions.clear();
};

for (const method of ['session/load', 'session/resume'])
  test(`${method} opens it anew at the agent that the client chose, under its id`, async ({ stage }) => {
    const agents = two(stage);
    const before = await stage.connect(agents);
    const { id } = await open(before, stage.cwd);
    await set(before, id, 'agent', 'beta');
    await before.close();
    forget(agents);
    const client = await stage.connect(agents);
    const { result, error } = await load(client, id, stage.cwd, method);
    expect(error).toBeUndefined();
    expect(result.sessionId).toBe(id);
    expect(values(result.configOptions)).toEqual({ agent: 'beta', model: 'beta-small' });
    await prompt(client, id, 'hello');
    expect(client.agentText(id)).toBe('beta heard hello');
    expect(agents[1].all('session/new').map(({ msg }) => msg.params)).toEqual([
      { cwd: stage.cwd, mcpServers: [] },
      { cwd: stage.cwd, mcpServers: [] },
    ]);
    expect(agents[0].all('session/new')).toHaveLength(1);
  });

test('it can still change its agent, in that process and in the next', async ({ stage }) => {
  const agents = two(stage);
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd);
  await before.close();
  for (const [agent, next] of [
    ['alpha', 'beta'],
    ['beta', 'alpha'],
  ] as const) {
    forget(agents);
    const client = await stage.connect(agents);
    expect(values((await load(client, id, stage.cwd)).result.configOptions).agent).toBe(agent);
    await set(client, id, 'agent', next);
    await client.close();
  }
  forget(agents);
  const client = await stage.connect(agents);
  await load(client, id, stage.cwd);
  await prompt(client, id, 'hello');
  expect(client.agentText(id)).toBe('alpha heard hello');
});

test('an agent that supports neither session/load nor session/resume opens it anew too', async ({ stage }) => {
  const agents = [stage.agent('alpha'), stage.agent('plain', { capabilities: {} })] as const;
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd, 'plain');
  await before.close();
  const client = await stage.connect(agents);
  expect(values((await load(client, id, stage.cwd)).result.configOptions).agent).toBe('plain');
  await prompt(client, id, 'hello');
  expect(client.agentText(id)).toBe('plain heard hello');
});

test('what the client had set in it is set again, and the client is told', async ({ stage }) => {
  const agents = two(stage);
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd, 'beta');
  await set(before, id, 'model', 'beta-large');
  await before.call('session/set_mode', { sessionId: id, modeId: 'code' });
  await before.close();
  forget(agents);
  const client = await stage.connect(agents);
  await load(client, id, stage.cwd);
  await prompt(client, id, 'hello');
  const { nativeId } = JSON.parse(readFileSync(path.join(stage.state, 'sessions.jsonl'), 'utf8').trim().split('\n').at(-1) as string);
  expect(agents[1].all('session/set_config_option').at(-1)?.msg.params).toEqual({
    sessionId: nativeId,
    configId: 'model',
    value: 'beta-large',
  });
  expect(agents[1].all('session/set_mode').at(-1)?.msg.params).toEqual({ sessionId: nativeId, modeId: 'code' });
  expect(values(client.updates(id, 'config_option_update').at(-1).configOptions).model).toBe('beta-large');
  expect(client.updates(id, 'current_mode_update')).toMatchObject([{ currentModeId: 'code' }]);
});

for (const transcripts of [true, false])
  test(`a session that has begun is never opened anew: the agent’s refusal passes (transcripts: ${transcripts})`, async ({ stage }) => {
    const agents = two(stage);
    const config = { store: { transcripts } };
    const before = await stage.connect(agents, { config });
    const { id } = await open(before, stage.cwd);
    await prompt(before, id, 'hello');
    await before.close();
    forget(agents);
    const client = await stage.connect(agents, { config });
    for (const method of ['session/load', 'session/resume'])
      expect((await load(client, id, stage.cwd, method)).error.message, method).toContain('Resource not found');
    expect(agents[0].all('session/new')).toHaveLength(1);
  });

test('nor is one that was prompted without a load, in a process that did not open it', async ({ stage }) => {
  const agents = two(stage);
  const config = { store: { transcripts: false } };
  const before = await stage.connect(agents, { config });
  const { id } = await open(before, stage.cwd);
  await before.close();
  const second = await stage.connect(agents, { config });
  await prompt(second, id, 'hello');
  await second.close();
  forget(agents);
  const third = await stage.connect(agents, { config });
  expect((await load(third, id, stage.cwd)).error.message).toContain('Resource not found');
});

// Seeds 700000499, 880002595 and 880008773 of the simulator.
test('nor is one that the client has closed, in this process and in the next', async ({ stage }) => {
  const agents = two(stage);
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd);
  await before.call('session/close', { sessionId: id });
  forget(agents);
  expect((await load(before, id, stage.cwd)).error.message).toContain('Resource not found');
  await before.close();
  const next = await stage.connect(agents);
  expect((await load(next, id, stage.cwd)).error.message).toContain('Resource not found');
  expect(agents[0].all('session/new')).toHaveLength(1);
});

test('if the agent cannot open another session either, its first refusal passes; one for want of a login passes at once', async ({
  stage,
}) => {
  const agents = two(stage);
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd);
  await before.close();
  forget(agents);
  const [alpha] = agents;
  alpha.on('session/new', () => {
    throw new Refusal(-32603, 'full');
  });
  const client = await stage.connect(agents);
  expect((await load(client, id, stage.cwd)).error.message).toContain('Resource not found');
  for (const method of ['session/load', 'session/resume'])
    alpha.on(method, () => {
      throw new Refusal(-32000, 'log in first');
    });
  const tries = alpha.all('session/new').length;
  expect((await load(client, id, stage.cwd)).error).toMatchObject({ code: -32000, message: 'log in first' });
  expect(alpha.all('session/new')).toHaveLength(tries);
});

test('with one agent the refusal passes: the proxy adds nothing', async ({ stage }) => {
  const [alpha] = two(stage);
  const before = await stage.connect([alpha]);
  const { id } = await open(before, stage.cwd);
  await before.close();
  forget([alpha]);
  const client = await stage.connect([alpha]);
  expect((await load(client, id, stage.cwd)).error.message).toContain('Resource not found');
});
