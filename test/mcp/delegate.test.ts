// One agent delegates to another: what the client sees, and what ends it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import {
  type Client,
  type Json,
  open,
  type Peer,
  prompt,
  type ScriptedAgent,
  type Server,
  type Stage,
  testAtOnce as test,
  UNANSWERED,
} from '../e2e/harness.ts';
import { called, mcpAgent, notified, wordsOf } from './tool-sessions.ts';

const ON = { host_tools: { enabled: true, delegate: true } };

async function connect(stage: Stage, agents: Record<string, Server | ScriptedAgent>, config: Json = {}): Promise<Client> {
  const client = await stage.connect(agents, { config: { ...ON, ...config } });
  client.on('session/request_permission', ({ options }) => {
    const yes = options.find(({ kind }: Json) => kind === 'allow_once');
    return { outcome: { outcome: 'selected', optionId: yes.optionId } };
  });
  return client;
}
const ask = (client: Peer, id: string, agent: string, words: string): Promise<Json> =>
  called(client, id, 'delegate', { agent, prompt: words });

test("a delegated session's work and permission requests appear in the calling session, and its text is the result", async ({ stage }) => {
  const helper = stage.agent('helper', {
    title: 'Helper',
    async turn({ id, cwd }, words) {
      helper.update(id, { sessionUpdate: 'tool_call', toolCallId: 'h1', title: 'Looking around', status: 'pending' });
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
      const { outcome } = await helper.call('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 'h1', title: 'Look' },
        options,
      });
      helper.sendText(id, `in ${cwd}, ${outcome.optionId}: ${words}`);
      return { stopReason: 'end_turn' };
    },
  });
  const client = await connect(stage, { asker: mcpAgent('stdio', 'asker'), helper });
  const { id } = await open(client, stage.cwd, 'asker');
  expect((await called(client, id, 'session_info')).structuredContent.other_agents).toEqual(['helper']);
  const answer = await ask(client, id, 'helper', 'count the files');
  expect(wordsOf(answer)).toBe(`in ${stage.cwd}, yes: count the files`);
  expect(answer.structuredContent).toMatchObject({ agent: 'helper', stop_reason: 'end_turn' });

  const asked = client.all('session/request_permission').map(({ msg }) => msg.params);
  expect(asked.map(({ sessionId }: Json) => sessionId)).toEqual([id, id]);
  expect(asked.map(({ toolCall }: Json) => toolCall.title)).toEqual(['Ask helper: count the files', 'Helper: Look']);
  const [, begun] = client.updates(id, 'tool_call');
  expect(begun).toMatchObject({ title: 'Helper: count the files', status: 'in_progress' });
  const ended = client
    .updates(id, 'tool_call_update')
    .filter(({ toolCallId }: Json) => toolCallId === begun.toolCallId)
    .at(-1);
  expect(ended).toMatchObject({ status: 'completed' });
  expect(ended.content[0].content.text).toContain('[Helper: Looking around]');
  expect(client.updates(id, 'tool_call')).toHaveLength(2); // the first was session_info

  // Nothing of the delegated session is left, neither at the agent nor in the list.
  const { sessionId } = (await helper.got('session/close')).msg.params;
  expect(client.seen.some(({ line }) => line.includes(`"sessionId":"${sessionId}"`))).toBe(false);
  expect(readFileSync(path.join(stage.state, 'sessions.jsonl'), 'utf8')).not.toContain(`"${sessionId}"`);
});

test('if an agent reports its tool calls, the delegated work appears in its own tool call', async ({ stage }) => {
  const helper = stage.agent('helper', {
    turn({ id }) {
      helper.sendText(id, 'nearly done');
      return { stopReason: 'end_turn' };
    },
  });
  const client = await connect(stage, { asker: mcpAgent('stdio', 'asker'), helper });
  const { id } = await open(client, stage.cwd, 'asker');
  await notified(client, id, 'report delegate {"agent":"helper","prompt":"go"}');
  expect(client.updates(id, 'tool_call').map(({ toolCallId }: Json) => toolCallId)).toEqual(['t']);
  const shown = client.updates(id, 'tool_call_update').filter(({ content }: Json) => content);
  expect(shown).toMatchObject([{ toolCallId: 't', content: [{ content: { text: 'nearly done' } }] }]);
});

