// Sessions of the demo agents: new, list, load, resume and close.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AnyMessage, methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, isUpdate, only, spoken, startClient } from './client.ts';

const { session } = methods.agent;
const directory = mkdtempSync(path.join(tmpdir(), 'demo-state-'));
const state = path.join(directory, 'made', 'by the agent');
const started: Client[] = [];
const start = async (name: string, options?: Parameters<typeof startClient>[1]) => {
  const client = await startClient(name, options);
  started.push(client);
  return client;
};

let sketcher: Client;
let builder: Client;
let forgetful: Client;
beforeAll(async () => {
  [sketcher, builder, forgetful] = await Promise.all([start('sketcher', { state }), start('builder', { state }), start('sketcher')]);
});
afterAll(async () => {
  await Promise.all(started.map((client) => client.end()));
  rmSync(directory, { recursive: true });
});

const isChunkOf = (sessionId: string) => (frame: AnyMessage) =>
  isUpdate(frame) && frame.params.sessionId === sessionId && frame.params.update.sessionUpdate === 'agent_message_chunk';
const isCommandsOf = (sessionId: string) => (frame: AnyMessage) =>
  isUpdate(frame) && frame.params.sessionId === sessionId && frame.params.update.sessionUpdate === 'available_commands_update';

describe('session/new', () => {
  test('sends the commands after the answer', async () => {
    const sessionId = await sketcher.newSession();
    await sketcher.seen(isCommandsOf(sessionId));
    const answered = sketcher.frames.findIndex(
      (frame) => 'result' in frame && (frame.result as { sessionId?: string }).sessionId === sessionId,
    );
    expect(sketcher.frames.findIndex(isCommandsOf(sessionId))).toBeGreaterThan(answered);
    const [commands] = only(sketcher.updates(sessionId), 'available_commands_update');
    expect(commands?.availableCommands.map((command) => [command.name, command.input?.hint])).toEqual([
      ['plan', 'TOPIC'],
      ['edit', 'PATH'],
      ['run', 'COMMAND…'],
      ['read', 'PATH'],
      ['tools', undefined],
      ['call', 'SERVER TOOL JSON'],
      ['slow', 'SECONDS'],
      ['whoami', undefined],
    ]);
  });

  test('sketcher offers modes and config options, builder modes only', async () => {
    const modern = await sketcher.agent.request(session.new, { cwd: '/project', mcpServers: [] });
    expect(modern.modes).toMatchObject({ currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'code' }] });
    expect(modern.configOptions).toMatchObject([
      { type: 'select', id: 'model', category: 'model', currentValue: 'pencil', options: [{ value: 'pencil' }, { value: 'ink' }] },
      {
        type: 'select',
        id: 'thinking',
        category: 'thought_level',
        currentValue: 'brief',
        options: [{ value: 'brief' }, { value: 'thorough' }],
      },
    ]);
    const old = await builder.agent.request(session.new, { cwd: '/project', mcpServers: [] });
    expect(old.modes).toMatchObject({ currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'auto' }] });
    expect(old).not.toHaveProperty('configOptions');
  });

  test('a relative cwd is refused', async () => {
    await expect(sketcher.newSession([], 'project')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('modes and config options', () => {
  test('a mode that was set is sent as an update and kept', async () => {
    const sessionId = await builder.newSession();
    await builder.agent.request(session.setMode, { sessionId, modeId: 'auto' });
    expect(only(builder.updates(sessionId), 'current_mode_update')).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'auto' },
    ]);
    expect(JSON.parse((await builder.prompt(sessionId, '/whoami')).text)).toMatchObject({ name: 'builder', mode: 'auto' });
  });

  test('setting one config option answers with all of them', async () => {
    const sessionId = await sketcher.newSession();
    const { configOptions } = await sketcher.agent.request(session.setConfigOption, { sessionId, configId: 'model', value: 'ink' });
    expect(configOptions).toMatchObject([
      { id: 'model', currentValue: 'ink' },
      { id: 'thinking', currentValue: 'brief' },
    ]);
    expect(JSON.parse((await sketcher.prompt(sessionId, '/whoami')).text)).toMatchObject({ model: 'ink', thinking: 'brief' });
  });

  test.each([
    [session.setMode, { modeId: 'auto' }],
    [session.setConfigOption, { configId: 'model', value: 'crayon' }],
    [session.setConfigOption, { configId: 'colour', value: 'ink' }],
    [session.setConfigOption, { configId: 'model', type: 'boolean', value: true }],
  ])('sketcher refuses %s with %o, which it never offered', async (method, params) => {
    const sessionId = await sketcher.newSession();
    await expect(sketcher.agent.request(method as string, { sessionId, ...params })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('session/list', () => {
  test('lists the sessions of one cwd with their titles, and none of the other agent', async () => {
    const sessionId = await sketcher.newSession([], '/listed');
    await builder.newSession([], '/listed');
    await sketcher.prompt(sessionId, 'A roof that does not leak');
    const { sessions } = await sketcher.agent.request(session.list, { cwd: '/listed' });
    expect(sessions).toEqual([{ sessionId, cwd: '/listed', title: 'A roof that does not leak', updatedAt: expect.any(String) }]);
    const all = await sketcher.agent.request(session.list, {});
    expect(all.sessions.length).toBeGreaterThan(1);
  });
});

describe('a session of an earlier process', () => {
  test('is listed, loaded with its whole conversation before the answer, and continues', async () => {
    const sessionId = await builder.newSession([], '/kept');
    builder.files.set('/kept/notes.txt', 'one\n');
    await builder.agent.request(session.setMode, { sessionId, modeId: 'auto' });
    const first = await builder.prompt(sessionId, 'Hello');
    const second = await builder.prompt(sessionId, '/edit notes.txt');

    const later = await start('builder', { state });
    const listed = await later.agent.request(session.list, { cwd: '/kept' });
    expect(listed.sessions).toMatchObject([{ sessionId, title: 'Hello' }]);
    const answer = await later.agent.request(session.load, { sessionId, cwd: '/kept', mcpServers: [] });
    const replayed = later.updates(sessionId);
    expect(answer).toMatchObject({ modes: { currentModeId: 'auto' } });
    expect(only(replayed, 'user_message_chunk').map(({ content }) => content)).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'text', text: '/edit notes.txt' },
    ]);
    expect(spoken(replayed)).toBe(first.text + second.text);
    expect(only(replayed, 'agent_thought_chunk')).toHaveLength(2);
    expect(only(replayed, 'tool_call')).toEqual(only(second.updates, 'tool_call'));
    expect(only(replayed, 'tool_call_update')).toEqual(only(second.updates, 'tool_call_update'));
    await later.seen(isCommandsOf(sessionId));
    expect(JSON.parse((await later.prompt(sessionId, '/whoami')).text)).toMatchObject({ sessionId, turns: 3, mode: 'auto' });
  });

  test('is resumed without a replay of its conversation', async () => {
    const sessionId = await sketcher.newSession();
    await sketcher.agent.request(session.setConfigOption, { sessionId, configId: 'model', value: 'ink' });
    await sketcher.prompt(sessionId, 'Hello');

    const later = await start('sketcher', { state });
    const answer = await later.agent.request(session.resume, { sessionId, cwd: '/elsewhere' });
    expect(answer.configOptions).toMatchObject([{ id: 'model', currentValue: 'ink' }, { id: 'thinking' }]);
    await later.seen(isCommandsOf(sessionId));
    expect(later.updates(sessionId).map((update) => update.sessionUpdate)).toEqual(['available_commands_update']);
    expect(JSON.parse((await later.prompt(sessionId, '/whoami')).text)).toMatchObject({ turns: 2, cwd: '/elsewhere', model: 'ink' });
  });

  test('is gone if no state was kept', async () => {
    const sessionId = await forgetful.newSession();
    await expect(sketcher.agent.request(session.load, { sessionId, cwd: '/project', mcpServers: [] })).rejects.toMatchObject({
      code: -32002,
      data: { sessionId },
    });
  });

  test('is in one file that only its owner can read', async () => {
    const sessionId = await builder.newSession();
    expect(statSync(state).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(state, `${sessionId}.json`)).mode & 0o777).toBe(0o600);
    expect(readdirSync(state).filter((file) => !file.endsWith('.json'))).toEqual([]);
  });
});

describe('session/load', () => {
  test('of a busy session ends its turn first and replays that too', async () => {
    const sessionId = await builder.newSession();
    const prompt = builder.prompt(sessionId, '/slow 60');
    await builder.seen(isChunkOf(sessionId));
    await builder.agent.request(session.load, { sessionId, cwd: '/project', mcpServers: [] });
    expect((await prompt).stopReason).toBe('cancelled');
    expect(only(builder.updates(sessionId), 'user_message_chunk')).toMatchObject([{ content: { text: '/slow 60' } }]);
  });
});

describe('session/close', () => {
  test.each([
    ['on disk', () => sketcher],
    ['in memory', () => forgetful],
  ])('a closed session accepts no prompt but is kept %s and can be loaded again', async (_, where) => {
    const client = where();
    const sessionId = await client.newSession();
    const { text } = await client.prompt(sessionId, 'Hello');
    await client.agent.request(session.close, { sessionId });
    await expect(client.prompt(sessionId, 'Are you there?')).rejects.toMatchObject({ code: -32002, data: { sessionId } });
    const before = client.updates(sessionId).length;
    await client.agent.request(session.load, { sessionId, cwd: '/project', mcpServers: [] });
    expect(spoken(client.updates(sessionId).slice(before))).toBe(text);
  });

  test('a pending prompt is answered as cancelled before the session is closed', async () => {
    const sessionId = await sketcher.newSession();
    const order: string[] = [];
    const prompt = sketcher.prompt(sessionId, '/slow 60').then(({ stopReason }) => order.push(stopReason));
    await sketcher.seen(isChunkOf(sessionId));
    await sketcher.agent.request(session.close, { sessionId }).then(() => order.push('closed'));
    await prompt;
    expect(order).toEqual(['cancelled', 'closed']);
  });
});
