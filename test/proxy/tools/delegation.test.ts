// Delegation where timing matters: nothing of the delegated session is left behind, whichever side ends it.
import { expect, test } from 'vitest';
import { delegateTool } from '../../../src/mcp/tools/builtin-tools.ts';
import { open, UNANSWERED } from '../../e2e/harness.ts';
import { createStillClock, type Setup } from '../../faults/in-process.ts';
import { able, CWD, chunk, connection, end } from '../actors.ts';
import { memoryEnforcement } from '../memory-enforcement.ts';

const ENVELOPE = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
const PERMISSION = { toolCall: { toolCallId: 't' }, options: [] };

/** `left` delegates to `right`, whose session is called `delegated`. */
async function sent(parts: Partial<Setup> = {}) {
  const [left, right] = [able('left'), able('right')];
  const toolAttachments = {
    tools: [delegateTool],
    shim: { command: 'none', args: [] },
    onToolCall: async () => ({ allow: true as const }),
  };
  const made = await connection([left, right], { mcp_transport: 'acp' }, { toolAttachments, ...parts });
  const { id } = await open(made.client, CWD, 'left');
  const [{ serverId }] = (await left.got('session/new')).msg.params.mcpServers;
  right.on('session/new', () => ({ sessionId: 'delegated' }));
  right.on('session/prompt', () => UNANSWERED);
  const params = { name: 'delegate', arguments: { agent: 'right', prompt: 'count' }, _meta: ENVELOPE };
  const ask = () => left.request('mcp/message', { serverId, requestId: '1', method: 'tools/call', params }, 'call');
  return { ...made, left, right, id, ask };
}

test('unanswered requests of the delegated session are withdrawn when its turn ends', async () => {
  const { client, right, id, ask } = await sent();
  const answer = ask();
  const turn = await right.got('session/prompt');
  const agentRequests = [right.request('session/request_permission', { sessionId: 'delegated', ...PERMISSION })];
  agentRequests.push(right.request('fs/read_text_file', { sessionId: 'delegated', path: '/work/a' }));
  const asked = [await client.got('session/request_permission'), await client.got('fs/read_text_file')];
  expect(asked.map(({ msg }) => msg.params.sessionId)).toEqual([id, id]);
  right.reply(turn.msg, end);
  await answer;
  const [permission, file] = await Promise.all(agentRequests);
  expect([permission?.result, file?.error.code]).toEqual([{ outcome: { outcome: 'cancelled' } }, -32002]);
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params.requestId)).toEqual(asked.map(({ msg }) => msg.id));
});

test('when the call is cancelled, requests of the delegated agent are withdrawn and its updates are dropped', async () => {
  const { client, left, right, id, ask } = await sent();
  void ask();
  const turn = await right.got('session/prompt');
  const permission = right.request('session/request_permission', { sessionId: 'delegated', ...PERMISSION });
  const asked = await client.got('session/request_permission');
  left.notify('$/cancel_request', { requestId: 'call' });
  await right.got('session/cancel');
  expect((await permission).result).toEqual({ outcome: { outcome: 'cancelled' } });
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: asked.msg.id });
  right.notify('session/update', { sessionId: 'delegated', update: chunk('one more thing') });
  expect((await right.refused('session/request_permission', { sessionId: 'delegated', ...PERMISSION })).code).toBe(-32002);
  right.reply(turn.msg, { stopReason: 'cancelled' });
  expect((await right.got('session/close')).msg.params).toEqual({ sessionId: 'delegated' });
  expect([client.agentText('delegated'), client.agentText(id), client.all('session/request_permission').length]).toEqual(['', '', 1]);
});

test('when the call is cancelled, the host tools of the delegated session are revoked', async () => {
  const { client, left, right, ask } = await sent();
  void ask();
  const turn = await right.got('session/prompt');
  const [{ serverId }] = (await right.got('session/new')).msg.params.mcpServers;
  const again = { name: 'delegate', arguments: { agent: 'left', prompt: 'count on' }, _meta: ENVELOPE };
  left.notify('$/cancel_request', { requestId: 'call' });
  await right.got('session/cancel');
  const refused = await right.refused('mcp/message', { serverId, requestId: '2', method: 'tools/call', params: again });
  expect(refused.message).toContain('has ended');
  right.reply(turn.msg, { stopReason: 'cancelled' });
  await right.got('session/close');
  expect(client.all('session/request_permission')).toEqual([]);
});

test('requests before the delegated session is open belong to it and end with it', async () => {
  const { client, right, id, ask } = await sent();
  right.on('session/new', async () => {
    void right.request('session/request_permission', { sessionId: 'delegated', ...PERMISSION }, 'early');
    await client.got('session/request_permission');
    return { sessionId: 'delegated' };
  });
  void ask();
  await right.got('session/prompt');
  client.notify('session/cancel', { sessionId: id });
  const answer = await right.until((msg) => msg.id === 'early' && msg.method === undefined);
  expect(answer.msg.result).toEqual({ outcome: { outcome: 'cancelled' } });
});

test('a terminal created before the delegated session is open belongs to it and is released with it', async () => {
  const { client, right, ask } = await sent();
  client.on('terminal/create', () => UNANSWERED);
  right.on('session/new', async () => {
    void right.request('terminal/create', { sessionId: 'delegated', command: 'make' }, 'early');
    await client.got('terminal/create');
    return { sessionId: 'delegated' };
  });
  const answer = ask();
  const turn = await right.got('session/prompt');
  client.reply((await client.got('terminal/create')).msg, { terminalId: 't' });
  client.on('terminal/output', () => ({ output: '', truncated: false }));
  await right.call('terminal/output', { sessionId: 'delegated', terminalId: 't' });
  right.reply(turn.msg, end);
  await answer;
  expect((await client.got('terminal/release')).msg.params.terminalId).toBe('t');
});

