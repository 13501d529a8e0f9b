// A killed proxy leaves only its records; the next one still finds every session's agent.
import { appendFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, vi } from 'vitest';
import { createSessionStore } from '../../src/store/sessions/session-store.ts';
import { type Client, choosing, type Json, open, prompt, Refusal, type ScriptedAgent, type Stage, testAtOnce as test } from './harness.ts';
import { ALL_CAPABILITIES } from './scripted-agent.ts';

const sameIds = (stage: Stage) => [stage.agent('left', { mint: (n) => `s${n}` }), stage.agent('right', { mint: (n) => `s${n}` })] as const;
const bringBack = (client: Client, method: string, sessionId: string, cwd: string): Promise<Json> =>
  client.request(method, { sessionId, cwd, mcpServers: [] });
const count = (agents: readonly ScriptedAgent[], method: string) => agents.map((agent) => agent.all(method).length);

/** One session per agent, both with the native id s1, made by a proxy that was killed. */
async function afterKill(stage: Stage) {
  const agents = sameIds(stage);
  const before = await stage.connect(agents);
  const ids = [(await open(before, stage.cwd, 'left')).id, (await open(before, stage.cwd, 'right')).id] as const;
  await before.kill();
  return { agents, ids, client: await stage.connect(agents) };
}

describe('after a SIGKILL', () => {
  test('every request for a session reaches the agent that owns it, with its native id', async ({ stage }) => {
    const agents = sameIds(stage);
    const before = await stage.connect(agents);
    const methods = ['load', 'resume', 'fork', 'close', 'delete', 'prompt', 'set_mode'].map((name) => `session/${name}`);
    const ids: string[][] = [];
    for (const _ of methods) ids.push([(await open(before, stage.cwd, 'left')).id, (await open(before, stage.cwd, 'right')).id]);
    await before.kill();
    const client = await stage.connect(agents);
    for (const [k, method] of methods.entries())
      for (const [n, sessionId] of (ids[k] as string[]).entries()) {
        const params = { sessionId, cwd: stage.cwd, mcpServers: [], modeId: 'code', prompt: [] };
        expect(await client.request(method, params), method).toHaveProperty('result');
        expect(agents.map((agent) => agent.all(method).map(({ msg }) => msg.params.sessionId))).toEqual(
          n === 0 ? [[`s${k + 1}`], []] : [[`s${k + 1}`], [`s${k + 1}`]],
        );
      }
  });

  test('a loaded session continues under its id, and its replay has that id', async ({ stage }) => {
    const { ids, client } = await afterKill(stage);
    await bringBack(client, 'session/load', ids[1], stage.cwd);
    await prompt(client, ids[1], 'hello');
    expect(client.agentText(ids[1])).toBe('replay of s1 by rightright heard hello');
  });

  test('a session that had moved to another agent is found there', async ({ stage }) => {
    const [left, right] = sameIds(stage);
    const before = await stage.connect([left, right]);
    const { id } = await open(before, stage.cwd, 'left');
    await before.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'right' });
    await before.kill();
    const client = await stage.connect([left, right]);
    await bringBack(client, 'session/load', id, stage.cwd);
    expect(client.agentText(id)).toBe('replay of s1 by right');
    expect(left.all('session/load')).toEqual([]);
  });

  test('a session list of mostly outdated lines is compacted, with the same content', async ({ stage }) => {
    const file = path.join(stage.state, 'sessions.jsonl');
    const agents = sameIds(stage);
    const before = await stage.connect(agents);
    const { id } = await open(before, stage.cwd, 'right');
    await before.kill();
    const lines = Array.from({ length: 500 }, (_, n) => ({
      sessionId: `old-${n % 50}`,
      agent: 'left',
      nativeId: `old-${n % 50}`,
      at: `${n}`,
    }));
    appendFileSync(file, lines.map((line) => `${JSON.stringify({ ...line, cwd: `/${'x'.repeat(200)}` })}\n`).join(''));
    const bytes = statSync(file).size;
    const client = await stage.connect(agents);
    await vi.waitFor(() => expect(statSync(file).size).toBeLessThan(bytes / 5), { timeout: 20_000 });
    await bringBack(client, 'session/load', id, stage.cwd);
    expect(client.agentText(id)).toBe('replay of s1 by right');
    const { id: another } = await open(client, stage.cwd, 'left');
    await client.close();
    const known = createSessionStore(stage.state, (error) => expect.unreachable(String(error))).records();
    expect([known.size, known.get('old-0')?.created, known.get('old-49')?.at, known.has(another)]).toEqual([52, '0', '499', true]);
  });

  test('an unfinished line of the killed process spoils neither earlier nor later sessions', async ({ stage }) => {
    const { agents, ids, client: first } = await afterKill(stage);
    await first.close();
    appendFileSync(path.join(stage.state, 'sessions.jsonl'), '{"sessionId":"torn","agent":"le');
    const second = await stage.connect(agents);
    const behind = await open(second, stage.cwd, 'right');
    await second.kill();
    const third = await stage.connect(agents);
    for (const id of [ids[1], behind.id]) {
      await bringBack(third, 'session/load', id, stage.cwd);
      expect(third.agentText(id)).toMatch(/by right$/);
    }
  });

  test('a session of an agent that is no longer configured is -32002, with its id and the agent’s name', async ({ stage }) => {
    const { agents, ids } = await afterKill(stage);
    const client = await stage.connect([agents[0], stage.agent('third')]);
    const { error } = await bringBack(client, 'session/load', ids[1], stage.cwd);
    expect(error).toMatchObject({ code: -32002, message: expect.stringContaining('right'), data: { sessionId: ids[1] } });
  });

  test('with --agent, an alias from a time with several agents still names the session', async ({ stage }) => {
    const { agents, ids } = await afterKill(stage);
    const client = await stage.connect(agents, { args: ['--agent', 'right'] });
    await bringBack(client, 'session/load', ids[1], stage.cwd);
    expect((await agents[1].got('session/load')).msg.params.sessionId).toBe('s1');
    expect(client.agentText(ids[1])).toBe('replay of s1 by right');
  });
});

