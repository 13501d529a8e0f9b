// Sessions that are being opened, loaded, moved, recovered or closed: each keeps its id and its order, and no frame waits without end.
import { describe, expect } from 'vitest';
import { type Client, type Json, open, prompt, type ScriptedAgent, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';

const chunk = (message: string): Json => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: message } });
const end = { stopReason: 'end_turn' };
const known = (agent: ScriptedAgent, id: string) =>
  agent.sessions.set(id, { id, cwd: '/old', model: `${agent.name}-small`, mode: '', title: '', updatedAt: '' });

/** The agent exits, and the proxy knows: its running turn is answered. */
async function crash(agent: ScriptedAgent, turn: Promise<Json>): Promise<void> {
  agent.exit();
  expect((await turn).error).toMatchObject({ data: { agent: agent.name } });
}

describe.each(['session/load', 'session/resume'])('while %s of an earlier session takes its time', (method) => {
  test('another agent that issues the same id gets an alias, and prompts reach the right one', async ({ stage }) => {
    const [left, right] = [stage.agent('left', { mint: () => 'same' }), stage.agent('right', { mint: () => 'same' })];
    const before = await stage.connect([left, right]);
    expect((await open(before, stage.cwd, 'left')).id).toBe('same');
    await before.kill();

    const client = await stage.connect([left, right]);
    left.on(method, () => UNANSWERED);
    const load = client.request(method, { sessionId: 'same', cwd: stage.cwd, mcpServers: [] });
    const received = await left.got(method);
    const minted = await open(client, stage.cwd, 'right');
    expect(minted.id).not.toBe('same');
    left.reply(received.msg, {});
    expect((await load).result).toBeDefined();
    expect((await prompt(client, 'same', 'to the left')).result).toEqual(end);
    expect((await prompt(client, minted.id, 'to the right')).result).toEqual(end);
    expect([client.agentText('same'), client.agentText(minted.id)]).toEqual(['left heard to the left', 'right heard to the right']);
  });
});

describe.each([
  ['one agent', false],
  ['two agents', true],
] as const)('with %s', (_, hasOther) => {
  const connect = (stage: Stage, agent: ScriptedAgent): Promise<Client> =>
    stage.connect(hasOther ? [agent, stage.agent('other')] : [agent]);

  test('a request about a session that is being opened passes at once, and updates around it keep their order behind the response', async ({
    stage,
  }) => {
    const agent = stage.agent('agent');
    agent.on('session/new', async () => {
      agent.update('s1', chunk('U1'));
      const received = agent.call('session/request_permission', { sessionId: 's1', toolCall: { toolCallId: 't' }, options: [] });
      agent.update('s1', chunk('U2'));
      await received;
      agent.update('s1', chunk('U3'));
      return { sessionId: 's1' };
    });
    const client = await connect(stage, agent);
    client.on('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
    const session = await open(client, stage.cwd);
    const received = await client.got('session/request_permission');
    const at = async (message: string) => (await client.until((msg) => msg.params?.update?.content?.text === message)).index;
    const order = [received.index, session.index, await at('U1'), await at('U2'), await at('U3')];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(received.msg.params.sessionId).toBe(session.id);
    expect(client.agentText(session.id)).toBe('U1U2U3');
  });

  test('the same when the response does not wait for the request', async ({ stage }) => {
    const agent = stage.agent('agent');
    agent.on('session/new', () => {
      agent.update('s1', chunk('U1'));
      void agent.request('session/request_permission', { sessionId: 's1', toolCall: { toolCallId: 't' }, options: [] });
      agent.update('s1', chunk('U2'));
      return { sessionId: 's1' };
    });
    const client = await connect(stage, agent);
    const session = await open(client, stage.cwd);
    await client.until((msg) => msg.params?.update?.content?.text === 'U2');
    const texts = client.seen.flatMap(({ msg, index }) => {
      if (index === session.index) return ['answer'];
      return msg.method === 'session/request_permission' ? ['question'] : (msg.params?.update?.content?.text ?? []);
    });
    expect(texts.slice(texts.indexOf('question'))).toEqual(['question', 'answer', 'U1', 'U2']);
  });

  test('a session whose recovery hangs can be closed at once, which ends the prompt that waits for it', async ({ stage }) => {
    const agent = stage.agent('agent', { turn: () => UNANSWERED });
    const client = await connect(stage, agent); // an agent may take 30 s, longer than any test waits
    const { id: sessionId } = await open(client, stage.cwd);
    const turn = prompt(client, sessionId, 'and crash');
    await agent.got('session/prompt');
    await crash(agent, turn);
    agent.on('session/resume', () => UNANSWERED);
    const waiting = prompt(client, sessionId, 'again');
    await agent.got('session/resume');
    expect(await client.call('session/close', { sessionId })).toEqual({});
    expect((await waiting).result).toEqual({ stopReason: 'cancelled' });
    expect(agent.all('session/prompt')).toHaveLength(1);
  });

  test('session/close answers the request that the agent waits for before it closes', async ({ stage }) => {
    const agent = stage.agent('agent');
    let outcome: Promise<Json> | undefined;
    agent.on('session/prompt', async ({ sessionId }) => {
      outcome = agent.call('session/request_permission', { sessionId, toolCall: { toolCallId: 't' }, options: [] });
      await outcome;
      return { stopReason: 'cancelled' };
    });
    agent.on('session/close', async () => {
      await outcome;
    });
    const client = await connect(stage, agent);
    const { id: sessionId } = await open(client, stage.cwd);
    const turn = prompt(client, sessionId, 'ask');
    await client.got('session/request_permission');
    expect(await client.call('session/close', { sessionId })).toEqual({});
    expect(await outcome).toEqual({ outcome: { outcome: 'cancelled' } });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  });
});

test('a session whose agent dies while it is being moved arrives at the other, and its prompts run there', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha', { turn: () => UNANSWERED }), stage.agent('beta')];
  beta.on('session/new', () => UNANSWERED);
  const client = await stage.connect([alpha, beta]);
  const [moving, busy] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const turn = prompt(client, busy.id, 'and crash');
  await alpha.got('session/prompt');
  const moved = client.request('session/set_config_option', { sessionId: moving.id, configId: 'agent', value: 'beta' });
  const behind = prompt(client, moving.id, 'one');
  const received = await beta.got('session/new');
  await crash(alpha, turn);
  known(beta, 'b');
  beta.reply(received.msg, { sessionId: 'b' });
  expect((await moved).result?.configOptions[0]).toMatchObject({ id: 'agent', currentValue: 'beta' });
  expect((await behind).result).toEqual(end);
  expect((await prompt(client, moving.id, 'two')).result).toEqual(end);
  expect(client.agentText(moving.id)).toBe('beta heard onebeta heard two');
  expect(beta.all('session/resume')).toEqual([]);
  expect(alpha.pids).toHaveLength(1);
});

