// Policy enforcement between a client and agents, where timing matters.
import { expect, test } from 'vitest';
import { type HostTool, text } from '../../../src/mcp/server/tool.ts';
import { choosing, open, prompt, Refusal, UNANSWERED } from '../../e2e/harness.ts';
import { execution, selected } from '../../e2e/policy-support.ts';
import { createStillClock } from '../../faults/in-process.ts';
import { createMemoryLog } from '../../sim/stores.ts';
import { type Actor, able, CWD, cancelled, chunk, connection, end } from '../actors.ts';
import { memoryEnforcement } from '../memory-enforcement.ts';

const LIMIT_MS = 20_000;

test.each(['dies', 'cancels it too'])(
  'a permission request that timed out is withdrawn at the client once, even if its agent then %s',
  async (what) => {
    const clock = createStillClock();
    const { enforcement } = memoryEnforcement({ limits: { permission_timeout: `${LIMIT_MS}ms` } });
    const agents = [able('left'), able('right')] as const;
    const [left] = agents;
    const { client } = await connection(agents, {}, { clock, enforcement });
    client.on('session/request_permission', () => UNANSWERED);
    const { id } = await open(client, CWD, 'left');
    const answer = left.call('session/request_permission', execution(id, 'make'), 'asked');
    const agentRequest = await client.got('session/request_permission');
    clock.advance(LIMIT_MS);
    expect(await answer).toEqual(selected('r1'));
    if (what === 'dies') left.exit({ kind: 'exited', code: 1, signal: null });
    else left.notify('$/cancel_request', { requestId: 'asked' });
    await open(client, CWD, 'left'); // a round trip
    expect(client.all('$/cancel_request').map(({ msg }) => msg.params)).toEqual([{ requestId: agentRequest.msg.id }]);
  },
);

const MODES = { currentModeId: 'yolo', availableModes: [{ id: 'yolo', name: 'Yolo' }] };

test('updates of a session that was refused for its mode are dropped, and its requests are answered', async () => {
  const { enforcement } = memoryEnforcement({ agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  left.on('session/new', () => ({ sessionId: 'free', modes: MODES }));
  const { client } = await connection(agents, {}, { enforcement });
  expect((await client.refused('session/new', { cwd: CWD, mcpServers: [], ...choosing('left') })).message).toContain('is not allowed');
  expect((await left.got('session/close')).msg.params).toEqual({ sessionId: 'free' });
  left.notify('session/update', { sessionId: 'free', update: chunk('unheard') });
  expect((await left.refused('session/request_permission', execution('free', 'make'))).code).toBe(-32002);
  expect([client.agentText('free'), client.all('session/request_permission')]).toEqual(['', []]);
});

/** An agent that must leave a refused mode, and can. */
const BOTH_MODES = { currentModeId: 'yolo', availableModes: [...MODES.availableModes, { id: 'plan', name: 'Plan' }] };
const refusing = () => memoryEnforcement({ agents: { '*': { mode: { refuse: ['yolo'] } } } });

test.each(['session/load', 'session/resume'])(
  'a %s that is cancelled while its agent leaves a refused mode leaves no session open and deletes none',
  async (method) => {
    const agents = [able('left'), able('right')] as const;
    const [left] = agents;
    left.on('session/list', () => ({ sessions: [{ sessionId: 'old', cwd: CWD }] }));
    left.on(method, () => ({ modes: BOTH_MODES }));
    left.on('session/set_mode', () => UNANSWERED);
    const { client } = await connection(agents, {}, { enforcement: refusing().enforcement });
    const load = client.request(method, { sessionId: 'old', cwd: CWD, mcpServers: [] }, 'load');
    const move = await left.got('session/set_mode');
    client.notify('$/cancel_request', { requestId: 'load' });
    expect((await load).error.code).toBe(-32800);
    left.reply(move.msg, {});
    expect((await left.got('session/close')).msg.params).toEqual({ sessionId: 'old' });
    left.notify('session/update', { sessionId: 'old', update: chunk('unheard') });
    await open(client, CWD, 'left'); // a round trip
    expect([client.agentText('old'), left.all('session/delete')]).toEqual(['', []]);
    left.on('session/set_mode', () => ({}));
    expect((await client.call(method, { sessionId: 'old', cwd: CWD, mcpServers: [] })).modes.currentModeId).toBe('plan');
  },
);

test('an agent that dies while it leaves a refused mode is served normally in its next process', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  left.on('session/list', () => ({ sessions: [{ sessionId: 'old', cwd: CWD }] }));
  left.on('session/load', () => ({ modes: BOTH_MODES }));
  left.on('session/set_mode', () => UNANSWERED);
  const { client } = await connection(agents, {}, { enforcement: refusing().enforcement });
  const load = client.refused('session/load', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  await left.got('session/set_mode');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect((await load).message).toContain('is not allowed');
  left.on('session/load', ({ sessionId }) => {
    left.notify('session/update', { sessionId, update: chunk('what was said') });
    return { modes: { ...BOTH_MODES, currentModeId: 'plan' } };
  });
  await client.call('session/load', { sessionId: 'old', cwd: CWD, mcpServers: [] });
  expect(client.agentText('old')).toBe('what was said');
});

test('a load that is cancelled while its agent leaves a refused mode leaves an open session unchanged', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const { client } = await connection(agents, {}, { enforcement: refusing().enforcement });
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => ({ modes: BOTH_MODES }));
  left.on('session/set_mode', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] }, 'load');
  const move = await left.got('session/set_mode');
  client.notify('$/cancel_request', { requestId: 'load' });
  expect((await load).error.code).toBe(-32800);
  left.reply(move.msg, {});
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(left.all('session/close')).toEqual([]);
});

