// Two agents that use the same ids, on one connection: every frame reaches its owner.
import { expect } from 'vitest';
import { fixture, type Json, open, prompt, type Seen, testAtOnce as test } from './harness.ts';

const NAMES = ['left', 'right'];
const twins = { left: fixture('same-ids', 'left'), right: fixture('same-ids', 'right') };

test('eight sessions of two agents with the same session and request ids: prompts, cancels, requests and answers reach their owners', async ({
  stage,
}) => {
  const client = await stage.connect(twins);
  const sessions = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => ({ n, agent: NAMES[n % 2] as string, ...(await open(client, stage.cwd, NAMES[n % 2])) })),
  );
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(8);

  // Answers name their session. Requests of the first kind wait until all are there.
  client.on('fs/read_text_file', ({ sessionId, path }) => ({ content: `${path} for ${sessionId}` }));
  client.on('fs/write_text_file', ({ sessionId, content }) => ({ _meta: { content, sessionId } }));
  client.on('terminal/create', ({ sessionId, command }) => ({ terminalId: `terminal ${command} of ${sessionId}` }));
  client.on('terminal/output', ({ sessionId, terminalId }) => ({ output: `${terminalId} for ${sessionId}`, truncated: false }));
  client.on('terminal/wait_for_exit', ({ sessionId }) => ({ exitCode: 0, _meta: { sessionId } }));
  client.on('terminal/release', ({ sessionId }) => ({ _meta: { sessionId } }));
  client.on('elicitation/create', ({ sessionId, message }) => ({ action: 'accept', content: { message, sessionId } }));
  client.on('_same/ask', ({ sessionId, message }) => ({ message, sessionId }));

  const turns = sessions.map(({ id, n }) => prompt(client, id, `message-${n}`, `prompt-${n}`));
  const requests = await Promise.all(
    sessions.map(({ id }) => client.got('session/request_permission', ({ sessionId }) => sessionId === id)),
  );
  expect(new Set(requests.map(({ msg }) => JSON.stringify(msg.id))).size).toBe(8);

  // The third session of each agent is cancelled; their native ids are the same.
  const isCancelled = (n: number) => n === 4 || n === 5;
  for (const { id, n } of sessions) if (isCancelled(n)) client.notify('session/cancel', { sessionId: id });
  for (const { msg } of requests.toReversed())
    client.reply(msg, { outcome: { outcome: 'selected', optionId: msg.params.options[0].optionId } });

  const answers = await Promise.all(turns);
  for (const { id, n, agent } of sessions) {
    const native = `s${Math.floor(n / 2) + 1}`;
    expect(answers[n].result).toEqual({ stopReason: isCancelled(n) ? 'cancelled' : 'end_turn', _meta: { name: agent, sessionId: native } });
    expect(client.answersTo(`prompt-${n}`)).toHaveLength(1);
    const [begin, report] = client.agentText(id).split(';');
    expect(begin).toBe(`${agent} ${native} begins`);
    if (isCancelled(n)) continue;
    const message = `message-${n}`;
    const terminalId = `terminal ${message} of ${id}`;
    expect(JSON.parse(report as string)).toEqual({
      ...{ name: agent, sessionId: native, message, terminalId },
      outcome: { outcome: 'selected', optionId: `${agent}-yes` },
      read: { content: `/${message} for ${id}` },
      written: { _meta: { content: message, sessionId: id } },
      output: { output: `${terminalId} for ${id}`, truncated: false },
      exit: { exitCode: 0, _meta: { sessionId: id } },
      released: { _meta: { sessionId: id } },
      form: { action: 'accept', content: { message, sessionId: id } },
      extension: { message, sessionId: id },
    });
    // Nothing of the session follows the end of its turn.
    const last = client.all('session/update', ({ sessionId }) => sessionId === id).at(-1) as Seen;
    expect(last.index).toBeLessThan(client.place(answers[n]));
  }
  // The client answered the cancelled requests too, late; the agents got one answer each.
  for (const { id, agent } of sessions.slice(0, 2))
    expect(await client.call('_same/strays', { sessionId: id })).toEqual({ name: agent, strays: [] });
});

