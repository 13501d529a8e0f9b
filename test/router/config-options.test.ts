// The `agent` option among an agent's own options.
import { describe, expect, test } from 'vitest';
import {
  type AgentChoice,
  type AgentOptions,
  addedOptions,
  agentOptionId,
  completeList,
  isAgentOption,
  NO_OPTIONS,
  standInFor,
  withMode,
  withModel,
} from '../../src/router/config-options.ts';

const CHOICE: AgentChoice = {
  current: 'claude',
  agents: [
    { name: 'claude', title: 'Claude' },
    { name: 'codex', title: 'Codex CLI' },
  ],
  isLocked: false,
};
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask', description: 'asks first' },
    { id: 'code', name: 'Code', description: null },
  ],
};
const MODELS = {
  currentModelId: 'm1',
  availableModels: [
    { modelId: 'm1', name: 'One', description: 'small' },
    { modelId: 'm2', name: 'Two' },
  ],
};
const owning = (...ids: readonly string[]): AgentOptions => ({
  ...NO_OPTIONS,
  own: ids.map((id) => `{"id":"${id}"}`).join(','),
  ownIds: ids,
});

describe('the agent option', () => {
  test('is a select of all agents, first in the list, with the current one selected', () => {
    const [first] = addedOptions(NO_OPTIONS, CHOICE);
    expect(first).toMatchObject({
      id: 'agent',
      category: '_agent',
      type: 'select',
      currentValue: 'claude',
      options: [
        { value: 'claude', name: 'Claude' },
        { value: 'codex', name: 'Codex CLI' },
      ],
    });
    expect(JSON.parse(completeList(owning('model'), CHOICE)).map(({ id }: { id: string }) => id)).toEqual(['agent', 'model']);
  });

  test('offers only the current agent once the session has begun', () => {
    const [first] = addedOptions(NO_OPTIONS, { ...CHOICE, current: 'codex', isLocked: true });
    expect(first).toMatchObject({ currentValue: 'codex', options: [{ value: 'codex', name: 'Codex CLI' }] });
  });

  test('gets another id if the agent has an option with its id', () => {
    expect(agentOptionId(NO_OPTIONS)).toBe('agent');
    expect(agentOptionId(owning('model'))).toBe('agent');
    expect(agentOptionId(owning('agent'))).toBe('switchboard-agent');
    expect(addedOptions(owning('agent'), CHOICE)[0]?.id).toBe('switchboard-agent');
  });

  test('is recognised by the id it has at another agent, unless this agent has an option with that id', () => {
    expect(isAgentOption(NO_OPTIONS, 'agent')).toBe(true);
    expect(isAgentOption(NO_OPTIONS, 'switchboard-agent')).toBe(true);
    expect(isAgentOption(owning('agent'), 'agent')).toBe(false);
    expect(isAgentOption(owning('agent', 'switchboard-agent'), 'switchboard-agent')).toBe(false);
    expect(isAgentOption(owning('agent', 'switchboard-agent'), 'switchboard-agent-2')).toBe(true);
    expect(isAgentOption(NO_OPTIONS, 'agents')).toBe(false);
    expect(isAgentOption(NO_OPTIONS, undefined)).toBe(false);
  });

  test('has a unique id even if the agent is itself a switchboard behind a switchboard', () => {
    const options = owning('switchboard-agent', 'agent');
    expect(options.ownIds).not.toContain(agentOptionId(options));
  });
});

describe("an agent's own options", () => {
  test('stay unchanged, byte for byte, after ours', () => {
    const own = '{ "id":"x", "currentValue" : 1.0,"_meta":{"n":9007199254740993} } , {"id":"\\u0079"}';
    const list = completeList({ ...NO_OPTIONS, own, ownIds: ['x', 'y'] }, CHOICE);
    expect(list.endsWith(`,${own}]`)).toBe(true);
    expect(JSON.parse(list).map(({ id }: { id: string }) => id)).toEqual(['agent', 'x', 'y']);
  });

  test('that are an empty list leave only ours', () => {
    expect(JSON.parse(completeList({ ...NO_OPTIONS, own: '' }, CHOICE))).toHaveLength(1);
  });

  test('need no stand-ins', () => {
    for (const own of ['{"id":"thought"}', ''])
      expect(addedOptions({ own, ownIds: ['thought'], modes: MODES, models: MODELS }, CHOICE).map(({ id }) => id)).toEqual(['agent']);
    expect(standInFor({ own: '', ownIds: [], modes: MODES, models: MODELS }, 'mode')).toBeUndefined();
  });
});

describe('an agent with only modes or models', () => {
  const options: AgentOptions = { ...NO_OPTIONS, modes: MODES, models: MODELS };

  test('gets them as options, because clients ignore modes once there is a list', () => {
    expect(addedOptions(options, CHOICE).slice(1)).toEqual([
      {
        id: 'mode',
        name: 'Mode',
        category: 'mode',
        type: 'select',
        currentValue: 'ask',
        options: [
          { value: 'ask', name: 'Ask', description: 'asks first' },
          { value: 'code', name: 'Code' },
        ],
      },
      {
        id: 'model',
        name: 'Model',
        category: 'model',
        type: 'select',
        currentValue: 'm1',
        options: [
          { value: 'm1', name: 'One', description: 'small' },
          { value: 'm2', name: 'Two' },
        ],
      },
    ]);
  });

  test('is set by the request that the option stands for', () => {
    expect(standInFor(options, 'mode')).toBe('mode');
    expect(standInFor(options, 'model')).toBe('model');
    expect(standInFor(options, 'agent')).toBeUndefined();
    expect(standInFor({ ...options, models: undefined }, 'model')).toBeUndefined();
  });

  test('shows the mode and model it changed to, and keeps the rest', () => {
    const changed = withModel(withMode(options, 'code'), 'm2');
    expect(addedOptions(changed, CHOICE).map(({ currentValue }) => currentValue)).toEqual(['claude', 'code', 'm2']);
    expect(changed.modes?.availableModes).toBe(MODES.availableModes);
    expect(options.modes?.currentModeId).toBe('ask');
  });

  test('without both gets neither from an update', () => {
    expect(withMode(NO_OPTIONS, 'code')).toBe(NO_OPTIONS);
    expect(withModel(NO_OPTIONS, 'm2')).toBe(NO_OPTIONS);
  });
});

test('with every name taken by the agent, the agent option counts on, and only such names are ours', () => {
  expect(agentOptionId(owning('agent', 'switchboard-agent'))).toBe('switchboard-agent-2');
  expect(agentOptionId(owning('agent', 'switchboard-agent', 'switchboard-agent-2'))).toBe('switchboard-agent-3');
  for (const id of ['agent', 'switchboard-agent', 'switchboard-agent-2', 'switchboard-agent-12'])
    expect(isAgentOption(NO_OPTIONS, id)).toBe(true);
  for (const id of ['my-agent', 'agents', 'switchboard-agent-', 'switchboard-agent-x', 7, undefined])
    expect(isAgentOption(NO_OPTIONS, id)).toBe(false);
});

test('the agent option tells the user whether it can still change', () => {
  const described = (isLocked: boolean) => addedOptions(NO_OPTIONS, { ...CHOICE, isLocked })[0];
  expect(described(false)).toMatchObject({ name: 'Agent', description: expect.stringContaining('until the first prompt') });
  expect(described(true)).toMatchObject({ name: 'Agent', description: 'The agent of this session' });
});
