// Modes, servers, forms, and unannounced actions of agents, under a policy.
import { describe, expect } from 'vitest';
import { noticed } from '../faults/setup.ts';
import { type Json, open, prompt, Refusal, type Stage, testAtOnce as test } from './harness.ts';
import { audit, execution, OPTIONS, selected, underPolicy } from './policy-support.ts';

const MODES = ['plan', 'default', 'yolo'];
const modes = (currentModeId: string): Json => ({
  currentModeId,
  availableModes: MODES.map((id) => ({ id, name: id, description: `the ${id} mode` })),
});
const option = (currentValue: string): Json => ({
  id: 'approval',
  name: 'Approval',
  category: 'mode',
  type: 'select',
  currentValue,
  options: MODES.map((value) => ({ value, name: value })),
});
const POLICY = { agents: { '*': { mode: { refuse: ['yolo'] } } } };

/** With an agent that has its modes in one of the two forms. */
function agentWith(stage: Stage, describe: Json, turn?: (id: string) => unknown) {
  const agent = stage.agent('agent', { describe: () => describe, ...(turn && { turn: ({ id }) => turn(id) }) });
  agent.on('session/set_mode', () => ({}));
  agent.on('session/set_config_option', ({ value }: Json) => ({ configOptions: [option(value)] }));
  return agent;
}

