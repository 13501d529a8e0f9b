// session/request_permission under a policy: settled by the proxy, or asked as the agent wrote it; remembered by us; logged before it is
// answered.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { boundByModes } from '../ordinary-user.ts';
import { type Json, open, prompt, SWITCHBOARD, testAtOnce as test, UNANSWERED } from './harness.ts';
import { audit, execution, OPTIONS, selected, UNCONTAINED, underPolicy } from './policy-support.ts';

const requests = (client: { all(method: string): readonly Json[] }) => client.all('session/request_permission');

test('an allowed request is answered with the option for once, and the client is not asked', async ({ stage }) => {
  const { client, ask } = await underPolicy(stage, { allow: ['execute(git status)'] });
  expect(await ask('git status')).toEqual(selected('a1'));
  expect(requests(client)).toEqual([]);
});

test('a denied request is answered with a rejection, and the client is not asked', async ({ stage }) => {
  const { client, ask } = await underPolicy(stage, { deny: ['execute(sudo ...)'] });
  expect(await ask('sudo ls')).toEqual(selected('r1'));
  expect(await ask('echo $(sudo ls)')).toEqual(selected('r1'));
  expect(requests(client)).toEqual([]);
});

test("the audit log tells what was prevented, what was only noticed, and the user's own answer", async ({ stage }) => {
  const { client, agent, id, ask } = await underPolicy(stage, { allow: ['execute(git status)'], deny: ['execute(sudo ...)'] });
  await ask('git status');
  await ask('sudo ls');
  await ask('make');
  client.on('session/request_permission', () => selected('r1'));
  await ask('make clean');
  const rawInput = { command: 'sudo id' };
  agent.notify('session/update', {
    sessionId: id,
    update: { sessionUpdate: 'tool_call', toolCallId: 'unasked', title: 'id', kind: 'execute', status: 'completed', rawInput },
  });
  await ask('git status'); // its answer comes after the update was evaluated
  expect(audit(stage).map(({ summary, outcome, by, answer }) => [summary, outcome, by, answer])).toEqual([
    ['execute: git status', 'allowed', 'policy', undefined],
    ['execute: sudo ls', 'prevented', 'policy', undefined],
    ['execute: make', 'allowed', 'user', 'allow_once'],
    ['execute: make clean', 'prevented', 'user', 'reject_once'],
    ['execute: sudo id', 'noticed', 'policy', undefined],
    ['execute: git status', 'allowed', 'policy', undefined],
  ]);
});

test('a request that no rule matches goes to the client as the agent wrote it', async ({ stage }) => {
  const { client, agent, id } = await underPolicy(stage, { allow: ['execute(git status)'] });
  const params = execution(id, 'make', { _meta: { odd: 1.5 }, unknown: [1] });
  expect(await agent.call('session/request_permission', params)).toEqual(selected('a1'));
  expect((await client.got('session/request_permission')).msg.params).toEqual(params);
});

test.for([
  ['only for always', [OPTIONS[1], OPTIONS[2]]],
  ['none at all', []],
] as const)('an allow with options %s is asked instead', async ([, options], { stage }) => {
  const { client, agent, id } = await underPolicy(stage, { allow: ['execute(git status)'] });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
  expect(await agent.call('session/request_permission', execution(id, 'git status', { options }))).toEqual({
    outcome: { outcome: 'cancelled' },
  });
  expect(requests(client)).toHaveLength(1);
});

test('of two options of one kind the plain one is chosen', async ({ stage }) => {
  const { agent, id } = await underPolicy(stage, { deny: ['execute'] });
  const options = [
    { optionId: 'x', name: 'Cancel', kind: 'reject_once' },
    { optionId: 'y', name: 'Decline', kind: 'reject_once' },
  ];
  expect(await agent.call('session/request_permission', execution(id, 'ls', { options }))).toEqual(selected('y'));
  expect(await agent.call('session/request_permission', execution(id, 'ls', { options: [OPTIONS[0]] }))).toEqual({
    outcome: { outcome: 'cancelled' },
  });
});

test('a request with only an id is evaluated by earlier updates of the call', async ({ stage }) => {
  const { client, agent, id } = await underPolicy(stage, { allow: ['execute(npm test ...)'], deny: ['execute(rm ...)'] });
  for (const [toolCallId, command] of [
    ['one', 'npm test'],
    ['two', 'rm -r x'],
  ])
    agent.update(id, { sessionUpdate: 'tool_call', toolCallId, title: 'Shell', status: 'pending', rawInput: { command } });
  const bare = (toolCallId: string) =>
    agent.call('session/request_permission', { sessionId: id, toolCall: { toolCallId }, options: OPTIONS });
  expect(await bare('one')).toEqual(selected('a1'));
  expect(await bare('two')).toEqual(selected('r1'));
  expect(requests(client)).toEqual([]);
  expect(await bare('three')).toEqual(selected('a1'));
  expect(requests(client)).toHaveLength(1);
});