test('updates between the load of a recovery and its change of mode are not part of the replay and reach the client', async () => {
  const left = able('left', { loadSession: true });
  const { client } = await connection([left, able('right')], {}, { enforcement: refusing().enforcement });
  const { id } = await open(client, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  left.on('session/load', () => {
    left.notify('session/update', { sessionId: id, update: chunk('long over') });
    return { modes: BOTH_MODES };
  });
  left.on('session/set_mode', () => {
    left.notify('session/update', { sessionId: id, update: chunk('news, ') });
    return {};
  });
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toBe('news, left heard hello');
});

test('pending requests of a session that is refused for its mode are withdrawn at the client, and its agent is told', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const { client } = await connection(agents, {}, { enforcement: refusing().enforcement });
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  const permission = left.call('session/request_permission', execution(id, 'make'));
  const agentRequest = (await client.got('session/request_permission')).msg;
  const vendor = left.request('_vendor/ask', { sessionId: id });
  const other = (await client.got('_vendor/ask')).msg;
  left.on('session/resume', () => ({ modes: MODES }));
  expect((await client.refused('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] })).message).toContain('is not allowed');
  expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
  expect((await vendor).error.code).toBe(-32002);
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params.requestId)).toEqual([agentRequest.id, other.id]);
});

test.each([1, 2])('with %i agents, a refusal for a mode ends with the session, and later updates there are dropped', async (count) => {
  const agents = [able('left'), able('right')].slice(0, count);
  const [left] = agents as [Actor];
  const { client } = await connection(agents, {}, { enforcement: refusing().enforcement, log: createMemoryLog() });
  const { id } = await open(client, CWD);
  left.on('session/resume', () => ({ modes: MODES }));
  await client.refused('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  expect((await prompt(client, id, 'hello')).error.message).toContain('is not allowed');
  await client.call('session/close', { sessionId: id });
  left.notify('session/update', { sessionId: id, update: chunk('unheard') });
  expect((await left.refused('session/request_permission', execution(id, 'make'))).code).toBe(-32002);
  expect(client.agentText(id)).toBe('');
  left.on('session/prompt', () => {
    throw new Refusal(-32002, 'there is no such session');
  });
  expect((await prompt(client, id, 'hello')).error.message).toBe('there is no such session');
});

test.each([1, 2])('a refused mode cannot be set by a notification either, with %i agents', async (count) => {
  const { enforcement, entries } = memoryEnforcement({ agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const agents = [able('left'), able('right')].slice(0, count);
  const [left] = agents as [Actor];
  const { client } = await connection(agents, {}, { enforcement });
  const { id } = await open(client, CWD);
  for (const modeId of ['yolo', 'plan']) client.notify('session/set_mode', { sessionId: id, modeId });
  expect((await left.got('session/set_mode')).msg.params.modeId).toBe('plan');
  expect(entries.map(({ verdict, option }) => [verdict, option])).toEqual([
    ['deny', 'refused'],
    ['ask', 'passed'],
  ]);
});

test('a turn that the policy cancels leaves no pending request: its agent gets cancelled, and the client need not answer', async () => {
  const { enforcement } = memoryEnforcement({ agents: { '*': { mode: { refuse: ['yolo'] }, on_violation: 'cancel' } } });
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const { client } = await connection(agents, {}, { enforcement });
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  left.on('session/prompt', async ({ sessionId }) => {
    const answer = left.call('session/request_permission', execution(sessionId, 'make'));
    await client.got('session/request_permission');
    left.notify('session/update', { sessionId, update: { sessionUpdate: 'current_mode_update', currentModeId: 'yolo' } });
    return { stopReason: (await answer).outcome.outcome };
  });
  expect((await prompt(client, id, 'go')).result).toEqual(cancelled);
  const agentRequest = await client.got('session/request_permission');
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params)).toEqual([{ requestId: agentRequest.msg.id }]);
});

const HOST_TOOL_CALL = {
  method: 'tools/call',
  params: {
    name: 'write_file',
    arguments: { path: '/work/a' },
    _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
  },
};

/** An agent in a session with a host tool. */
async function withHostTool(policy: object, parts: { readonly isObserving?: boolean } = {}) {
  const { enforcement, entries } = memoryEnforcement(policy, parts);
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const ran: unknown[] = [];
  const tool: HostTool = {
    ...{ name: 'write_file', title: 'Write', description: 'Writes', server: 'switchboard' },
    ...{ inputSchema: { type: 'object' }, effect: 'write', needs: [], timeoutMs: undefined },
    async run(args) {
      ran.push(args);
      return text('done');
    },
  };
  const toolAttachments = { tools: [tool], shim: { command: 'none', args: [] } };
  const made = await connection(agents, { mcp_transport: 'acp' }, { enforcement, toolAttachments });
  const { id } = await open(made.client, CWD, 'left');
  const [{ serverId }] = (await left.got('session/new')).msg.params.mcpServers;
  return { ...made, left, id, call: { serverId, requestId: '1', ...HOST_TOOL_CALL }, ran, entries };
}

/** Asks the user about a call of that tool. */
async function askedAboutCall() {
  const attached = await withHostTool({});
  attached.client.on('session/request_permission', () => UNANSWERED);
  const call = attached.left.request('mcp/message', attached.call, 'call');
  return { ...attached, call, agentRequest: await attached.client.got('session/request_permission') };
}

test('the first call of a host tool does not run if it is cancelled at once', async () => {
  const { left, call, ran } = await withHostTool({}, { isObserving: true });
  const lines = [
    { id: 'call', method: 'mcp/message', params: call },
    { method: '$/cancel_request', params: { requestId: 'call' } },
    { id: 'second', method: 'mcp/message', params: { ...call, requestId: '2' } },
  ];
  left.write(lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''));
  const second = await left.until(({ id }) => id === 'second');
  expect(second.msg.result.result.content).toEqual([{ type: 'text', text: 'done' }]);
  expect([left.answersTo('call')[0]?.msg.error.code, ran.length]).toEqual([-32800, 1]);
});

test('a call to the server of an ended session is refused, and the client gets nothing', async () => {
  const { client, left, id, call, ran } = await withHostTool({}, { isObserving: true });
  await client.call('session/close', { sessionId: id });
  expect((await left.refused('mcp/message', call)).message).toContain('has ended');
  expect([client.all('mcp/message'), ran]).toEqual([[], []]);
});

test('host tools are revoked when a session is recovered in a refused mode, and attached again when it is recovered in another', async () => {
  const { client, left, id, call, ran } = await withHostTool({ allow: ['edit(/**)'], agents: { '*': { mode: { refuse: ['yolo'] } } } });
  const reload = { sessionId: id, cwd: CWD, mcpServers: [] };
  expect((await left.call('mcp/message', call)).result.content).toEqual([{ type: 'text', text: 'done' }]);
  left.on('session/resume', () => ({ modes: MODES }));
  await client.refused('session/resume', reload);
  expect((await left.refused('mcp/message', { ...call, requestId: '2' })).message).toContain('has ended');
  left.on('session/resume', () => ({}));
  const before = left.seen.length;
  await client.call('session/resume', reload);
  const [{ serverId }] = (await left.got('session/resume', undefined, before)).msg.params.mcpServers;
  await left.call('mcp/message', { ...call, serverId, requestId: '3' });
  expect(ran.length).toBe(2);
});

test('a cancelled call of a host tool is withdrawn from the user and does not run', async () => {
  const { client, left, call, agentRequest, ran, entries } = await askedAboutCall();
  left.notify('$/cancel_request', { requestId: 'call' });
  expect((await call).error.code).toBe(-32800);
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: agentRequest.msg.id });
  client.reply(agentRequest.msg, selected('allow'));
  await open(client, CWD, 'left'); // after the late answer
  expect([ran, entries.map(({ verdict, option }) => [verdict, option])]).toEqual([[], [['deny', 'cancelled']]]);
});

