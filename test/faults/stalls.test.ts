// Turns in which nothing happens: the user is told, in time and only when there is something to tell.
import { expect } from 'vitest';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { CAPABILITIES, hello, type Json, open, prompt, UNANSWERED } from '../e2e/harness.ts';
import type { Peer } from '../e2e/peer.ts';
import { connectInProcess, createActor, createStillClock } from './in-process.ts';
import { reportedIn, test } from './setup.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] };
const TAKES_NOTICES = { clientCapabilities: { ...CAPABILITIES, session: { notices: {} } } };

test.concurrent('row 6: a silent turn is reported in its session, once, and goes on; one that waits for a permission is not', async ({
  stage,
}) => {
  const agent = stage.agent('slow', { turn: () => UNANSWERED });
  const client = stage.proxy({ slow: { ...agent.server, timeouts: { stall_ms: 300 } } });
  await hello(client, TAKES_NOTICES);
  const [asking, silent] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const asked = prompt(client, asking.id, 'ask');
  const question = agent.request('session/request_permission', { sessionId: asking.id, ...PERMISSION });
  await client.got('session/request_permission');
  const before = reportedIn(client, asking.id); // where the question was long in coming
  const waiting = prompt(client, silent.id, 'wait');
  const isNotice = ({ sessionId, update }: Json) => sessionId === silent.id && update.sessionUpdate === 'notice';
  const { msg: notice } = await client.got('session/update', isNotice);
  expect(notice.params.update).toMatchObject({ severity: 'warning', title: expect.stringMatching(/slow has been silent for/) });
  expect(reportedIn(client, asking.id)).toEqual(before);
  expect(agent.all('session/cancel')).toEqual([]);

  agent.sendText(silent.id, 'done thinking');
  for (const { msg } of agent.all('session/prompt')) agent.reply(msg, { stopReason: 'end_turn' });
  expect([(await asked).result, (await waiting).result]).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
  client.reply((await client.got('session/request_permission')).msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  await question;
  expect(reportedIn(client, silent.id)).toHaveLength(1);
});

test.concurrent('row 6: with on_stall cancel the silent turn is cancelled, whether or not its agent ends it', async ({ stage }) => {
  const agent = stage.agent('slow', { turn: () => UNANSWERED });
  const config = { ...agent.server, on_stall: 'cancel', timeouts: { stall_ms: 300, cancel_ms: 300 } };
  const client = await stage.connect({ slow: config });
  const [ends, hangs] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const turns = [prompt(client, ends.id, 'a', 'ends'), prompt(client, hangs.id, 'b', 'hangs')];
  const first = await agent.got('session/prompt', ({ sessionId }) => sessionId === ends.id);
  await agent.got('session/cancel', ({ sessionId }) => sessionId === ends.id);
  agent.reply(first.msg, { stopReason: 'cancelled' });
  await agent.got('session/cancel', ({ sessionId }) => sessionId === hangs.id);
  for (const turn of turns) expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  for (const { id } of [ends, hangs]) expect(reportedIn(client, id)[0]).toMatch(/silent for .*being cancelled/);
  for (const id of ['ends', 'hangs']) expect(client.answersTo(id)).toHaveLength(1);
});

const MINUTE = 60_000;

/** An agent whose turns last until the test ends them, on a clock that stands still. */
async function standstill(workspace?: Workspace) {
  const clock = createStillClock();
  const agent = createActor('slow');
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: {} }));
  agent.on('session/new', () => ({ sessionId: 's' }));
  agent.on('_x/echo', () => ({}));
  const { client } = connectInProcess({
    agents: { slow: { command: 'slow' } },
    launch: agent.launch,
    clock,
    ...(workspace && { workspace }),
  });
  await hello(client, workspace && { clientCapabilities: {} });
  await open(client, '/');
  return { clock, agent, client };
}

async function begin(client: Peer, agent: Peer, words: string): Promise<{ end(): Promise<void> }> {
  const from = agent.seen.length;
  const turn = prompt(client, 's', words);
  const { msg } = await agent.got('session/prompt', undefined, from);
  return {
    async end() {
      agent.reply(msg, { stopReason: 'end_turn' });
      await turn;
    },
  };
}

const say = (agent: Peer): void =>
  agent.notify('session/update', {
    sessionId: 's',
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } },
  });

/** What the user has been told by now; the round trip brings everything that was under way. */
async function told(client: Peer): Promise<string[]> {
  await client.call('_x/echo');
  return reportedIn(client, 's');
}

test('row 6: a turn that never says anything is reported after a minute, and not after two', async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  clock.advance(MINUTE - 1);
  expect(await told(client)).toEqual([]);
  clock.advance(2);
  expect(await told(client)).toHaveLength(1);
});

test('row 6: an agent that speaks now and then is not silent', async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  for (let n = 0; n < 5; n++) {
    clock.advance(MINUTE - 1);
    say(agent);
    expect(await told(client)).toEqual([]);
  }
  clock.advance(2 * MINUTE);
  expect(await told(client)).toHaveLength(1);
});

test('row 6: the silence before a prompt is not held against its turn', async () => {
  const { clock, agent, client } = await standstill();
  const first = await begin(client, agent, 'first');
  say(agent);
  clock.advance(MINUTE + 1);
  await first.end();
  clock.advance(MINUTE - 2000);
  await begin(client, agent, 'second');
  clock.advance(2000); // the second turn is two seconds old
  expect(await told(client)).toEqual([]);
});

test('row 6: the time the user took for an answer is not held against the agent', async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  const question = agent.request('session/request_permission', { sessionId: 's', ...PERMISSION });
  const { msg } = await client.got('session/request_permission');
  clock.advance(2 * MINUTE - 1000);
  expect(await told(client)).toEqual([]);
  client.reply(msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  await question;
  clock.advance(1000); // the agent has worked for a second
  expect(await told(client)).toEqual([]);
});

test('row 6: the time that a command of ours takes is not held against the agent', async () => {
  let finish: (status: unknown) => void = () => {};
  const serve = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  const { clock, agent, client } = await standstill({ serve, endOf: () => {}, stop: async () => {}, kill: () => {} });
  await begin(client, agent, 'go');
  const waiting = agent.request('terminal/wait_for_exit', { sessionId: 's', terminalId: 't' });
  await told(client);
  clock.advance(5 * MINUTE);
  expect(await told(client)).toEqual([]);
  finish({ exitCode: 0, signal: null });
  expect((await waiting).result).toEqual({ exitCode: 0, signal: null });
  clock.advance(2 * MINUTE);
  expect(await told(client)).toHaveLength(1);
});
