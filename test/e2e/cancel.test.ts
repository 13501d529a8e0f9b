// A cancelled turn ends once, its pending requests are answered once, and late frames are dropped.
import { describe, expect } from 'vitest';
import {
  type Client,
  type Json,
  open,
  prompt,
  type ScriptedAgent,
  type Seen,
  type Stage,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';
import { ALL_CAPABILITIES } from './scripted-agent.ts';

/** A session with a running turn in which the agent has sent a request. */
type Asking = {
  readonly agent: ScriptedAgent;
  readonly client: Client;
  readonly id: string;
  readonly turn: Promise<Json>;
  readonly running: Json;
};

const CANCEL_MS = 150;

async function running(stage: Stage, hasOther: boolean, more: Json = {}): Promise<Asking> {
  const agent = stage.agent('agent', { mint: () => 's' });
  agent.on('session/prompt', () => UNANSWERED);
  const agents: Json = { agent: { ...agent.server, ...more } };
  if (hasOther) agents.other = stage.agent('other', { mint: () => 's' });
  const client = await stage.connect(agents);
  if (hasOther) await open(client, stage.cwd, 'other'); // so that the session below has an alias
  const { id } = await open(client, stage.cwd, hasOther ? 'agent' : undefined);
  const turn = prompt(client, id, 'work', 'the-turn');
  return { agent, client, id, turn, running: (await agent.got('session/prompt')).msg };
}
const PERMISSION = { sessionId: 's', toolCall: { toolCallId: 't' }, options: [{ optionId: 'y', name: 'Y', kind: 'allow_once' }] };
const FORM = { sessionId: 's', mode: 'form', message: 'm', requestedSchema: {} };
const strayAnswers = (agent: ScriptedAgent): Seen[] => agent.seen.filter(({ msg }) => msg.method === undefined);

describe.each([
  ['one agent', false],
  ['two agents', true],
] as const)('with %s', (_, hasOther) => {
  test('pending permission requests and elicitations are answered cancelled, once, and the agent ends the turn', async ({ stage }) => {
    const { agent, client, id, turn, running: received } = await running(stage, hasOther);
    const permission = agent.call('session/request_permission', PERMISSION);
    const form = agent.call('elicitation/create', FORM);
    const requests = [await client.got('session/request_permission'), await client.got('elicitation/create')];

    client.notify('session/cancel', { sessionId: id });
    expect((await agent.got('session/cancel')).msg.params).toEqual({ sessionId: 's' });
    expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
    expect(await form).toEqual({ action: 'cancel' });

    // The client answers all the same, as the protocol requires.
    for (const { msg } of requests) client.reply(msg, { outcome: { outcome: 'selected', optionId: 'y' } });
    agent.sendText('s', 'stopping');
    agent.line(`{"jsonrpc":"2.0","id":${received.id},"result":{"stopReason":"cancelled","_meta":{"one":1.0}}}`);
    const answer = await turn;
    expect(client.seen[client.place(answer)]?.line).toBe(
      '{"jsonrpc":"2.0","id":"the-turn","result":{"stopReason":"cancelled","_meta":{"one":1.0}}}',
    );
    expect(client.agentText(id)).toBe('stopping');
    await client.request('_x/sync', { sessionId: id }); // whatever was on its way has arrived
    expect(strayAnswers(agent)).toHaveLength(2);
    expect(client.answersTo('the-turn')).toHaveLength(1);
  });

  for (const isEnded of hasOther ? [true, false] : [false])
    test(`a tool call that is open when ${isEnded ? 'the agent' : 'the proxy'} ends a cancelled turn fails before the answer, and says why`, async ({
      stage,
    }) => {
      const { agent, client, id, turn, running: received } = await running(stage, hasOther, { timeouts: { cancel_ms: CANCEL_MS } });
      const status = 'pending';
      for (const toolCallId of ['done', 'open']) agent.update('s', { sessionUpdate: 'tool_call', toolCallId, title: toolCallId, status });
      agent.update('s', { sessionUpdate: 'tool_call_update', toolCallId: 'done', status: 'completed' });
      await client.until((msg) => msg.params?.update?.status === 'completed');
      client.notify('session/cancel', { sessionId: id });
      await agent.got('session/cancel');
      if (isEnded) agent.reply(received, { stopReason: 'cancelled' });
      const answer = await turn;
      expect(answer.result).toEqual({ stopReason: 'cancelled' });
      const failed = client.all('session/update').filter(({ msg }) => msg.params.update.status === 'failed');
      const text = expect.stringMatching(/^Cancelled: the turn was cancelled/);
      expect(failed.map(({ msg }) => msg.params)).toEqual([
        {
          sessionId: id,
          update: {
            ...{ sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'failed' },
            content: [{ type: 'content', content: { type: 'text', text } }],
          },
        },
      ]);
      expect(failed[0]?.index).toBeLessThan(client.place(answer));
    });

  test('the client still answers requests for files and terminals', async ({ stage }) => {
    const { agent, client, id } = await running(stage, hasOther);
    const read = agent.call('fs/read_text_file', { sessionId: 's', path: '/a' });
    const request = await client.got('fs/read_text_file');
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    client.reply(request.msg, { content: 'late but wanted' });
    expect(await read).toEqual({ content: 'late but wanted' });
  });

  test('a request that an agent cancels after the turn was cancelled is cancelled at the client too, so that its dialog closes', async ({
    stage,
  }) => {
    const { agent, client, id } = await running(stage, hasOther);
    void agent.call('session/request_permission', PERMISSION, 77);
    const request = await client.got('session/request_permission');
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    agent.notify('$/cancel_request', { requestId: 77 });
    agent.sendText('s', 'behind it');
    const behind = await client.until((msg) => msg.params?.update?.content?.text === 'behind it');
    const withdrawn = client.all('$/cancel_request');
    expect(withdrawn.map(({ msg }) => msg.params.requestId)).toEqual([request.msg.id]);
    expect(withdrawn[0]?.index).toBeLessThan(behind.index);
  });

  test('an id that an agent uses again, after we answered a request with that id, names its new request', async ({ stage }) => {
    const { agent, client, id } = await running(stage, hasOther);
    void agent.request('session/request_permission', PERMISSION, 'q');
    const first = await client.got('session/request_permission');
    client.notify('session/cancel', { sessionId: id });
    await agent.until((msg) => msg.id === 'q'); // answered, and the client has not closed its dialog yet
    void agent.request('session/request_permission', PERMISSION, 'q');
    const second = await client.got('session/request_permission', () => true, first.index + 1);
    agent.notify('$/cancel_request', { requestId: 'q' });
    expect((await client.got('$/cancel_request')).msg.params.requestId).toBe(second.msg.id);
    const from = agent.seen.length;
    client.reply(first.msg, { outcome: { outcome: 'selected', optionId: 'late' } });
    client.reply(second.msg, { outcome: { outcome: 'cancelled' } });
    expect((await agent.until((msg) => msg.id === 'q', from)).msg.result).toEqual({ outcome: { outcome: 'cancelled' } });
  });

  test('a cancelled turn that an agent never ends is ended after cancel_ms, and its late response is dropped', async ({ stage }) => {
    const { agent, client, id, turn, running: received } = await running(stage, hasOther, { timeouts: { cancel_ms: CANCEL_MS } });
    client.notify('session/cancel', { sessionId: id });
    client.notify('session/cancel', { sessionId: id });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });

    const next = prompt(client, id, 'next', 'next-turn');
    const nextRequest = await agent.until((msg) => msg.method === 'session/prompt' && msg.id !== received.id);
    agent.reply(received, { stopReason: 'end_turn', _meta: { late: true } });
    agent.reply(nextRequest.msg, { stopReason: 'max_tokens' });
    expect((await next).result).toEqual({ stopReason: 'max_tokens' });
    expect(client.answersTo('the-turn')).toHaveLength(1);
    expect(client.seen.filter(({ line }) => line.includes('late'))).toEqual([]);
  });

  test('closing a session ends its running turn and its pending request', async ({ stage }) => {
    const { agent, client, id, turn, running: received } = await running(stage, hasOther);
    const permission = agent.call('session/request_permission', PERMISSION);
    const request = await client.got('session/request_permission');
    expect(await client.call('session/close', { sessionId: id })).toEqual({});
    expect((await agent.got('session/close')).msg.params).toEqual({ sessionId: 's' });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
    agent.reply(received, { stopReason: 'end_turn' });
    client.reply(request.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
    await open(client, stage.cwd, hasOther ? 'agent' : undefined);
    expect(client.answersTo('the-turn')).toHaveLength(1);
    expect(strayAnswers(agent)).toHaveLength(1);
  });
});

