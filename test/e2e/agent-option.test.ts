// The `agent` option: present with two or more agents, complete in every list, and able to move a session until it has begun.
import { expect } from 'vitest';
import { type Client, type Json, open, prompt, Refusal, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';
import { ALL_CAPABILITIES } from './scripted-agent.ts';

const set = (client: Client, sessionId: string, configId: string, value: string): Promise<Json> =>
  client.request('session/set_config_option', { sessionId, configId, value });
/** Ids and values of a list. */
const shown = (options: Json): Json => options?.map(({ id, currentValue, options: offered }: Json) => [id, currentValue, offered.length]);

const two = (stage: Stage) => [stage.agent('alpha'), stage.agent('beta', { title: 'Beta the Second' })] as const;

const WITH_ALPHA = [
  ['agent', 'alpha', 2],
  ['model', 'alpha-small', 2],
];
const WITH_BETA = [
  ['agent', 'beta', 2],
  ['model', 'beta-small', 2],
];

test('a new session has the option first, with every agent under its title, then the agent’s own options unchanged', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  alpha.on('session/new', (_, msg) => {
    alpha.line(
      `{"jsonrpc":"2.0","id":${msg.id},"result":{"configOptions":[ {"id":"model","x":1.0,"type":"select","options":[]} ],"sessionId":"a"}}`,
    );
    return UNANSWERED;
  });
  const client = await stage.connect([alpha, beta]);
  const { result, index } = await open(client, stage.cwd);
  expect(result.configOptions[0]).toMatchObject({
    id: 'agent',
    type: 'select',
    category: '_agent',
    currentValue: 'alpha',
    name: expect.any(String),
  });
  expect(result.configOptions[0].options).toEqual([
    { value: 'alpha', name: 'alpha' },
    { value: 'beta', name: 'Beta the Second' },
  ]);
  expect(client.seen[index]?.line).toContain('{"id":"model","x":1.0,"type":"select","options":[]} ],"sessionId":"a"}}');
});

test('setting the option moves the session with all its parameters, and returns the new agent’s complete list', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const given = { mcpServers: [{ name: 'm', command: '/bin/true', args: [], env: [] }], future: [1], additionalDirectories: ['/x'] };
  const session = await open(client, stage.cwd, undefined, given);
  expect(shown(session.result.configOptions)).toEqual(WITH_ALPHA);

  const { result } = await set(client, session.id, 'agent', 'beta');
  expect(shown(result.configOptions)).toEqual(WITH_BETA);
  expect((await beta.got('session/new')).msg.params).toMatchObject({ cwd: stage.cwd, ...given });

  await prompt(client, session.id, 'hello');
  expect(client.agentText(session.id)).toBe('beta heard hello');
  expect((await beta.got('session/prompt')).msg.params.sessionId).toBe('beta-1');
  expect(alpha.all('session/prompt')).toEqual([]);
});

test('the abandoned session is closed and deleted at its agent, and no longer listed, whatever that agent lists', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  alpha.on('session/delete', () => ({})); // but keeps it
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  await set(client, session.id, 'agent', 'beta');
  expect((await alpha.got('session/close')).msg.params).toEqual({ sessionId: 'alpha-1' });
  expect((await alpha.got('session/delete')).msg.params).toEqual({ sessionId: 'alpha-1' });
  const listed = async (from: Client) =>
    (await from.call('session/list', {})).sessions.map((one: Json) => [one.sessionId, one._meta['acp-switchboard'].agent]);
  expect(await listed(client)).toEqual([[session.id, 'beta']]);
  await client.kill();
  expect(await listed(await stage.connect([alpha, beta]))).toEqual([[session.id, 'beta']]);
});

test('a delete abandons a change of agent, and the session is ended at both agents', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  for (const agent of [alpha, beta]) agent.on('session/close', () => ({}));
  alpha.on('session/delete', () => UNANSWERED);
  beta.on('session/new', () => UNANSWERED);
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  const change = set(client, session.id, 'agent', 'beta');
  const opening = await beta.got('session/new');
  const removal = client.request('session/delete', { sessionId: session.id });
  const removing = await alpha.got('session/delete');
  expect((await change).error.code).toBe(-32800);
  beta.reply(opening.msg, { sessionId: 'beta-1' });
  alpha.reply(removing.msg, {});
  expect((await removal).result).toEqual({});
  expect((await beta.got('session/delete')).msg.params).toEqual({ sessionId: 'beta-1' });
  expect((await client.call('session/list', {})).sessions).toEqual([]);
});

test('the client does not see later updates from the agent that the session left', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  await set(client, session.id, 'agent', 'beta');
  const from = client.seen.length;
  alpha.sendText('alpha-1', 'still here');
  await open(client, stage.cwd, 'alpha');
  expect(client.seen.slice(from).filter(({ line }) => line.includes('still here'))).toEqual([]);
});

