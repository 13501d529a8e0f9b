// Answers with "always", without a policy: they hold for the very same request in the session, are listed, and can be revoked.
import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import {
  type Client,
  type Json,
  open,
  type ScriptedAgent,
  type Stage,
  SWITCHBOARD,
  testAtOnce as test,
  text,
  UNANSWERED,
} from './harness.ts';
import { execution, selected } from './policy-support.ts';

const OPTIONS = [
  { optionId: 'a1', name: 'Yes', kind: 'allow_once' },
  { optionId: 'aa', name: 'Yes, always', kind: 'allow_always' },
  { optionId: 'r1', name: 'No', kind: 'reject_once' },
  { optionId: 'ra', name: 'Never', kind: 'reject_always' },
];

type Setup = {
  readonly client: Client;
  readonly agent: ScriptedAgent;
  readonly id: string;
  readonly ask: (command: string) => Promise<Json>;
};

/** An agent in a turn; the client answers with the option of this id. */
async function inTurn(
  stage: Stage,
  answer: string,
  config: Json = {},
  others: readonly ScriptedAgent[] = [stage.agent('other')],
): Promise<Setup> {
  const agent = stage.agent('agent');
  const client = await stage.connect([agent, ...others], { config });
  client.on('session/request_permission', () => selected(answer));
  const { id } = await open(client, stage.cwd, 'agent');
  agent.on('session/prompt', () => UNANSWERED);
  client.request('session/prompt', { sessionId: id, prompt: text('go') }).catch(() => {});
  await agent.got('session/prompt');
  return { client, agent, id, ask: (command) => agent.call('session/request_permission', execution(id, command, { options: OPTIONS })) };
}

const asked = (client: Client): number => client.all('session/request_permission').length;
const stored = (stage: Stage): readonly Json[] =>
  readFileSync(path.join(stage.state, 'remembered.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const isStored = (stage: Stage) => vi.waitFor(() => expect(stored(stage)).not.toEqual([]), { timeout: 20_000, interval: 10 });

test('the same request is answered at once, and the user is told how to revoke it', async ({ stage }) => {
  const { client, id, ask } = await inTurn(stage, 'aa');
  expect(await ask('make all')).toEqual(selected('aa')); // the agent gets the answer as the client wrote it
  await isStored(stage);
  const [{ id: answer }] = stored(stage) as [Json];
  expect([await ask('make all'), await ask('make all')]).toEqual([selected('a1'), selected('a1')]);
  expect(asked(client)).toBe(1);
  const texts = client.updates(id, 'agent_thought_chunk').map(({ content }) => content.text);
  expect(texts).toEqual([
    expect.stringMatching(`Allowed, as you answered "always". execute: make all.*policy remembered --revoke ${answer}`),
  ]);
  await ask('make clean');
  expect(asked(client)).toBe(2);
});

test('a revoked answer is asked for again; it is listed until then', async ({ stage }) => {
  const { client, ask } = await inTurn(stage, 'aa');
  await ask('make all');
  await isStored(stage);
  await ask('make all');
  expect(asked(client)).toBe(1);
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [SWITCHBOARD, 'policy', 'remembered', ...words], {
      env: { ...process.env, SWITCHBOARD_HOME: stage.state },
      encoding: 'utf8',
    }).stdout;
  const { answers } = JSON.parse(run('--json')).data;
  expect(answers).toEqual([expect.objectContaining({ verdict: 'allow', scope: 'session', agent: 'agent', what: 'execute: make all' })]);
  run('--revoke', answers[0].id);
  await ask('make all');
  expect(asked(client)).toBe(2);
});

test('a rejection is kept too, and every answer ends with its session', async ({ stage }) => {
  const { client, agent, id, ask } = await inTurn(stage, 'ra');
  expect(await ask('make all')).toEqual(selected('ra'));
  await isStored(stage);
  expect(await ask('make all')).toEqual(selected('r1'));
  expect(asked(client)).toBe(1);
  await client.call('session/close', { sessionId: id });
  expect(stored(stage).map(({ revoked }) => revoked)).toEqual([undefined, stored(stage)[0]?.id]);
  expect(agent.all('session/close')).toHaveLength(1);
});

test('in another session, after a cancel, and about a request that is not understood, the user is asked', async ({ stage }) => {
  const { client, agent, id, ask } = await inTurn(stage, 'aa');
  await ask('make all');
  await ask('make $(cat x)');
  await isStored(stage);
  await ask('make $(cat x)');
  expect(asked(client)).toBe(3);
  const other = await open(client, stage.cwd, 'agent');
  client.request('session/prompt', { sessionId: other.id, prompt: text('go') }).catch(() => {});
  await agent.got('session/prompt', (params) => params.sessionId === other.id);
  await agent.call('session/request_permission', execution(other.id, 'make all', { options: OPTIONS }));
  expect(asked(client)).toBe(4);
  client.notify('session/cancel', { sessionId: id });
  await agent.got('session/cancel');
  await ask('make all');
  expect(asked(client)).toBe(5);
});

test.for([
  ['with a single agent', {}, true],
  ['where it is off', { remember_always: 'off' }, false],
] as const)('every request passes %s', async ([, config, isSingle], { stage }) => {
  const { client, ask } = await inTurn(stage, 'aa', config, isSingle ? [] : [stage.agent('other')]);
  await ask('make all');
  await ask('make all');
  expect(asked(client)).toBe(2);
});

test('a single agent can have it, and a revocation by another process counts', async ({ stage }) => {
  const { client, ask } = await inTurn(stage, 'aa', { remember_always: 'session' }, []);
  await ask('make all');
  await isStored(stage);
  await ask('make all');
  expect(asked(client)).toBe(1);
  appendFileSync(path.join(stage.state, 'remembered.jsonl'), `{"revoked":"${stored(stage)[0]?.id}","at":""}\n`);
  await ask('make all');
  expect(asked(client)).toBe(2);
});
