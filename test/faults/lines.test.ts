// Bytes that are no frames, or become frames slowly: what is skipped, who is informed, and that the connection continues.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { fixture, type Json, open, prompt, rssMb, UNANSWERED } from '../e2e/harness.ts';
import { noticed, test } from './setup.ts';

const MB = 1 << 20;

test.concurrent('row 7: frames that come byte by byte, or all at once, arrive complete, once and in order', async ({ stage }) => {
  const client = await stage.connect({ slow: fixture('dribbles', 'slow'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'slow');
  const text = 'naïve 文字 😀';
  expect((await prompt(client, id, text)).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe(text + text);
});

test.concurrent('row 7: a client that writes byte by byte, or two frames in one chunk, is understood', async ({ stage }) => {
  const agent = stage.agent('one');
  agent.on('_x/echo', ({ n }) => ({ n }));
  const client = await stage.connect([agent]);
  const frame = (n: Json) => `${JSON.stringify({ jsonrpc: '2.0', id: `e${n}`, method: '_x/echo', params: { n } })}\n`;
  for (const byte of Buffer.from(frame('ä'))) {
    client.write(Buffer.of(byte));
    await delay(0);
  }
  client.write(frame(1) + frame(2));
  for (const n of ['ä', 1, 2]) expect((await client.until((msg) => msg.id === `e${n}`)).msg.result).toEqual({ n });
});

const NOISE = [
  'INFO ready',
  '{"jsonrpc":"2.0","id":',
  '{"jsonrpc":"2.0","method":"session/update"}}',
  "{'single':1}",
  '\u0000\u0001',
  '\ufeff',
];

test.concurrent("row 9: noise on an agent's stdout reaches nobody, is reported on stderr, and no error is sent to the agent", async ({
  stage,
}) => {
  const agent = stage.agent('noisy', {
    turn({ id }) {
      for (const line of NOISE) agent.line(line);
      agent.sendText(id, 'after noise');
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent, stage.agent('well')]);
  const { id } = await open(client, stage.cwd, 'noisy');
  const from = client.seen.length;
  expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe('after noise');
  expect(client.seen.slice(from).filter(({ msg }) => msg?.jsonrpc !== '2.0')).toEqual([]);
  expect(agent.seen.filter(({ msg }) => msg?.error)).toEqual([]);
  await noticed(client, 'a line from agent "noisy" was skipped: not JSON');
});

test.concurrent('row 9: thousands of broken lines: the turn continues, and stderr does not repeat itself for each', async ({ stage }) => {
  const agent = stage.agent('noisy', {
    turn({ id }) {
      agent.write('broken\n'.repeat(5000));
      agent.sendText(id, 'after noise');
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'end_turn' });
  await noticed(client, 'was skipped');
  expect(client.stderr().split('\n').length).toBeLessThan(30);
});

test.concurrent('row 9: a broken line from the client is answered -32700 without an id, and the next frame is served', async ({
  stage,
}) => {
  const client = await stage.connect({ one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') });
  for (const line of ['not json', '{"jsonrpc":"2.0","id":7,"method":"session/new"', '{"a":1,}']) {
    const from = client.seen.length;
    client.line(line);
    expect((await client.until((msg) => msg.id === null, from)).msg).toMatchObject({ id: null, error: { code: -32700 } });
  }
  await open(client, stage.cwd, 'two');
});

test.concurrent('row 10: JSON that is no message: -32600 to the client, skipped from an agent', async ({ stage }) => {
  const foreign = [
    '42',
    '"words"',
    'null',
    '[]',
    '[{"jsonrpc":"2.0","id":1,"method":"session/list"}]',
    '{}',
    '{"jsonrpc":"2.0","params":{}}',
  ];
  const agent = stage.agent('odd', {
    turn({ id }) {
      for (const line of foreign) agent.line(line);
      agent.sendText(id, 'behind');
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent, stage.agent('well')]);
  const { id } = await open(client, stage.cwd, 'odd');
  expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe('behind');
  expect(client.seen.filter(({ msg }) => msg?.jsonrpc !== '2.0')).toEqual([]);
  expect(agent.seen.filter(({ msg }) => msg?.error)).toEqual([]);
  const from = client.seen.length;
  for (const line of foreign) client.line(line);
  await client.refused('_nobody/behind'); // the proxy answers it, after all of them
  const refusals = client.seen.slice(from, -1).map(({ msg }) => [msg.id, msg.error?.code]);
  expect(refusals).toEqual(foreign.map(() => [null, -32600]));
  expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 11: a line of 100 MB is skipped in bounded memory, the turn continues, and so does the other agent', async ({
  stage,
}) => {
  const client = await stage.connect(
    { huge: fixture('huge-line', 'huge'), well: fixture('well-behaved', 'well') },
    { config: { limits: { max_frame_bytes: 4 * MB } } },
  );
  const [{ id }, well] = [await open(client, stage.cwd, 'huge'), await open(client, stage.cwd, 'well')];
  await prompt(client, id, 'update 8'); // so that the first measurement is not of a cold process
  const before = rssMb(client.child.pid as number);
  const huge = prompt(client, id, 'update 100');
  expect((await prompt(client, well.id, 'count 50')).result).toEqual({ stopReason: 'end_turn' });
  expect((await huge).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe('after hugeafter huge');
  expect(rssMb(client.child.pid as number) - before).toBeLessThan(60);
  await noticed(client, /agent "huge" was skipped: longer than limits\.max_frame_bytes/);
});

test.concurrent('row 11: when the oversized line was a response, its request gets the limit', async ({ stage }) => {
  const client = await stage.connect({ huge: fixture('huge-line', 'huge') }, { config: { limits: { max_frame_bytes: MB } } });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'answer 5', 'long');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'huge' } });
  expect(error.message).toContain(`max_frame_bytes (${MB})`);
  expect((await prompt(client, id, 'small')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.answersTo('long')).toHaveLength(1);
});

test.concurrent("row 11: an oversized request of the client is answered under its id, and an agent's request with an error", async ({
  stage,
}) => {
  const agent = stage.agent('one');
  const client = await stage.connect([agent], { config: { limits: { max_frame_bytes: MB } } });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'x'.repeat(2 * MB), 'long');
  expect(error.code).toBe(-32600);
  expect(error.message).toContain(`max_frame_bytes (${MB})`);
  expect(agent.all('session/prompt')).toEqual([]);
  client.on('fs/read_text_file', () => ({ content: 'y'.repeat(2 * MB) }));
  expect(await agent.refused('fs/read_text_file', { sessionId: id, path: '/big' })).toMatchObject({ code: -32603 });
  expect((await prompt(client, id, 'short')).result).toEqual({ stopReason: 'end_turn' });
});

const BAD_UTF8 = Buffer.from([0x22, 0x61, 0xff, 0xc3, 0x22]); // "a\xff\xc3"
const withBadText = (text: string): Buffer => {
  const [head = '', tail = ''] = text.split('"BAD"');
  return Buffer.concat([Buffer.from(head), BAD_UTF8, Buffer.from(`${tail}\n`)]);
};

test.concurrent('row 12: invalid UTF-8 is never forwarded: an update is skipped, a response fails its request, the client gets -32700', async ({
  stage,
}) => {
  const agent = stage.agent('odd', { turn: () => UNANSWERED });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'go');
  const { msg } = await agent.got('session/prompt');
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'BAD' } };
  agent.write(withBadText(JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: id, update } })));
  agent.write(withBadText(JSON.stringify({ jsonrpc: '2.0', id: msg.id, result: { stopReason: 'BAD' } })));
  expect((await turn).error).toMatchObject({ code: -32603, data: { agent: 'odd' } });
  expect(client.agentText(id)).toBe('');

  const from = client.seen.length;
  client.write(withBadText(JSON.stringify({ jsonrpc: '2.0', id: 'bad', method: '_x/echo', params: { x: 'BAD' } })));
  const { msg: refusal } = await client.until((one) => one.error !== undefined, from);
  expect(refusal.error.code).toBe(-32700);
  expect(agent.all('_x/echo')).toEqual([]);
});

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.concurrent('row 13: a frame that two parsers could read differently is refused to the client, and never forwarded', async ({
  stage,
}) => {
  const [one, two] = [stage.agent('one'), stage.agent('two')];
  const client = await stage.connect([one, two]);
  const { id } = await open(client, stage.cwd, 'one');
  const other = await open(client, stage.cwd, 'two');
  const cwd = JSON.stringify(stage.cwd);
  const doubtful = [
    ['the method twice', `"id":"d0","method":"session/list","method":"session/prompt","params":{}`],
    ['params twice', `"id":"d1","method":"_x/a","params":{"sessionId":"${id}"},"params":{"sessionId":"${other.id}"}`],
    ['the session twice', `"id":"d2","method":"_x/a","params":{"sessionId":"${id}","sessionId":"${other.id}"}`],
    ['the session twice, once escaped', `"id":"d3","method":"_x/a","params":{"sessionId":"${id}","session\\u0049d":"${other.id}"}`],
    ['cwd twice', `"id":"d4","method":"session/new","params":{"cwd":${cwd},"cwd":"/etc","mcpServers":[]}`],
    ['__proto__', `"id":"d5","method":"session/new","params":{"cwd":${cwd},"mcpServers":[],"_meta":{"__proto__":{"agent":"two"}}}`],
    ['too deep', `"id":"d6","method":"session/new","params":{"cwd":${cwd},"mcpServers":[],"_meta":${nested(300)}}`],
  ];
  const before = [one, two].map(({ seen }) => seen.length);
  for (const [n, [what, members]] of doubtful.entries()) {
    client.line(`{"jsonrpc":"2.0",${members}}`);
    const { msg } = await client.until((answer) => answer.id === `d${n}`);
    expect([what, msg.error?.code]).toEqual([what, -32600]);
  }
  expect([one, two].map(({ seen }) => seen.length)).toEqual(before);
});