test('a session may move back and forth until it begins', async ({ stage }) => {
  const client = await stage.connect(two(stage));
  const session = await open(client, stage.cwd);
  for (const agent of ['beta', 'alpha', 'beta', 'alpha'])
    expect((await set(client, session.id, 'agent', agent)).result.configOptions[0].currentValue).toBe(agent);
  await prompt(client, session.id, 'hello');
  expect(client.agentText(session.id)).toBe('alpha heard hello');
});

test('setting the current agent changes nothing and returns the whole list, before and after the session has begun', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  expect(shown((await set(client, session.id, 'agent', 'alpha')).result.configOptions)).toEqual(WITH_ALPHA);
  await prompt(client, session.id, 'hello');
  expect((await set(client, session.id, 'agent', 'alpha')).result.configOptions[0].currentValue).toBe('alpha');
  expect(alpha.all('session/new')).toHaveLength(1);
  expect(alpha.all('session/set_config_option')).toEqual([]);
});

test('the first prompt locks the option: one value is left, the client is notified, and another is refused, also during the turn', async ({
  stage,
}) => {
  const [alpha, beta] = two(stage);
  alpha.on('session/prompt', () => UNANSWERED);
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  const turn = prompt(client, session.id, 'hello');
  const received = await alpha.got('session/prompt');
  expect(await set(client, session.id, 'agent', 'beta')).toMatchObject({
    error: { code: -32602, message: expect.stringContaining('beta') },
  });
  alpha.reply(received.msg, { stopReason: 'end_turn' });
  await turn;
  expect(await set(client, session.id, 'agent', 'beta')).toMatchObject({ error: { code: -32602 } });
  const [update] = client.updates(session.id, 'config_option_update');
  expect(shown(update.configOptions)).toEqual([
    ['agent', 'alpha', 1],
    ['model', 'alpha-small', 2],
  ]);
  expect(beta.all('session/new')).toEqual([]);
});

test('a session that was loaded or resumed before its first prompt can still be moved', async ({ stage }) => {
  const client = await stage.connect(two(stage));
  for (const method of ['session/load', 'session/resume']) {
    const { id: sessionId } = await open(client, stage.cwd, 'beta');
    const result = await client.call(method, { sessionId, cwd: stage.cwd, mcpServers: [] });
    expect(shown(result.configOptions)[0], method).toEqual(['agent', 'beta', 2]);
    expect(await set(client, sessionId, 'agent', 'alpha'), method).toHaveProperty('result');
    await prompt(client, sessionId, 'hello');
    expect(client.agentText(sessionId), method).toMatch(/alpha heard hello$/);
  }
});

test('sessions that were loaded, resumed or forked after a prompt offer only their own agent, and cannot be moved', async ({ stage }) => {
  const client = await stage.connect(two(stage));
  const { id: sessionId } = await open(client, stage.cwd, 'beta');
  await prompt(client, sessionId, 'hello');
  for (const method of ['session/load', 'session/resume', 'session/fork']) {
    const result = await client.call(method, { sessionId, cwd: stage.cwd, mcpServers: [] });
    expect(shown(result.configOptions), method).toEqual([
      ['agent', 'beta', 1],
      ['model', 'beta-small', 2],
    ]);
    expect(await set(client, result.sessionId ?? sessionId, 'agent', 'alpha'), method).toMatchObject({ error: { code: -32602 } });
  }
});

test('lists that an agent sends itself are completed: responses to set_config_option and config_option_update', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  expect(shown((await set(client, session.id, 'model', 'alpha-large')).result.configOptions)).toEqual([
    ['agent', 'alpha', 2],
    ['model', 'alpha-large', 2],
  ]);
  const fast = { id: 'fast', name: 'Fast', type: 'select', currentValue: 'yes', options: [{ value: 'yes', name: 'Yes' }] };
  alpha.update('alpha-1', { sessionUpdate: 'config_option_update', configOptions: [fast] });
  await client.until((msg) => msg.params?.update?.sessionUpdate === 'config_option_update');
  alpha.update('alpha-1', { sessionUpdate: 'config_option_update', configOptions: [] });
  await client.until((msg) => msg.params?.update?.configOptions?.length === 1);
  expect(client.updates(session.id, 'config_option_update').map(({ configOptions }) => shown(configOptions))).toEqual([
    [
      ['agent', 'alpha', 2],
      ['fast', 'yes', 1],
    ],
    [['agent', 'alpha', 2]],
  ]);
  // Our own lists repeat the agent's latest values.
  expect(shown((await set(client, session.id, 'agent', 'alpha')).result.configOptions)).toEqual([['agent', 'alpha', 2]]);
});

