// Invalid and ambiguous input from a client: answered once where an answer is due, and nobody else is affected.
import { describe, expect } from 'vitest';
import { type Client, type Json, open, prompt, type ScriptedAgent, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';

type Setup = { readonly left: ScriptedAgent; readonly right: ScriptedAgent; readonly client: Client; readonly id: string };

async function setUp(stage: Stage, config: Json = {}): Promise<Setup> {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  for (const agent of [left, right]) agent.on('_x/echo', ({ n }) => ({ n, by: agent.name }));
  const client = await stage.connect([left, right], { config });
  return { left, right, client, id: (await open(client, stage.cwd)).id };
}
/** Sends a line and waits until all its consequences have happened. Returns what came back. */
async function send({ client, id }: Setup, line: string | Buffer): Promise<readonly Json[]> {
  const from = client.seen.length;
  client.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
  const sync = await client.request('_x/echo', { sessionId: id, n: 'sync' });
  expect(sync.result).toEqual({ n: 'sync', by: 'left' }); // and so the session continues
  return client.seen.slice(from).flatMap(({ msg }) => (msg === sync ? [] : [msg]));
}

const NOT_JSON: readonly (readonly [string, string | Buffer])[] = [
  ['words', 'hello there'],
  ['half an object', '{"jsonrpc":"2.0","id":1,"method":"_x/echo"'],
  ['two objects', '{"jsonrpc":"2.0","method":"_x/a"}{"jsonrpc":"2.0","method":"_x/b"}'],
  ['single quotes', "{'id':1}"],
  ['a trailing comma', '{"id":1,"method":"_x/echo",}'],
  ['a raw control character in a string', '{"id":1,"method":"_x/\u0001echo"}'],
  ['a number with a leading zero', '{"id":01,"method":"_x/echo"}'],
  ['NaN', '{"id":NaN,"method":"_x/echo"}'],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
];
const NO_MESSAGE: readonly (readonly [string, string])[] = [
  ['a batch', '[{"jsonrpc":"2.0","id":"in-a-batch","method":"_x/echo","params":{}},{"jsonrpc":"2.0","method":"_x/note"}]'],
  ['an empty batch', '[]'],
  ['a string', '"x"'],
  ['a number', '42'],
  ['null', 'null'],
  ['true', 'true'],
  ['a notification whose method is no string', '{"jsonrpc":"2.0","method":7,"params":{}}'],
];

test('invalid JSON is -32700, and JSON that is no message -32600, both with the id null; nothing reaches an agent', async ({ stage }) => {
  const setup = await setUp(stage);
  for (const [name, line] of NOT_JSON) expect(await send(setup, line), name).toMatchObject([{ id: null, error: { code: -32700 } }]);
  for (const [name, line] of NO_MESSAGE) expect(await send(setup, line), name).toMatchObject([{ id: null, error: { code: -32600 } }]);
  const methods = setup.left.seen.map(({ msg }) => msg.method);
  expect(methods).toEqual(['initialize', 'session/new', ...Array.from({ length: NOT_JSON.length + NO_MESSAGE.length }, () => '_x/echo')]);
  expect(setup.right.seen).toHaveLength(1);
});

test('an object that is neither request nor response gets at most an error, and the rest continues', async ({ stage }) => {
  const setup = await setUp(stage);
  for (const line of ['{}', '{"jsonrpc":"2.0"}', '{"params":{}}', '{"result":{}}', '{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}'])
    for (const answer of await send(setup, line)) expect(answer, line).toMatchObject({ id: null, error: { code: -32600 } });
});

describe('a frame that two parsers could read differently is refused, and no agent sees it', () => {
  const twice: readonly (readonly [string, string])[] = [
    ['id', '{"jsonrpc":"2.0","id":5,"method":"_x/echo","params":{"sessionId":"left-1"},"id":6}'],
    ['method', '{"jsonrpc":"2.0","id":5,"method":"_x/echo","method":"_x/other","params":{"sessionId":"left-1"}}'],
    ['params', '{"jsonrpc":"2.0","id":5,"method":"_x/echo","params":{"sessionId":"left-1"},"params":{"sessionId":"right-1"}}'],
    ['sessionId', '{"jsonrpc":"2.0","id":5,"method":"_x/echo","params":{"sessionId":"left-1","sessionId":"right-1"}}'],
    [
      'method, once spelled with an escape',
      '{"jsonrpc":"2.0","id":5,"method":"_x/echo","m\\u0065thod":"_x/other","params":{"sessionId":"left-1"}}',
    ],
    [
      'sessionId, once spelled with an escape',
      '{"jsonrpc":"2.0","id":5,"method":"_x/echo","params":{"sessionId":"left-1","session\\u0049d":"x"}}',
    ],
  ];
  test('because of a duplicate routing key', async ({ stage }) => {
    const setup = await setUp(stage);
    for (const [name, line] of twice) {
      const answers = await send(setup, line);
      expect(answers, name).toMatchObject([{ id: name === 'id' ? null : 5, error: { code: -32600 } }]);
    }
    expect(setup.left.all('_x/echo')).toHaveLength(twice.length); // the frames behind each of them
  });

  test('in params that the proxy reads: a duplicate key, __proto__, too deep', async ({ stage }) => {
    const setup = await setUp(stage);
    const cwd = JSON.stringify(stage.cwd);
    const params = [
      `{"cwd":${cwd},"cwd":"/etc","mcpServers":[]}`,
      `{"cwd":${cwd},"mcpServers":[],"__proto__":{"x":1}}`,
      `{"cwd":${cwd},"mcpServers":[],"_meta":{"acp-switchboard":{"agent":"left","agent":"right"}}}`,
      `{"cwd":${cwd},"mcpServers":[],"deep":${'['.repeat(300)}${']'.repeat(300)}}`,
    ];
    for (const text of params)
      expect(await send(setup, `{"jsonrpc":"2.0","id":5,"method":"session/new","params":${text}}`), text.slice(0, 80)).toMatchObject([
        { id: 5, error: { code: -32600 } },
      ]);
    const option = '{"sessionId":"left-1","configId":"agent","value":"left","value":"right"}';
    expect(await send(setup, `{"jsonrpc":"2.0","id":5,"method":"session/set_config_option","params":${option}}`)).toMatchObject([
      { id: 5, error: { code: -32600 } },
    ]);
    expect(setup.left.all('session/new')).toHaveLength(1);
    expect(setup.right.all('session/new')).toEqual([]);
  });

  test('invalid UTF-8 in an otherwise valid request gets one answer, -32700', async ({ stage }) => {
    const setup = await setUp(stage);
    const line = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":5,"method":"_x/echo","params":{"sessionId":"left-1","text":"'),
      Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]),
      Buffer.from('"}}'),
    ]);
    const answers = await send(setup, line);
    expect(answers).toMatchObject([{ error: { code: -32700 } }]);
    expect(answers[0].id).toBeOneOf([null, 5]);
    expect(setup.left.all('_x/echo')).toHaveLength(1);
  });
});