describe("a session that only an agent's session/list knows", () => {
  test('is loaded before a prompt sent right behind the load', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    known(right, 'X');
    right.on('session/load', () => UNANSWERED);
    const client = await stage.connect([left, right]);
    const load = client.request('session/load', { sessionId: 'X', cwd: '/old', mcpServers: [] });
    const turn = prompt(client, 'X', 'behind the load');
    const received = await right.got('session/load');
    // By now the agents have answered all earlier requests.
    for (const agent of [left, right]) await prompt(client, (await open(client, stage.cwd, agent.name)).id, 'meanwhile');
    expect(right.all('session/prompt', ({ sessionId }) => sessionId === 'X')).toEqual([]);
    right.reply(received.msg, {});
    const [loaded, ended] = await Promise.all([load, turn]);
    expect(loaded.result).toBeDefined();
    expect(ended.result).toEqual(end);
    expect(client.place(loaded)).toBeLessThan(client.place(ended));
    expect(client.agentText('X')).toBe('right heard behind the load');
  });

  test('is loaded once for each load request, one after the other', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    known(right, 'X');
    const client = await stage.connect([left, right]);
    const params = { sessionId: 'X', cwd: '/old', mcpServers: [] };
    const answers = await Promise.all([client.request('session/load', params), client.request('session/load', params)]);
    for (const { result } of answers) expect(result).toBeDefined();
    expect(right.all('session/load')).toHaveLength(2);
    expect((await prompt(client, 'X', 'hello')).result).toEqual(end);
  });
});

test('agents that cannot start are skipped when an unknown session is loaded', async ({ stage }) => {
  const capabilities = { loadSession: true };
  const [broken, missing, works] = ['broken', 'missing', 'works'].map((name) => stage.agent(name, { capabilities })) as [
    ScriptedAgent,
    ScriptedAgent,
    ScriptedAgent,
  ];
  const config = { default_agent: 'works' };
  const before = await stage.connect([broken, missing, works], { config });
  await before.close(); // their capabilities are known from now on
  for (const agent of [broken, missing])
    agent.on('initialize', () => {
      agent.exit();
      return UNANSWERED;
    });
  known(works, 'foreign');
  const client = await stage.connect([broken, missing, works], { config });
  const { result } = await client.request('session/load', { sessionId: 'foreign', cwd: '/old', mcpServers: [] });
  expect(result?.configOptions[0]).toMatchObject({ id: 'agent', currentValue: 'works' });
  expect(client.agentText('foreign')).toBe('replay of foreign by works');
  expect((await prompt(client, 'foreign', 'hello')).result).toEqual(end);
  expect([broken, missing].map(({ pids }) => pids.length)).toEqual([2, 2]);
});