test('of two delegated sessions of one session, each reaches only its own terminals', async () => {
  const { client, left, right, ask } = await sent();
  client.on('terminal/create', () => ({ terminalId: 't' }));
  void ask();
  await right.got('session/prompt');
  right.on('session/new', () => ({ sessionId: 'second' }));
  const [{ serverId }] = (await left.got('session/new')).msg.params.mcpServers;
  const params = { name: 'delegate', arguments: { agent: 'right', prompt: 'count again' }, _meta: ENVELOPE };
  void left.request('mcp/message', { serverId, requestId: '2', method: 'tools/call', params }, 'second call');
  await right.got('session/prompt', ({ sessionId }) => sessionId === 'second');
  await right.call('terminal/create', { sessionId: 'delegated', command: 'make' });
  const refused = await right.refused('terminal/kill', { sessionId: 'second', terminalId: 't' });
  expect(refused.message).toContain('terminal');
  client.on('terminal/kill', () => ({}));
  await right.call('terminal/kill', { sessionId: 'delegated', terminalId: 't' });
});

// Seed 90046661 of the simulator.
test('a terminal that the policy asked about before the session was open, and that the user allowed later, is released too', async () => {
  const { enforcement } = memoryEnforcement({ allow: ['delegate', 'mcp(switchboard:delegate)'], default: 'ask' });
  const { client, right, id, ask } = await sent({ enforcement });
  client.on('session/request_permission', () => UNANSWERED);
  client.on('terminal/create', () => ({ terminalId: 't' }));
  right.on('session/new', async () => {
    void right.request('terminal/create', { sessionId: 'delegated', command: 'make' }, 'early');
    await client.got('session/request_permission');
    return { sessionId: 'delegated' };
  });
  const answer = ask();
  const turn = await right.got('session/prompt');
  client.reply((await client.got('session/request_permission')).msg, { outcome: { outcome: 'selected', optionId: 'allow' } });
  expect((await client.got('terminal/create')).msg.params.sessionId).toBe(id);
  await right.until((msg) => msg.id === 'early' && msg.method === undefined);
  right.reply(turn.msg, end);
  await answer;
  expect((await client.got('terminal/release')).msg.params).toEqual({ sessionId: id, terminalId: 't' });
});

test('a delegated session that the client has loaded meanwhile is left to the client', async () => {
  const { client, right, ask } = await sent();
  right.on('session/list', () => ({ sessions: [{ sessionId: 'delegated', cwd: CWD }] }));
  const answer = ask();
  const turn = await right.got('session/prompt');
  await client.call('session/load', { sessionId: 'delegated', cwd: CWD, mcpServers: [] });
  right.reply(turn.msg, end);
  await answer;
  right.notify('session/update', { sessionId: 'delegated', update: chunk('still here') });
  await client.until((msg) => msg.params?.update?.content?.text === 'still here');
  expect(right.all('session/close')).toEqual([]);
});

test('a session that the client loads before its first prompt is not prompted, and the call fails', async () => {
  const { client, right, ask } = await sent();
  right.on('session/list', () => UNANSWERED);
  right.on('session/new', () => UNANSWERED);
  const load = client.request('session/load', { sessionId: 'task', cwd: CWD, mcpServers: [] });
  const list = await right.got('session/list');
  const answer = ask();
  right.reply((await right.got('session/new')).msg, { sessionId: 'task' });
  right.reply(list.msg, { sessions: [{ sessionId: 'task', cwd: CWD }] });
  const [{ text }] = (await answer).result.result.content;
  expect(text).toContain('the editor uses the session that right has opened');
  expect((await load).error).toBeUndefined();
  expect([right.all('session/prompt'), right.all('session/close')]).toEqual([[], []]);
});

test('an agent that does not open a session is abandoned, and the error names the timeout and its setting', async () => {
  const clock = createStillClock();
  const { right, ask } = await sent({ clock });
  right.on('session/new', () => UNANSWERED);
  const answer = ask();
  const asked = await right.got('session/new');
  clock.advance(60_000);
  const [{ text }] = (await answer).result.result.content;
  expect(text).toMatch(/"right" did not open a session within 60000 ms\. .* agent_servers\.right\.timeouts\.initialize_ms/);
  right.reply(asked.msg, { sessionId: 'delegated' });
  expect((await right.got('session/close')).msg.params).toEqual({ sessionId: 'delegated' });
});

test('a delegated agent that breaks the policy is cancelled, and the call is answered even if the agent continues', async () => {
  const clock = createStillClock();
  const policy = { deny: ['execute'], allow: ['delegate'], agents: { right: { on_violation: 'cancel' } } };
  const { client, right, ask } = await sent({ clock, enforcement: memoryEnforcement(policy).enforcement });
  const answer = ask();
  await right.got('session/prompt');
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'make', kind: 'execute', status: 'completed' };
  right.notify('session/update', { sessionId: 'delegated', update: call });
  await right.got('session/cancel');
  expect((await right.refused('fs/read_text_file', { sessionId: 'delegated', path: '/work/a' })).code).toBe(-32002);
  expect(client.all('fs/read_text_file')).toEqual([]);
  clock.advance(10_000);
  expect((await answer).result.result.structuredContent).toMatchObject({ stop_reason: 'cancelled' });
});
