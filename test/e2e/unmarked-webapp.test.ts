// An agent of the web app that answers initialize as ACP does: with `dialect: auto`, what is unambiguous is translated.
import { describe, expect } from 'vitest';
import { type Client, hello, type Json, open, prompt, type ScriptedAgent, type Stage, testAtOnce as test } from './harness.ts';

const MODES = {
  current_mode_id: 'ask',
  available_modes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
};
const COUNTS = [['one agent'], ['several agents']] as const;
type Count = (typeof COUNTS)[number][0];

async function setUp(stage: Stage, count: Count, settings: Json = {}): Promise<{ agent: ScriptedAgent; client: Client; id: string }> {
  const agent = stage.agent('left', { describe: () => ({ modes: MODES, configOptions: undefined }) });
  const left = { ...agent.server, ...settings };
  const client = stage.proxy(count === 'one agent' ? { left } : { left, right: stage.agent('right') });
  await hello(client);
  return { agent, client, id: (await open(client, stage.cwd)).id };
}

describe.for(COUNTS)('with %s', ([count]) => {
  test('modes in snake_case are the session’s modes, change under that name, and are set in both spellings', async ({ stage }) => {
    const agent = stage.agent('left', { describe: () => ({ modes: MODES, configOptions: undefined }) });
    agent.on('session/set_mode', () => ({}));
    const client = await stage.connect(count === 'one agent' ? [agent] : [agent, stage.agent('right')]);
    const { id: sessionId, result } = await open(client, stage.cwd);
    expect(result.modes).toEqual({ currentModeId: 'ask', availableModes: MODES.available_modes });
    agent.update(sessionId, { sessionUpdate: 'current_mode_update', current_mode_id: 'code' });
    expect((await client.got('session/update', ({ update }) => update.currentModeId)).msg.params.update.currentModeId).toBe('code');
    await client.call('session/set_mode', { sessionId, modeId: 'ask' });
    expect((await agent.got('session/set_mode')).msg.params).toEqual({ session_id: sessionId, mode_id: 'ask', sessionId, modeId: 'ask' });
  });

  test('options with `id` become options with `optionId`, and the answer names the option', async ({ stage }) => {
    const { agent, client, id } = await setUp(stage, count);
    client.on('session/request_permission', ({ options }) => ({ outcome: { outcome: 'selected', optionId: options[0].optionId } }));
    const options = [
      { id: 'yes', name: 'Allow', kind: 'allow_once' },
      { id: 'no', name: 'Deny', kind: 'reject_once' },
    ];
    const asked = { session_id: id, tool_call: { toolCallId: 't', title: 'Edit' }, options };
    expect(await agent.call('session/request_permission', asked)).toEqual({ outcome: { outcome: 'selected', optionId: 'yes' } });
    expect((await client.got('session/request_permission')).msg.params).toEqual({
      sessionId: id,
      toolCall: asked.tool_call,
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Deny', kind: 'reject_once' },
      ],
    });
  });

  test('a bare update is wrapped; without a session id it belongs to the session with a turn, if there is one such', async ({ stage }) => {
    const { agent, client, id } = await setUp(stage, count);
    const say = (params: Json) => agent.notify('session/update', params);
    agent.on('session/prompt', () => {
      say({ sessionId: id, type: 'agent_message_chunk', content: 'one ' });
      say({ session_id: id, sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'two ' } });
      say({ type: 'agent_message_chunk', text: 'three' });
      return { stopReason: 'end_turn' };
    });
    expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'end_turn' });
    expect(client.agentText(id)).toBe('one two three');
  });
});

test('with `dialect: acp` the agent’s spelling passes unchanged', async ({ stage }) => {
  const { agent, client, id } = await setUp(stage, 'one agent', { dialect: 'acp' });
  agent.notify('session/update', { sessionId: id, type: 'agent_message_chunk', content: 'x' });
  expect((await client.got('session/update')).msg.params).toEqual({ sessionId: id, type: 'agent_message_chunk', content: 'x' });
});
