// Invalid and ambiguous input from an agent: nothing is sent back for it, and only what it belonged to fails.
import { describe, expect } from 'vitest';
import { noticed } from '../faults/setup.ts';
import { type Client, hello, type Json, open, prompt, type ScriptedAgent, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';

type Setup = { readonly bad: ScriptedAgent; readonly client: Client; readonly id: string };

async function setUp(stage: Stage, config: Json = {}): Promise<Setup> {
  const bad = stage.agent('bad');
  bad.on('_x/slow', () => UNANSWERED);
  const client = await stage.connect([bad, stage.agent('good')], { config });
  return { bad, client, id: (await open(client, stage.cwd)).id };
}
/** Makes the agent send something, then talks to it again. Returns what the client and the agent got for it. */
async function agentSends({ bad, client, id }: Setup, line: string | Buffer): Promise<{ toClient: Json[]; toAgent: Json[] }> {
  const [atClient, atAgent] = [client.seen.length, bad.seen.length];
  bad.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
  bad.sendText(id, 'behind it');
  await client.until((msg) => msg.params?.update?.content?.text === 'behind it', atClient);
  const answer = await prompt(client, id, 'still there?');
  expect(answer.result).toEqual({ stopReason: 'end_turn' });
  const isOurs = (msg: Json) => msg !== answer && msg.params?.update === undefined;
  return {
    toClient: client.seen.slice(atClient).flatMap(({ msg }) => (isOurs(msg) ? [msg] : [])),
    toAgent: bad.seen.slice(atAgent).flatMap(({ msg }) => (msg.method === 'session/prompt' ? [] : [msg])),
  };
}

test('noise on stdout is skipped: neither the client nor the agent gets anything for it', async ({ stage }) => {
  const setup = await setUp(stage);
  const noise: readonly (string | Buffer)[] = [
    'debug: starting up',
    '{"broken":',
    '[1,2]',
    '[{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{}}]',
    '42',
    'null',
    '{}',
    '{"jsonrpc":"2.0","method":7}',
    '{"jsonrpc":"2.0","result":{}}',
    Buffer.from([0xff, 0x00, 0xfe]),
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"_x/note","params":{"t":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}}')]),
  ];
  for (const line of noise) expect(await agentSends(setup, line), String(line)).toEqual({ toClient: [], toAgent: [] });
  await noticed(setup.client, '"bad"'); // reported on stderr, and counted
});

test('noise before initialize does not make an agent unusable', async ({ stage }) => {
  const bad = stage.agent('bad');
  bad.on('initialize', () => {
    bad.write('Loading…\n\n[INFO] {"id":0}\n');
    return { protocolVersion: 1, agentCapabilities: { loadSession: true } };
  });
  const client = stage.proxy([bad, stage.agent('good')]);
  expect((await hello(client)).agentCapabilities.loadSession).toBe(true);
  expect((await open(client, stage.cwd, 'bad')).id).toBe('bad-1');
});

describe('a frame that two parsers could read differently', () => {
  test('is dropped if it is an update', async ({ stage }) => {
    const setup = await setUp(stage);
    for (const line of [
      '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bad-1","sessionId":"good-1","update":{}}}',
      '{"jsonrpc":"2.0","method":"session/update","method":"_x/note","params":{"sessionId":"bad-1"}}',
      '{"jsonrpc":"2.0","method":"_x/note","params":{"a":1},"par\\u0061ms":{"a":2}}',
    ]) {
      const from = setup.client.all('session/update').length;
      expect(await agentSends(setup, line), line).toEqual({ toClient: [], toAgent: [] });
      expect(
        setup.client
          .all('session/update')
          .slice(from)
          .filter(({ msg }) => msg.params.update.sessionUpdate === undefined),
      ).toEqual([]);
    }
  });

  test('is refused to the agent if it is a request, and the client never sees it', async ({ stage }) => {
    const setup = await setUp(stage);
    for (const line of [
      '{"jsonrpc":"2.0","id":"q","method":"fs/read_text_file","params":{"sessionId":"bad-1","sessionId":"good-1","path":"/etc/passwd"}}',
      '{"jsonrpc":"2.0","id":"q","method":"_x/a","method":"_x/b"}',
    ]) {
      const { toClient, toAgent } = await agentSends(setup, line);
      expect(toClient, line).toEqual([]);
      expect(toAgent, line).toMatchObject([{ id: 'q', error: { code: -32600 } }]);
    }
  });
});

