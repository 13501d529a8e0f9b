// Frames of one session keep their order in each direction, and a wait holds only that session.
import { describe, expect } from 'vitest';
import { type Client, type Json, open, prompt, type ScriptedAgent, type Stage, testAtOnce as test, text, UNANSWERED } from './harness.ts';

const chunk = (message: string): Json => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: message } });
const hasText = (message: string) => (msg: Json) => msg.params?.update?.content?.text === message;

describe.each([
  ['one agent', false],
  ['two agents whose session ids clash', true],
] as const)('with %s', (_, hasOther) => {
  async function connect(stage: Stage): Promise<{ agent: ScriptedAgent; client: Client }> {
    const mint = (n: number) => `s${n}`;
    const agent = stage.agent('agent', { mint });
    if (!hasOther) return { agent, client: await stage.connect([agent]) };
    const other = stage.agent('other', { mint });
    const client = await stage.connect([agent, other]);
    for (let n = 0; n < 3; n++) await open(client, stage.cwd, 'other');
    return { agent, client };
  }

  test('updates of a new session that precede its response reach the client behind that response, in order', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    agent.on('session/new', () => {
      agent.update('s1', chunk('first'));
      agent.notify('_x/note', { sessionId: 's1', n: 'second' });
      agent.update('s1', chunk('third'));
      return { sessionId: 's1' };
    });
    const session = await open(client, stage.cwd);
    const third = await client.until(hasText('third'));
    const behind = client.seen.slice(session.index + 1, third.index + 1).filter(({ line }) => /first|second|third/.test(line));
    expect(behind.map(({ msg }) => [msg.params.sessionId, msg.params.n ?? msg.params.update.content.text])).toEqual([
      [session.id, 'first'],
      [session.id, 'second'],
      [session.id, 'third'],
    ]);
  });

  test('so do updates of a forked session', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const { id: sessionId } = await open(client, stage.cwd);
    agent.on('session/fork', () => {
      agent.update('s2', chunk('early'));
      agent.update('s1', chunk('of the parent')); // already known: it need not wait
      return { sessionId: 's2' };
    });
    const answer = await client.request('session/fork', { sessionId, cwd: stage.cwd });
    const early = await client.until(hasText('early'));
    expect(early.msg.params.sessionId).toBe(answer.result.sessionId);
    expect(early.index).toBeGreaterThan(client.place(answer));
    expect((await client.until(hasText('of the parent'))).index).toBeLessThan(client.place(answer));
  });

  test('sessions opened at once each get their own early updates', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const waiting: Json[] = [];
    agent.on('session/new', (_params, msg) => {
      waiting.push(msg);
      agent.update(`s${waiting.length}`, chunk(`early s${waiting.length}`));
      if (waiting.length === 3)
        for (const [n, request] of [...waiting.entries()].toReversed()) agent.reply(request, { sessionId: `s${n + 1}` });
      return UNANSWERED;
    });
    const sessions = await Promise.all([open(client, stage.cwd), open(client, stage.cwd), open(client, stage.cwd)]);
    for (const [n, { id, index }] of sessions.entries()) {
      const early = await client.until(hasText(`early s${n + 1}`));
      expect(early.msg.params.sessionId).toBe(id);
      expect(early.index).toBeGreaterThan(index);
    }
  });

  test('updates of a session that the agent created itself while another is being opened are not lost', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    agent.on('session/new', () => {
      agent.update('child', chunk('from the child'));
      return { sessionId: 's1' };
    });
    await open(client, stage.cwd);
    expect((await client.until(hasText('from the child'))).msg.params.sessionId).toBe('child');
  });

  test('so do updates of a session with the id of one closed before', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    agent.on('session/new', () => {
      agent.update('again', chunk('early'));
      return { sessionId: 'again' };
    });
    for (let round = 0; round < 2; round++) {
      const session = await open(client, stage.cwd);
      const early = await client.until(hasText('early'), session.index);
      expect(early.msg.params.sessionId).toBe(session.id);
      await client.call('session/close', { sessionId: session.id });
    }
  });

  test('a request about a session that is still being opened reaches the client: the agent may need the answer to open it', async ({
    stage,
  }) => {
    const { agent, client } = await connect(stage);
    client.on('fs/read_text_file', ({ path }) => ({ content: `content of ${path}` }));
    agent.on('session/new', async () => {
      const { content } = await agent.call('fs/read_text_file', { sessionId: 's1', path: '/work/AGENTS.md' });
      return { sessionId: 's1', _meta: { content } };
    });
    expect((await open(client, stage.cwd)).result._meta).toEqual({ content: 'content of /work/AGENTS.md' });
  });

  test('a replay passes at once, ahead of the response to session/load', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const { id: sessionId } = await open(client, stage.cwd);
    agent.on('session/load', () => {
      agent.update('s1', chunk('replayed'));
      return UNANSWERED;
    });
    const load = client.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
    expect((await client.until(hasText('replayed'))).msg.params.sessionId).toBe(sessionId);
    agent.reply((await agent.got('session/load')).msg, {});
    expect((await load).result).toBeDefined();
  });

  test('a prompt sent right behind session/load waits for its response, and other sessions do not', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const [loaded, other] = [await open(client, stage.cwd), await open(client, stage.cwd)];
    agent.on('session/load', () => UNANSWERED);
    const load = client.request('session/load', { sessionId: loaded.id, cwd: stage.cwd, mcpServers: [] });
    const turn = prompt(client, loaded.id, 'behind the load');
    await prompt(client, other.id, 'meanwhile');
    expect(agent.all('session/prompt').map(({ msg }) => msg.params.sessionId)).toEqual(['s2']);
    agent.reply((await agent.got('session/load')).msg, {});
    const [answered, ended] = await Promise.all([load, turn]);
    expect(ended.result).toEqual({ stopReason: 'end_turn' });
    expect(client.place(answered)).toBeLessThan(client.place(ended));
    expect(agent.all('session/prompt')).toHaveLength(2);
  });

  test('a cancel overtakes a load that holds the session, and the prompt that waits behind it is answered cancelled', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const { id: sessionId } = await open(client, stage.cwd);
    agent.on('session/load', () => UNANSWERED);
    void client.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
    const turn = prompt(client, sessionId, 'never mind');
    client.notify('session/cancel', { sessionId });
    expect((await agent.got('session/cancel')).msg.params).toEqual({ sessionId: 's1' });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    agent.reply((await agent.got('session/load')).msg, {});
    await prompt(client, sessionId, 'after all');
    expect(agent.all('session/prompt').map(({ msg }) => msg.params.prompt)).toEqual([text('after all')]);
  });

  test('the response to a prompt never overtakes its 10,000 updates', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const { id } = await open(client, stage.cwd);
    agent.on('session/prompt', () => {
      for (let n = 0; n < 10_000; n++) agent.update('s1', chunk(`${n};`));
      return { stopReason: 'end_turn' };
    });
    const answer = await prompt(client, id, 'flood');
    const updates = client.all('session/update', ({ update }) => update.sessionUpdate === 'agent_message_chunk');
    expect(updates.map(({ msg }) => msg.params.update.content.text).join('')).toBe(
      Array.from({ length: 10_000 }, (_x, n) => `${n};`).join(''),
    );
    expect(updates.at(-1)?.index).toBeLessThan(client.place(answer));
    expect(client.answersTo(answer.id)).toHaveLength(1);
  });

  test('frames from the client for a session arrive in the order they were sent', async ({ stage }) => {
    const { agent, client } = await connect(stage);
    const { id: sessionId } = await open(client, stage.cwd);
    agent.on('_x/n', () => ({}));
    const from = agent.seen.length;
    const received = [];
    for (let n = 0; n < 200; n++) {
      if (n % 3 === 0) received.push(client.call('_x/n', { sessionId, n }));
      else client.notify('_x/n', { sessionId, n });
    }
    await Promise.all(received);
    await agent.got('_x/n', ({ n }) => n === 199);
    expect(agent.seen.slice(from).map(({ msg }) => msg.params.n)).toEqual(Array.from({ length: 200 }, (_x, n) => n));
  });
});

