// Agents with other dialects behind the built proxy, driven by the SDK's client as if they spoke ACP.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { describe, expect } from 'vitest';
import { fixture, type Json, type Stage, test } from './harness.ts';
import { withSdkClient } from './sdk-client.ts';

const speaking = (dialect: string, name: string, options: Json = {}, ...args: string[]) => ({
  ...fixture(`dialects/${dialect}`, name, ...args),
  ...options,
});
const dialectOf = ({ state }: Stage): Json =>
  Object.values<Json>(JSON.parse(readFileSync(path.join(state, 'capabilities.json'), 'utf8')).entries)[0].dialect;

describe("webapp: the web app's generic agents", () => {
  const named = speaking('webapp', 'generic', { framing: 'content-length', dialect: 'webapp' });

  test('two sessions, updates of every kind, modes and models', async ({ stage }) => {
    await withSdkClient(stage, { generic: named }, async (client) => {
      const { agent, initializeResponse, updates } = client;
      expect(initializeResponse).toMatchObject({ agentInfo: { name: 'generic' }, authMethods: [{ id: 'key' }] });
      const one = await client.open();
      const two = await client.open();
      expect([one.sessionId, two.sessionId]).toEqual(['generic-1', 'generic-2']);
      expect(one).toMatchObject({ modes: { currentModeId: 'ask' }, _meta: { cwd: stage.cwd, servers: 0 } });
      expect(one.configOptions).toMatchObject([
        { id: 'mode', category: 'mode', currentValue: 'ask', options: [{ value: 'ask' }, { value: 'auto' }] },
        { id: 'model', category: 'model', currentValue: 'small', options: [{ value: 'small' }, { value: 'large' }] },
      ]);

      expect(await client.prompt(one.sessionId, 'all')).toEqual({ stopReason: 'end_turn' });
      expect(updates).toMatchObject([
        { sessionUpdate: 'user_message_chunk', content: { text: 'all' } },
        { sessionUpdate: 'agent_thought_chunk', content: { text: 'hm' } },
        { sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png' } },
        { sessionUpdate: 'plan', entries: [{ content: 'look', priority: 'medium', status: 'completed' }, { content: 'leap' }] },
        { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'fix', description: '' }] },
        { sessionUpdate: 'current_mode_update', currentModeId: 'auto' },
        { sessionUpdate: 'config_option_update', configOptions: [{ id: 'mode', currentValue: 'auto' }, { id: 'model' }] },
        { sessionUpdate: 'session_info_update', _meta: { 'acp-switchboard': { usedTokens: 10 } } },
        { sessionUpdate: 'usage_update', used: 20, size: 100 },
        { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Edit', status: 'in_progress', rawInput: { file: 'a.txt' } },
        {
          sessionUpdate: 'tool_call_update',
          toolCallId: 't1',
          status: 'completed',
          content: [
            { type: 'content', content: { type: 'text', text: 'done' } },
            { type: 'diff', path: path.join(stage.cwd, 'a.txt'), oldText: 'same\nold\n', newText: 'same\nnew\n' },
            { type: 'content', content: { type: 'resource_link', name: 'a.txt', title: 'the file' } },
          ],
        },
        { sessionUpdate: 'current_mode_update', currentModeId: 'ask' },
        { sessionUpdate: 'config_option_update', configOptions: [{ id: 'mode', currentValue: 'ask' }, { id: 'model' }] },
        // The SDK drops unknown kinds; something_new has passed.
      ]);

      await agent.request(methods.agent.session.setMode, { sessionId: two.sessionId, modeId: 'auto' });
      const set: Json = await agent.request(methods.agent.session.setConfigOption, {
        ...{ sessionId: two.sessionId, configId: 'model', value: 'large' },
      });
      expect(set.configOptions).toMatchObject([
        { id: 'mode', currentValue: 'auto' },
        { id: 'model', currentValue: 'large' },
      ]);
      const from = updates.length;
      await client.prompt(two.sessionId, 'hello');
      expect(client.agentText(from)).toBe('generic-2 heard hello in mode auto from large');
      const huge = agent.request(methods.agent.session.setConfigOption, { sessionId: two.sessionId, configId: 'model', value: 'huge' });
      await expect(huge).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('no such model') });
    });
  });

  test('permission allowed and denied, files, cancel, errors, refusal, a required login, a crash', async ({ stage }) => {
    await withSdkClient(stage, { generic: named }, async (client) => {
      const { sessionId } = await client.open();
      await client.prompt(sessionId, 'permission');
      client.choose('reject_once');
      await client.prompt(sessionId, 'permission');
      expect(client.agentText()).toBe('selected yesselected no');
      expect(client.permissions[0]).toMatchObject({
        toolCall: { toolCallId: 't2', title: 'Delete everything', kind: 'execute' },
        options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }, { optionId: 'no' }],
      });
      const from = client.updates.length;
      await client.prompt(sessionId, 'read');
      expect(client.agentText(from)).toBe('content of /w/notes.txt');

      const turn = client.prompt(sessionId, 'wait');
      await client.agent.notify(methods.agent.session.cancel, { sessionId });
      expect(await turn).toEqual({ stopReason: 'cancelled' });
      expect(await client.refused(sessionId, 'error')).toMatchObject({
        code: -32603,
        message: expect.stringContaining('the model is on fire'),
      });
      expect(await client.prompt(sessionId, 'refuse')).toEqual({ stopReason: 'refusal' });
      expect(client.agentText()).toContain('I would rather not');
      expect(await client.refused(sessionId, 'unauthorized')).toMatchObject({ code: -32000 });
      expect(await client.refused(sessionId, 'crash')).toMatchObject({ data: { agent: 'generic', code: 3 } });
      expect((await client.open()).sessionId).toBe('generic-1~generic'); // its next process begins at 1 again
    });
  });

  test('is detected by its framing', async ({ stage }) => {
    await withSdkClient(stage, { generic: speaking('webapp', 'generic', { framing: 'content-length' }) }, async (client) => {
      const { sessionId } = await client.open();
      await client.prompt(sessionId, 'hello');
      expect(client.agentText()).toContain('heard hello');
      await client.prompt(sessionId, 'permission');
    });
    expect(dialectOf(stage)).toEqual({ framing: 'content-length', dialect: 'webapp' });
  });
});

