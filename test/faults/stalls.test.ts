// Silent turns: the user is informed in time, and only when there is a reason.
import { expect } from 'vitest';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { CAPABILITIES, hello, type Json, open, prompt, UNANSWERED } from '../e2e/harness.ts';
import type { Peer } from '../e2e/peer.ts';
import { connectInProcess, createActor, createStillClock } from './in-process.ts';
import { reportedIn, test } from './setup.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] };
const WITH_NOTICES = { clientCapabilities: { ...CAPABILITIES, session: { notices: {} } } };

test.concurrent('row 6: a silent turn is reported in its session, once, and continues; one that waits for a permission is not', async ({
  stage,
}) => {
  const agent = stage.agent('slow', { turn: () => UNANSWERED });
  const client = stage.proxy({ slow: { ...agent.server, timeouts: { stall_ms: 300 } } });
  await hello(client, WITH_NOTICES);
  const [asking, silent] = [await open(client, stage.cwd), await open(client, stage.cwd)];
  const received = prompt(client, asking.id, 'ask');
  const request = agent.request('session/request_permission', { sessionId: asking.id, ...PERMISSION });
  await client.got('session/request_permission');
  const before = reportedIn(client, asking.id); // where the request took long to come
  const waiting = prompt(client, silent.id, 'wait');
  const isNotice = ({ sessionId, update }: Json) => sessionId === silent.id && update.sessionUpdate === 'notice';
  const { msg: notice } = await client.got('session/update', isNotice);
  expect(notice.params.update).toMatchObject({ severity: 'warning', title: expect.stringMatching(/slow has been silent for/) });
  expect(reportedIn(client, asking.id)).toEqual(before);
  expect(agent.all('session/cancel')).toEqual([]);

  agent.sendText(silent.id, 'done thinking');
  for (const { msg } of agent.all('session/prompt')) agent.reply(msg, { stopReason: 'end_turn' });
  expect([(await received).result, (await waiting).result]).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
  client.reply((await client.got('session/request_permission')).msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  await request;
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

/** An agent whose turns last until the test ends them, with a stopped clock. */
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

async function begin(client: Peer, agent: Peer, text: string): Promise<{ end(): Promise<void> }> {
  const from = agent.seen.length;
  const turn = prompt(client, 's', text);
  const { msg } = await agent.got('session/prompt', undefined, from);
  return {
    async end() {
      agent.reply(msg, { stopReason: 'end_turn' });
      await turn;
    },
  };
}

const sendUpdate = (agent: Peer): void =>
  agent.notify('session/update', {
    sessionId: 's',
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } },
  });

/** The notices so far; the round trip flushes everything in flight. */
async function noticesOf(client: Peer): Promise<string[]> {
  await client.call('_x/echo');
  return reportedIn(client, 's');
}

test('row 6: a turn without any output is reported after a minute, and not after two', async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  clock.advance(MINUTE - 1);
  expect(await noticesOf(client)).toEqual([]);
  clock.advance(2);
  expect(await noticesOf(client)).toHaveLength(1);
});

test('row 6: an agent with occasional output is not silent', async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  for (let n = 0; n < 5; n++) {
    clock.advance(MINUTE - 1);
    sendUpdate(agent);
    expect(await noticesOf(client)).toEqual([]);
  }
  clock.advance(2 * MINUTE);
  expect(await noticesOf(client)).toHaveLength(1);
});

test('row 6: silence before a prompt does not count for its turn', async () => {
  const { clock, agent, client } = await standstill();
  const first = await begin(client, agent, 'first');
  sendUpdate(agent);
  clock.advance(MINUTE + 1);
  await first.end();
  clock.advance(MINUTE - 2000);
  await begin(client, agent, 'second');
  clock.advance(2000); // the second turn is two seconds old
  expect(await noticesOf(client)).toEqual([]);
});

test("row 6: the user's time to answer does not count as the agent's silence", async () => {
  const { clock, agent, client } = await standstill();
  await begin(client, agent, 'go');
  const request = agent.request('session/request_permission', { sessionId: 's', ...PERMISSION });
  const { msg } = await client.got('session/request_permission');
  clock.advance(2 * MINUTE - 1000);
  expect(await noticesOf(client)).toEqual([]);
  client.reply(msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  await request;
  clock.advance(1000); // the agent has worked for a second
  expect(await noticesOf(client)).toEqual([]);
});

test("row 6: the time of a served command does not count as the agent's silence", async () => {
  let finish: (status: unknown) => void = () => {};
  const serve = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  const { clock, agent, client } = await standstill({
    serve,
    hasTerminal: () => false,
    endOf: () => {},
    stop: async () => {},
    kill: () => {},
  });
  await begin(client, agent, 'go');
  const waiting = agent.request('terminal/wait_for_exit', { sessionId: 's', terminalId: 't' });
  await noticesOf(client);
  clock.advance(5 * MINUTE);
  expect(await noticesOf(client)).toEqual([]);
  finish({ exitCode: 0, signal: null });
  expect((await waiting).result).toEqual({ exitCode: 0, signal: null });
  clock.advance(2 * MINUTE);
  expect(await noticesOf(client)).toHaveLength(1);
});