test.concurrent('row 13: from an agent such a frame is skipped; when it is a response, its request fails', async ({ stage }) => {
  const agent = stage.agent('odd', { turn: () => UNANSWERED });
  const client = await stage.connect([agent, stage.agent('well')]);
  const [mine, other] = [await open(client, stage.cwd, 'odd'), await open(client, stage.cwd, 'odd')];
  const turn = prompt(client, mine.id, 'go');
  const { msg } = await agent.got('session/prompt');
  const chunk = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}';
  agent.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${mine.id}","sessionId":"${other.id}","update":${chunk}}}`);
  agent.line(`{"jsonrpc":"2.0","id":${JSON.stringify(msg.id)},"result":{"stopReason":"end_turn"},"result":{"stopReason":"refusal"}}`);
  expect((await turn).error).toMatchObject({ code: -32603, data: { agent: 'odd' } });
  expect([client.agentText(mine.id), client.agentText(other.id)]).toEqual(['', '']);
});

test.concurrent('row 13: content that the proxy need not read passes unchanged, however unusual', async ({ stage }) => {
  const agent = stage.agent('one');
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  const odd = `"a":1,"a":2,"__proto__":{"x":1},"deep":${nested(1000)}`;
  client.line(`{"jsonrpc":"2.0","method":"_x/odd","params":{"sessionId":"${id}",${odd}}}`);
  expect((await agent.got('_x/odd')).line).toContain(odd);
  agent.line(`{"jsonrpc":"2.0","method":"_x/odd","params":{"sessionId":"${id}",${odd}}}`);
  expect((await client.got('_x/odd')).line).toContain(odd);
});