test('a native id that is issued again is another session, and those of the earlier process keep their ids', async ({ stage }) => {
  const { agents, ids, client } = await afterKill(stage);
  const [left, right] = agents;
  for (const agent of agents) {
    agent.sessions.clear();
    agent.on('session/new', () => {
      agent.sessions.set('s1', { id: 's1', cwd: '/', model: '', mode: '', title: '', updatedAt: '' });
      return { sessionId: 's1' };
    });
  }
  const mine = await open(client, stage.cwd, 'right');
  const other = await open(client, stage.cwd, 'left');
  expect(new Set([...ids, mine.id, other.id]).size).toBe(4);
  await prompt(client, mine.id, 'hello');
  await prompt(client, other.id, 'hello');
  expect([client.agentText(mine.id), client.agentText(other.id)]).toEqual(['right heard hello', 'left heard hello']);
  expect(count([left, right], 'session/prompt')).toEqual([1, 1]);
});

test('two proxies at once: a session that one opens can be routed by the other at once', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const first = await stage.connect([left, right]);
  await open(first, stage.cwd, 'left');
  // The second proxy starts its own processes, played by scripted agents of the same names.
  const second = await stage.connect([stage.agent('left'), stage.agent('right', { mint: () => 'of the second' })]);
  const { id } = await open(second, stage.cwd, 'right');
  await bringBack(first, 'session/load', id, stage.cwd);
  expect(count([left, right], 'session/load')).toEqual([0, 1]);
  expect(count([left, right], 'session/list')).toEqual([0, 0]);
});

test('the records are readable only by their owner', async ({ stage }) => {
  const client = await stage.connect(sameIds(stage));
  await open(client, stage.cwd);
  for (const file of ['sessions.jsonl', 'capabilities.json']) expect(statSync(path.join(stage.state, file)).mode & 0o777, file).toBe(0o600);
});

test('a closed session can be loaded again under its id', async ({ stage }) => {
  const { agents, ids, client } = await afterKill(stage);
  for (const sessionId of ids) {
    await bringBack(client, 'session/load', sessionId, stage.cwd);
    await client.call('session/close', { sessionId });
  }
  for (const [n, sessionId] of ids.entries()) {
    await bringBack(client, 'session/load', sessionId, stage.cwd);
    await prompt(client, sessionId, 'hello');
    const { name } = agents[n] as ScriptedAgent;
    expect(client.agentText(sessionId)).toBe(`replay of s1 by ${name}replay of s1 by ${name}${name} heard hello`);
  }
});