describe('an answer for always', () => {
  test('is forwarded as one for once, and applies to exactly this request in this session', async ({ stage }) => {
    const { client, ask, agent } = await underPolicy(stage, {});
    client.on('session/request_permission', () => selected('aa'));
    expect(await ask('make')).toEqual(selected('a1'));
    expect(await ask('make')).toEqual(selected('a1'));
    expect(requests(client)).toHaveLength(1);
    expect(await ask('make all')).toEqual(selected('a1'));
    expect(requests(client)).toHaveLength(2);
    const other = await open(client, stage.cwd);
    await agent.call('session/request_permission', execution(other.id, 'make'));
    expect(requests(client)).toHaveLength(3);
    expect(audit(stage).map(({ by }) => by)).toEqual(['user', 'memory', 'user', 'user']);
  });

  test('to reject is remembered too, against an allow', async ({ stage }) => {
    const { client, ask, agent, id } = await underPolicy(stage, {});
    const options = [...OPTIONS, { optionId: 'ra', name: 'Never', kind: 'reject_always' }];
    client.on('session/request_permission', () => selected('ra'));
    expect(await agent.call('session/request_permission', execution(id, 'make', { options }))).toEqual(selected('r1'));
    expect(await ask('make')).toEqual(selected('r1'));
    expect(requests(client)).toHaveLength(1);
  });

  test('for the workspace is known to the next process, and to no other policy', async ({ stage }) => {
    const policy = { remember: { allow_always: 'workspace' } };
    const first = await underPolicy(stage, policy);
    first.client.on('session/request_permission', () => selected('aa'));
    await first.ask('make');
    await first.client.close();
    const second = await underPolicy(stage, policy, {}, stage.agent('agent', { mint: (n) => `second-${n}` }));
    expect(await second.ask('make')).toEqual(selected('a1'));
    expect(requests(second.client)).toEqual([]);
    await second.client.close();
    const agent = stage.agent('agent', { mint: (n) => `third-${n}` });
    const third = await underPolicy(stage, { ...policy, deny: ['execute(sudo ...)'] }, {}, agent);
    await third.ask('make');
    expect(requests(third.client)).toHaveLength(1);
  });

  test('does not override a rule that asks', async ({ stage }) => {
    const { client, ask } = await underPolicy(stage, { ask: ['execute(make ...)'] });
    client.on('session/request_permission', () => selected('aa'));
    await ask('make');
    await ask('make');
    expect(requests(client)).toHaveLength(2);
  });
});

test('a request that nobody answers in time is denied, and cancelled at the client', async ({ stage }) => {
  const { client, ask } = await underPolicy(stage, { limits: { permission_timeout: '1s' } });
  client.on('session/request_permission', () => UNANSWERED);
  expect(await ask('make')).toEqual(selected('r1'));
  const received = await client.got('session/request_permission');
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: received.msg.id });
  expect(audit(stage).at(-1)).toMatchObject({ by: 'timeout', verdict: 'deny', option: 'r1' });
});

test('a cancelled turn ends its requests, and a late answer is dropped', async ({ stage }) => {
  const agent = stage.agent('agent', {
    turn: async ({ id }) => ({
      stopReason: (await agent.call('session/request_permission', execution(id, 'make'), 'asked')).outcome.outcome,
    }),
  });
  const { client, id } = await underPolicy(stage, {}, {}, agent);
  client.on('session/request_permission', () => UNANSWERED);
  const turn = prompt(client, id, 'go');
  const received = await client.got('session/request_permission');
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  client.reply(received.msg, selected('aa'));
  await open(client, stage.cwd); // behind the late answer
  expect(agent.answersTo('asked')).toHaveLength(1);
});

test('a request that parsers read differently is refused, whatever is allowed', async ({ stage }) => {
  const { agent, client, id } = await underPolicy(stage, { allow: ['execute(git status)'] });
  const params = `{"sessionId":${JSON.stringify(id)},"toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":"rm -rf /","command":"git status"}},"options":${JSON.stringify(OPTIONS)}}`;
  agent.line(`{"jsonrpc":"2.0","id":"dup","method":"session/request_permission","params":${params}}`);
  const answer = await agent.until(({ id: answered }) => answered === 'dup');
  expect(answer.msg.error.code).toBe(-32600);
  expect(requests(client)).toEqual([]);
});

