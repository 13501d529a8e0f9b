// Agents that cannot list or load: the proxy serves both from its records, and marks that.
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { describe, expect } from 'vitest';
import {
  type Client,
  hello,
  type Json,
  open,
  prompt,
  type ScriptedAgent,
  type Stage,
  SWITCHBOARD,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';

const MARK = { 'acp-switchboard': { replay: 'transcript' } };
const updates = (acpClient: Client, from = 0): Json[] =>
  acpClient.seen
    .slice(from)
    .map(({ msg }) => msg)
    .filter((msg) => msg.method === 'session/update' && msg.params._meta !== undefined)
    .map(({ params }) => params);
const textsOf = (acpClient: Client, from = 0) => updates(acpClient, from).map(({ update }) => [update.sessionUpdate, update.content?.text]);
const load = (acpClient: Client, stage: Stage, sessionId: string): Promise<Json> =>
  acpClient.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
const TRANSCRIPT = [
  ['user_message_chunk', 'hello'],
  ['agent_message_chunk', 'plain heard hello'],
];

/** A session with one turn, of an agent with minimal capabilities. */
async function talked(
  stage: Stage,
  capabilities: Json = {},
): Promise<{ acpClient: Client; plain: ScriptedAgent; agents: ScriptedAgent[]; id: string }> {
  const plain = stage.agent('plain', { capabilities });
  const agents = [plain, stage.agent('other', { capabilities: {} })];
  const acpClient = await stage.connect(agents);
  const { id } = await open(acpClient, stage.cwd);
  await prompt(acpClient, id, 'hello');
  return { acpClient, plain, agents, id };
}

describe('a session of an earlier process', () => {
  test('is listed with the directories it was last opened with', async ({ stage }) => {
    const sessionCapabilities = { resume: {}, additionalDirectories: {} };
    const agents = ['one', 'other'].map((name) => stage.agent(name, { capabilities: { sessionCapabilities } }));
    const first = await stage.connect(agents);
    const { id } = await open(first, stage.cwd, 'one', { additionalDirectories: ['/more', '/and'] });
    const { id: plain } = await open(first, stage.cwd, 'one', { additionalDirectories: [] });
    expect(await first.close()).toBe(0);

    const listed = async (acpClient: Client) => {
      const { sessions } = await acpClient.call('session/list', {});
      return Object.fromEntries(sessions.map((session: Json) => [session.sessionId, session.additionalDirectories]));
    };
    const second = await stage.connect(agents);
    expect(await listed(second)).toEqual({ [id]: ['/more', '/and'], [plain]: undefined });
    // The client leaves out what it does not want: nothing is added.
    const params = { cwd: stage.cwd, mcpServers: [] };
    await second.call('session/resume', { sessionId: id, ...params });
    expect(agents[0]?.all('session/resume').at(-1)?.msg.params).not.toHaveProperty('additionalDirectories');
    await second.call('session/resume', { sessionId: plain, ...params, additionalDirectories: ['/third'] });
    expect(await second.close()).toBe(0);

    const third = await stage.connect(agents);
    expect(await listed(third)).toEqual({ [id]: undefined, [plain]: ['/third'] });
    await third.call('session/resume', { sessionId: plain, ...params, cwd: '/elsewhere', additionalDirectories: ['/third'] });
    expect((await third.call('session/list', { cwd: '/elsewhere' })).sessions).toMatchObject([{ sessionId: plain }]);
  });

  test("is replayed from its transcript and can be read; requests that need the agent's memory are refused", async ({ stage }) => {
    const { acpClient: before, plain, agents, id } = await talked(stage);
    expect(await before.close()).toBe(0);
    const acpClient = stage.proxy(agents);
    const { agentCapabilities } = await hello(acpClient);
    expect(agentCapabilities).toMatchObject({ loadSession: true, sessionCapabilities: { list: {} } });
    const { sessions } = await acpClient.call('session/list', {});
    expect(sessions).toMatchObject([{ sessionId: id, cwd: stage.cwd, _meta: { 'acp-switchboard': { agent: 'plain' } } }]);

    const { result } = await load(acpClient, stage, id);
    expect(textsOf(acpClient)).toEqual(TRANSCRIPT);
    for (const params of updates(acpClient)) expect(params).toMatchObject({ sessionId: id, _meta: MARK });
    expect(result).toMatchObject({
      configOptions: [{ id: 'agent', currentValue: 'plain' }],
      _meta: { 'acp-switchboard': { agent: 'plain', replay: 'transcript', canContinue: false } },
    });
    expect(JSON.stringify(acpClient.seen.map(({ msg }) => msg.params?.update))).toContain('This session is read-only');

    for (const [method, params] of [
      ['session/prompt', { prompt: [] }],
      ['session/set_mode', { modeId: 'x' }],
      ['session/set_config_option', { configId: 'model', value: 'x' }],
      ['_vendor/thing', {}],
    ] as const)
      expect(await acpClient.refused(method, { sessionId: id, ...params })).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/read-only.*"plain" supports neither session\/load nor session\/resume.*open a new session/),
        data: { sessionId: id, agent: 'plain' },
      });
    acpClient.notify('session/cancel', { sessionId: id });
    await load(acpClient, stage, id);
    expect(textsOf(acpClient)).toEqual([...TRANSCRIPT, ...TRANSCRIPT]);
    expect(await acpClient.call('session/close', { sessionId: id })).toEqual({});
    const { id: fresh } = await open(acpClient, stage.cwd);
    await prompt(acpClient, fresh, 'again');
    expect(plain.all('session/prompt').map(({ msg }) => msg.params.sessionId)).toEqual([id, fresh]);
    expect(plain.all('session/load')).toEqual([]);
  });

  test('is resumed if its agent supports that, with our replay before the response, and continues', async ({ stage }) => {
    const { acpClient: before, plain, agents, id } = await talked(stage, { sessionCapabilities: { resume: {} } });
    expect(await before.close()).toBe(0);
    const acpClient = await stage.connect(agents);
    const answer = await load(acpClient, stage, id);
    expect(answer.result.configOptions[0]).toMatchObject({ id: 'agent', currentValue: 'plain' });
    expect(textsOf(acpClient)).toEqual(TRANSCRIPT);
    const last = acpClient.seen.findLastIndex(({ msg }) => msg.params?._meta !== undefined);
    expect(last).toBeLessThan(acpClient.place(answer));
    expect((await plain.got('session/resume')).msg.params).toMatchObject({ sessionId: id, cwd: stage.cwd });
    expect((await prompt(acpClient, id, 'more')).result).toEqual({ stopReason: 'end_turn' });
    expect(plain.all('session/prompt')).toHaveLength(2);
  });

  test('without a transcript cannot be loaded, and the error says so', async ({ stage }) => {
    const plain = stage.agent('plain', { capabilities: {} });
    const agents = [plain, stage.agent('other', { capabilities: {} })];
    const config = { store: { transcripts: false } };
    const before = await stage.connect(agents, { config });
    const { id } = await open(before, stage.cwd);
    await prompt(before, id, 'hello');
    await before.close();
    const acpClient = stage.proxy(agents, { config });
    expect((await hello(acpClient)).agentCapabilities.loadSession).toBe(false);
    expect((await load(acpClient, stage, id)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"plain" does not support session/load, and no transcript is stored; open a new session'),
      data: { sessionId: id, agent: 'plain' },
    });
  });
});