describe('a refused mode', () => {
  test('is not offered, in either form, and the rest is as the agent wrote it', async ({ stage }) => {
    const agent = agentWith(stage, { modes: modes('default'), configOptions: [option('default')] });
    const { client } = await underPolicy(stage, POLICY, {}, agent);
    const { result } = await open(client, stage.cwd);
    expect(result.modes).toEqual({ ...modes('default'), availableModes: modes('').availableModes.slice(0, 2) });
    expect(result.configOptions).toEqual([{ ...option('default'), options: option('').options.slice(0, 2) }]);
  });

  test('cannot be set, while others can', async ({ stage }) => {
    const agent = agentWith(stage, { modes: modes('default'), configOptions: [option('default')] });
    const { client, id } = await underPolicy(stage, POLICY, {}, agent);
    expect((await client.request('session/set_mode', { sessionId: id, modeId: 'yolo' })).error.message).toContain(
      'Mode "yolo" of agent "agent" is not allowed',
    );
    expect((await client.request('session/set_config_option', { sessionId: id, configId: 'approval', value: 'yolo' })).error.code).toBe(
      -32602,
    );
    expect((await client.request('session/set_mode', { sessionId: id, modeId: 'plan' })).result).toEqual({});
    expect(
      (await client.request('session/set_config_option', { sessionId: id, configId: 'approval', value: 'plan' })).result.configOptions[0]
        .options,
    ).toHaveLength(2);
    expect((await client.request('session/set_config_option', { sessionId: id, configId: 'model', value: 'yolo' })).result).toBeDefined();
    expect(agent.all('session/set_mode')).toHaveLength(1);
  });

  test('is not an option of a permission request either', async ({ stage }) => {
    const { client, agent, id } = await underPolicy(stage, POLICY, {}, agentWith(stage, { modes: modes('plan') }));
    const options = [{ optionId: 'yolo', name: 'Yes, and do not ask again', kind: 'allow_always' }, ...OPTIONS];
    await agent.call('session/request_permission', execution(id, 'make', { options }));
    expect((await client.got('session/request_permission')).msg.params.options).toEqual(OPTIONS);
    client.on('session/request_permission', () => selected('yolo'));
    expect(await agent.call('session/request_permission', execution(id, 'make', { options }))).toEqual({
      outcome: { outcome: 'cancelled' },
    });
  });

  test.for([
    ['session/set_mode', { modes: modes('yolo') }, { modeId: 'plan' }],
    ['session/set_config_option', { configOptions: [option('yolo')] }, { configId: 'approval', value: 'plan' }],
  ] as const)('that an agent starts in is left by %s before the client sees the session', async ([method, describe, params], { stage }) => {
    const agent = agentWith(stage, describe);
    const { client } = await underPolicy(stage, { agents: { agent: { mode: { pin: ['plan'] } } } }, {}, agent);
    expect((await agent.got(method)).msg.params).toEqual({ sessionId: 'agent-1', ...params });
    const { result } = await open(client, stage.cwd);
    expect(JSON.stringify(result)).not.toContain('yolo');
    expect(result.modes?.currentModeId ?? result.configOptions[0].currentValue).toBe('plan');
    await noticed(client, 'it was set to "plan"');
  });

  test('that an agent cannot leave makes the session fail', async ({ stage }) => {
    const agent = agentWith(stage, { modes: modes('yolo') });
    const client = await stage.connect([agent], { config: { policy: { version: 1, agents: { agent: { mode: { pin: ['other'] } } } } } });
    const answer = await client.request('session/new', { cwd: stage.cwd, mcpServers: [] });
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('no mode that the policy names') });
    await agent.got('session/close');
  });

  test('leaves nothing of the failed session, though its agent continues and the client may guess its id: with one agent too', async ({
    stage,
  }) => {
    const agent = agentWith(stage, { modes: modes('yolo') });
    agent.on('_x/steer', () => ({}));
    const client = await stage.connect([agent], { config: { policy: { version: 1, agents: { agent: { mode: { pin: ['other'] } } } } } });
    await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    const id = 'agent-1';
    agent.sendText(id, 'I go on');
    for (const [method, params] of [
      ['session/request_permission', execution(id, 'make')],
      ['fs/read_text_file', { sessionId: id, path: `${stage.cwd}/x` }],
      ['elicitation/create', { sessionId: id, mode: 'form', message: 'm', requestedSchema: {} }],
    ] as const)
      expect((await agent.refused(method, params)).code).toBe(-32002);
    expect(client.seen.filter(({ line }) => line.includes(id))).toEqual([]);

    const refused = [await prompt(client, id, 'go'), await client.request('_x/steer', { sessionId: id })];
    refused.push(await client.request('session/set_mode', { sessionId: id, modeId: 'other' }));
    for (const { error } of refused) expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('Mode "yolo"') });
    client.notify('_x/steer', { sessionId: id });
    await client.call('session/list', {});
    for (const method of ['session/prompt', '_x/steer', 'session/set_mode']) expect(agent.all(method)).toEqual([]);
    expect(audit(stage)).toMatchObject([{ method: 'session/new', verdict: 'deny', option: 'refused' }]);
  });

  test.for([1, 2])('that a session is loaded in blocks it until it is loaded in another: with %i agent(s)', async (count, { stage }) => {
    let current = 'plan';
    const agent = stage.agent('one', { describe: () => ({ modes: modes(current) }) });
    const others = count > 1 ? [stage.agent('two')] : [];
    agent.on('session/set_mode', () => {
      throw new Refusal(-32603, 'not now');
    });
    const client = await stage.connect([agent, ...others], { config: { policy: { version: 1, ...POLICY } } });
    const { id } = await open(client, stage.cwd, 'one');
    await prompt(client, id, 'first');
    current = 'yolo';
    const load = () => client.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
    expect((await load()).error.message).toContain('Mode "yolo"');
    expect((await prompt(client, id, 'second')).error.message).toContain('Mode "yolo"');
    expect(agent.all('session/prompt')).toHaveLength(1);
    current = 'default';
    expect((await load()).result).toBeDefined();
    expect((await prompt(client, id, 'third')).result).toEqual({ stopReason: 'end_turn' });
  });

  test.for([1, 2])(
    'is left in vain for a session that is cancelled meanwhile: it is closed at its agent, and the client does not see it: with %i agent(s)',
    async (count, { stage }) => {
      const agent = stage.agent('one', { describe: () => ({ modes: modes('yolo') }) });
      const others = count > 1 ? [stage.agent('two')] : [];
      let isMoved = () => {};
      agent.on('session/set_mode', () => new Promise((resolve) => (isMoved = () => resolve({}))));
      const client = await stage.connect([agent, ...others], { config: { policy: { version: 1, ...POLICY } } });
      const opening = client.request('session/new', { cwd: stage.cwd, mcpServers: [] }, 'to-cancel');
      const { sessionId } = (await agent.got('session/set_mode')).msg.params;
      client.notify('$/cancel_request', { requestId: 'to-cancel' });
      expect((await opening).error.code).toBe(-32800);
      isMoved();
      expect((await agent.got('session/close')).msg.params).toEqual({ sessionId });
      await client.call('session/list', {});
      expect(client.all('session/update')).toEqual([]);
    },
  );

  test('is left behind a resume that is a load for its agent: updates meanwhile are no replay, and pass', async ({ stage }) => {
    const agent = stage.agent('one', { capabilities: { loadSession: true }, describe: () => ({ modes: modes('default') }) });
    let isMoved = () => {};
    agent.on('session/load', () => ({ modes: modes('yolo') }));
    agent.on('session/set_mode', () => new Promise((resolve) => (isMoved = () => resolve({}))));
    const client = await stage.connect([agent, stage.agent('two')], { config: { policy: { version: 1, ...POLICY } } });
    const { id } = await open(client, stage.cwd, 'one');
    const resume = client.request('session/resume', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
    await agent.got('session/set_mode');
    agent.update(id, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'news' } });
    isMoved();
    expect((await resume).error).toBeUndefined();
    expect(client.agentText(id)).toBe('news');
  });

  test('that an agent enters by itself is reported and logged', async ({ stage }) => {
    const { client, agent, id } = await underPolicy(stage, POLICY, {}, agentWith(stage, { modes: modes('plan') }));
    agent.update(id, { sessionUpdate: 'current_mode_update', currentModeId: 'yolo' });
    await client.until((msg) => JSON.stringify(msg).includes('went to mode'));
    expect(audit(stage)).toMatchObject([{ method: 'current_mode_update', verdict: 'deny', option: 'notify' }]);
  });

  test('with several agents, is not in the list that stands in for their modes', async ({ stage }) => {
    const agent = agentWith(stage, { modes: modes('default') });
    const client = await stage.connect([agent, stage.agent('other')], { config: { policy: { version: 1, ...POLICY } } });
    const { id, result } = await open(client, stage.cwd, 'agent');
    const listed = (options: Json[]) => options.find((entry) => entry.id === 'mode').options.map(({ value }: Json) => value);
    expect(listed(result.configOptions)).toEqual(['plan', 'default']);
    expect((await client.request('session/set_config_option', { sessionId: id, configId: 'mode', value: 'yolo' })).error.code).toBe(-32602);
  });
});