describe('agentkit: the Go server', () => {
  const named = speaking('agentkit', 'kit', { dialect: 'agentkit', timeouts: { cancel_ms: 3000 } });

  test('two sessions in their own processes, updates of every kind, commands, errors, empty results', async ({ stage }) => {
    await withSdkClient(stage, { kit: named }, async (client) => {
      const { initializeResponse, updates } = client;
      expect(initializeResponse).toMatchObject({
        agentInfo: { name: 'kit', version: '1.0.0' },
        agentCapabilities: { loadSession: true, promptCapabilities: { image: true } },
        authMethods: [],
      });
      const one = await client.open();
      const two = await client.open();
      expect(one).toMatchObject({ sessionId: 'session-1', _meta: { metadata: { workDir: stage.cwd } } });
      expect(two.sessionId).not.toBe(one.sessionId);
      expect(await client.prompt(one.sessionId, 'who')).toEqual({ stopReason: 'end_turn' });
      await client.prompt(two.sessionId, 'who');
      const messages = client.of('agent_message_chunk').map(({ content }) => content.text);
      expect(messages).toHaveLength(2);
      for (const message of messages) expect(message).toMatch(/^session-1 in .*work of \d+ heard who$/);
      expect(new Set(messages).size).toBe(2);

      const from = updates.length;
      expect(await client.prompt(one.sessionId, 'all')).toEqual({ stopReason: 'end_turn' });
      expect(updates.slice(from)).toMatchObject([
        { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'all' } },
        { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Processing your request...\n' } },
        {
          sessionUpdate: 'tool_call',
          toolCallId: 'call-1',
          title: 'read_file',
          kind: 'read',
          status: 'in_progress',
          rawInput: '/path/to/file.go',
        },
        { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'completed', rawOutput: 'file contents...' },
        { sessionUpdate: 'tool_call', toolCallId: 'call-2', title: 'bash', kind: 'execute', status: 'failed' },
        {
          sessionUpdate: 'plan',
          entries: [
            { content: 'look', priority: 'medium', status: 'completed' },
            { content: 'leap', status: 'pending' },
          ],
        },
      ]);
      await client.prompt(one.sessionId, '/search for the needle');
      expect(client.agentText()).toContain('command search: for the needle');
      expect(await client.refused(one.sessionId, 'fail')).toMatchObject({ code: -32603 });
      expect(await client.refused(one.sessionId, 'crash')).toMatchObject({ data: { agent: 'kit', code: 3 } });
      // The other session is not affected.
      expect(await client.prompt(two.sessionId, 'who')).toEqual({ stopReason: 'end_turn' });
    });
  });

  test('a cancelled turn ends as cancelled: by itself within the grace period, else with its process', async ({ stage }) => {
    await withSdkClient(stage, { kit: named }, async (client) => {
      const { sessionId } = await client.open();
      const others = await client.open();
      const slow = client.prompt(sessionId, 'slow');
      await client.agent.notify(methods.agent.session.cancel, { sessionId });
      expect(await slow).toEqual({ stopReason: 'cancelled' });
      expect(await client.prompt(sessionId, 'still there')).toEqual({ stopReason: 'end_turn' });

      const hanging = client.prompt(sessionId, 'hang');
      await client.agent.notify(methods.agent.session.cancel, { sessionId });
      expect(await hanging).toEqual({ stopReason: 'cancelled' });
      expect(await client.refused(sessionId, 'gone')).toMatchObject({ code: -32603, data: { reason: 'session_lost' } });
      expect(await client.prompt(others.sessionId, 'who')).toEqual({ stopReason: 'end_turn' });
      const fresh = await client.open();
      expect(await client.prompt(fresh.sessionId, 'who')).toEqual({ stopReason: 'end_turn' });
    });
  });

  test('is detected, with a process for each session', async ({ stage }) => {
    const kit = speaking('agentkit', 'kit');
    for (const round of ['first', 'second'])
      await withSdkClient(stage, { kit }, async (client) => {
        const [one, two] = [await client.open(), await client.open()];
        await client.prompt(one.sessionId, round);
        await client.prompt(two.sessionId, round);
        expect(new Set(client.of('agent_message_chunk').map(({ content }) => content.text)).size).toBe(2);
      });
    expect(dialectOf(stage)).toEqual({ framing: 'ndjson', dialect: 'agentkit' });
  });
});