test('a cancel reaches only its own session', async ({ stage }) => {
  const [left, right] = [stage.agent('left', { mint: (n) => `s${n}` }), stage.agent('right', { mint: (n) => `s${n}` })];
  for (const agent of [left, right]) agent.on('session/prompt', () => UNANSWERED);
  const client = await stage.connect([left, right]);
  const sessions = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right'), await open(client, stage.cwd, 'right')];
  for (const { id } of sessions) void prompt(client, id, 'work');
  const received = right.call('session/request_permission', { ...PERMISSION, sessionId: 's2' });
  const request = await client.got('session/request_permission');
  client.notify('session/cancel', { sessionId: sessions[1]?.id });
  expect((await right.got('session/cancel')).msg.params.sessionId).toBe('s1');
  client.reply(request.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
  expect(await received).toEqual({ outcome: { outcome: 'selected', optionId: 'y' } });
  await client.request('_x/sync', { sessionId: sessions[0]?.id });
  expect(left.all('session/cancel')).toEqual([]);
});

test('for an agent without session/close, closing is a cancel, and the proxy responds', async ({ stage }) => {
  const capabilities = { ...ALL_CAPABILITIES, sessionCapabilities: {} };
  const agent = stage.agent('plain', { capabilities });
  agent.on('session/prompt', () => UNANSWERED);
  const client = await stage.connect([agent, stage.agent('other')]);
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'work');
  await agent.got('session/prompt');
  expect(await client.call('session/close', { sessionId: id })).toEqual({});
  expect((await agent.got('session/cancel')).msg.params).toEqual({ sessionId: 'plain-1' });
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  expect(agent.all('session/close')).toEqual([]);
});

test('updates of a closed session are dropped', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  await client.call('session/close', { sessionId: id });
  const from = client.seen.length;
  alpha.sendText('alpha-1', 'from beyond');
  await open(client, stage.cwd);
  expect(client.seen.slice(from).filter(({ line }) => line.includes('from beyond'))).toEqual([]);
});
