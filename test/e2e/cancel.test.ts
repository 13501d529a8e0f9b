// A cancelled turn ends once, its open questions are answered once, and what comes late is heard by nobody.
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

/** A session with a turn under way, in which the agent has asked something. */
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
  test('open permissions and elicitations are answered cancelled, once, and the turn ends in the agent’s own words', async ({ stage }) => {
    const { agent, client, id, turn, running: asked } = await running(stage, hasOther);
    const permission = agent.call('session/request_permission', PERMISSION);
    const form = agent.call('elicitation/create', FORM);
    const questions = [await client.got('session/request_permission'), await client.got('elicitation/create')];

    client.notify('session/cancel', { sessionId: id });
    expect((await agent.got('session/cancel')).msg.params).toEqual({ sessionId: 's' });
    expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
    expect(await form).toEqual({ action: 'cancel' });

    // The editor answers all the same, as the protocol wants it to.
    for (const { msg } of questions) client.reply(msg, { outcome: { outcome: 'selected', optionId: 'y' } });
    agent.say('s', 'stopping');
    agent.line(`{"jsonrpc":"2.0","id":${asked.id},"result":{"stopReason":"cancelled","_meta":{"one":1.0}}}`);
    const answer = await turn;
    expect(client.seen[client.place(answer)]?.line).toBe(
      '{"jsonrpc":"2.0","id":"the-turn","result":{"stopReason":"cancelled","_meta":{"one":1.0}}}',
    );
    expect(client.said(id)).toBe('stopping');
    await client.request('_x/sync', { sessionId: id }); // whatever was on its way has arrived
    expect(strayAnswers(agent)).toHaveLength(2);
    expect(client.answersTo('the-turn')).toHaveLength(1);
  });

  test('questions about files and terminals stay the editor’s to answer', async ({ stage }) => {
    const { agent, client, id } = await running(stage, hasOther);
    const read = agent.call('fs/read_text_file', { sessionId: 's', path: '/a' });
    const question = await client.got('fs/read_text_file');
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    client.reply(question.msg, { content: 'late but wanted' });
    expect(await read).toEqual({ content: 'late but wanted' });
  });

  test('a question that an agent takes back after the cancel is taken back at the editor too, so that its dialog closes', async ({
    stage,
  }) => {
    const { agent, client, id } = await running(stage, hasOther);
    void agent.call('session/request_permission', PERMISSION, 77);
    const question = await client.got('session/request_permission');
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    agent.notify('$/cancel_request', { requestId: 77 });
    agent.say('s', 'behind it');
    const behind = await client.until((msg) => msg.params?.update?.content?.text === 'behind it');
    const withdrawn = client.all('$/cancel_request');
    expect(withdrawn.map(({ msg }) => msg.params.requestId)).toEqual([question.msg.id]);
    expect(withdrawn[0]?.index).toBeLessThan(behind.index);
  });

  test('an id that an agent uses again, after a question of that id was answered by us, names its new question', async ({ stage }) => {
    const { agent, client, id } = await running(stage, hasOther);
    void agent.request('session/request_permission', PERMISSION, 'q');
    const first = await client.got('session/request_permission');
    client.notify('session/cancel', { sessionId: id });
    await agent.until((msg) => msg.id === 'q'); // answered, and the editor has not closed its dialog yet
    void agent.request('session/request_permission', PERMISSION, 'q');
    const second = await client.got('session/request_permission', () => true, first.index + 1);
    agent.notify('$/cancel_request', { requestId: 'q' });
    expect((await client.got('$/cancel_request')).msg.params.requestId).toBe(second.msg.id);
    const from = agent.seen.length;
    client.reply(first.msg, { outcome: { outcome: 'selected', optionId: 'late' } });
    client.reply(second.msg, { outcome: { outcome: 'cancelled' } });
    expect((await agent.until((msg) => msg.id === 'q', from)).msg.result).toEqual({ outcome: { outcome: 'cancelled' } });
  });

  test('an agent that never ends a cancelled turn has it ended by us after cancel_ms, and its late answer is dropped', async ({
    stage,
  }) => {
    const { agent, client, id, turn, running: asked } = await running(stage, hasOther, { timeouts: { cancel_ms: CANCEL_MS } });
    client.notify('session/cancel', { sessionId: id });
    client.notify('session/cancel', { sessionId: id });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });

    const next = prompt(client, id, 'next', 'next-turn');
    const nextAsked = await agent.until((msg) => msg.method === 'session/prompt' && msg.id !== asked.id);
    agent.reply(asked, { stopReason: 'end_turn', _meta: { late: true } });
    agent.reply(nextAsked.msg, { stopReason: 'max_tokens' });
    expect((await next).result).toEqual({ stopReason: 'max_tokens' });
    expect(client.answersTo('the-turn')).toHaveLength(1);
    expect(client.seen.filter(({ line }) => line.includes('late'))).toEqual([]);
  });

  test('closing a session ends its open turn and its open question', async ({ stage }) => {
    const { agent, client, id, turn, running: asked } = await running(stage, hasOther);
    const permission = agent.call('session/request_permission', PERMISSION);
    const question = await client.got('session/request_permission');
    expect(await client.call('session/close', { sessionId: id })).toEqual({});
    expect((await agent.got('session/close')).msg.params).toEqual({ sessionId: 's' });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
    agent.reply(asked, { stopReason: 'end_turn' });
    client.reply(question.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
    await open(client, stage.cwd, hasOther ? 'agent' : undefined);
    expect(client.answersTo('the-turn')).toHaveLength(1);
    expect(strayAnswers(agent)).toHaveLength(1);
  });
});

test('a cancel reaches its own session only', async ({ stage }) => {
  const [left, right] = [stage.agent('left', { mint: (n) => `s${n}` }), stage.agent('right', { mint: (n) => `s${n}` })];
  for (const agent of [left, right]) agent.on('session/prompt', () => UNANSWERED);
  const client = await stage.connect([left, right]);
  const sessions = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right'), await open(client, stage.cwd, 'right')];
  for (const { id } of sessions) void prompt(client, id, 'work');
  const asked = right.call('session/request_permission', { ...PERMISSION, sessionId: 's2' });
  const question = await client.got('session/request_permission');
  client.notify('session/cancel', { sessionId: sessions[1]?.id });
  expect((await right.got('session/cancel')).msg.params.sessionId).toBe('s1');
  client.reply(question.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
  expect(await asked).toEqual({ outcome: { outcome: 'selected', optionId: 'y' } });
  await client.request('_x/sync', { sessionId: sessions[0]?.id });
  expect(left.all('session/cancel')).toEqual([]);
});

test('for an agent that knows no session/close, closing is a cancel and an answer of ours', async ({ stage }) => {
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

test('what an agent says of a session after it was closed is heard by nobody', async ({ stage }) => {
  const [alpha, beta] = [stage.agent('alpha'), stage.agent('beta')];
  const client = await stage.connect([alpha, beta]);
  const { id } = await open(client, stage.cwd);
  await client.call('session/close', { sessionId: id });
  const from = client.seen.length;
  alpha.say('alpha-1', 'from beyond');
  await open(client, stage.cwd);
  expect(client.seen.slice(from).filter(({ line }) => line.includes('from beyond'))).toEqual([]);
});