describe('servers that the client brings', () => {
  test.for([
    [{ name: 'evil', command: 'sudo', args: ['x'], env: [] }, /"evil".*deny/],
    [{ name: 'far', type: 'http', url: 'https://evil.example/mcp', headers: [] }, /"far".*deny/],
    [{ name: 'odd', command: ['sudo', 'x'], args: [], env: [] }, /"odd".*cannot be read/],
    [{ name: 'odder', command: 'docs-mcp', args: [{ toString: 'x' }], env: [] }, /"odder".*cannot be read/],
  ] as const)('are refused with the session when the policy denies them: %j', async ([server, message], { stage }) => {
    const { client, agent } = await underPolicy(stage, { deny: ['execute(sudo ...)', 'fetch(evil.example)'] });
    const before = agent.all('session/new').length;
    const answer = await client.request('session/new', { cwd: stage.cwd, mcpServers: [server] });
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    expect(agent.all('session/new')).toHaveLength(before);
    const tame = [{ name: 'tame', command: 'docs-mcp', args: [], env: [] }];
    expect((await client.request('session/new', { cwd: stage.cwd, mcpServers: tame })).result).toBeDefined();
  });
});

describe('a form or a link', () => {
  test.for([
    ['a link to a denied host', { mode: 'url', url: 'https://evil.example/x', message: 'go', elicitationId: 'e1' }],
    [
      'a form that asks for a secret',
      { mode: 'form', message: 'm', requestedSchema: { type: 'object', properties: { api_key: { type: 'string' } } } },
    ],
  ] as const)('is declined: %s', async ([, params], { stage }) => {
    const { client, agent, id } = await underPolicy(stage, { deny: [{ action: 'elicit', host: 'evil.example' }] });
    expect(await agent.call('elicitation/create', { sessionId: id, ...params })).toEqual({ action: 'decline' });
    expect(client.all('elicitation/create')).toEqual([]);
  });

  test('that no rule denies goes to the client', async ({ stage }) => {
    const { client, agent, id } = await underPolicy(stage, { deny: [{ action: 'elicit', host: 'evil.example' }] });
    client.on('elicitation/create', () => ({ action: 'accept', content: { color: 'red' } }));
    const params = {
      sessionId: id,
      mode: 'form',
      message: 'm',
      requestedSchema: { type: 'object', properties: { color: { type: 'string' } } },
    };
    expect(await agent.call('elicitation/create', params)).toMatchObject({ action: 'accept' });
  });
});

