// A page written to the source document of the web app goes through it from top to bottom.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { createToken, startDaemon } from '../e2e/daemon.ts';
import { fixture, type Json, Refusal, test } from '../e2e/harness.ts';
import { openPage } from './page.ts';

const text = (words: string): Json => [{ type: 'text', text: words }];

/** All that the document names; `fileSystem` is its service for previews. */
const OPS = [
  ...['connect', 'authenticate', 'authMethods', 'prompt', 'cancel', 'permission', 'session.setMode', 'models.list', 'model.select'],
  ...['session.new', 'session.last', 'session.select', 'session.delete', 'sessions.list', 'threads.list', 'thread.get'],
  ...['terminal.create', 'terminal.output', 'terminal.kill', 'terminal.release', 'terminal.waitForExit', 'diff.apply', 'fileSystem'],
];

test('a page connects, prompts with every block, and sees every update of a generic agent in the spelling of the document', async ({
  stage,
}) => {
  const generic = { ...fixture('dialects/webapp', 'generic'), framing: 'content-length' };
  const daemon = await startDaemon(stage, { generic });
  const page = await openPage(daemon, createToken(stage, 'web'));

  // Connect: by the command line; the answer and the broadcast have the agent's answer to initialize.
  const connected = await page.request('connect', { agentCmd: [generic.command, ...generic.args].join(' '), cwd: stage.cwd });
  const { init } = connected.result;
  expect(connected).toEqual({ type: 'acp_response', id: 'r1', ok: true, result: { ok: true, init, agent: 'generic' } });
  expect(init).toMatchObject({ protocolVersion: 1, agentCapabilities: {}, authMethods: expect.any(Array) });
  expect(await page.got('agent_initialized')).toMatchObject({ init });
  const { message: known } = await page.refused('none');
  expect(known.split('known ops: ')[1].split(', ').toSorted()).toEqual(OPS.toSorted());

  // Modes and models.
  const { sessionId, modes } = await page.call('session.new', {});
  expect(modes).toMatchObject({ currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'auto' }] });
  const listed = await page.call('models.list', { sessionId });
  expect(listed).toEqual({
    models: [
      { id: 'small', modelId: 'small', name: expect.any(String) },
      { id: 'large', modelId: 'large', name: expect.any(String) },
    ],
    currentModelId: 'small',
  });
  await page.call('model.select', { sessionId, modelId: 'large' });
  expect((await page.call('models.list', { sessionId })).currentModelId).toBe('large');
  expect((await page.refused('model.select', { sessionId, modelId: 'huge' })).message).toContain('the models are small, large');
  expect(await page.call('session.setMode', { sessionId, modeId: 'auto' })).toEqual({ sessionId, modeId: 'auto' });

  // Every update.
  expect(await page.call('prompt', { sessionId, prompt: text('all') })).toMatchObject({ stopReason: 'end_turn', sessionId });
  expect(await page.update('user_message_chunk')).toMatchObject({ sessionUpdate: 'user_message_chunk', content: { text: 'all' } });
  expect(await page.update('agent_thought_chunk')).toMatchObject({ content: { text: 'hm' } });
  expect(await page.update('agent_message_chunk', ({ content }) => content.type === 'image')).toMatchObject({ content: { data: 'aGk=' } });
  expect((await page.update('plan')).entries).toMatchObject([{ content: 'look', status: 'completed' }, { content: 'leap' }]);
  expect((await page.update('available_commands_update')).availableCommands).toMatchObject([{ name: 'fix' }]);
  expect(await page.update('current_mode_update')).toMatchObject({ modeId: 'auto', current_mode_id: 'auto', currentModeId: 'auto' });
  expect(await page.update('token_usage', ({ maxTokens }) => maxTokens === undefined)).toMatchObject({ usedTokens: 10 });
  expect(await page.update('token_usage', ({ maxTokens }) => maxTokens === 100)).toMatchObject({ usedTokens: 20, used: 20, size: 100 });
  expect(await page.update('tool_call')).toMatchObject({ toolCallId: 't1', rawInput: { file: 'a.txt' } });
  const { content } = await page.update('tool_call_update');
  expect(content).toMatchObject([
    { type: 'content', content: { type: 'text', text: 'done' } },
    { type: 'diff', path: path.join(stage.cwd, 'a.txt'), newText: expect.stringContaining('new') },
    { type: 'resource_link', uri: 'file:///w/a.txt', text: 'the file' },
  ]);
  expect(await page.update('something_new')).toMatchObject({ value: 7 });

  // Permission: options as the document has them, and the answer reaches the agent.
  const asking = page.call('prompt', { prompt: text('permission') });
  const { requestId, request } = await page.got('permission_request');
  expect(requestId).toBe(1);
  expect(request).toMatchObject({
    session_id: sessionId,
    tool_call: { title: 'Delete everything' },
    options: [
      { id: 'yes', name: 'Allow', kind: 'allow_once' },
      { id: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  expect((await page.refused('permission', { outcome: 'selected', optionId: 'yes' })).message).toContain('requestId');
  expect((await page.refused('permission', { requestId, outcome: 'selected' })).message).toContain('optionId is missing');
  expect((await page.refused('permission', { requestId, outcome: 'selected', optionId: 'maybe' })).message).toContain('yes, no');
  expect((await page.refused('permission', { requestId, outcome: 'perhaps' })).message).toContain('outcome');
  await page.call('permission', { requestId, outcome: 'selected', optionId: 'yes' });
  expect(await page.update('agent_message_chunk', ({ content: { text } }) => text === 'selected yes')).toBeTruthy();
  expect(await asking).toMatchObject({ stopReason: 'end_turn' });
  expect((await page.refused('permission', { requestId, outcome: 'cancelled' })).message).toContain('is not open');
  const cancelling = page.call('prompt', { prompt: text('permission') });
  await page.got('permission_request', (message) => message.requestId === 2);
  await page.call('permission', { requestId: 2, outcome: 'cancelled' });
  expect(await page.update('agent_message_chunk', ({ content }) => content.text?.trim() === 'cancelled')).toBeTruthy();
  await cancelling;

  // Cancel, updates that end the turn, and an error of its model's service.
  const waiting = page.call('prompt', { prompt: text('wait') });
  await page.call('cancel', { sessionId });
  expect(await waiting).toMatchObject({ stopReason: 'cancelled' });
  expect((await page.refused('prompt', { prompt: text('error') })).message).toContain('the model is on fire');
  expect(await page.call('prompt', { prompt: text('refuse') })).toMatchObject({ stopReason: 'refusal' });
  expect(await page.refused('prompt', { prompt: text('unauthorized') })).toMatchObject({
    authRequired: true,
    authMethods: [{ id: 'key' }],
  });
});

test('blocks reach an agent as valid ACP, sessions and threads are kept, and an agent can want a login', async ({ stage }) => {
  let isLoggedIn = false;
  const modes = { currentModeId: 'ask', availableModes: ['ask', 'auto'].map((id) => ({ id, name: id })) };
  const agent = stage.agent('coder', {
    authMethods: [{ id: 'key', name: 'API key' }],
    describe: () => ({ modes }),
    turn(session, words) {
      if (words === 'secret' && !isLoggedIn) throw new Refusal(-32000, 'Authentication required');
      if (words === 'sound')
        agent.update(session.id, { sessionUpdate: 'agent_message_chunk', content: { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' } });
      agent.sendText(session.id, `heard ${words}`);
      return { stopReason: 'end_turn' };
    },
  });
  agent.on('authenticate', () => {
    isLoggedIn = true;
    return {};
  });
  const daemon = await startDaemon(stage, [agent]);
  const page = await openPage(daemon, createToken(stage, 'web'));
  await page.call('connect', { agentCmd: 'coder', cwd: stage.cwd });
  expect(await page.call('session.last')).toEqual({ sessionId: null });
  const servers = [
    { name: 'docs', type: 'http', url: 'https://docs.example/mcp', headers: { authorization: 'Bearer canary-of-a-header' } },
    { type: 'sse', url: 'https://events.example/sse', headers: [{ name: 'x', value: 'y' }] },
  ];
  const { sessionId, modes: offered } = await page.call('session.new', { mcpServers: servers });
  expect(offered).toEqual(modes);
  expect((await agent.got('session/new')).msg.params).toMatchObject({
    cwd: stage.cwd,
    mcpServers: [
      { type: 'http', name: 'docs', headers: [{ name: 'authorization', value: 'Bearer canary-of-a-header' }] },
      { type: 'sse', name: 'events.example', headers: [{ name: 'x', value: 'y' }] },
    ],
  });

  const blocks = [
    { type: 'text', text: 'look' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///w/notes.md', text: 'my notes' },
    { type: 'resource', resource: { text: 'embedded', mimeType: 'text/plain' } },
    { type: 'resource', resource: { blob: 'aGk=', uri: 'file:///w/x.bin' } },
  ];
  // Without a sessionId the last session is meant.
  await page.call('prompt', { prompt: blocks });
  expect((await agent.got('session/prompt')).msg.params.prompt).toEqual([
    ...blocks.slice(0, 3),
    { type: 'resource_link', uri: 'file:///w/notes.md', name: 'notes.md', title: 'my notes' },
    { type: 'resource', resource: { uri: expect.stringMatching(/^urn:/), text: 'embedded', mimeType: 'text/plain' } },
    { type: 'resource', resource: { blob: 'aGk=', uri: 'file:///w/x.bin' } },
  ]);

  // An agent of ACP: its params in camel case, no models.
  await page.call('session.setMode', { sessionId, modeId: 'auto' });
  expect((await agent.got('session/set_mode')).msg.params).toEqual({ sessionId, modeId: 'auto' });
  expect(await page.call('models.list', { sessionId })).toEqual({ models: [], currentModelId: null });
  expect((await page.refused('model.select', { sessionId, modelId: 'large' })).message).toContain('offers no models');
  await page.call('prompt', { prompt: text('sound') });
  expect(await page.update('agent_message_chunk', ({ content }) => content.type === 'audio')).toMatchObject({ content: { data: 'aGk=' } });

  // Authentication.
  expect(await page.call('authMethods')).toEqual({ methods: [{ id: 'key', name: 'API key' }] });
  expect(await page.refused('prompt', { prompt: text('secret') })).toMatchObject({
    code: -32000,
    authRequired: true,
    authMethods: [{ id: 'key', name: 'API key' }],
  });
  await page.call('authenticate', { methodId: 'key' });
  await page.call('prompt', { prompt: text('secret') });

  // Sessions and threads.
  const second = (await page.call('session.new', {})).sessionId;
  const { sessions, lastSessionId } = await page.call('sessions.list');
  expect(sessions.map((one: Json) => one.sessionId).toSorted()).toEqual([sessionId, second].toSorted());
  expect(lastSessionId).toBe(second);
  await page.call('session.select', { sessionId });
  expect(await page.call('session.last')).toEqual({ sessionId });
  const { threads } = await page.call('threads.list');
  expect(threads).toMatchObject([{ id: sessionId, agent: 'coder', turns: 4 }]);
  const thread = await page.call('thread.get', { id: sessionId });
  expect(thread.updates).toContainEqual(
    expect.objectContaining({ type: 'agent_message_chunk', content: { type: 'text', text: 'heard secret' } }),
  );
  expect((await page.refused('thread.get', { id: 'unknown' })).message).toContain('no transcript');
  await page.call('session.delete', { sessionId: second });
  expect((await page.call('sessions.list')).sessions.map((one: Json) => one.sessionId)).toEqual([sessionId]);
  expect((await page.refused('prompt', { sessionId: second, prompt: text('x') })).message).toContain('unknown session');

  // A fresh daemon knows them, and opens one again when it is used.
  daemon.child.kill();
  const next = await startDaemon(stage, [agent]);
  const later = await openPage(next, createToken(stage, 'again', 'owner'));
  expect(await later.call('session.last')).toEqual({ sessionId });
  expect(await later.call('prompt', { prompt: text('once more') })).toMatchObject({ stopReason: 'end_turn', sessionId });
});

test('a page applies changes without overwriting others, previews files, and sees the terminals of agents', async ({ stage }) => {
  const file = (name: string) => path.join(stage.cwd, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  const agent = stage.agent('coder', {
    async turn(session, words) {
      const tool = (content: Json) =>
        agent.update(session.id, { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Edit', status: 'completed', content });
      if (words === 'edit')
        tool([
          { type: 'diff', path: file('whole.txt'), oldText: 'one\n', newText: 'two\n' },
          { type: 'diff', path: file('part.txt'), oldText: 'b', newText: 'B' },
          { type: 'diff', path: file('blind.txt'), newText: 'seen\n' },
          { type: 'diff', path: file('new.txt'), oldText: null, newText: 'fresh\n' },
        ]);
      if (words === 'run') {
        const params = { sessionId: session.id, command: process.execPath, args: ['-e', 'console.log("built"); console.error("warned")'] };
        const { terminalId } = (await agent.request('terminal/create', params)).result;
        tool([{ type: 'terminal', terminalId }]);
        await agent.request('terminal/wait_for_exit', { sessionId: session.id, terminalId });
        await agent.request('terminal/release', { sessionId: session.id, terminalId });
      }
      return { stopReason: 'end_turn' };
    },
  });
  for (const [name, content] of Object.entries({
    'whole.txt': 'one\n',
    'part.txt': 'a\nb\nc\n',
    'blind.txt': 'old\n',
    'secret.env': 'X=1',
  }))
    writeFileSync(file(name), content);
  const policy = { version: 1, deny: ['edit(**/denied.txt)', 'read(**/*.env)', 'execute(rm ...)'] };
  const daemon = await startDaemon(stage, [agent], { config: { web_app: { allow_terminals: true }, policy } });
  const page = await openPage(daemon, createToken(stage, 'web'));
  await page.call('connect', { agentCmd: 'coder', cwd: stage.cwd });
  const { sessionId } = await page.call('session.new', {});
  await page.call('prompt', { prompt: text('edit') });
  await page.update('tool_call');

  // diff.apply.
  expect(await page.call('diff.apply', { path: file('whole.txt'), newText: 'two\n' })).toMatchObject({ written: true });
  expect(await page.call('diff.apply', { path: file('whole.txt'), newText: 'two\n' })).toMatchObject({ written: false });
  expect(await page.call('diff.apply', { path: file('part.txt'), newText: 'B' })).toMatchObject({ written: true });
  expect(await page.call('diff.apply', { path: file('new.txt'), newText: 'fresh\n' })).toMatchObject({ written: true });
  expect([read('whole.txt'), read('part.txt'), read('new.txt')]).toEqual(['two\n', 'a\nB\nc\n', 'fresh\n']);
  writeFileSync(file('blind.txt'), 'changed by another program\n');
  expect(await page.refused('diff.apply', { path: file('blind.txt'), newText: 'seen\n' })).toMatchObject({
    message: expect.stringContaining('conflict'),
    data: { reason: 'conflict', path: file('blind.txt') },
  });
  expect((await page.refused('diff.apply', { path: file('whole.txt'), newText: 'never shown' })).message).toContain('send oldText');
  expect((await page.refused('diff.apply', { path: file('whole.txt'), oldText: 'one\n', newText: 'x' })).message).toContain('conflict');
  expect((await page.refused('diff.apply', { path: '/etc/passwd', newText: 'x' })).message).toContain('outside');
  expect((await page.refused('diff.apply', { path: file('denied.txt'), newText: 'x' })).message).toContain('denied by policy');
  expect([read('blind.txt'), read('whole.txt'), existsSync(file('denied.txt'))]).toEqual(['changed by another program\n', 'two\n', false]);

  // Previews, in both forms.
  const uri = pathToFileURL(file('part.txt')).href;
  expect(await page.call('read', { uri }, 'fileSystem')).toMatchObject({ text: 'a\nB\nc\n', truncated: false });
  expect(await page.call('fileSystem', { path: 'part.txt' })).toMatchObject({ content: 'a\nB\nc\n' });
  writeFileSync(file('long.txt'), 'line\n'.repeat(1000));
  expect(await page.call('fileSystem', { path: 'long.txt' })).toMatchObject({ truncated: true });
  expect((await page.refused('read', { uri: 'https://example.com/' }, 'fileSystem')).message).toContain('only files');
  expect((await page.refused('read', { uri: 'file:///etc/passwd' }, 'fileSystem')).message).toContain('outside');
  expect((await page.refused('fileSystem', { path: file('secret.env') })).message).toContain('denied by policy');

  // A terminal of the agent.
  const running = page.call('prompt', { prompt: text('run') });
  const asked = await page.got('permission_request');
  await page.call('permission', { requestId: asked.requestId, outcome: 'selected', optionId: asked.request.options[0].id });
  const { terminalId, exitStatus } = await page.got('terminal_exit');
  expect(exitStatus).toMatchObject({ exitCode: 0 });
  expect((await page.update('tool_call', ({ content }) => content[0].type === 'terminal')).content).toEqual([
    { type: 'terminal', terminalId },
  ]);
  expect(await page.got('terminal_output', ({ stream }) => stream === 'stdout')).toMatchObject({ terminalId, chunk: 'built\n' });
  expect(await page.got('terminal_output', ({ stream }) => stream === 'stderr')).toMatchObject({ terminalId, chunk: 'warned\n' });
  expect(await page.call('terminal.output', { terminalId })).toMatchObject({
    output: expect.stringContaining('built'),
    exitStatus: { exitCode: 0 },
  });
  expect((await page.refused('terminal.kill', { terminalId })).message).toContain('belongs to an agent');
  await running;

  // Terminals of the page: the response comes before the output.
  const script = 'console.log(process.cwd()); setInterval(() => {}, 1000)';
  const own = await page.call('terminal.create', { command: process.execPath, args: ['-e', script], env: { SHOWN: '1' } });
  expect((await page.got('terminal_output', (one) => one.terminalId === own.terminalId)).chunk.trim()).toBe(stage.cwd);
  expect(await page.call('terminal.output', own)).toMatchObject({ output: `${stage.cwd}\n`, truncated: false });
  const exit = page.call('terminal.waitForExit', own);
  await page.call('terminal.kill', own);
  expect(await exit).toMatchObject({ exitStatus: { signal: 'SIGTERM' } });
  expect(await page.got('terminal_exit', (one) => one.terminalId === own.terminalId)).toMatchObject({ exitStatus: { signal: 'SIGTERM' } });
  await page.call('terminal.release', own);
  const loud = { command: process.execPath, args: ['-e', 'console.log("x".repeat(100)); process.exitCode = 3'], outputByteLimit: 10 };
  const short = await page.call('terminal.create', loud);
  expect(await page.call('terminal.waitForExit', short)).toMatchObject({ exitStatus: { exitCode: 3, signal: null } });
  expect(await page.call('terminal.output', short)).toMatchObject({ output: 'xxxxxxxxx\n', truncated: true, exitStatus: { exitCode: 3 } });
  expect((await page.refused('terminal.output', own)).message).toContain('unknown terminal');
  expect((await page.refused('terminal.create', { command: 'rm', args: ['-r', 'x'] })).message).toContain('denied by policy');
  expect((await page.refused('terminal.create', { command: 'ls', cwd: '/' })).message).toContain('outside');
  expect((await page.refused('terminal.create', { args: [] })).message).toContain('command');
  expect((await page.refused('terminal.create', { sessionId: 'other', command: 'ls' })).message).toContain('unknown session');
  expect(sessionId).toBeTruthy();
});
