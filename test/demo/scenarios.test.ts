// The commands of the demo agents.
import { methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Client, only, spoken, startClient } from './client.ts';

let sketcher: Client;
let builder: Client;
/** Builder with a client that offers neither files nor a terminal. */
let bare: Client;
beforeAll(async () => {
  [sketcher, builder, bare] = await Promise.all([
    startClient('sketcher'),
    startClient('builder'),
    startClient('builder', { capabilities: {} }),
  ]);
});
afterAll(() => Promise.all([sketcher.end(), builder.end(), bare.end()]));
beforeEach(() => {
  builder.choice = 'allow-once';
  builder.permissionRequests.length = 0;
});

describe('a prompt that is not a command', () => {
  test('gets a thought and an answer in several chunks that names the agent and echoes the prompt', async () => {
    const sessionId = await sketcher.newSession();
    const { stopReason, updates, text } = await sketcher.prompt(sessionId, 'How high is a house?');
    expect(stopReason).toBe('end_turn');
    expect(only(updates, 'agent_thought_chunk')).toHaveLength(1);
    expect(only(updates, 'agent_message_chunk')).toHaveLength(3);
    expect(text).toBe('Sketcher here. You said: "How high is a house?". I would draw it up first: try /plan.');
  });

  test('thinks twice in thorough mode', async () => {
    const sessionId = await sketcher.newSession();
    await sketcher.agent.request(methods.agent.session.setConfigOption, { sessionId, configId: 'thinking', value: 'thorough' });
    expect(only((await sketcher.prompt(sessionId, 'Hello')).updates, 'agent_thought_chunk')).toHaveLength(2);
  });

  test('names its attachments', async () => {
    const sessionId = await sketcher.newSession();
    await sketcher.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [
        { type: 'text', text: 'Look' },
        { type: 'resource', resource: { uri: 'file:///project/a.txt', text: 'a' } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    });
    expect(spoken(sketcher.updates(sessionId))).toContain('With it came file:///project/a.txt, an image (image/png).');
  });

  test('gives the session its title once, and reports the usage each time', async () => {
    const sessionId = await sketcher.newSession();
    const first = await sketcher.prompt(sessionId, 'A   house\nby the sea');
    const second = await sketcher.prompt(sessionId, 'And a boat');
    expect(only(first.updates, 'session_info_update')).toMatchObject([{ title: 'A house by the sea', updatedAt: expect.any(String) }]);
    expect(only(second.updates, 'session_info_update')).toEqual([]);
    const used = [first, second].map(({ updates }) => only(updates, 'usage_update')[0]?.used ?? 0);
    expect(used[1]).toBeGreaterThan(used[0] ?? 0);
    expect(only(first.updates, 'usage_update')).toMatchObject([{ size: 200_000 }]);
  });

  test('is refused while the session is still busy with another', async () => {
    const sessionId = await sketcher.newSession();
    const first = sketcher.prompt(sessionId, '/slow 0.1');
    await expect(sketcher.prompt(sessionId, 'And this?')).rejects.toMatchObject({ code: -32600 });
    expect((await first).stopReason).toBe('end_turn');
  });
});

describe('/plan', () => {
  test.each(['/plan a shed', 'plan a shed'])('%s makes a plan and follows it step by step', async (prompt) => {
    const { updates, text } = await sketcher.prompt(await sketcher.newSession(), prompt);
    const progress = only(updates, 'plan').map(({ entries }) => entries.map(({ status }) => status[0]).join(''));
    expect(progress).toEqual(['ppp', 'ipp', 'cip', 'cci', 'ccc']);
    expect(only(updates, 'plan')[0]?.entries[0]).toEqual({ content: 'Understand a shed', priority: 'high', status: 'pending' });
    expect(text).toContain('a plan for a shed');
  });
});

describe('/read', () => {
  test('reads through the client', async () => {
    builder.files.set('/project/read.txt', 'one\ntwo');
    const { updates, text } = await builder.prompt(await builder.newSession(), '/read read.txt');
    expect(only(updates, 'tool_call')).toMatchObject([{ kind: 'read', locations: [{ path: '/project/read.txt' }] }]);
    expect(only(updates, 'tool_call_update')).toMatchObject([
      { status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'one\ntwo' } }] },
    ]);
    expect(text).toBe('read.txt has 2 lines and 7 characters.');
  });

  test('says so when the client declines', async () => {
    const { stopReason, updates, text } = await builder.prompt(await builder.newSession(), '/read missing.txt');
    expect(stopReason).toBe('end_turn');
    expect(only(updates, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
    expect(text).toContain('Your editor declined: Resource not found');
  });
});