describe('an unannounced action', () => {
  const call = (status: string, command = 'sudo ls'): Json => ({
    sessionUpdate: 'tool_call',
    toolCallId: 'unasked',
    title: 'Shell',
    kind: 'execute',
    status,
    rawInput: { command },
  });
  const violating = (stage: Stage, response: string) => {
    const agent = stage.agent('agent', {
      async turn({ id }) {
        agent.update(id, call('completed'));
        await agent.got('session/cancel');
        return { stopReason: 'cancelled' };
      },
    });
    return underPolicy(stage, { deny: ['execute(sudo ...)'], agents: { '*': { on_violation: response } } }, {}, agent);
  };

  test('is reported once and logged', async ({ stage }) => {
    const { client, agent, id } = await underPolicy(stage, { deny: ['execute(sudo ...)'] });
    agent.update(id, call('pending'));
    agent.update(id, call('in_progress'));
    agent.update(id, { ...call('completed'), sessionUpdate: 'tool_call_update' });
    agent.update(id, { ...call('completed'), sessionUpdate: 'tool_call_update' });
    agent.update(id, { ...call('in_progress', 'ls'), toolCallId: 'tame' });
    agent.sendText(id, 'over');
    await client.until((msg) => msg.params?.update?.content?.text === 'over');
    const messages = client.updates(id).filter((update) => JSON.stringify(update).includes('without asking'));
    expect(messages).toHaveLength(1);
    expect(audit(stage)).toMatchObject([{ method: 'tool_call', verdict: 'deny', option: 'notify' }]);
  });

  test('is not one when it was asked about and answered', async ({ stage }) => {
    const { client, agent, id } = await underPolicy(stage, { deny: ['execute(sudo ...)'] });
    const request = execution(id, 'sudo ls');
    await agent.call('session/request_permission', request);
    agent.update(id, { ...call('failed'), toolCallId: request.toolCall.toolCallId });
    agent.sendText(id, 'over');
    await client.until((msg) => msg.params?.update?.content?.text === 'over');
    expect(audit(stage)).toHaveLength(1);
  });

  test('ends the turn, if the policy says cancel', async ({ stage }) => {
    const { client, id } = await violating(stage, 'cancel');
    expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'cancelled' });
  });

  test('ends the agent, if the policy says kill', async ({ stage }) => {
    const { client, id } = await violating(stage, 'kill');
    expect((await prompt(client, id, 'go')).error).toMatchObject({ code: -32603, data: { agent: 'agent' } });
  });
});
