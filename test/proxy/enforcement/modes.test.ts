// Modes that a policy pins or refuses: not offered, not set, not started in, and reported when an agent enters one by itself.
import { describe, expect, test } from 'vitest';
import { type Json, open, Refusal } from '../../e2e/harness.ts';
import { OPTIONS } from '../../e2e/policy-support.ts';
import type { Actor } from '../actors.ts';
import { CWD } from '../actors.ts';
import { type UnderPolicy, underPolicy } from './support.ts';

const ALL = ['plan', 'default', 'yolo'];
const modes = (currentModeId: string, all = ALL): Json => ({
  currentModeId,
  availableModes: all.map((id) => ({ id, name: id, description: `the ${id} mode` })),
});
const option = (currentValue: string, more: Json = {}): Json => ({
  ...{ id: 'approval', name: 'Approval', category: 'mode', type: 'select', currentValue },
  options: ALL.map((value) => ({ value, name: value })),
  ...more,
});
const MODEL = { id: 'model', name: 'Model', type: 'select', currentValue: 'yolo', options: [{ value: 'yolo', name: 'Yolo' }] };
const POLICY = { agents: { '*': { mode: { refuse: ['yolo'] } } } };

/** The agent answers session/new with this. */
const opening = (described: Json) => (agent: Actor) => {
  let n = 0;
  agent.on('session/new', () => ({ sessionId: `s${++n}`, ...described }));
  agent.on('session/set_mode', () => ({}));
  agent.on('session/set_config_option', ({ configId, value }: Json) => ({
    configOptions: [option(configId === 'approval' ? value : 'plan'), MODEL],
  }));
};
const offered = (result: Json) => ({
  modes: result.modes?.availableModes.map(({ id }: Json) => id),
  options: result.configOptions?.map(({ options }: Json) => options.map(({ value }: Json) => value)),
});

describe('a refused mode is not offered', () => {
  test('in either form, and the rest is as the agent wrote it', async () => {
    const { client } = await underPolicy(POLICY, {
      prepare: opening({ modes: modes('plan'), configOptions: [option('plan'), MODEL], odd: 1 }),
    });
    const { result } = await open(client, CWD);
    expect(result).toMatchObject({ odd: 1, modes: { currentModeId: 'plan', availableModes: modes('').availableModes.slice(0, 2) } });
    expect(result.configOptions).toEqual([{ ...option('plan'), options: option('').options.slice(0, 2) }, MODEL]);
  });

  test('in groups of options', async () => {
    const groups = [
      { group: 'careful', options: [{ value: 'plan', name: 'Plan' }] },
      {
        group: 'quick',
        options: [
          { value: 'yolo', name: 'Yolo' },
          { value: 'default', name: 'D' },
        ],
      },
    ];
    const { client } = await underPolicy(POLICY, { prepare: opening({ configOptions: [option('plan', { options: groups })] }) });
    const { result } = await open(client, CWD);
    expect(result.configOptions[0].options).toEqual([groups[0], { group: 'quick', options: [{ value: 'default', name: 'D' }] }]);
  });

  test('in an option that is a mode only by its id', async () => {
    const byId = option('plan', { id: 'mode', category: undefined });
    const { client } = await underPolicy(POLICY, { prepare: opening({ configOptions: [byId] }) });
    expect(offered((await open(client, CWD)).result).options).toEqual([['plan', 'default']]);
  });

  test('in an update of the options', async () => {
    const { client, update, settled, id } = await underPolicy(POLICY);
    update({ sessionUpdate: 'config_option_update', configOptions: [option('plan'), MODEL] });
    await settled();
    const [shown] = client.updates(id, 'config_option_update');
    expect(offered(shown).options).toEqual([['plan', 'default'], ['yolo']]);
  });

  test('by a policy that pins others', async () => {
    const pinned = { agents: { agent: { mode: { pin: ['plan'] } } } };
    const { client } = await underPolicy(pinned, { prepare: opening({ modes: modes('plan') }) });
    expect(offered((await open(client, CWD)).result).modes).toEqual(['plan']);
  });

  test('unless the policy only observes', async () => {
    const described = { modes: modes('yolo'), configOptions: [option('yolo')] };
    const { client, agent, entries } = await underPolicy(POLICY, { prepare: opening(described), isObserving: true });
    expect((await open(client, CWD)).result).toMatchObject(described);
    expect([agent.all('session/set_mode'), entries]).toEqual([[], []]);
  });
});