describe('request ids', () => {
  test('one that is still in use is refused, and the first request is answered as usual', async ({ stage }) => {
    const { left, client, id: sessionId } = await setUp(stage);
    left.on('_x/slow', () => UNANSWERED);
    client.line(`{"jsonrpc":"2.0","id":"a","method":"_x/slow","params":{"sessionId":"${sessionId}"}}`);
    client.line(`{"jsonrpc":"2.0","id":"\\u0061","method":"_x/slow","params":{"sessionId":"${sessionId}"}}`); // the same id in another spelling
    expect((await client.until((msg) => msg.error)).msg).toMatchObject({ id: 'a', error: { code: -32600 } });
    left.reply((await left.got('_x/slow')).msg, { done: true });
    expect((await client.until((msg) => msg.result?.done)).msg.id).toBe('a');
    expect(left.all('_x/slow')).toHaveLength(1);
    expect(await client.call('_x/echo', { sessionId, n: 1 }, 'a')).toEqual({ n: 1, by: 'left' }); // free again
  });

  test('1 and "1" are two ids; several requests with the id null are each answered', async ({ stage }) => {
    const { left, client, id: sessionId } = await setUp(stage);
    left.on('_x/slow', () => UNANSWERED);
    for (const id of ['1', '"1"', 'null', 'null'])
      client.line(`{"jsonrpc":"2.0","id":${id},"method":"_x/slow","params":{"sessionId":"${sessionId}"}}`);
    await client.call('_x/echo', { sessionId, n: 1 });
    const received = left.all('_x/slow');
    expect(received).toHaveLength(4);
    for (const [n, { msg }] of received.entries()) left.reply(msg, { slow: n });
    await client.until((msg) => msg.result?.slow === 3);
    expect(client.seen.flatMap(({ msg }) => (msg.result?.slow === undefined ? [] : [[msg.id, msg.result.slow]]))).toEqual([
      [1, 0],
      ['1', 1],
      [null, 2],
      [null, 3],
    ]);
  });
});