test('updates of a session that moves to an agent come behind the response that moves it', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  beta.on('session/new', () => {
    beta.update('beta-x', chunk('early'));
    beta.update('beta-x', { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'plan', description: 'd' }] });
    return { sessionId: 'beta-x' };
  });
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const answer = await client.request('session/set_config_option', { sessionId: id, configId: 'agent', value: 'beta' });
  const early = await client.until(hasText('early'));
  expect(early.msg.params.sessionId).toBe(id);
  expect(early.index).toBeGreaterThan(client.place(answer));
  const list = await client.until((_, { line }) => line.includes('"plan"'));
  expect(list.msg.params.update.availableCommands).toHaveLength(2);
});

test('an agent that is slow to start delays only its own sessions', async ({ stage }) => {
  const [quick, slow] = [stage.agent('quick'), stage.agent('slow')];
  slow.on('initialize', () => UNANSWERED);
  const client = await stage.connect([quick, slow], { config: { timeouts: { initialize_wait_ms: 50 } } });
  const late = open(client, stage.cwd, 'slow');
  const early = await open(client, stage.cwd, 'quick');
  await prompt(client, early.id, 'hello');
  expect(client.agentText(early.id)).toBe('quick heard hello');
  expect(slow.all('session/new')).toEqual([]);
  slow.reply((await slow.got('initialize')).msg, { protocolVersion: 1 });
  const { id } = await late;
  await prompt(client, id, 'at last');
  expect(client.agentText(id)).toBe('slow heard at last');
});

test('a session that waits for its new agent holds back only its own frames', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  beta.on('session/new', () => UNANSWERED);
  const client = await stage.connect([alpha, beta]);
  const [moving, staying] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const moved = client.request('session/set_config_option', { sessionId: moving.id, configId: 'agent', value: 'beta' });
  const turn = prompt(client, moving.id, 'hello');
  await prompt(client, staying.id, 'meanwhile');
  expect(client.agentText(staying.id)).toBe('alpha heard meanwhile');
  beta.sessions.set('b', { id: 'b', cwd: '/', model: 'beta-small', mode: '', title: '', updatedAt: '' });
  beta.reply((await beta.got('session/new')).msg, { sessionId: 'b' });
  expect((await moved).result.configOptions[0].currentValue).toBe('beta');
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(moving.id)).toBe('beta heard hello');
});

test('a pending request of one session holds back neither that agent’s other sessions nor its own updates', async ({ stage }) => {
  const agent = stage.agent('only');
  agent.on('session/prompt', ({ sessionId }, msg) => {
    if (sessionId === 'only-2') return { stopReason: 'end_turn' };
    void agent.request('session/request_permission', { sessionId, toolCall: { toolCallId: 't' }, options: [] }).then(() => {
      agent.reply(msg, { stopReason: 'end_turn' });
    });
    agent.update(sessionId, chunk('while it is open'));
    return UNANSWERED;
  });
  const client = await stage.connect([agent]);
  const [asking, other] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const turn = prompt(client, asking.id, 'ask');
  const request = await client.got('session/request_permission');
  await client.until(hasText('while it is open'));
  expect((await prompt(client, other.id, 'go')).result).toEqual({ stopReason: 'end_turn' });
  client.reply(request.msg, { outcome: { outcome: 'cancelled' } });
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
});
