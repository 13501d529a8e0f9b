// A prompt that arrives during a turn: it waits, joins the turn, passes or is refused, as `while_running` says.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { connectSocket, runCommand, startDaemon, storeToken } from './daemon.ts';
import {
  type Client,
  type Json,
  open,
  prompt,
  Refusal,
  type ScriptedAgent,
  type Stage,
  SWITCHBOARD,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';
import { ALL_CAPABILITIES } from './scripted-agent.ts';

type Started = { readonly agent: ScriptedAgent; readonly client: Client; readonly id: string; readonly first: Promise<Json> };

/** An agent that answers prompts when the test says so, with a turn under way. */
async function started(
  stage: Stage,
  settings: Json = {},
  { isAlone = true, meta = {} as Json, capabilities = {} as Json } = {},
): Promise<Started> {
  const agent = stage.agent('agent', { capabilities: { ...ALL_CAPABILITIES, ...capabilities } });
  agent.on('session/prompt', () => UNANSWERED);
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: { ...ALL_CAPABILITIES, ...capabilities }, ...meta }));
  const agents: Json = { agent: { ...agent.server, ...settings } };
  if (!isAlone) agents.other = stage.agent('other');
  const client = await stage.connect(agents);
  const { id } = await open(client, stage.cwd, isAlone ? undefined : 'agent');
  const first = prompt(client, id, 'first', 1001);
  await promptOf(agent, 'first');
  return { agent, client, id, first };
}

const textOf = ({ params }: Json): string => params.prompt[0].text;
const promptOf = async (agent: ScriptedAgent, text: string): Promise<Json> =>
  (await agent.got('session/prompt', (params) => params.prompt[0].text === text)).msg;
const texts = (agent: ScriptedAgent): string[] => agent.all('session/prompt').map(({ msg }) => textOf(msg));
const end = async (agent: ScriptedAgent, text: string, stopReason = 'end_turn') => agent.reply(await promptOf(agent, text), { stopReason });
/** Resolves when the proxy has handled everything that the client has sent: the agent has answered a request behind it. */
const handled = (client: Client, sessionId: string) => client.request('session/set_mode', { sessionId, modeId: 'code' });

test('with several agents, prompts wait for the end of the turn, in order; other requests do not', async ({ stage }) => {
  const { agent, client, id, first } = await started(stage, {}, { isAlone: false });
  const [second, third] = [prompt(client, id, 'second'), prompt(client, id, 'third')];
  await handled(client, id);
  expect(texts(agent)).toEqual(['first']);
  await end(agent, 'first');
  expect((await first).result).toEqual({ stopReason: 'end_turn' });
  await end(agent, 'second', 'max_tokens');
  expect((await second).result).toEqual({ stopReason: 'max_tokens' });
  await end(agent, 'third');
  expect((await third).result).toEqual({ stopReason: 'end_turn' });
  expect(texts(agent)).toEqual(['first', 'second', 'third']);
});

test('a single agent on stdio gets every prompt at once, unless while_running says otherwise', async ({ stage }) => {
  const { agent, client, id } = await started(stage);
  void prompt(client, id, 'second');
  await promptOf(agent, 'second');
  expect(texts(agent)).toEqual(['first', 'second']);
});

test('while_running at the top level applies to all agents, and an agent overrides it', async ({ stage }) => {
  const [queues, refuses] = ['queues', 'refuses'].map((name) => stage.agent(name, { turn: () => UNANSWERED })) as [
    ScriptedAgent,
    ScriptedAgent,
  ];
  const agents = { queues: queues.server, refuses: { ...refuses.server, while_running: 'refuse' } };
  const client = await stage.connect(agents, { config: { while_running: 'queue' } });
  for (const agent of [queues, refuses]) {
    const { id } = await open(client, stage.cwd, agent.name);
    void prompt(client, id, 'first');
    await promptOf(agent, 'first');
    const second = prompt(client, id, 'second');
    if (agent === refuses) {
      const { error } = await second;
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/"refuses" is still working .* while_running is "refuse"/),
      });
    } else {
      await end(agent, 'first');
      await promptOf(agent, 'second');
    }
  }
});

test('an agent that queues by itself gets prompts at once', async ({ stage }) => {
  const capabilities = { _meta: { claudeCode: { promptQueueing: true } } };
  const { agent, client, id } = await started(stage, { while_running: 'queue' }, { capabilities });
  void prompt(client, id, 'second');
  await promptOf(agent, 'second');
});