describe('a refused mode cannot be set', () => {
  const setMode = ({ client, id }: UnderPolicy, modeId: unknown) => client.request('session/set_mode', { sessionId: id, modeId });
  const setOption = ({ client, id }: UnderPolicy, configId: unknown, value: unknown) =>
    client.request('session/set_config_option', { sessionId: id, configId, value });
  const place = (options: Parameters<typeof underPolicy>[1] = {}) =>
    underPolicy(POLICY, { prepare: opening({ modes: modes('plan'), configOptions: [option('plan'), MODEL] }), ...options });

  test('as a mode, and both outcomes are recorded', async () => {
    const all = await place();
    expect((await setMode(all, 'yolo')).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Mode "yolo" of agent "agent" is not allowed: the policy refuses it'),
      data: { agent: 'agent' },
    });
    expect((await setMode(all, 'plan')).result).toEqual({});
    expect(all.entries).toMatchObject([
      { method: 'session/set_mode', verdict: 'deny', answeredBy: 'policy', option: 'refused', summary: 'mode: yolo', session: all.id },
      { method: 'session/set_mode', verdict: 'ask', answeredBy: 'user', outcome: 'allowed', option: 'passed', summary: 'mode: plan' },
    ]);
    expect(all.agent.all('session/set_mode').map(({ msg }) => msg.params.modeId)).toEqual(['plan']);
  });

  test('as an option of the agent that sets modes, or one of that name, and other options are free', async () => {
    const all = await place();
    expect((await setOption(all, 'approval', 'yolo')).error.code).toBe(-32602);
    expect((await setOption(all, 'mode', 'yolo')).error.code).toBe(-32602);
    expect(offered((await setOption(all, 'approval', 'plan')).result).options).toEqual([['plan', 'default'], ['yolo']]);
    const before = all.entries.length;
    expect((await setOption(all, 'model', 'yolo')).result).toBeDefined();
    expect(all.entries).toHaveLength(before);
    expect(all.agent.all('session/set_config_option').map(({ msg }) => msg.params.configId)).toEqual(['approval', 'model']);
  });

  test('also where a rule denies it', async () => {
    const all = await underPolicy(
      { deny: [{ id: 'no-plan', action: 'mode', tool: 'plan' }] },
      { prepare: opening({ modes: modes('default') }) },
    );
    expect((await setMode(all, 'plan')).error.message).toContain('deny by rule no-plan');
    expect((await setMode(all, 'yolo')).result).toEqual({});
    expect(all.decisions()).toEqual([
      ['deny', 'policy', 'refused'],
      ['ask', 'user', 'allow'], // the word says that it no longer asks
    ]);
  });

  test('in a request that names no mode', async () => {
    const all = await place();
    for (const modeId of [undefined, 7, ['yolo']])
      expect((await setMode(all, modeId)).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('names no mode of a session'),
      });
    expect((await setOption(all, 'approval', { toString: 'yolo' })).error.code).toBe(-32602);
    expect(all.agent.all('session/set_mode')).toEqual([]);
  });

  test('in a request that says it twice', async () => {
    const all = await place();
    all.client.line(
      `{"jsonrpc":"2.0","id":"t","method":"session/set_mode","params":{"sessionId":"${all.id}","modeId":"plan","modeId":"yolo"}}`,
    );
    expect((await all.client.until(({ id }) => id === 't')).msg.error).toMatchObject({ code: -32600 });
    expect(all.agent.all('session/set_mode')).toEqual([]);
  });

  test('unless the policy only observes: then it is recorded', async () => {
    const all = await place({ isObserving: true });
    expect([(await setMode(all, 'yolo')).result, (await setMode(all, 7)).result]).toEqual([{}, {}]);
    all.client.line(
      `{"jsonrpc":"2.0","id":"t","method":"session/set_mode","params":{"sessionId":"${all.id}","modeId":"plan","modeId":"yolo"}}`,
    );
    expect((await all.client.until(({ id }) => id === 't')).msg.result).toEqual({});
    expect(all.decisions()).toEqual([['deny', 'policy', 'passed']]);
  });
});