test('delegation is refused in a cycle, beyond two levels and to an unknown agent', async ({ stage }) => {
  const names = ['a', 'b', 'c', 'd'];
  const client = await connect(stage, Object.fromEntries(names.map((name) => [name, mcpAgent('stdio', name)])));
  const { id } = await open(client, stage.cwd, 'a');
  const through = (agents: string[]): string =>
    agents.reduceRight((words, agent) => `call delegate ${JSON.stringify({ agent, prompt: words })}`, 'call session_info');
  const answered = async (agents: string[]) => JSON.stringify(await notified(client, id, through(agents)));
  expect(await answered(['nobody'])).toContain('there is no agent \\"nobody\\"; there are b, c, d');
  expect(await answered(['a'])).toContain('waits for this answer');
  expect(await answered(['b', 'a'])).toContain('waits for this answer (a asked b)');
  expect(await answered(['b', 'c'])).toMatch(/agent.{1,20}"c/);
  expect(await answered(['b', 'c', 'd'])).toContain('may not delegate');
  expect(await answered(['b'])).toMatch(/agent.{1,20}"b/); // a refused delegation does not block the next one
});

test('cancelling a turn cancels the delegated turn', async ({ stage }) => {
  const helper = stage.agent('helper', { turn: () => UNANSWERED });
  const client = await connect(stage, { asker: mcpAgent('stdio', 'asker'), helper });
  const { id } = await open(client, stage.cwd, 'asker');
  const answer = prompt(client, id, 'call delegate {"agent":"helper","prompt":"endless"}');
  const asked = await helper.got('session/prompt');
  client.notify('session/cancel', { sessionId: id });
  const { sessionId } = (await helper.got('session/cancel')).msg.params;
  expect(sessionId).toBe(asked.msg.params.sessionId);
  helper.reply(asked.msg, { stopReason: 'cancelled' });
  await answer;
  await helper.got('session/close');
  expect(client.updates(id, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' });
});

test('an agent that exits during a delegation is named in the error', async ({ stage }) => {
  const helper = stage.agent('helper', {
    turn() {
      helper.exit();
      return UNANSWERED;
    },
  });
  const client = await connect(stage, { asker: mcpAgent('stdio', 'asker'), helper });
  const { id } = await open(client, stage.cwd, 'asker');
  const answer = await ask(client, id, 'helper', 'die');
  expect(answer.isError).toBe(true);
  expect(wordsOf(answer)).toContain('"helper" exited');
});

test('at most four delegations run at once', async ({ stage }) => {
  const helper = stage.agent('helper', { turn: () => UNANSWERED });
  const client = await connect(stage, { asker: mcpAgent('stdio', 'asker'), helper });
  const sessions: string[] = [];
  for (let n = 0; n < 5; n++) sessions.push((await open(client, stage.cwd, 'asker')).id);
  const [last = '', ...others] = sessions.reverse();
  const waiting = others.map((id) => prompt(client, id, 'call delegate {"agent":"helper","prompt":"wait"}'));
  await helper.until(() => helper.all('session/prompt').length === 4);
  expect(wordsOf(await ask(client, last, 'helper', 'too'))).toContain('4 delegations are already running');
  for (const { msg } of helper.all('session/prompt')) helper.reply(msg, { stopReason: 'end_turn' });
  await Promise.all(waiting);
});

test('the policy decides which agent may delegate to which', async ({ stage }) => {
  const helper = stage.agent('helper');
  const policy = path.join(stage.dir, 'policy.json');
  writeFileSync(policy, JSON.stringify({ version: 1, allow: ['delegate(helper)'], deny: ['delegate(secret*)'] }));
  const agents = { asker: mcpAgent('stdio', 'asker'), helper, secretary: stage.agent('secretary') };
  const client = await connect(stage, agents, { policy });
  const { id } = await open(client, stage.cwd, 'asker');
  expect((await ask(client, id, 'helper', 'hello')).isError).toBeUndefined();
  expect(wordsOf(await ask(client, id, 'secretary', 'hello'))).toContain('denied by policy');
  expect(client.all('session/request_permission')).toEqual([]);
  const audit = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8');
  expect(audit).toContain('delegate: helper');
  expect(audit).toContain('delegate: secretary');
});

test('the tool is absent unless it is enabled, and for a single agent', async ({ stage }) => {
  const names = async (client: Peer) => {
    const { id } = await open(client, stage.cwd);
    return (await notified(client, id, 'tools')).map(({ name }: Json) => name);
  };
  const agents = { asker: mcpAgent('stdio', 'asker'), other: mcpAgent('none', 'other') };
  expect(await names(await connect(stage, agents, { host_tools: { enabled: true } }))).not.toContain('delegate');
  expect(await names(await connect(stage, { asker: mcpAgent('stdio', 'asker') }))).not.toContain('delegate');
});