test('sixteen prompts wait in a session; the next one gets an error that names the limit', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'queue' });
  for (let n = 1; n <= 16; n++) void prompt(client, id, `waits ${n}`);
  expect((await prompt(client, id, 'too many')).error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(/^16 prompts already wait/),
  });
  await end(agent, 'first');
  await promptOf(agent, 'waits 1');
});

test('a cancel ends the turn and the prompts that wait, which never reach the agent', async ({ stage }) => {
  const { agent, client, id, first } = await started(stage, { while_running: 'queue' });
  const second = prompt(client, id, 'second');
  client.notify('session/cancel', { sessionId: id });
  expect((await second).result).toEqual({ stopReason: 'cancelled' });
  await agent.got('session/cancel');
  await end(agent, 'first', 'cancelled');
  expect((await first).result).toEqual({ stopReason: 'cancelled' });
  void prompt(client, id, 'later');
  await promptOf(agent, 'later');
  expect(texts(agent)).toEqual(['first', 'later']);
});

test('$/cancel_request removes one waiting prompt, and the others keep their order', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'queue' });
  const [second] = [prompt(client, id, 'second', 'two'), prompt(client, id, 'third')];
  client.notify('$/cancel_request', { requestId: 'two' });
  expect((await second).error.code).toBe(-32800);
  await end(agent, 'first');
  await promptOf(agent, 'third');
  expect(texts(agent)).toEqual(['first', 'third']);
});

test('the end of a session ends its waiting prompts', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'queue' });
  const second = prompt(client, id, 'second');
  expect((await client.request('session/close', { sessionId: id })).result).toBeDefined();
  expect((await second).result).toEqual({ stopReason: 'cancelled' });
  expect(texts(agent)).toEqual(['first']);
});

test('when the agent refuses to close the session, waiting prompts go on in their order', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'queue' });
  let refuse: (why: Refusal) => void = () => {};
  agent.on('session/close', () => new Promise((_, reject) => (refuse = reject)));
  void prompt(client, id, 'second');
  const closed = client.request('session/close', { sessionId: id });
  await agent.got('session/close');
  void prompt(client, id, 'third');
  await end(agent, 'first');
  await client.request('session/list', {}); // behind the end of the turn
  refuse(new Refusal(-32603, 'not now'));
  expect((await closed).error.message).toBe('not now');
  await end(agent, 'second');
  await end(agent, 'third');
  expect(texts(agent)).toEqual(['first', 'second', 'third']);
});

test('a waiting prompt outlives a crash of the agent: it goes to the recovered session', async ({ stage }) => {
  const { agent, client, id, first } = await started(stage, { while_running: 'queue' });
  const second = prompt(client, id, 'second');
  await handled(client, id);
  agent.exit();
  expect((await first).error).toBeDefined();
  await agent.started(2);
  await end(agent, 'second');
  expect((await second).result).toEqual({ stopReason: 'end_turn' });
  expect(texts(agent)).toEqual(['first', 'second']);
});

const STEERING = { meta: { _meta: { steering: { supported: true } } } };

test('steer: the prompt joins the running turn and gets its stop reason', async ({ stage }) => {
  const { agent, client, id, first } = await started(stage, { while_running: 'steer' }, STEERING);
  agent.on('_session/steering', () => ({ outcome: 'injected' }));
  const second = prompt(client, id, 'second');
  const { msg } = await agent.got('_session/steering');
  expect(msg.params).toEqual({
    sessionId: id,
    prompt: [{ type: 'text', text: 'second' }],
    _meta: { steering: { idleBehavior: 'promptRequired' } },
  });
  await handled(client, id);
  await end(agent, 'first', 'max_tokens');
  expect((await first).result).toEqual({ stopReason: 'max_tokens' });
  expect((await second).result).toEqual({ stopReason: 'max_tokens', _meta: { 'acp-switchboard': { joinedTurn: true } } });
  expect(texts(agent)).toEqual(['first']);
});