describe('a session that its agent’s process still has', () => {
  test('is replayed from its transcript and continues, also when the client had closed it', async ({ stage }) => {
    const { acpClient, plain, id } = await talked(stage);
    for (const isClosed of [false, true]) {
      if (isClosed) await acpClient.call('session/close', { sessionId: id });
      const from = acpClient.seen.length;
      const { result } = await load(acpClient, stage, id);
      expect(textsOf(acpClient, from).slice(0, 2)).toEqual(TRANSCRIPT);
      expect(result).toMatchObject({
        configOptions: [{ id: 'agent' }, { id: 'model' }],
        _meta: { 'acp-switchboard': { canContinue: true } },
      });
      expect((await prompt(acpClient, id, 'more')).result).toEqual({ stopReason: 'end_turn' });
    }
    expect((await acpClient.request('session/resume', { sessionId: id, cwd: stage.cwd, mcpServers: [] })).result).toBeDefined();
    expect(plain.all('session/prompt')).toHaveLength(3);
  });

  test('is only a record once that process is gone', async ({ stage }) => {
    const { acpClient, plain, id } = await talked(stage);
    await acpClient.call('session/close', { sessionId: id });
    const { id: another } = await open(acpClient, stage.cwd);
    plain.on('session/prompt', () => UNANSWERED);
    const waiting = prompt(acpClient, another, 'wait');
    await plain.got('session/prompt', ({ sessionId }) => sessionId === another);
    plain.exit();
    expect((await waiting).error.message).toContain('exited');
    const { result } = await load(acpClient, stage, id);
    expect(result._meta['acp-switchboard'].canContinue).toBe(false);
    expect((await prompt(acpClient, id, 'more')).error.message).toContain('read-only');
    expect(plain.all('session/prompt')).toHaveLength(2);
  });
});

