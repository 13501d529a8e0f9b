// `timeouts.prompt_ms` and `timeouts.permission_ms`: limits of single calls, without a policy. Time stands still unless a test advances it.
import { expect, test } from 'vitest';
import { open, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { createStillClock } from '../../faults/in-process.ts';
import { able, CWD, cancelled, connection, end } from '../actors.ts';

const OPTIONS = [{ optionId: 'y', name: 'Y', kind: 'allow_once' }];

async function running(timeouts: Readonly<Record<string, number>>) {
  const clock = createStillClock();
  const agent = able('agent');
  const { client } = await connection([agent], { timeouts }, { clock });
  const { id } = await open(client, CWD);
  agent.on('session/prompt', () => UNANSWERED);
  const turn = prompt(client, id, 'work', 'turn');
  return { clock, agent, client, id, turn, received: await agent.got('session/prompt') };
}

const overdue = {
  code: -32603,
  message: expect.stringMatching(/^Agent "agent" did not finish the prompt within 60000 ms.*agent_servers\.agent\.timeouts\.prompt_ms$/),
  data: { agent: 'agent', reason: 'prompt_timeout', limit: 'timeouts.prompt_ms', retryable: true },
};

test('a prompt that takes longer than prompt_ms is cancelled at the agent, and its error names the limit', async () => {
  const { clock, agent, client, id, turn, received } = await running({ prompt_ms: 60_000, stall_ms: 0 });
  clock.advance(59_999);
  expect(agent.all('session/cancel')).toEqual([]);
  clock.advance(1);
  await agent.got('session/cancel');
  agent.reply(received.msg, cancelled);
  expect((await turn).error).toEqual(overdue);
  agent.on('session/prompt', () => end);
  expect((await prompt(client, id, 'again')).result).toEqual(end);
  clock.advance(60_000);
  expect(agent.all('session/cancel')).toHaveLength(1);
});

test('an agent that does not end the cancelled prompt leaves the client waiting no longer than cancel_ms', async () => {
  const { clock, agent, client, turn } = await running({ prompt_ms: 60_000, cancel_ms: 5_000, stall_ms: 0 });
  clock.advance(60_000);
  await agent.got('session/cancel');
  clock.advance(5_000);
  expect((await turn).error).toEqual(overdue);
  expect(client.answersTo('turn')).toHaveLength(1);
});

test('a prompt that the user has cancelled before ends as cancelled', async () => {
  const { clock, agent, client, id, turn, received } = await running({ prompt_ms: 60_000, cancel_ms: 120_000, stall_ms: 0 });
  client.notify('session/cancel', { sessionId: id });
  await agent.got('session/cancel');
  clock.advance(60_000);
  agent.reply(received.msg, cancelled);
  expect((await turn).result).toEqual(cancelled);
});

test('a permission request that nobody answers within permission_ms is answered cancelled and withdrawn from the client', async () => {
  const { clock, agent, client, id, turn, received } = await running({ permission_ms: 30_000, stall_ms: 0 });
  const permission = agent.call('session/request_permission', { sessionId: id, toolCall: { toolCallId: 't' }, options: OPTIONS });
  const asked = await client.got('session/request_permission');
  clock.advance(30_000);
  expect(await permission).toEqual({ outcome: { outcome: 'cancelled' } });
  expect((await client.got('$/cancel_request')).msg.params).toEqual({ requestId: asked.msg.id });
  client.reply(asked.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
  agent.reply(received.msg, end);
  expect((await turn).result).toEqual(end);
  expect(agent.seen.filter(({ msg }) => msg.method === undefined)).toHaveLength(1);
});

test('an answer in time counts, and the request is not withdrawn later', async () => {
  const { clock, agent, client, id, turn, received } = await running({ permission_ms: 30_000, stall_ms: 0 });
  const permission = agent.call('session/request_permission', { sessionId: id, toolCall: { toolCallId: 't' }, options: OPTIONS });
  const asked = await client.got('session/request_permission');
  client.reply(asked.msg, { outcome: { outcome: 'selected', optionId: 'y' } });
  expect(await permission).toEqual({ outcome: { outcome: 'selected', optionId: 'y' } });
  clock.advance(30_000);
  agent.reply(received.msg, end);
  expect((await turn).result).toEqual(end);
  expect(client.all('$/cancel_request')).toEqual([]);
});
