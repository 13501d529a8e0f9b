// The network breaks, or a program is killed, in every state of a turn. The turn goes on, and a client that comes back misses nothing.
import { expect } from 'vitest';
import { connectSocket, createToken, type Daemon, type SocketClient, startDaemon } from './daemon.ts';
import { type Client, hello, type Json, open, prompt, type ScriptedAgent, type Stage, SWITCHBOARD, test, UNANSWERED } from './harness.ts';
import { type Relay, startRelay } from './relay.ts';

const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];
const COUNT = 300;
const chunks = Array.from({ length: COUNT }, (_, n) => `${n + 1} `);
const load = (client: Pick<SocketClient, 'call'>, sessionId: string, stage: Stage) =>
  client.call('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });

/** The agent's turns follow their prompt. `go` lets a turn that waits go on. */
function createAgent(stage: Stage): { readonly agent: ScriptedAgent; go(): void } {
  let go = () => {};
  const agent = stage.agent('works', {
    async turn({ id }, message) {
      if (message === 'wait') {
        agent.sendText(id, 'begun ');
        await new Promise<void>((resolve) => {
          go = resolve;
        });
      }
      if (message === 'count' || message === 'wait')
        for (const chunk of chunks) {
          agent.sendText(id, chunk);
          if (chunk.endsWith('0 ')) await new Promise(setImmediate);
        }
      if (message === 'ask') {
        const { outcome } = await agent.call('session/request_permission', {
          sessionId: id,
          toolCall: { toolCallId: 'c', title: 'Write', kind: 'edit' },
          options: OPTIONS,
        });
        agent.sendText(id, `chosen ${outcome.optionId}`);
      }
      if (message === 'read') {
        const error = await agent.refused('fs/read_text_file', { sessionId: id, path: `${stage.cwd}/a.txt` });
        agent.sendText(id, error.data.reason);
      }
      if (message === 'short') agent.sendText(id, ' short');
      return { stopReason: 'end_turn' };
    },
  });
  return { agent, go: () => go() };
}

/** What happens before the network breaks, and what the next client sees of the session in the end. */
type State = {
  readonly name: string;
  readonly begin: (client: SocketClient, id: string, agent: ScriptedAgent) => Promise<unknown>;
  readonly afterwards?: (go: () => void) => void;
  readonly text: string;
  readonly prompts: string;
};

const sent = (client: SocketClient, id: string, text: string) => void prompt(client, id, text).catch(() => {});
const STATES: readonly State[] = [
  { name: 'no turn', begin: (client, id) => prompt(client, id, 'short'), text: ' short', prompts: 'short' },
  {
    name: 'the agent speaks',
    async begin(client, id) {
      sent(client, id, 'count');
      await client.until(() => client.agentText(id).endsWith('20 '));
    },
    text: chunks.join(''),
    prompts: 'count',
  },
  {
    name: 'a permission request is open',
    async begin(client, id) {
      client.on('session/request_permission', () => UNANSWERED);
      sent(client, id, 'ask');
      await client.got('session/request_permission');
    },
    text: 'chosen yes',
    prompts: 'ask',
  },
  {
    name: 'a file request is open',
    async begin(client, id) {
      client.on('fs/read_text_file', () => UNANSWERED);
      sent(client, id, 'read');
      await client.got('fs/read_text_file');
    },
    text: 'client_gone',
    prompts: 'read',
  },
  {
    name: 'prompts wait behind a turn',
    async begin(client, id) {
      sent(client, id, 'wait');
      await client.until(() => client.agentText(id) === 'begun ');
      sent(client, id, 'short');
      await client.call('session/list', {});
    },
    afterwards: (go) => go(),
    text: `begun ${chunks.join('')} short`,
    prompts: 'waitshort',
  },
  {
    name: 'the history is replayed',
    async begin(client, id) {
      for (let turn = 0; turn < 3; turn++) await prompt(client, id, 'count');
    },
    text: chunks.join('').repeat(3),
    prompts: 'count'.repeat(3),
  },
];

const userText = (client: SocketClient, id: string) =>
  client
    .updates(id, 'user_message_chunk')
    .map(({ content }: Json) => content.text)
    .join('');

test('the network is cut in each state of a turn: the next client gets all of it, once and in order', async ({ stage }) => {
  const { agent, go } = createAgent(stage);
  const daemon = await startDaemon(stage, [agent]);
  const relay = await startRelay(daemon);
  const token = createToken(stage, 'laptop');
  for (const { name, begin, afterwards, text, prompts } of STATES) {
    const first = await connectSocket(relay.daemon, token);
    const { id } = await open(first, stage.cwd);
    await begin(first, id, agent);
    if (name === 'the history is replayed') await cutWhileLoading(relay, token, id, stage);
    relay.cut();
    await first.closed;
    afterwards?.(go);
    const next = await connectSocket(relay.daemon, token);
    next.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
    await load(next, id, stage);
    await next.until(() => next.agentText(id).length >= text.length);
    expect(next.agentText(id), name).toBe(text);
    expect(userText(next, id), name).toBe(prompts);
    expect((await prompt(next, id, 'short')).result.stopReason, name).toBe('end_turn');
    expect(next.agentText(id), name).toBe(`${text} short`);
    await next.call('session/close', { sessionId: id });
    next.socket.close();
  }
  relay.stop();
});

async function cutWhileLoading(relay: Relay, token: string, id: string, stage: Stage): Promise<void> {
  const second = await connectSocket(relay.daemon, token);
  void load(second, id, stage).catch(() => {});
  await second.got('session/update');
  relay.cut();
  await second.closed;
}

test('a connection that the network has swallowed holds nobody up: another client joins, answers and ends the turn', async ({ stage }) => {
  const { agent } = createAgent(stage);
  const daemon = await startDaemon(stage, [agent]);
  const relay = await startRelay(daemon);
  const token = createToken(stage, 'laptop');
  const asleep = await connectSocket(relay.daemon, token);
  const { id } = await open(asleep, stage.cwd);
  sent(asleep, id, 'count');
  await asleep.until(() => asleep.agentText(id).endsWith('20 '));
  relay.freeze();
  const next = await connectSocket(daemon, token);
  next.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
  await load(next, id, stage);
  await next.until(() => next.agentText(id) === chunks.join(''));
  expect((await prompt(next, id, 'ask')).result.stopReason).toBe('end_turn');
  expect(next.agentText(id)).toBe(`${chunks.join('')}chosen yes`);
  relay.stop();
});

const bridge = (stage: Stage, { socketUrl }: Daemon, token: string): Client =>
  stage.run(process.execPath, [SWITCHBOARD, 'acp', '--connect', socketUrl], { SWITCHBOARD_TOKEN: token });

test('`acp --connect` is killed in mid-turn, or loses the network: the turn goes on, and a load shows all of it', async ({ stage }) => {
  const { agent, go } = createAgent(stage);
  const daemon = await startDaemon(stage, [agent]);
  const relay = await startRelay(daemon);
  const token = createToken(stage, 'editor');
  const killed = bridge(stage, daemon, token);
  await hello(killed);
  const { id } = await open(killed, stage.cwd);
  sent(killed as never, id, 'wait');
  await killed.until(() => killed.agentText(id) === 'begun ');
  killed.child.kill('SIGKILL');
  const editor = bridge(stage, relay.daemon, token);
  await hello(editor);
  expect((await load(editor, id, stage))._meta['acp-switchboard']).toMatchObject({ attached: true, turn: 'running' });
  go();
  await editor.until(() => editor.agentText(id) === `begun ${chunks.join('')}`);

  const turn = prompt(editor, id, 'wait', 'the-turn');
  await editor.until(() => editor.agentText(id).endsWith(' begun '));
  relay.cut();
  const { error } = await turn;
  expect(error.message).toMatch(/^The switchboard daemon at ws:\/\/127\.0\.0\.1:\d+\/acp went away: /);
  go();
  const from = editor.seen.length;
  await load(editor, id, stage);
  const whole = () =>
    editor.seen
      .slice(from)
      .map(({ msg }) => (msg?.params?.update?.sessionUpdate === 'agent_message_chunk' ? msg.params.update.content.text : ''))
      .join('');
  await editor.until(() => whole().length >= 2 * `begun ${chunks.join('')}`.length);
  expect(whole()).toBe(`begun ${chunks.join('')}`.repeat(2));
  expect(editor.answersTo('the-turn')).toHaveLength(1);
  relay.stop();
});