describe('a response to an agent’s request', () => {
  test('with both a result and an error, neither, or a duplicate of one, is an error for the agent, once', async ({ stage }) => {
    const { left, client } = await setUp(stage);
    for (const [n, outcome] of [
      '"result":{},"error":{"code":1,"message":"m"}',
      '"x":1',
      '"result":1,"result":2',
      '"result":{"sessionId":"a","sessionId":"b"}',
    ].entries()) {
      const from = client.seen.length;
      const received = left.refused('fs/read_text_file', { sessionId: 'left-1', path: '/a' }, `q${n}`);
      const { msg } = await client.got('fs/read_text_file', () => true, from);
      client.line(`{"jsonrpc":"2.0","id":${msg.id},${outcome}}`);
      expect((await received).code, outcome).toBe(-32603);
      client.reply(msg, { content: '' }); // a second one
      await client.call('_x/echo', { sessionId: 'left-1', n: 1 });
      expect(left.answersTo(`q${n}`)).toHaveLength(1);
    }
  });

  test('with a result and a null error is the result', async ({ stage }) => {
    const { left, client } = await setUp(stage);
    const received = left.call('_x/ask', { sessionId: 'left-1' });
    client.line(`{"jsonrpc":"2.0","id":${(await client.got('_x/ask')).msg.id},"result":{"x":1},"error":null}`);
    expect(await received).toEqual({ x: 1 });
  });

  test('that matches no request is dropped', async ({ stage }) => {
    const setup = await setUp(stage);
    for (const id of ['99', '"x"', 'null', '{"a":1}', '1.5'])
      expect(await send(setup, `{"jsonrpc":"2.0","id":${id},"result":{}}`)).toEqual([]);
    expect(setup.left.seen.filter(({ msg }) => msg.method === undefined)).toEqual([]);
  });
});

describe('a frame over limits.max_frame_bytes', () => {
  const limits = { limits: { max_frame_bytes: 20_000 } };
  const big = (size: number) => 'x'.repeat(size);

  const params = `{"sessionId":"left-1","n":1,"big":"${big(30_000)}"}`;
  test.for([
    ['first', `{"jsonrpc":"2.0","id":"big","method":"_x/echo","params":${params}}`],
    ['last', `{"method":"_x/echo","jsonrpc":"2.0","params":${params},"id":"big"}`],
    ['between', `{"method":"_x/echo","params":${params},"id":"big","jsonrpc":"2.0"}`],
  ] as const)(
    'is skipped and, if it is a request, answered with the limit under its own id, with the id %s',
    async ([, line], { stage }) => {
      const setup = await setUp(stage, limits);
      expect(await send(setup, line)).toMatchObject([{ id: 'big', error: { code: -32600, message: expect.stringContaining('20000') } }]);
      expect(setup.left.all('_x/echo', ({ n }) => n === 1)).toEqual([]);
    },
  );

  test('fails the request it answers, if it is a response', async ({ stage }) => {
    const { left, client } = await setUp(stage, limits);
    const received = left.refused('fs/read_text_file', { sessionId: 'left-1', path: '/big' });
    const { msg } = await client.got('fs/read_text_file');
    client.reply(msg, { content: big(30_000) });
    expect((await received).message).toContain('20000');
  });

  test('a frame of exactly the limit passes', async ({ stage }) => {
    const { left, client, id } = await setUp(stage, limits);
    const frame = (filling: string) =>
      `{"jsonrpc":"2.0","id":"fits","method":"_x/echo","params":{"sessionId":"${id}","n":1,"big":"${filling}"}}`;
    const fits = frame(big(20_000 - frame('').length));
    expect(fits).toHaveLength(20_000);
    client.line(fits);
    expect((await client.until((msg) => msg.id === 'fits')).msg.result).toEqual({ n: 1, by: 'left' });
    expect((await left.got('_x/echo')).msg.params.big).toMatch(/^x+$/);
    client.line(fits.replace('"fits"', '"fits no more"'));
    expect((await client.until((msg) => msg.error)).msg.id).toBe('fits no more');
  });
});

test('the other session is never affected', async ({ stage }) => {
  const setup = await setUp(stage, { limits: { max_frame_bytes: 20_000 } });
  const { right, client } = setup;
  const other = await open(client, stage.cwd, 'right');
  right.on('session/prompt', () => UNANSWERED);
  const turn = prompt(client, other.id, 'long');
  const received = await right.got('session/prompt');
  for (const line of ['nonsense', '[]', '{"id":1}', Buffer.from([0xff]), `{"x":"${'y'.repeat(30_000)}"}`]) {
    await send(setup, line);
    right.sendText('right-1', '.');
  }
  right.reply(received.msg, { stopReason: 'end_turn' });
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(other.id)).toBe('.....');
});

test('a configuration with several mistakes reports them all, each with its place, and exits with code 6', async ({ stage }) => {
  const client = stage.proxy({ x: { command: 5 as never, argz: [] } }, { config: { defualt_agent: 'x', limits: { max_frame_bytes: -1 } } });
  expect(await client.ended).toBe(6);
  expect(client.seen).toEqual([]);
  for (const word of [/command/, /argz/, /defualt_agent.*default_agent/s, /max_frame_bytes/]) expect(client.stderr()).toMatch(word);
  expect(client.stderr().match(/\.json:\d+:\d+:/g)?.length).toBeGreaterThanOrEqual(4);
});
