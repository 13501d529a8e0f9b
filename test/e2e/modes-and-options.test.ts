// Once there are options, clients ignore modes and models: for agents that have only those, options stand in for them, both ways.
import { expect } from 'vitest';
import { type Client, type Json, open, prompt, Refusal, type Stage, testAtOnce as test } from './harness.ts';

const MODES = [
  { id: 'ask', name: 'Ask', description: 'asks first' },
  { id: 'code', name: 'Code' },
];
const modesOnly = (stage: Stage) =>
  stage.agent('old', { describe: ({ mode }) => ({ modes: { currentModeId: mode, availableModes: MODES } }) });
const set = (client: Client, sessionId: string, configId: string, value: string): Promise<Json> =>
  client.request('session/set_config_option', { sessionId, configId, value });
const values = (options: Json): Json => options?.map(({ id, currentValue }: Json) => [id, currentValue]);
const lists = (client: Client, id: string) => client.updates(id, 'config_option_update').map(({ configOptions }) => values(configOptions));

test('modes alone become an option of category mode, next to the modes themselves', async ({ stage }) => {
  const client = await stage.connect([modesOnly(stage), stage.agent('beta')]);
  const { result } = await open(client, stage.cwd);
  expect(result.modes).toEqual({ currentModeId: 'ask', availableModes: MODES });
  expect(result.configOptions).toHaveLength(2);
  expect(result.configOptions[1]).toMatchObject({ category: 'mode', type: 'select', currentValue: 'ask' });
  expect(result.configOptions[1].options).toEqual([
    { value: 'ask', name: 'Ask', description: 'asks first' },
    { value: 'code', name: 'Code' },
  ]);
});

test('setting the option for the mode sets the mode, and the response has the whole list', async ({ stage }) => {
  const old = modesOnly(stage);
  const client = await stage.connect([old, stage.agent('beta')]);
  const { id, result } = await open(client, stage.cwd);
  const modeOption = result.configOptions[1].id;
  const answer = await set(client, id, modeOption, 'code');
  expect((await old.got('session/set_mode')).msg.params).toEqual({ sessionId: 'old-1', modeId: 'code' });
  expect(old.all('session/set_config_option')).toEqual([]);
  expect(values(answer.result.configOptions)).toEqual([
    ['agent', 'old'],
    [modeOption, 'code'],
  ]);
  old.on('session/set_mode', () => {
    throw new Refusal(-32602, 'no such mode');
  });
  expect(await set(client, id, modeOption, 'none')).toMatchObject({ error: { code: -32602, message: 'no such mode' } });
  expect(values((await set(client, id, 'agent', 'old')).result.configOptions)).toContainEqual([modeOption, 'code']);
});

test('a mode set the old way reaches the agent, and the option follows', async ({ stage }) => {
  const old = modesOnly(stage);
  const client = await stage.connect([old, stage.agent('beta')]);
  const { id } = await open(client, stage.cwd);
  await client.call('session/set_mode', { sessionId: id, modeId: 'code' });
  await client.until((msg) => msg.params?.update?.sessionUpdate === 'config_option_update');
  expect(old.sessions.get('old-1')?.mode).toBe('code');
  expect(lists(client, id)).toEqual([
    [
      ['agent', 'old'],
      ['mode', 'code'],
    ],
  ]);
});

test.for(['currentModeId', 'modeId'])(
  'an agent that changes its mode itself (%s) updates both the option and the mode',
  async (field, { stage }) => {
    const old = modesOnly(stage);
    const client = await stage.connect([old, stage.agent('beta')]);
    const { id } = await open(client, stage.cwd);
    old.update('old-1', { sessionUpdate: 'current_mode_update', [field]: 'code' });
    await client.until((msg) => msg.params?.update?.sessionUpdate === 'config_option_update');
    // Today's name is always present, next to the earlier one.
    expect(client.updates(id, 'current_mode_update')).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'code', [field]: 'code' },
    ]);
    expect(lists(client, id)).toEqual([
      [
        ['agent', 'old'],
        ['mode', 'code'],
      ],
    ]);
    old.update('old-1', { sessionUpdate: 'current_mode_update', [field]: 'code' }); // nothing new
    await prompt(client, id, 'hello');
    expect(lists(client, id)).toHaveLength(2); // and the lock
    expect(lists(client, id)[1]).toContainEqual(['mode', 'code']);
  },
);

test('the older models become an option too, set by session/set_model', async ({ stage }) => {
  const models = { currentModelId: 'm1', availableModels: ['m1', 'm2'].map((modelId) => ({ modelId, name: modelId.toUpperCase() })) };
  const legacy = stage.agent('legacy', { describe: () => ({ models }) });
  legacy.on('session/set_model', () => ({}));
  const client = await stage.connect([legacy, stage.agent('beta')]);
  const { id, result } = await open(client, stage.cwd);
  expect(result.models).toEqual(models);
  expect(result.configOptions[1]).toMatchObject({
    category: 'model',
    currentValue: 'm1',
    options: [{ value: 'm1', name: 'M1' }, { value: 'm2' }],
  });
  const answer = await set(client, id, result.configOptions[1].id, 'm2');
  expect((await legacy.got('session/set_model')).msg.params).toEqual({ sessionId: 'legacy-1', modelId: 'm2' });
  expect(values(answer.result.configOptions)).toEqual([
    ['agent', 'legacy'],
    [result.configOptions[1].id, 'm2'],
  ]);
});

test('a model set the old way reaches the agent, and the option follows', async ({ stage }) => {
  const models = { currentModelId: 'm1', availableModels: ['m1', 'm2'].map((modelId) => ({ modelId, name: modelId })) };
  const legacy = stage.agent('legacy', { describe: () => ({ models }) });
  legacy.on('session/set_model', () => ({}));
  const client = await stage.connect([legacy, stage.agent('beta')]);
  const { id } = await open(client, stage.cwd);
  await client.call('session/set_model', { sessionId: id, modelId: 'm2' });
  expect((await legacy.got('session/set_model')).msg.params.modelId).toBe('m2');
  expect(values((await set(client, id, 'agent', 'legacy')).result.configOptions)).toContainEqual(['model', 'm2']);
});

test('an agent with both options and modes is unchanged: nothing stands in', async ({ stage }) => {
  const both = stage.agent('both', {
    describe: ({ mode, model }) => ({
      modes: { currentModeId: mode, availableModes: MODES },
      configOptions: [{ id: 'model', name: 'Model', type: 'select', currentValue: model, options: [] }],
    }),
  });
  const client = await stage.connect([both, stage.agent('beta')]);
  const { id, result } = await open(client, stage.cwd);
  expect(values(result.configOptions)).toEqual([
    ['agent', 'both'],
    ['model', 'both-small'],
  ]);
  expect(result.modes.currentModeId).toBe('ask');
  both.update('both-1', { sessionUpdate: 'current_mode_update', currentModeId: 'code' });
  await prompt(client, id, 'hello');
  expect(lists(client, id)).toHaveLength(1); // only the lock
});

test('moving between an agent with modes and one with options swaps the stand-ins', async ({ stage }) => {
  const client = await stage.connect([modesOnly(stage), stage.agent('beta')]);
  const { id } = await open(client, stage.cwd);
  expect(values((await set(client, id, 'agent', 'beta')).result.configOptions)).toEqual([
    ['agent', 'beta'],
    ['model', 'beta-small'],
  ]);
  expect(values((await set(client, id, 'agent', 'old')).result.configOptions)).toEqual([
    ['agent', 'old'],
    ['mode', 'ask'],
  ]);
});