describe('a response', () => {
  /** What the client gets when the agent answers its request with `answer`. */
  async function answered(setup: Setup, answer: (id: Json) => string | Buffer): Promise<Json> {
    const { bad, client, id: sessionId } = setup;
    const from = bad.seen.length;
    const received = client.request('_x/slow', { sessionId }, 'slow');
    const { msg } = await bad.got('_x/slow', () => true, from);
    bad.write(Buffer.concat([Buffer.from(answer(msg.id)), Buffer.from('\n')]));
    const got = await received;
    expect(await prompt(client, sessionId, 'go on')).toHaveProperty('result');
    return got;
  }

  test('with both a result and an error, neither, or unreadable content, is an error for the client that names the agent', async ({
    stage,
  }) => {
    const setup = await setUp(stage);
    const outcomes = [
      '"result":{},"error":{"code":1,"message":"m"}',
      '"x":1',
      '"result":1,"result":2',
      '"result":{"sessionId":"bad-1","sessionId":"x"}',
      '"result":"\xff"',
    ];
    for (const outcome of outcomes) {
      const got = await answered(setup, (id) => Buffer.from(`{"jsonrpc":"2.0","id":${id},${outcome}}`, 'latin1')); // a bare ff is not UTF-8
      expect(got, outcome).toMatchObject({ id: 'slow', error: { code: -32603, message: expect.stringContaining('bad') } });
    }
  });

  test('with a result and a null error is the result', async ({ stage }) => {
    const got = await answered(await setUp(stage), (id) => `{"jsonrpc":"2.0","error":null,"id":${id},"result":{"a":1.0}}`);
    expect(got.result).toEqual({ a: 1 });
  });

  test('to no request, to an answered one, or without an id, is dropped', async ({ stage }) => {
    const setup = await setUp(stage);
    const { bad, client, id: sessionId } = setup;
    const received = client.request('_x/slow', { sessionId }, 'slow');
    const { msg } = await bad.got('_x/slow');
    for (const line of [
      `{"jsonrpc":"2.0","id":"${msg.id}","result":{}}`,
      '{"jsonrpc":"2.0","id":99999,"result":{}}',
      '{"jsonrpc":"2.0","id":null,"result":{}}',
      '{"jsonrpc":"2.0","result":{"x":1}}',
    ])
      expect(await agentSends(setup, line), line).toEqual({ toClient: [], toAgent: [] });
    bad.reply(msg, { first: true });
    bad.reply(msg, { second: true });
    expect((await received).result).toEqual({ first: true });
    expect(await agentSends(setup, `{"jsonrpc":"2.0","id":${msg.id},"result":{"third":true}}`)).toEqual({ toClient: [], toAgent: [] });
    expect(client.answersTo('slow')).toHaveLength(1);
  });
});

describe('a frame over limits.max_frame_bytes', () => {
  const limits = { limits: { max_frame_bytes: 20_000 } };
  const big = 'x'.repeat(30_000);

  test('is skipped if it is an update, and the session continues', async ({ stage }) => {
    const setup = await setUp(stage, limits);
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: big } };
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'bad-1', update } });
    expect(await agentSends(setup, line)).toEqual({ toClient: [], toAgent: [] });
    expect(setup.client.agentText(setup.id)).not.toContain('xxx');
  });

  test.for([
    ['first', (id: Json) => `{"jsonrpc":"2.0","id":${id},"result":{"big":"${big}"}}`],
    ['last', (id: Json) => `{"jsonrpc":"2.0","result":{"big":"${big}"},"id":${id}}`],
    ['between', (id: Json) => `{"result":{"big":"${big}"},"id":${id},"jsonrpc":"2.0"}`],
  ] as const)('is an error that names the limit if it is a response, with the id %s', async ([, answer], { stage }) => {
    const { bad, client, id: sessionId } = await setUp(stage, limits);
    const received = client.refused('_x/slow', { sessionId });
    bad.line(answer((await bad.got('_x/slow')).msg.id));
    expect(await received).toMatchObject({ code: -32603, message: expect.stringContaining('20000') });
    expect(await prompt(client, sessionId, 'go on')).toHaveProperty('result');
  });

  test('is refused to the agent if it is a request', async ({ stage }) => {
    const setup = await setUp(stage, limits);
    const { toClient, toAgent } = await agentSends(
      setup,
      `{"jsonrpc":"2.0","id":"q","method":"fs/write_text_file","params":{"sessionId":"bad-1","content":"${big}"}}`,
    );
    expect(toClient).toEqual([]);
    expect(toAgent).toMatchObject([{ id: 'q', error: { message: expect.stringContaining('20000') } }]);
  });
});