test("the result of a host tool call does not go to the agent's next process, where its id means something else", async () => {
  const { client, left, id, agentRequest } = await askedAboutCall();
  left.on('session/load', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const turn = prompt(client, id, 'hello'); // waits for the load, and restarts the agent as soon as that fails
  await left.got('session/load');
  left.on('session/load', () => ({}));
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect([(await load).error.code, (await turn).result]).toEqual([-32603, end]);
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params)).toEqual([{ requestId: agentRequest.msg.id }]);
  expect(left.answersTo('call')).toEqual([]);
});

test('on shutdown an agent gets answers to its own requests and to nothing else', async () => {
  const { connection: made, left, call } = await askedAboutCall();
  const stopped = made.stop();
  expect((await call).result.result.isError).toBe(true);
  await stopped;
  expect(left.seen.filter(({ msg }) => msg.method === undefined).map(({ msg }) => msg.id)).toEqual(['call']);
});

test('an agent that completes a tool call which the policy denied is reported, even if its update does not say what the call does', async () => {
  const { enforcement, entries } = memoryEnforcement({ deny: ['execute(make)'] });
  const left = able('left');
  const { client } = await connection([left], {}, { enforcement });
  const { id } = await open(client, CWD);
  const request = execution(id, 'make');
  expect(await left.call('session/request_permission', request)).toEqual(selected('r1'));
  const { toolCallId } = request.toolCall;
  left.notify('session/update', { sessionId: id, update: { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' } });
  const report = await client.got('session/update', ({ update }) =>
    JSON.stringify(update).includes('did what it was refused: execute: make'),
  );
  expect(report.msg.params.sessionId).toBe(id);
  expect(entries.map(({ verdict, method }) => [verdict, method])).toEqual([
    ['deny', 'session/request_permission'],
    ['deny', 'tool_call'],
  ]);
});