describe('intercom: the operator stream', () => {
  const named = (options: Json = {}) => speaking('intercom', 'op', { dialect: 'intercom', timeouts: { quiet_ms: 1000, ...options } });

  test('two sessions, status, plan, clearance granted and refused, forwarded prompts, unanswered requests', async ({ stage }) => {
    await withSdkClient(stage, { op: named() }, async (client) => {
      const { updates, initializeResponse } = client;
      expect(initializeResponse).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'op' } });
      const one = await client.open();
      const two = await client.open();
      expect(await client.prompt(one.sessionId, 'all')).toEqual({ stopReason: 'end_turn' });
      expect(updates).toMatchObject([
        { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Running cargo test...\n' } },
        {
          sessionUpdate: 'plan',
          entries: [
            { content: 'Writing tests', priority: 'medium', status: 'in_progress' },
            { content: 'Implementation', status: 'pending' },
          ],
        },
      ]);
      await Promise.all([client.prompt(one.sessionId, 'hello'), client.prompt(two.sessionId, 'hello')]);
      expect(new Set(client.thought().match(/heard hello as \d+/g)).size).toBe(2);

      await client.prompt(one.sessionId, 'clear');
      expect(client.thought()).toContain('clearance req-001 approved null');
      expect(client.permissions[0]).toMatchObject({
        toolCall: {
          title: 'Create new module',
          kind: 'edit',
          content: [
            { type: 'content', content: { text: 'Adding src/driver/mod.rs' } },
            { type: 'diff', path: path.join(stage.cwd, 'src/driver/mod.rs'), oldText: null, newText: 'pub mod a;\npub mod b;\n' },
          ],
          locations: [{ path: path.join(stage.cwd, 'src/driver/mod.rs') }],
        },
        _meta: { risk_level: 'low' },
      });
      await client.prompt(one.sessionId, 'ask');
      expect(client.thought()).toContain('prompt prompt-001 continue null');
      client.choose('reject_once');
      await client.prompt(one.sessionId, 'clear');
      await client.prompt(one.sessionId, 'ask');
      expect(client.thought()).toContain('clearance req-001 rejected null');
      expect(client.thought()).toContain('prompt prompt-001 stop null');
      await expect(client.agent.request(methods.agent.session.setMode, { sessionId: one.sessionId, modeId: 'x' })).rejects.toMatchObject({
        code: -32601,
      });
    });
  });

  test('a client with forms and notices gets forms and notices', async ({ stage }) => {
    const capabilities = { elicitation: { form: {} }, session: { notices: {} } };
    const work = async (client: Json) => {
      const { sessionId } = await client.open();
      client.fillIn({ action: 'accept', content: { decision: 'continue', instruction: 'gently' } });
      await client.prompt(sessionId, 'ask');
      client.fillIn({ action: 'accept', content: { decision: 'stop' } });
      await client.prompt(sessionId, 'ask');
      client.fillIn({ action: 'decline' });
      await client.prompt(sessionId, 'ask');
      expect(client.of('notice').map(({ title }: Json) => title)).toEqual([
        'prompt prompt-001 continue "gently"',
        'prompt prompt-001 stop null',
        'prompt prompt-001 stop null',
      ]);
      expect(client.forms[0]).toMatchObject({ mode: 'form', message: 'Should I refactor?' });
    };
    await withSdkClient(stage, { op: named() }, work, { capabilities });
  });

  test('errors on the stream are reported and skipped, and the stream continues', async ({ stage }) => {
    await withSdkClient(stage, { op: named() }, async (client) => {
      const { sessionId } = await client.open();
      await client.prompt(sessionId, 'noise');
      expect(client.thought()).toBe('one\ntwo\nthree\n');
      await expect.poll(client.stderr).toContain('skipped a clearance/request from agent "op": "title" is missing');
      expect(client.stderr()).toContain('not JSON: not json at all');
      expect(client.stderr()).not.toContain('weather/report'); // at level debug
    });
  });

  test('cancel interrupts; an agent that exits with success ends its turn, one that crashes does not', async ({ stage }) => {
    await withSdkClient(stage, { op: named({ quiet_ms: 60_000, stall_ms: 500 }) }, async (client) => {
      const { sessionId } = await client.open();
      const turn = client.prompt(sessionId, 'silent');
      await expect.poll(client.thought).toContain('nudged: Continue working on the current task.');
      await client.agent.notify(methods.agent.session.cancel, { sessionId });
      expect(await turn).toEqual({ stopReason: 'cancelled' });
      await expect.poll(client.thought).toContain('interrupted: Operator requested termination');

      expect(await client.prompt(sessionId, 'exit')).toEqual({ stopReason: 'end_turn' });
      expect(client.thought()).toContain(`Session "${sessionId}" of agent "op" ended: stream closed`);
      expect((await client.refused(sessionId, 'hello')).message).toContain(sessionId);
      const other = await client.open();
      expect(await client.refused(other.sessionId, 'crash')).toMatchObject({ data: { agent: 'op', code: 3 } });
    });
  });

  test('a prompt to an agent that sends nothing within its start-up limit is an error, and not the end of a turn', async ({ stage }) => {
    await withSdkClient(stage, { op: named({ quiet_ms: 100, initialize_ms: 1500, stall_ms: 0 }) }, async (client) => {
      const { sessionId } = await client.open();
      expect((await client.refused(sessionId, 'silent')).message).toContain('Agent "op" sent nothing within 1500 ms');
      expect(await client.prompt(sessionId, 'hello')).toEqual({ stopReason: 'end_turn' });
    });
  });

  test('an agent that cannot be started is reported as failed', async ({ stage }) => {
    const client = await stage.connect({ op: { command: 'no-such-program', dialect: 'intercom' } });
    expect(await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).toMatchObject({ data: { reason: 'not_startable' } });
  });

  test('is detected by its first frame', async ({ stage }) => {
    const op = speaking('intercom', 'op', { timeouts: { quiet_ms: 1000 } }, 'hello');
    await withSdkClient(stage, { op }, async (client) => {
      const { sessionId } = await client.open();
      expect(await client.prompt(sessionId, 'hello')).toEqual({ stopReason: 'end_turn' });
      expect(client.thought()).toMatch(/^ready\nheard hello as \d+\n$/);
    });
    expect(dialectOf(stage)).toEqual({ framing: 'ndjson', dialect: 'intercom' });
  });
});

