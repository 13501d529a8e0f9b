// `/agent`: the same choice for clients that show commands but no options.
import { expect } from 'vitest';
import { type Client, type Json, open, prompt, type Stage, testAtOnce as test, text } from './harness.ts';

const two = (stage: Stage) => [stage.agent('alpha'), stage.agent('beta')] as const;
const commands = (client: Client, id: string) =>
  client.updates(id, 'available_commands_update').map(({ availableCommands }) => availableCommands.map(({ name }: Json) => name));

test('/agent without a name is answered by the proxy, lists the agents, and does not begin the session', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, '/agent')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toMatch(/alpha.*beta/);
  expect(alpha.all('session/prompt')).toEqual([]);
  expect(
    (await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'beta' })).configOptions[0].currentValue,
  ).toBe('beta');
});

test('/agent NAME moves the session, confirms it, and sends the new list of options', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  const answer = await prompt(client, id, '  /agent   beta ');
  expect(answer.result).toEqual({ stopReason: 'end_turn' });
  const [list] = client.updates(id, 'config_option_update');
  expect(list.configOptions.map(({ currentValue }: Json) => currentValue)).toEqual(['beta', 'beta-small']);
  expect(client.agentText(id)).toContain('beta');
  await prompt(client, id, 'hello');
  expect(client.agentText(id)).toMatch(/beta heard hello$/);
  expect(alpha.all('session/prompt')).toEqual([]);
  expect(await alpha.got('session/close')).toBeDefined();
});

test('/agent with an unknown name, or after the session has begun, says why it is refused', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, '/agent nobody')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toContain('nobody');
  await prompt(client, id, 'hello');
  const before = client.agentText(id).length;
  expect((await prompt(client, id, '/agent beta')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id).slice(before)).toMatch(/alpha.*beta/);
  expect(beta.all('session/new')).toEqual([]);
  expect(alpha.all('session/prompt')).toHaveLength(1);
});

test('the command is recognised in any JSON spelling', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  for (const message of ['\\/agent', '/\\u0061gent', '\\u002fagent']) {
    const params = `{"sessionId":"${id}","prompt":[{"type":"text","text":"${message}"}]}`;
    client.line(`{"jsonrpc":"2.0","id":${JSON.stringify(message)},"method":"session/prompt","params":${params}}`);
    expect((await client.until((msg) => msg.id === message)).msg.result).toEqual({ stopReason: 'end_turn' });
  }
  expect(alpha.all('session/prompt')).toEqual([]);
});

test('a prompt that only mentions /agent goes to the agent', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  for (const message of ['what does /agent do?', '/agent beta please', '/agents', 'x /agent']) await prompt(client, id, message);
  await client.call('session/prompt', { sessionId: id, prompt: [...text('/agent beta'), ...text('and more')] });
  expect(alpha.all('session/prompt')).toHaveLength(5);
  expect(beta.all('session/new')).toEqual([]);
});

test('the command is announced for an agent that announces none, and merged into the list of one that does', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id, index } = await open(client, stage.cwd);
  const own = await client.got('session/update', ({ update }) => update.sessionUpdate === 'available_commands_update');
  expect(own.index).toBeGreaterThan(index);
  expect(own.msg.params.update.availableCommands).toEqual([
    { name: 'agent', description: expect.any(String), input: { hint: expect.stringContaining('beta') } },
  ]);

  alpha.line(
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"alpha-1","update":{"sessionUpdate":"available_commands_update","availableCommands":[ {"name":"plan","x":1.0,"description":"d"} ]}}}',
  );
  const merged = await client.until((_, { line }) => line.includes('{"name":"plan","x":1.0,"description":"d"}'));
  expect(merged.msg.params.update.availableCommands.map(({ name }: Json) => name).sort()).toEqual(['agent', 'plan']);
  alpha.update('alpha-1', { sessionUpdate: 'available_commands_update', availableCommands: [] });
  await prompt(client, id, 'hello');
  expect(commands(client, id).at(-1)).toEqual(['agent']);
});

test('after a move the commands are those of the new agent, plus /agent', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  alpha.update('alpha-1', { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'plan', description: 'd' }] });
  await client.until((_, { line }) => line.includes('"plan"'));
  await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'beta' });
  await prompt(client, id, 'hello');
  expect(commands(client, id).at(-1)).toEqual(['agent']); // beta has none, and plan must not stay behind
});

test('an agent with its own command named agent keeps it, in its list and in prompts', async ({ stage }) => {
  const [alpha, beta] = two(stage);
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  alpha.update('alpha-1', { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'agent', description: 'its own' }] });
  const list = await client.until((_, { line }) => line.includes('its own'));
  expect(list.msg.params.update.availableCommands).toEqual([{ name: 'agent', description: 'its own' }]);
  await prompt(client, id, '/agent smith');
  expect(client.agentText(id)).toBe('alpha heard /agent smith');
});