test('steer: a prompt for which the agent has no turn any more is sent as a prompt; one that it cannot take waits', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'steer' }, STEERING);
  let answer: (outcome: Json) => void = () => {};
  agent.on('_session/steering', () => new Promise((resolve) => (answer = resolve)));
  const second = prompt(client, id, 'second');
  await agent.got('_session/steering');
  await end(agent, 'first');
  await handled(client, id);
  answer({ outcome: 'promptRequired', reason: 'noRunningTurn' });
  await promptOf(agent, 'second');
  void prompt(client, id, 'third');
  await agent.got('_session/steering', (params) => params.prompt[0].text === 'third');
  answer({ outcome: 'failed' });
  await end(agent, 'second');
  expect((await second).result).toEqual({ stopReason: 'end_turn' });
  await promptOf(agent, 'third');
});

test('steer: without support, prompts wait', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'steer' });
  void prompt(client, id, 'second');
  await handled(client, id);
  expect(texts(agent)).toEqual(['first']);
  await end(agent, 'first');
  await promptOf(agent, 'second');
});

test('a turn that others have joined ends them all when it is cancelled', async ({ stage }) => {
  const { agent, client, id, first } = await started(stage, { while_running: 'steer', timeouts: { cancel_ms: 150 } }, STEERING);
  agent.on('_session/steering', () => ({ outcome: 'injected' }));
  const second = prompt(client, id, 'second');
  await agent.got('_session/steering');
  await handled(client, id);
  client.notify('session/cancel', { sessionId: id });
  for (const turn of [first, second]) expect((await turn).result.stopReason).toBe('cancelled');
});

test('`sessions show` lists the prompts that wait', async ({ stage }) => {
  const { client, id } = await started(stage, { while_running: 'queue' });
  void prompt(client, id, 'and then this');
  await vi.waitFor(
    async () => {
      const show = stage.run(process.execPath, [SWITCHBOARD, 'sessions', 'show', id, '--json']);
      let output = '';
      show.child.stdout.on('data', (chunk) => (output += chunk));
      await show.ended;
      expect(JSON.parse(output).data.queued).toEqual(['and then this']);
    },
    { timeout: 20_000 },
  );
});

test('the transcript has a waiting prompt behind the answer of the turn before it', async ({ stage }) => {
  const { agent, client, id } = await started(stage, { while_running: 'queue' });
  void prompt(client, id, 'second');
  await handled(client, id);
  agent.sendText(id, 'answer one');
  await end(agent, 'first');
  agent.sendText(id, 'answer two');
  await promptOf(agent, 'second');
  await end(agent, 'second');
  client.child.stdin?.end();
  await client.ended;
  const dir = path.join(stage.state, 'transcripts');
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(path.join(dir, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line));
  const texts = lines.flatMap(({ kind, text }) => (kind === 'prompt' || kind === 'message' || kind === 'agent' ? [text] : []));
  expect(texts).toEqual(['first', 'answer one', 'second', 'answer two']);
});

test('`sessions queue` lists, edits and removes the prompts that wait in the daemon; the client of a removed one gets `cancelled`', async ({
  stage,
}) => {
  const agent = stage.agent('agent', { turn: () => UNANSWERED });
  const daemon = await startDaemon(stage, [agent], { config: { allow_cwd: [stage.cwd] } });
  const client = await connectSocket(daemon, storeToken(stage, 'ann', 'client'));
  const { id } = await open(client, stage.cwd);
  void prompt(client, id, 'first');
  await promptOf(agent, 'first');
  const [second, third] = [prompt(client, id, 'second'), prompt(client, id, 'third')];
  await client.request('session/set_mode', { sessionId: id, modeId: 'code' }); // behind both
  const queue = (...args: string[]) => runCommand(stage, 'sessions', 'queue', id, ...args);
  const rows = queue().trimEnd().split('\n');
  expect(rows.map((row) => row.replace(/^\d+ +/, ''))).toEqual(['NUMBER  PROMPT', 'second', 'third']);
  const [, two = '', three = ''] = rows.map((row) => /^\d+/.exec(row)?.[0]);
  expect(queue('--edit', three, 'run', 'the tests')).toBe('edited: run the tests\n');
  expect(JSON.parse(queue('--remove', two, '--json')).data).toEqual({
    sessionId: id,
    removed: { number: Number(two), text: 'second' },
    prompts: [{ number: Number(three), text: 'run the tests' }],
  });
  expect((await second).result).toEqual({ stopReason: 'cancelled' });
  // Its number belongs to no other prompt.
  expect(() => queue('--remove', two)).toThrow();
  await end(agent, 'first');
  await end(agent, 'run the tests');
  expect((await third).result).toEqual({ stopReason: 'end_turn' });
  expect(texts(agent)).toEqual(['first', 'run the tests']);
});