describe('/edit', () => {
  test('creates a file that is missing, whatever the client calls that, and writes nothing after any other error', async () => {
    const sessionId = await builder.newSession();
    await builder.prompt(sessionId, '/edit new.sdk');
    expect([...builder.files.keys()].some((file) => file.endsWith('new.sdk'))).toBe(true);
    const { text } = await builder.prompt(sessionId, '/edit new.locked');
    expect(text).toContain('Your editor declined');
    expect([...builder.files.keys()].some((file) => file.endsWith('new.locked'))).toBe(false);
  });

  test('shows the diff, asks with three options, then writes through the client', async () => {
    builder.files.set('/project/a.txt', 'one\n');
    const sessionId = await builder.newSession();
    const { updates } = await builder.prompt(sessionId, '/edit a.txt');
    const diff = { type: 'diff', path: '/project/a.txt', oldText: 'one\n', newText: 'one\nBuilder was here in turn 1.\n' };
    expect(only(updates, 'tool_call')).toMatchObject([{ toolCallId: 'call-1-1', kind: 'edit', status: 'pending', title: 'Edit a.txt' }]);
    expect(only(updates, 'tool_call_update')).toMatchObject([{ content: [diff] }, { status: 'in_progress' }, { status: 'completed' }]);
    expect(builder.permissionRequests).toMatchObject([
      {
        sessionId,
        toolCall: { toolCallId: 'call-1-1', kind: 'edit', content: [diff] },
        options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
      },
    ]);
    expect(builder.files.get('/project/a.txt')).toBe(diff.newText);
  });

  test('creates a missing file', async () => {
    const { updates } = await builder.prompt(await builder.newSession(), '/edit new.txt');
    expect(only(updates, 'tool_call_update')[0]).toMatchObject({ content: [{ type: 'diff', oldText: null }] });
    expect(builder.files.get('/project/new.txt')).toBe('Builder was here in turn 1.\n');
  });

  test('writes nothing when rejected', async () => {
    builder.files.set('/project/b.txt', 'one\n');
    builder.choice = 'reject-once';
    const { stopReason, updates } = await builder.prompt(await builder.newSession(), '/edit b.txt');
    expect(stopReason).toBe('end_turn');
    expect(only(updates, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' });
    expect(builder.files.get('/project/b.txt')).toBe('one\n');
  });

  test('asks no second time after allow_always, but still for a command and in another session', async () => {
    builder.choice = 'allow-always';
    const sessionId = await builder.newSession();
    await builder.prompt(sessionId, '/edit c.txt');
    await builder.prompt(sessionId, '/edit c.txt');
    expect(builder.permissionRequests).toHaveLength(1);
    await builder.prompt(sessionId, '/run ls');
    await builder.prompt(await builder.newSession(), '/edit c.txt');
    expect(builder.permissionRequests).toHaveLength(3);
  });
});

describe('/run', () => {
  test('asks, runs in a terminal of the client, shows it in the tool call and releases it', async () => {
    const { updates, text } = await builder.prompt(await builder.newSession(), `/run echo "hello world" 'and you'`);
    expect(builder.permissionRequests).toMatchObject([
      { toolCall: { kind: 'execute', rawInput: { command: 'echo', args: ['hello world', 'and you'], cwd: '/project' } } },
    ]);
    const [terminalId, terminal] = [...builder.terminals].at(-1) ?? [];
    expect(only(updates, 'tool_call_update')).toMatchObject([
      { status: 'in_progress', content: [{ type: 'terminal', terminalId }] },
      { status: 'completed', rawOutput: { output: 'ran echo hello world and you', exitCode: 0 } },
    ]);
    expect(terminal?.released).toBe(true);
    expect(text).toBe('The command ended with exit code 0 and said:\nran echo hello world and you');
  });

  test('runs nothing when rejected', async () => {
    builder.choice = 'reject-once';
    const before = builder.terminals.size;
    const { updates } = await builder.prompt(await builder.newSession(), '/run ls');
    expect(only(updates, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
    expect(builder.terminals.size).toBe(before);
  });
});

describe('modes', () => {
  test('builder in mode auto edits and runs without a permission request', async () => {
    const sessionId = await builder.newSession();
    await builder.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'auto' });
    await builder.prompt(sessionId, '/edit d.txt');
    await builder.prompt(sessionId, '/run ls');
    expect(builder.permissionRequests).toEqual([]);
    expect(builder.files.has('/project/d.txt')).toBe(true);
  });

  test('sketcher in mode code edits without a permission request but asks before a command', async () => {
    const sessionId = await sketcher.newSession();
    await sketcher.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'code' });
    await sketcher.prompt(sessionId, '/edit d.txt');
    await sketcher.prompt(sessionId, '/run ls');
    expect(sketcher.permissionRequests).toMatchObject([{ toolCall: { kind: 'execute' } }]);
  });
});

describe('a client without files and terminals', () => {
  test.each([
    ['/read a.txt', 'your editor lets me read no files'],
    ['/edit a.txt', 'your editor lets me change no files'],
    ['/run ls', 'your editor has no terminal for me'],
  ])('%s is declined politely and sends the client no request', async (prompt, answer) => {
    const before = bare.frames.length;
    const { stopReason, text } = await bare.prompt(await bare.newSession(), prompt);
    expect(stopReason).toBe('end_turn');
    expect(text).toContain(answer);
    expect(bare.frames.slice(before).filter((frame) => 'id' in frame && 'method' in frame)).toEqual([]);
  });
});

test.each([
  ['/read', 'Which file?'],
  ['/edit', 'Which file?'],
  ['/run', 'Which command?'],
  ['/call', 'Which tool?'],
  ['/call echo echo [1]', 'a JSON object'],
  ['/tools', 'no MCP servers'],
  ['/slow forever', 'How many seconds'],
])('%s is answered with a hint: %s', async (prompt, hint) => {
  expect((await builder.prompt(await builder.newSession(), prompt)).text).toContain(hint);
});

test('/whoami describes the agent and the session as JSON', async () => {
  const sessionId = await sketcher.newSession();
  await sketcher.prompt(sessionId, 'Hello');
  expect(JSON.parse((await sketcher.prompt(sessionId, '/whoami')).text)).toEqual({
    name: 'sketcher',
    pid: expect.any(Number),
    sessionId,
    cwd: '/project',
    mode: 'ask',
    model: 'pencil',
    thinking: 'brief',
    mcpServers: [],
    turns: 2,
  });
});

test('/slow sends a chunk every 50 ms', async () => {
  const { text } = await sketcher.prompt(await sketcher.newSession(), '/slow 0.15');
  expect(text).toBe('1 of 3\n2 of 3\n3 of 3\nDone.');
});
