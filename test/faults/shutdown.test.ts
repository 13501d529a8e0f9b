// The end of the connection: running turns are cancelled, pending requests answered, everything exits in time, and the exit code says why.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, fixture, type Json, open, prompt, type ScriptedAgent, type Stage, UNANSWERED } from '../e2e/harness.ts';
import { agentsOf, childOf, contentOf, end, eventually, isAlive, noticed, pidIn, processesOf, test } from './setup.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] };

type Busy = {
  readonly client: Client;
  readonly agent: ScriptedAgent;
  readonly turn: Promise<Json>;
  readonly other: Promise<Json>;
  readonly answers: Promise<Json>[];
};

/** A running turn, another pending request, and three unanswered requests of the agent. */
async function busy(stage: Stage): Promise<Busy> {
  const agent = stage.agent('busy', { turn: () => UNANSWERED });
  agent.on('_x/wait', () => UNANSWERED);
  const client = await stage.connect([agent, stage.agent('idle')]);
  const { id } = await open(client, stage.cwd, 'busy');
  const turn = prompt(client, id, 'go', 'turn');
  const other = client.request('_x/wait', { sessionId: id }, 'other');
  const answers = ['session/request_permission', 'elicitation/create', 'fs/read_text_file'].map((method) =>
    agent.request(method, { sessionId: id, ...PERMISSION, mode: 'form', message: 'm', requestedSchema: {}, path: '/x' }),
  );
  await client.got('fs/read_text_file');
  await agent.got('_x/wait');
  return { client, agent, turn, other, answers };
}

const END: readonly (readonly [string, (client: Client) => void, number])[] = [
  ['row 19: an editor that closes its end', ({ child }) => child.stdin.end(), 0],
  ['row 27: SIGTERM', ({ child }) => child.kill('SIGTERM'), 143],
  ['row 27: SIGINT', ({ child }) => child.kill('SIGINT'), 130],
];
for (const [name, strike, code] of END)
  test.concurrent(`${name}: turns are cancelled, every open request is answered once on both sides, nothing is left, and the code is ${code}`, async ({
    stage,
  }) => {
    const { client, agent, turn, other, answers } = await busy(stage);
    strike(client);
    await agent.got('session/cancel');
    const [permission, form, read] = await Promise.all(answers);
    expect(permission.result).toEqual({ outcome: { outcome: 'cancelled' } });
    expect(form.result).toEqual({ action: 'cancel' });
    expect(read.error.code).toBe(-32603);
    agent.exit();
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    expect((await other).error.code).toBe(-32603);
    expect(await client.ended).toBe(code);
    expect([client.answersTo('turn').length, client.answersTo('other').length]).toEqual([1, 1]);
    expect(processesOf(stage)).toEqual([]);
    expect(readdirSync(path.join(stage.state, 'running'))).toEqual([]);
    expect(readdirSync(path.join(stage.dir, 'tmp')).filter((file) => file !== 'node-compile-cache')).toEqual([]);
  });

test.concurrent('row 19: an agent that ends its cancelled turn itself is read to the end, including its last output', async ({ stage }) => {
  const client = await stage.connect({ well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'wait');
  await client.until((msg) => msg.params?.update?.content?.text === 'waiting;');
  client.child.stdin.end();
  expect((await turn).result).toEqual({ stopReason: 'cancelled', _meta: { by: 'well' } });
  expect(client.agentText(id)).toBe('waiting;stopping here;');
  expect(await client.ended).toBe(0);
});

test.concurrent('row 19: an agent that ignores the end of its stdin and SIGTERM, and its child, are gone within 10 s, after the grace periods', async ({
  stage,
}) => {
  const client = await stage.connect({ stubborn: fixture('ignores-sigterm', 'stubborn') });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'child');
  const child = await childOf(client, id);
  const began = Date.now();
  expect(await client.close()).toBe(0);
  expect(Date.now() - began).toBeLessThan(10_000);
  expect([pidIn(id), child].filter(isAlive)).toEqual([]);
  expect(agentsOf(stage, client)).toEqual([]);
});

test.concurrent('row 19: the end while an agent is still starting: its waiting session is answered, and it is gone', async ({ stage }) => {
  const slow = { ...fixture('silent-initialize', 'slow', '9'), timeouts: { stop_grace_ms: 200 } };
  const client = await stage.connect({ well: fixture('well-behaved', 'well'), slow }, { config: { timeouts: { initialize_wait_ms: 1 } } });
  const waiting = client.request('session/new', { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'slow' } } });
  client.child.stdin.end();
  expect((await waiting).error.code).toBe(-32603);
  expect(await client.ended).toBe(0);
  expect(agentsOf(stage, client)).toEqual([]);
});