describe('legacy: earlier spellings of ACP, from any agent', () => {
  const old = speaking('legacy', 'old');

  test('files, reasons, modes, diffs and null results', async ({ stage }) => {
    await withSdkClient(stage, { old }, async (client) => {
      const { sessionId } = await client.open();
      await client.prompt(sessionId, 'read');
      expect(client.agentText()).toBe('content of /w/a.txt; content of /w/b.txt');
      await client.prompt(sessionId, 'permission');
      expect(client.permissions[0]?.toolCall).toMatchObject({ title: 'Do it', content: [{ content: { text: 'because' } }] });
      const from = client.updates.length;
      await client.prompt(sessionId, 'mode');
      await client.prompt(sessionId, 'diff');
      expect(client.updates.slice(from)).toMatchObject([
        { sessionUpdate: 'current_mode_update', currentModeId: 'code' },
        {
          sessionUpdate: 'tool_call',
          kind: 'edit',
          title: 'README.md',
          content: [{ type: 'diff', path: path.join(stage.cwd, 'README.md'), oldText: 'a', newText: 'b' }],
        },
      ]);
      expect(await client.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'ask' })).toEqual({});
      expect(await client.agent.request(methods.agent.session.load, { sessionId, cwd: stage.cwd, mcpServers: [] })).toEqual({});
    });
  });

  test("a policy evaluates a file by its earlier method name as by today's", async ({ stage }) => {
    const policy = { version: 1, deny: [{ id: 'frozen', path: ['/w/**'], reason: 'frozen' }] };
    const work = async (client: Json) => {
      const { sessionId } = await client.open();
      await client.prompt(sessionId, 'write');
      expect(client.agentText()).toMatch(/^refused -/);
    };
    await withSdkClient(stage, { old }, work, { config: { policy } });
  });

  test('next to another agent: models are an option, and a missing list of servers is filled in', async ({ stage }) => {
    const client = await stage.connect({ old, other: fixture('well-behaved', 'other') });
    const opened = await client.call('session/new', { cwd: stage.cwd });
    const option = opened.configOptions.find(({ category }: Json) => category === 'model');
    expect(option).toMatchObject({ currentValue: 'small', options: [{ value: 'small' }, { value: 'large' }] });
    await client.call('session/set_config_option', { sessionId: opened.sessionId, configId: option.id, value: 'large' });
    await client.call('session/prompt', { sessionId: opened.sessionId, prompt: [{ type: 'text', text: 'hello' }] });
    expect(client.agentText(opened.sessionId)).toBe('hello to large');
  });
});