test('the first of two equal session ids stays, the second gets an alias, in every response and update', async ({ stage }) => {
  const [left, right] = NAMES.map((name) => stage.agent(name, { mint: (n) => `s${n}` }));
  if (!left || !right) throw new Error('no agents');
  const client = await stage.connect([left, right]);
  const [a, b] = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right')];
  expect(a.id).toBe('s1');
  expect(b.id).not.toBe('s1');
  await prompt(client, b.id, 'hello');
  expect((await right.got('session/prompt')).msg.params.sessionId).toBe('s1');
  expect(client.agentText(b.id)).toBe('right heard hello');
  expect(left.all('session/prompt')).toEqual([]);
  // Errors and updates that name a session use the public id as well.
  right.on('session/prompt', () => {
    right.update('s1', { sessionUpdate: 'subagent_update', sessionId: 's2', title: 'child' });
    right.update('s1', { sessionUpdate: 'session_message', messageId: 'm', senderSessionId: 's1', recipientSessionId: 's2', content: [] });
    right.update('s1', {
      sessionUpdate: 'tool_call',
      toolCallId: 's1',
      title: 's1',
      rawInput: { sessionId: 's1' },
      _meta: { sessionId: 's1' },
    });
    right.sendText('s2', 'the child speaks');
    return { stopReason: 'end_turn' };
  });
  await open(client, stage.cwd, 'left'); // so that s2 is taken too
  await prompt(client, b.id, 'again');
  const [child] = client.updates(b.id, 'subagent_update');
  expect(['s1', 's2']).not.toContain(child.sessionId);
  expect(client.updates(b.id, 'session_message')).toMatchObject([{ senderSessionId: b.id, recipientSessionId: child.sessionId }]);
  expect(client.updates(b.id, 'tool_call')).toMatchObject([
    { toolCallId: 's1', rawInput: { sessionId: 's1' }, _meta: { sessionId: 's1' } },
  ]);
  expect(client.agentText(child.sessionId)).toBe('the child speaks');
});

test('session ids with any characters clash, are kept apart and found again, in any JSON spelling', async ({ stage }) => {
  const odd = 'q"\\\\ é 😀~\\n/';
  const [left, right] = [stage.agent('left', { mint: () => odd }), stage.agent('right', { mint: () => odd })];
  for (const agent of [left, right]) agent.on('_x/echo', ({ n }) => ({ n, by: agent.name }));
  const client = await stage.connect([left, right]);
  const sessions = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right')];
  expect(sessions[0]?.id).toBe(odd);
  expect(sessions[1]?.id).not.toBe(odd);
  for (const [n, { id }] of sessions.entries()) {
    const escaped = [
      ...Buffer.from(id, 'utf16le')
        .toString('hex')
        .matchAll(/(..)(..)/g),
    ]
      .map(([, low, high]) => `\\u${high}${low}`)
      .join('');
    for (const spelled of [JSON.stringify(id), `"${escaped}"`]) {
      const from = client.seen.length;
      client.line(`{"jsonrpc":"2.0","id":1,"method":"_x/echo","params":{"n":${n},"session\\u0049d":${spelled}}}`);
      expect((await client.until((msg) => msg.id === 1, from)).msg.result).toEqual({ n, by: ['left', 'right'][n] });
    }
    await prompt(client, id, 'hello');
    expect(client.agentText(id)).toBe(`${['left', 'right'][n]} heard hello`);
  }
  for (const agent of [left, right]) for (const { msg } of agent.all('_x/echo')) expect(msg.params.sessionId).toBe(odd);
});

test('a notification sent as a request, or a request as a notification, is the owner’s to handle', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const client = await stage.connect([left, right]);
  const { id: sessionId } = await open(client, stage.cwd, 'right');
  right.on('session/cancel', () => ({ odd: true }));
  expect(await client.call('session/cancel', { sessionId })).toEqual({ odd: true });
  client.notify('session/prompt', { sessionId, prompt: [] });
  expect((await right.got('session/prompt')).msg).not.toHaveProperty('id');
  expect(left.all('session/cancel')).toEqual([]);
});

test('an error in which an agent names a session carries the id that the client knows', async ({ stage }) => {
  const [left, right] = [stage.agent('left', { mint: () => 'same' }), stage.agent('right', { mint: () => 'same' })];
  const client = await stage.connect([left, right]);
  await open(client, stage.cwd, 'left');
  const b = await open(client, stage.cwd, 'right');
  right.sessions.clear();
  expect((await prompt(client, b.id, 'lost')).error).toEqual({ code: -32002, message: 'Resource not found', data: { sessionId: b.id } });
});