test.concurrent('row 27: a second signal ends everything at once, even what ignores the first', async ({ stage }) => {
  const stubborn = { ...fixture('ignores-sigterm', 'stubborn'), timeouts: { stop_grace_ms: 60_000 } };
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const client = await stage.connect({ stubborn });
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, 'child');
    const child = await childOf(client, id);
    client.child.kill(signal);
    await sawStdinEnd(stage, id);
    client.child.kill(signal);
    expect(await client.ended).toBe(code);
    await eventually(() => expect([pidIn(id), child].filter(isAlive)).toEqual([]));
  }
});

test.concurrent('row 27: a signal more than a second after the client has left ends everything at once', async ({ stage }) => {
  const stubborn = { ...fixture('ignores-sigterm', 'stubborn'), timeouts: { stop_grace_ms: 1500 } };
  const client = await stage.connect({ stubborn });
  const { id } = await open(client, stage.cwd);
  client.child.stdin.end();
  // The agent is stopped after its grace period, which is longer than a second.
  await eventually(() => expect(contentOf(path.join(stage.dir, 'stubborn.term'))).toBe(String(pidIn(id))));
  client.child.kill('SIGTERM');
  expect(await client.ended).toBe(143); // a graceful exit would be 0
  await eventually(() => expect(isAlive(pidIn(id))).toBe(false));
});

/** The proxy's clock runs so slowly that a busy machine cannot be too late. */
const SLOW_CLOCK = 'const now = performance.now.bind(performance); performance.now = () => now() / 20;';

test.concurrent('row 27: a signal right behind the end of stdin belongs to the same shutdown, which stays graceful', async ({ stage }) => {
  const stubborn = { ...fixture('ignores-sigterm', 'stubborn'), timeouts: { stop_grace_ms: 50 } };
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SLOW_CLOCK)}` };
  const client = await stage.connect({ stubborn }, { env });
  const { id } = await open(client, stage.cwd);
  client.child.stdin.end();
  await sawStdinEnd(stage, id);
  client.child.kill('SIGTERM');
  expect(await client.ended).toBe(0);
  expect(agentsOf(stage, client)).toEqual([]);
});

test.concurrent('row 27: a client that no longer reads cannot delay the exit', async ({ stage }) => {
  const loud = { ...fixture('floods', 'loud'), timeouts: { stop_grace_ms: 200 } };
  const client = await stage.connect({ loud, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'loud');
  client.child.stdout.pause();
  void prompt(client, id, '10000 1000');
  await eventually(() => expect(contentOf(path.join(stage.dir, 'loud.written'))).not.toBe(''));
  const exited = once(client.child, 'exit');
  client.child.kill('SIGTERM');
  expect(await exited).toEqual([143, null]);
  expect(agentsOf(stage, client)).toEqual([]);
});

test.concurrent('row 27: requests behind the first signal are refused, but answered', async ({ stage }) => {
  const stubborn = { ...fixture('ignores-eof', 'stubborn'), timeouts: { stop_grace_ms: 60_000 } };
  const client = await stage.connect({ stubborn, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'stubborn');
  client.child.kill('SIGTERM');
  await sawStdinEnd(stage, id);
  const late = [prompt(client, id, 'late'), client.request('session/new', { cwd: stage.cwd, mcpServers: [] })];
  for (const answer of late) expect((await answer).error).toMatchObject({ code: -32603, message: 'switchboard is shutting down' });
  client.child.kill('SIGTERM'); // it would wait for the agent
  expect(await client.ended).toBe(143);
});

test.concurrent('row 27: a second signal also ends the remains of a crashed agent that are still awaited', async ({ stage }) => {
  const stubborn = { ...fixture('ignores-sigterm', 'stubborn'), timeouts: { stop_grace_ms: 60_000 } };
  const client = await stage.connect({ stubborn });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'child');
  const child = await childOf(client, id);
  end(pidIn(id));
  await noticed(client, '"stubborn" exited');
  client.child.kill('SIGINT');
  // Nothing shows from outside that the first one arrived, so the second is repeated until it has.
  const repeat = setInterval(() => client.child.kill('SIGINT'), 100);
  expect(await client.ended).toBe(130);
  clearInterval(repeat);
  await eventually(() => expect(isAlive(child)).toBe(false));
});

/** The first signal has arrived once the agent's stdin has ended; a second one before that would merge with it. */
const sawStdinEnd = (stage: Stage, sessionId: string) =>
  eventually(() => expect(contentOf(path.join(stage.dir, 'stubborn.eof'))).toBe(String(pidIn(sessionId))));