test('with one agent, its missing capabilities stay missing', async ({ stage }) => {
  const plain = stage.agent('plain', { capabilities: {} });
  const acpClient = stage.proxy([plain]);
  expect((await hello(acpClient)).agentCapabilities).toEqual({});
  const { id } = await open(acpClient, stage.cwd);
  await prompt(acpClient, id, 'hello');
  plain.on('session/load', () => ({ mine: true }));
  expect((await load(acpClient, stage, id)).result).toEqual({ mine: true });
  expect((await acpClient.request('session/list', {})).result).toEqual({ sessions: [expect.objectContaining({ sessionId: id })] });
});

test("the SDK's client accepts the whole replay", async ({ stage }) => {
  const diff = { type: 'diff', path: '/x', oldText: 'a', newText: 'b' };
  const plain = stage.agent('plain', {
    capabilities: { promptCapabilities: { image: true } },
    turn(session) {
      const say = (update: Json) => plain.update(session.id, update);
      say({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } });
      say({ sessionUpdate: 'plan', entries: [{ content: 'do it', priority: 'high', status: 'pending' }] });
      say({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'Edit', kind: 'edit', status: 'pending', rawInput: { a: 1 } });
      say({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'completed',
        content: [diff, { type: 'terminal', terminalId: 'x' }],
      });
      say({ sessionUpdate: 'tool_call', toolCallId: 'open', title: 'Run', status: 'in_progress' });
      say({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } });
      say({ sessionUpdate: 'session_info_update', title: 'About it' });
      return { stopReason: 'end_turn' };
    },
  });
  const agents = [plain, stage.agent('other', { capabilities: {} })];
  const before = await stage.connect(agents);
  const { id } = await open(before, stage.cwd);
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  await before.call('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'look' }, image] });
  await before.close();
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'acp', '--config', stage.writeConfig(agents)]);
  const updates: Json[] = [];
  await client({ name: 'sdk-editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (peer) => {
      await peer.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const { sessions } = await peer.request(methods.agent.session.list, {});
      expect(sessions).toMatchObject([{ sessionId: id, title: 'About it', cwd: path.resolve(stage.cwd) }]);
      await peer.request(methods.agent.session.load, { sessionId: id, cwd: stage.cwd, mcpServers: [] });
    });
  expect(updates.slice(0, 8)).toMatchObject([
    { sessionUpdate: 'user_message_chunk', content: { text: 'look' } },
    { sessionUpdate: 'user_message_chunk', content: { text: '[image: image/png]' } },
    { sessionUpdate: 'agent_thought_chunk', content: { text: 'hm' } },
    { sessionUpdate: 'plan', entries: [{ content: 'do it' }] },
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Edit', kind: 'edit', status: 'completed', content: [diff], rawInput: { a: 1 } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'image' } },
    { sessionUpdate: 'session_info_update', title: 'About it' },
    { sessionUpdate: 'tool_call', toolCallId: 'open', status: 'failed' },
  ]);
});