describe('an unknown session', () => {
  const known = (agent: ScriptedAgent, id: string) =>
    agent.sessions.set(id, { id, cwd: '/old', model: `${agent.name}-small`, mode: '', title: '', updatedAt: '' });

  test('is looked up at the agents that list, page by page', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    const methods = ['session/load', 'session/resume', 'session/prompt', 'session/fork'];
    for (const method of methods) known(right, `for ${method}`);
    right.on('session/list', ({ cursor }) =>
      cursor === 'more'
        ? { sessions: methods.map((method) => ({ sessionId: `for ${method}`, cwd: '/old' })) }
        : { sessions: [], nextCursor: 'more' },
    );
    const client = await stage.connect([left, right]);
    for (const method of methods) {
      const params = { sessionId: `for ${method}`, cwd: '/old', mcpServers: [], prompt: [] };
      expect(await client.request(method, params), method).toHaveProperty('result');
      expect((await right.got(method)).msg.params.sessionId).toBe(`for ${method}`);
      expect(left.all(method)).toEqual([]);
    }
  });

  test('is tried at agents that can load but not list, one after the other, and remembered', async ({ stage }) => {
    const capabilities = { loadSession: true };
    const agents = ['one', 'two', 'three'].map((name) => stage.agent(name, { capabilities }));
    const [one, two, three] = agents as [ScriptedAgent, ScriptedAgent, ScriptedAgent];
    known(two, 'foreign');
    const before = await stage.connect(agents);
    const { result } = await bringBack(before, 'session/load', 'foreign', '/old');
    expect(result.configOptions[0]).toMatchObject({ currentValue: 'two', options: [{ value: 'two' }] });
    expect(before.agentText('foreign')).toBe('replay of foreign by two');
    expect(count([one, two, three], 'session/load')).toEqual([1, 1, 0]);
    await before.kill();
    const client = await stage.connect(agents);
    await bringBack(client, 'session/load', 'foreign', '/old');
    expect(count([one, two, three], 'session/load')).toEqual([1, 2, 0]);
  });

  test('that two agents have is -32602, with its id and both names', async ({ stage }) => {
    const agents = [stage.agent('left'), stage.agent('right')];
    for (const agent of agents) known(agent, 'both');
    const client = await stage.connect(agents);
    for (const method of ['session/load', 'session/prompt']) {
      const error = await client.refused(method, { sessionId: 'both', cwd: '/old', mcpServers: [], prompt: [] });
      expect(error).toMatchObject({ code: -32602, data: { sessionId: 'both' } });
      for (const name of ['left', 'right']) expect(error.message).toContain(name);
    }
  });

  test('that no agent has is -32002 with its id, for every method', async ({ stage }) => {
    const client = await stage.connect([stage.agent('lists'), stage.agent('loads', { capabilities: { loadSession: true } })]);
    for (const method of [
      'session/load',
      'session/resume',
      'session/prompt',
      'session/fork',
      'session/set_mode',
      'session/set_config_option',
      '_x/do',
    ])
      expect(await client.refused(method, { sessionId: 'nope', cwd: '/', mcpServers: [], prompt: [] }), method).toMatchObject({
        code: -32002,
        data: { sessionId: 'nope' },
      });
    expect((await open(client, stage.cwd)).id).toBe('lists-1');
  });

  test('an agent that fails to list does not hide the sessions of others', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    left.on('session/list', () => {
      throw new Refusal(-32603, 'no');
    });
    known(right, 'foreign');
    const client = await stage.connect([left, right]);
    await bringBack(client, 'session/load', 'foreign', '/old');
    expect(client.agentText('foreign')).toBe('replay of foreign by right');
  });
});

describe('an agent that lacks a capability', () => {
  test('resumes by a load whose replay is withheld', async ({ stage }) => {
    const loads = stage.agent('loads', { capabilities: { ...ALL_CAPABILITIES, sessionCapabilities: { list: {} } } });
    const client = await stage.connect([loads, stage.agent('other')]);
    const { id: sessionId } = await open(client, stage.cwd);
    const result = await client.call('session/resume', { sessionId, cwd: stage.cwd, mcpServers: [], _meta: { one: 1 } });
    expect(result.configOptions[0]).toMatchObject({ id: 'agent', currentValue: 'loads' });
    expect((await loads.got('session/load')).msg.params).toEqual({ sessionId, cwd: stage.cwd, mcpServers: [], _meta: { one: 1 } });
    await prompt(client, sessionId, 'hello');
    expect(client.agentText(sessionId)).toBe('loads heard hello');
  });

  test('neither loads nor resumes a session that has begun, without its transcript: -32602 with the session and the agent', async ({
    stage,
  }) => {
    const agents = [stage.agent('plain', { capabilities: {} }), stage.agent('other')];
    const config = { store: { transcripts: false } };
    const before = await stage.connect(agents, { config });
    const { id: sessionId } = await open(before, stage.cwd);
    await prompt(before, sessionId, 'hello');
    await before.kill();
    const client = await stage.connect(agents, { config });
    for (const method of ['session/load', 'session/resume'])
      expect(await client.refused(method, { sessionId, cwd: stage.cwd, mcpServers: [] })).toMatchObject({
        code: -32602,
        message: expect.stringContaining('plain'),
        data: { sessionId, agent: 'plain' },
      });
  });

  test('deletes by hiding: the session is no longer listed, by this process or the next', async ({ stage }) => {
    const plain = stage.agent('plain', { capabilities: { sessionCapabilities: { list: {} } } });
    const agents = [plain, stage.agent('other')];
    const before = await stage.connect(agents);
    const { id: sessionId } = await open(before, stage.cwd);
    const ids = async (client: Client) => (await client.call('session/list', {})).sessions.map((one: Json) => one.sessionId);
    expect(await ids(before)).toEqual([sessionId]);
    expect(await before.call('session/delete', { sessionId })).toEqual({});
    expect(plain.all('session/delete')).toEqual([]);
    expect(await ids(before)).toEqual([]);
    await before.kill();
    expect(await ids(await stage.connect(agents))).toEqual([]);
  });
});

test('an agent chosen in _meta need not be chosen again in a new process: the record is enough', async ({ stage }) => {
  const { agents, ids, client } = await afterKill(stage);
  await client.call('session/load', { sessionId: ids[0], cwd: stage.cwd, mcpServers: [], ...choosing('right') });
  expect(count(agents, 'session/load')).toEqual([1, 0]);
  expect(count(agents, 'session/list')).toEqual([0, 0]);
});