test('a terminal of one session is refused to any other, of the same agent or not, and the client does not see it', async ({ stage }) => {
  const [left, right] = [stage.agent('left', { mint: (n) => `s${n}` }), stage.agent('right', { mint: (n) => `s${n}` })];
  const client = await stage.connect([left, right]);
  for (const agent of ['left', 'left', 'right']) await open(client, stage.cwd, agent);
  client.on('terminal/create', () => ({ terminalId: 'T' }));
  client.on('terminal/output', () => ({ output: 'secret', truncated: false }));
  client.on('terminal/kill', () => ({}));
  client.on('terminal/release', () => ({}));
  await left.call('terminal/create', { sessionId: 's1', command: 'ls' });
  for (const [agent, sessionId] of [
    [right, 's1'],
    [left, 's2'],
  ] as const)
    for (const method of ['terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release'])
      expect(await agent.refused(method, { sessionId, terminalId: 'T' })).toMatchObject({ code: -32602 });
  expect(await left.call('terminal/output', { sessionId: 's1', terminalId: 'T' })).toMatchObject({ output: 'secret' });
  expect(client.all('terminal/output')).toHaveLength(1);
  for (const method of ['terminal/wait_for_exit', 'terminal/kill', 'terminal/release']) expect(client.all(method)).toEqual([]);
});

test('an agent that names a session of another agent does not reach that session', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const client = await stage.connect([left, right]);
  const a = await open(client, stage.cwd, 'left');
  const b = await open(client, stage.cwd, 'right');
  client.on('fs/read_text_file', () => ({ content: 'secret' }));
  right.sendText('left-1', 'I am left');
  right.update('left-1', { sessionUpdate: 'tool_call', toolCallId: 't', title: 'spoofed' });
  void right.request('fs/read_text_file', { sessionId: 'left-1', path: '/etc/passwd' });
  await right.call('fs/read_text_file', { sessionId: 'right-1', path: '/mine' });
  const named = (seen: Seen) =>
    seen.msg.params?.sessionId === a.id && seen.msg.params?.update?.sessionUpdate !== 'available_commands_update';
  expect(client.seen.filter(named)).toEqual([]);
  expect(client.all('fs/read_text_file', ({ sessionId }) => sessionId === b.id)).toHaveLength(1);
});

test('request ids return as they were written, also when both sides and both agents use the same ones at once', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const client = await stage.connect([left, right]);
  const [a, b] = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right')];
  for (const agent of [left, right]) agent.on('_x/echo', ({ n }) => ({ n, by: agent.name }));
  const ids = ['7', '"7"', '8.0', '9007199254740993', '-0', 'null', '{"a":1}', '[7]', '"\\u0037x"'];
  for (const [agent, session] of [
    [left, a],
    [right, b],
  ] as const) {
    for (const [n, id] of ids.entries()) {
      const from = client.seen.length;
      client.line(`{"jsonrpc":"2.0","id":${id},"method":"_x/echo","params":{"sessionId":"${session.id}","n":${n}}}`);
      const { line } = await client.until((msg) => msg.result?.n === n, from);
      expect(line).toBe(`{"jsonrpc":"2.0","id":${id},"result":{"n":${n},"by":"${agent.name}"}}`);
    }
  }
  // Each agent sends requests with the ids that the other agent and the client have in use.
  const requests = await Promise.all(
    [left, right].map(async (agent, n) => {
      for (const id of ids) agent.line(`{"jsonrpc":"2.0","id":${id},"method":"_x/ask","params":{"sessionId":"${n === 0 ? a.id : b.id}"}}`);
      return Promise.all(ids.map((_, k) => client.until((msg) => isNth(client.all('_x/ask'), msg, agent.name, k))));
    }),
  );
  for (const { msg } of requests.flat().toReversed()) client.reply(msg, { to: msg.params.sessionId });
  for (const [agent, session] of [
    [left, a],
    [right, b],
  ] as const)
    for (const id of ids) {
      const expected = `{"jsonrpc":"2.0","id":${id},"result":{"to":"${session.id}"}}`;
      expect((await agent.until((_, { line }) => line === expected)).line).toBe(expected);
    }

  function isNth(received: readonly Seen[], msg: Json, agent: string, k: number): boolean {
    return received.filter((seen) => seen.msg.params.sessionId.startsWith(agent))[k]?.msg === msg;
  }
});