describe('an agent that starts in a refused mode', () => {
  test.each([
    ['session/set_mode', { modes: modes('yolo') }, { modeId: 'plan' }, 'pin'],
    ['session/set_config_option', { configOptions: [option('yolo')] }, { configId: 'approval', value: 'plan' }, 'pin'],
    ['session/set_mode', { modes: modes('yolo') }, { modeId: 'default' }, 'refuse'],
  ] as const)('is moved by %s before the client sees the session', async (method, described, params, how) => {
    const policy = how === 'pin' ? { agents: { agent: { mode: { pin: ['other', 'plan'] } } } } : POLICY;
    const { client, agent, notices } = await underPolicy(policy, { prepare: opening(described) });
    expect((await agent.got(method)).msg.params).toEqual({ sessionId: 's1', ...params });
    const { result } = await open(client, CWD);
    expect(JSON.stringify(result)).not.toContain('yolo');
    const target = 'modeId' in params ? params.modeId : params.value;
    expect(result.modes?.currentModeId ?? result.configOptions[0].currentValue).toBe(target);
    expect(notices[0]).toBe(`agent "agent" began in mode "yolo", which the policy refuses; it was set to "${target}"`);
  });

  test('in both forms is moved in both, one after the other', async () => {
    const { client, agent } = await underPolicy(POLICY, { prepare: opening({ modes: modes('yolo'), configOptions: [option('yolo')] }) });
    const { result } = await open(client, CWD);
    expect([result.modes.currentModeId, result.configOptions[0].currentValue]).toEqual(['default', 'default']);
    expect([agent.all('session/set_mode').length, agent.all('session/set_config_option').length]).toEqual([2, 2]);
  });

  test.each(['default', 'plan', 'ask', 'read-only', 'manual', 'https://x/modes#plan'])(
    'may be moved to %s, in which it asks',
    async (mode) => {
      const { agent } = await underPolicy(POLICY, { prepare: opening({ modes: modes('yolo', ['odd', mode, 'yolo']) }) });
      expect(agent.all('session/set_mode').map(({ msg }) => msg.params)).toEqual([{ sessionId: 's1', modeId: mode }]);
    },
  );

  test.each([
    ['that no policy names', modes('yolo', ['odd', 'acceptEdits', 'yolo']), POLICY],
    ['that the policy pins and it does not have', modes('yolo'), { agents: { agent: { mode: { pin: ['other'] } } } }],
  ])('is not moved to one %s: the session fails, and is closed at the agent', async (_, described, policy) => {
    const all = await underPolicy(policy);
    all.agent.on('session/new', () => ({ sessionId: 'refused', modes: described }));
    const error = await all.client.refused('session/new', { cwd: CWD, mcpServers: [] });
    expect(error.message).toContain('it offers no mode that the policy names or that is known to ask');
    expect((await all.agent.got('session/close')).msg.params).toEqual({ sessionId: 'refused' });
    expect(all.agent.all('session/set_mode')).toEqual([]);
  });

  test('and does not go to another: the session fails, with a record', async () => {
    const prepare = (agent: Actor) => {
      let n = 0;
      agent.on('session/new', () => ({ sessionId: `s${++n}`, ...(n > 1 && { modes: modes('yolo') }) }));
      agent.on('session/set_mode', () => {
        throw new Refusal(-32603, 'not now');
      });
    };
    const { client, agent, entries } = await underPolicy(POLICY, { prepare });
    const error = await client.refused('session/new', { cwd: CWD, mcpServers: [] });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('it did not change to "default"'),
      data: { agent: 'agent' },
    });
    expect((await agent.got('session/close')).msg.params).toEqual({ sessionId: 's2' });
    expect(entries).toMatchObject([
      { method: 'session/new', verdict: 'deny', answeredBy: 'policy', option: 'refused', summary: 'mode: yolo', why: error.message },
    ]);
  });

  test('after a load that the client asked for: the session stays at its agent, and is cut off until it returns in another mode', async () => {
    const all = await underPolicy(POLICY);
    all.agent.on('session/load', () => ({ modes: modes('yolo', ['yolo']) }));
    const load = () => all.client.request('session/load', { sessionId: all.id, cwd: CWD, mcpServers: [] });
    expect((await load()).error.message).toContain('Mode "yolo"');
    const prompted = await all.client.request('session/prompt', { sessionId: all.id, prompt: [{ type: 'text', text: 'x' }] });
    expect(prompted.error.message).toContain('Mode "yolo"');
    expect(all.agent.all('session/close')).toEqual([]);
    all.agent.on('session/load', () => {
      throw new Refusal(-32603, 'not now');
    });
    expect((await load()).error.message).toBe('not now');
    const again = await all.client.request('session/prompt', { sessionId: all.id, prompt: [{ type: 'text', text: 'x' }] });
    expect(again.error.message).toContain('Mode "yolo"');
    all.agent.on('session/load', () => ({ modes: modes('plan') }));
    expect(offered((await load()).result).modes).toEqual(['plan', 'default']);
    expect((await all.client.call('session/prompt', { sessionId: all.id, prompt: [{ type: 'text', text: 'x' }] })).stopReason).toBe(
      'end_turn',
    );
  });

  test('in an answer to a change of its options is moved too', async () => {
    const all = await underPolicy(POLICY, { prepare: opening({ configOptions: [option('plan'), MODEL] }) });
    let answers = 0;
    all.agent.on('session/set_config_option', () => ({ configOptions: [option(++answers === 1 ? 'yolo' : 'default'), MODEL] }));
    const { configOptions } = await all.client.call('session/set_config_option', { sessionId: all.id, configId: 'model', value: 'big' });
    expect(configOptions[0]).toMatchObject({ currentValue: 'default', options: option('').options.slice(0, 2) });
    expect(all.agent.all('session/set_config_option').map(({ msg }) => msg.params.configId)).toEqual(['model', 'approval']);
  });

  test('in an answer that says it twice: nobody gets the session', async () => {
    const all = await underPolicy(POLICY);
    all.agent.on('session/new', (_: Json, { id }: Json) => {
      const twice = JSON.stringify(modes('plan')).replace('"availableModes"', '"availableModes":[],"availableModes"');
      all.agent.line(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"sessionId":"twice","modes":${twice}}}`);
      return new Promise(() => {});
    });
    const error = await all.client.refused('session/new', { cwd: CWD, mcpServers: [] });
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('agent "agent" to session/new was rejected'),
      data: { agent: 'agent' },
    });
    expect((await all.agent.got('session/close')).msg.params).toEqual({ sessionId: 'twice' });
    expect(all.entries).toMatchObject([
      { method: 'session/new', verdict: 'deny', option: 'refused', why: '"availableModes" occurs twice' },
    ]);
  });
});

describe('an agent that changes its mode by itself', () => {
  test.each([
    ['a mode', { sessionUpdate: 'current_mode_update', currentModeId: 'yolo' }],
    ['a mode in an older form', { sessionUpdate: 'current_mode_update', modeId: 'yolo' }],
    ['an option', { sessionUpdate: 'config_option_update', configOptions: [MODEL, option('yolo')] }],
  ])('to a refused one, as %s, is recorded and reported to the user', async (_, update) => {
    const all = await underPolicy(POLICY);
    all.update(update);
    await all.settled();
    expect(all.entries).toMatchObject([
      { method: 'current_mode_update', verdict: 'deny', option: 'notify', summary: 'mode: yolo', session: all.id },
    ]);
    expect(all.notices).toEqual([expect.stringMatching(/^agent "agent" went to mode "yolo", which the policy refuses \(.*\)\.$/)]);
    expect(JSON.stringify(all.client.updates(all.id))).toContain('went to mode \\"yolo\\"');
  });

  test.each([
    { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
    { sessionUpdate: 'current_mode_update' },
    { sessionUpdate: 'config_option_update', configOptions: [option('plan'), MODEL] },
    { sessionUpdate: 'config_option_update', configOptions: 7 },
  ])('to another is nobody’s business: %j', async (update) => {
    const all = await underPolicy(POLICY);
    all.update(update);
    await all.settled();
    expect([all.entries, all.notices]).toEqual([[], []]);
  });
});

test('a mode that the agent has named is no option of a permission request either', async () => {
  const pinned = { agents: { '*': { mode: { pin: ['plan'] } } } };
  const all = await underPolicy(pinned, { prepare: opening({ modes: modes('plan', ['plan', 'turbo']) }) });
  const options = ['turbo', 'unknown'].map((optionId) => ({ optionId, name: optionId, kind: 'allow_always' }));
  await all.ask('make', { options: [...options, ...OPTIONS] });
  const { msg } = await all.client.got('session/request_permission');
  expect(msg.params.options.map(({ optionId }: Json) => optionId)).toEqual(['unknown', 'a1', 'aa', 'r1']);
});