test('an agent without options gets a list with only ours, and null or missing results become one', async ({ stage }) => {
  const bare = stage.agent('bare', { describe: () => ({}) });
  bare.on('session/load', (_, msg) => {
    bare.line(`{"jsonrpc":"2.0","id":${msg.id},"result":null}`);
    return UNANSWERED;
  });
  bare.on('session/resume', (_, msg) => {
    bare.line(`{"jsonrpc":"2.0","id":${msg.id},"result":{"configOptions":null,"_meta":{"one":1.0}}}`);
    return UNANSWERED;
  });
  const client = await stage.connect([bare, stage.agent('beta')]);
  const { id: sessionId, result } = await open(client, stage.cwd);
  expect(shown(result.configOptions)).toEqual([['agent', 'bare', 2]]);
  for (const method of ['session/load', 'session/resume'])
    expect(shown((await client.call(method, { sessionId, cwd: stage.cwd, mcpServers: [] })).configOptions), method).toEqual([
      ['agent', 'bare', 2],
    ]);
  expect(client.seen.some(({ line }) => line.includes('"_meta":{"one":1.0}'))).toBe(true);
});

test('an unknown agent is refused, and the session stays where it is', async ({ stage }) => {
  const client = await stage.connect(two(stage));
  const session = await open(client, stage.cwd);
  expect(await set(client, session.id, 'agent', 'nobody')).toMatchObject({
    error: { code: -32602, message: expect.stringContaining('nobody') },
  });
  await prompt(client, session.id, 'hello');
  expect(client.agentText(session.id)).toBe('alpha heard hello');
});

test('an agent that cannot be started is named in the error, and the session stays where it is', async ({ stage }) => {
  const alpha = stage.agent('alpha');
  const client = await stage.connect({ alpha, gone: { command: '/no/such/program' } });
  const session = await open(client, stage.cwd);
  const missing = await set(client, session.id, 'agent', 'gone');
  for (const word of ['gone', '/no/such/program']) expect(missing.error.message).toContain(word);
  expect(shown((await set(client, session.id, 'model', 'alpha-large')).result.configOptions)[0]).toEqual(['agent', 'alpha', 2]);
  await prompt(client, session.id, 'hello');
  expect(client.agentText(session.id)).toBe('alpha heard hello');
});

test('an agent that requires a login returns its own error, as for a new session, and the session stays where it is', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  beta.on('session/new', () => {
    throw new Refusal(-32000, 'Authentication required');
  });
  const client = await stage.connect([alpha, beta]);
  const session = await open(client, stage.cwd);
  const { error } = await set(client, session.id, 'agent', 'beta');
  expect(error).toMatchObject({ code: -32000, message: 'Authentication required', data: { agent: 'beta' } }); // clients show a login for this code
  await prompt(client, session.id, 'hello');
  expect(client.agentText(session.id)).toBe('alpha heard hello');
});

test('a prompt cancelled while the session moved has not begun it', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  beta.on('session/new', () => UNANSWERED);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const moved = set(client, id, 'agent', 'beta');
  const turn = prompt(client, id, 'never mind', 'to-cancel');
  client.notify('$/cancel_request', { requestId: 'to-cancel' });
  expect((await turn).error.code).toBe(-32800);
  beta.reply((await beta.got('session/new')).msg, { sessionId: 'b' });
  expect((await moved).result.configOptions[0].currentValue).toBe('beta');
  expect((await set(client, id, 'agent', 'alpha')).result?.configOptions[0].currentValue).toBe('alpha');
  expect(beta.all('session/prompt')).toEqual([]);
});

test('a session opened with parameters that another agent would ignore does not move there', async ({ stage }) => {
  const plain = stage.agent('plain', { capabilities: { ...ALL_CAPABILITIES, sessionCapabilities: { close: {} } } });
  const client = await stage.connect([stage.agent('alpha'), plain]);
  const session = await open(client, stage.cwd, undefined, { additionalDirectories: ['/elsewhere'] });
  expect(await set(client, session.id, 'agent', 'plain')).toMatchObject({
    error: { code: -32602, message: expect.stringContaining('additionalDirectories') },
  });
  expect(plain.all('session/new')).toEqual([]);
});

test('an agent with its own option named agent keeps it, and ours gets another id', async ({ stage }) => {
  const own = { id: 'agent', name: 'Persona', type: 'select', currentValue: 'kind', options: [{ value: 'kind', name: 'Kind' }] };
  const alpha = stage.agent('alpha', { describe: () => ({ configOptions: [own] }) });
  alpha.on('session/set_config_option', ({ value }) => ({ configOptions: [{ ...own, currentValue: value }] }));
  const client = await stage.connect([alpha, stage.agent('beta')]);
  const session = await open(client, stage.cwd);
  const [ours, theirs] = session.result.configOptions;
  expect(theirs).toEqual(own);
  expect(ours).toMatchObject({ category: '_agent', currentValue: 'alpha' });
  expect(ours.id).not.toBe('agent');
  const answer = await set(client, session.id, 'agent', 'stern');
  expect((await alpha.got('session/set_config_option')).msg.params).toMatchObject({ configId: 'agent', value: 'stern' });
  expect(answer.result.configOptions.map((option: Json) => option.currentValue)).toEqual(['alpha', 'stern']);
  expect((await set(client, session.id, ours.id, 'beta')).result.configOptions[0].currentValue).toBe('beta');
});