describe('the audit log', () => {
  test('has a line for each decision before its response, with rule, place and who answered', async ({ stage }) => {
    const { ask, id } = await underPolicy(stage, {
      deny: [{ id: 'no-sudo', action: 'execute', command: 'sudo ...' }],
      allow: ['execute(git status)'],
    });
    await ask('git status');
    expect(audit(stage)).toHaveLength(1);
    await ask('sudo ls');
    expect(audit(stage)).toHaveLength(2);
    await ask('make');
    expect(audit(stage)).toMatchObject([
      { seq: 1, agent: 'agent', session: id, verdict: 'allow', by: 'policy', option: 'a1', summary: 'execute: git status' },
      { seq: 2, verdict: 'deny', by: 'policy', option: 'r1', layer: 'user', rule: { id: 'no-sudo' } },
      { seq: 3, verdict: 'ask', by: 'user', option: 'a1' },
    ]);
  });

  test('that cannot be written turns an allow into an ask, reported once', async ({ stage }) => {
    mkdirSync(path.join(stage.state, 'audit.jsonl'));
    const { client, ask } = await underPolicy(stage, { allow: ['execute(git status)'], deny: ['execute(sudo ...)'] });
    expect(await ask('git status')).toEqual(selected('a1'));
    expect(requests(client)).toHaveLength(1);
    expect(await ask('sudo ls')).toEqual(selected('r1'));
    rmSync(path.join(stage.state, 'audit.jsonl'), { recursive: true });
    await ask('git status');
    expect(requests(client)).toHaveLength(1);
    await client.close();
    expect(client.stderr().match(/audit log/g)).toHaveLength(1);
  });

  test('holds no secret of the environment', async ({ stage }) => {
    const agent = stage.agent('agent');
    const server = { ...agent.server, env: { API_KEY: 'canary-0123456789' } };
    const client = await stage.connect({ agent: server }, { config: { policy: { version: 1, deny: ['execute'] } } });
    const { id } = await open(client, stage.cwd);
    await agent.call('session/request_permission', execution(id, 'curl -H canary-0123456789 x'));
    expect(JSON.stringify(audit(stage))).not.toContain('canary');
    expect(JSON.stringify(audit(stage))).toContain('[redacted:API_KEY]');
  });
});

describe('--policy-mode observe', () => {
  test('blocks nothing and logs what would have been blocked', async ({ stage }) => {
    const { client, ask, agent, id } = await underPolicy(
      stage,
      { deny: ['execute', 'read(**/.env)'] },
      { args: ['--policy-mode', 'observe'] },
    );
    expect(await ask('sudo ls')).toEqual(selected('a1'));
    client.on('fs/read_text_file', () => ({ content: 'x' }));
    expect(await agent.call('fs/read_text_file', { sessionId: id, path: path.join(stage.cwd, '.env') })).toEqual({ content: 'x' });
    expect(audit(stage)).toMatchObject([
      { verdict: 'deny', mode: 'observe', option: 'passed' },
      { verdict: 'deny', mode: 'observe', option: 'passed' },
    ]);
  });
});

describe('where the policy comes from', () => {
  test('a file next to the configuration, a preset, and --policy: the strictest counts', async ({ stage }) => {
    writeFileSync(path.join(stage.dir, 'mine.yaml'), 'version: 1\nallow: ["execute(make ...)", "execute(git status)"]\n');
    writeFileSync(path.join(stage.dir, 'more.yaml'), 'version: 1\ndeny: ["execute(make ...)"]\n');
    const agent = stage.agent('agent');
    const args = ['--policy', path.join(stage.dir, 'more.yaml')];
    const client = await stage.connect([agent], { config: { policy: 'mine.yaml' }, args });
    const { id } = await open(client, stage.cwd);
    expect(await agent.call('session/request_permission', execution(id, 'make'))).toEqual(selected('r1'));
    expect(await agent.call('session/request_permission', execution(id, 'git status'))).toEqual(selected('a1'));
  });

  test('a preset by its name', async ({ stage }) => {
    const agent = stage.agent('agent');
    const client = await stage.connect([agent], { args: ['--policy', 'readonly'], ...UNCONTAINED });
    const { id } = await open(client, stage.cwd);
    expect(await agent.call('session/request_permission', execution(id, 'make'))).toEqual(selected('r1'));
  });

  test.for([
    ['broken', 'version: 1\nalow: []\n', /broken\.yaml:2:1: .*alow.*allow/],
    ['absent', undefined, /absent\.yaml cannot be read \(ENOENT\)/],
  ] as const)('a file that is %s ends the start with exit code 6', async ([name, content, message], { stage }) => {
    const file = path.join(stage.dir, `${name}.yaml`);
    if (content !== undefined) writeFileSync(file, content);
    const client = stage.proxy([stage.agent('agent')], { args: ['--policy', file] });
    expect(await client.ended).toBe(6);
    expect(client.stderr()).toMatch(message);
  });

  test('an unreadable policy file prevents the start', async ({ stage }) => {
    const file = path.join(stage.dir, 'closed.yaml');
    writeFileSync(file, 'version: 1\n');
    chmodSync(file, 0);
    const config = stage.writeConfig([stage.agent('agent')]);
    const [command = '', ...args] = boundByModes([process.execPath, SWITCHBOARD, 'acp', '--config', config, '--policy', file]);
    const client = stage.run(command, args);
    expect(await client.ended).toBe(6);
    expect(client.stderr()).toMatch(/closed\.yaml cannot be read \(EACCES\)/);
  });
});
