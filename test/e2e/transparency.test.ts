// With one agent, neither the client nor the agent can tell that there is a proxy.
import { describe, expect } from 'vitest';
import { hello, open, type Peer, testAtOnce as test, text } from './harness.ts';
import { withoutRequestIds } from './normalise.ts';
import { conversation, converse, SPELLINGS } from './probe-conversation.ts';

const lines = (peer: Peer) => withoutRequestIds(peer.seen.map(({ line }) => line));

describe('a conversation that uses every method is the same with the proxy as without it, byte for byte in both directions', () => {
  test.for(Array.from({ length: SPELLINGS }, (_, spelling) => spelling))('in spelling %i', async (spelling, { stage }) => {
    const steps = conversation(spelling);
    const near = stage.agent('near', { isMute: true });
    const direct = stage.run(near.server.command, near.server.args);
    await near.started();
    await converse(direct, near, steps);

    const far = stage.agent('far', { isMute: true });
    const client = stage.proxy([far]);
    await converse(client, far, steps);

    expect(lines(client)).toEqual(lines(direct));
    expect(lines(far)).toEqual(lines(near));
    expect(near.seen.length + direct.seen.length).toBeGreaterThan(steps.length);
  });
});

const S = '"sessionId":"only-1"';
const UNUSUAL: readonly (readonly [string, string])[] = [
  ['a string of 300 kB', `{"jsonrpc":"2.0","method":"_x/note","params":{${S},"long":"${'x\\u00e9\\"'.repeat(40_000)}"}}`],
  [
    'a value nested 1,000 levels deep',
    `{"jsonrpc":"2.0","method":"_x/note","params":{${S},"deep":${'['.repeat(1000)}${']'.repeat(1000)}}}`,
  ],
  ['members called __proto__', `{"jsonrpc":"2.0","method":"_x/note","params":{${S},"__proto__":{"a":1},"_meta":{"__proto__":1}}}`],
  ['a key that occurs twice where nobody looks', `{"jsonrpc":"2.0","method":"_x/note","params":{${S},"_meta":{"a":1,"a":2}}}`],
  ['params that are an array', '{"jsonrpc":"2.0","method":"_x/note","params":[1.0,{"sessionId":"x"}]}'],
  ['no params at all', '{"jsonrpc":"2.0","method":"_x/note"}'],
  ['params that are null', '{"jsonrpc":"2.0","method":"_x/note","params":null}'],
  ['a sessionId that is no string', '{"jsonrpc":"2.0","method":"_x/note","params":{"sessionId":1.0}}'],
  ['a sessionId nobody has heard of', '{"jsonrpc":"2.0","method":"_x/note","params":{"sessionId":"\\ud83d\\ude00 \\" é"}}'],
  ['no jsonrpc member', '{"method":"_x/note","params":{}}'],
  ['a CR before the line feed', '{"jsonrpc":"2.0","method":"_x/note","params":{"a":1.0}}\r'],
];

test('unusual but legal frames pass unchanged, both ways', async ({ stage }) => {
  const agent = stage.agent('only');
  agent.on('_x/note', () => {});
  const client = await stage.connect([agent]);
  await open(client, stage.cwd);
  for (const [name, line] of UNUSUAL)
    for (const [from, to] of [
      [client, agent],
      [agent, client],
    ] as const) {
      const index = to.seen.length;
      from.line(line);
      expect((await to.until((_, seen) => seen.index === index)).line, name).toBe(line);
    }
});

test('frames that arrive byte by byte, or many in one chunk, pass unchanged and in order', async ({ stage }) => {
  const agent = stage.agent('only');
  agent.on('_x/note', () => {});
  const client = await stage.connect([agent]);
  const notes = Array.from({ length: 20 }, (_, n) => `{"jsonrpc":"2.0","method":"_x/note","params":{"n":${n}.0,"text":"é😀\\n"}}`);
  for (const [from, to] of [
    [client, agent],
    [agent, client],
  ] as const) {
    const start = to.seen.length;
    for (const byte of Buffer.from(`${notes.slice(0, 3).join('\n')}\n`)) {
      from.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    from.write(`\r\n \n${notes.slice(3).join('\n\n')}\n`); // blank lines are no frames
    await to.until((_, seen) => seen.index === start + notes.length - 1);
    expect(to.seen.slice(start).map(({ line }) => line)).toEqual(notes);
  }
});

test('a byte order mark is removed and the frame passes', async ({ stage }) => {
  const agent = stage.agent('only');
  agent.on('_x/note', () => {});
  const client = await stage.connect([agent]);
  agent.write('\ufeff{"jsonrpc":"2.0","method":"_x/note","params":{"a":1.0}}\n');
  expect((await client.got('_x/note')).line).toBe('{"jsonrpc":"2.0","method":"_x/note","params":{"a":1.0}}');
});

test('in any spelling of initialize, its params reach the agent as they were written', async ({ stage }) => {
  const agent = stage.agent('only');
  const client = stage.proxy([agent]);
  const params =
    '{ "clientInfo":{"version":"0","name":"\\u00e9"},\r"protocolVersion" : 1, "clientCapabilities":{"2":1.0,"10":1e400,"fs":{}}}';
  client.line(`{"params":${params},"jsonrpc":"2.0","method":"initialize","id":"first"}`);
  await client.until((msg) => msg.id === 'first');
  expect((await agent.got('initialize')).line).toContain(`"params":${params}`);
});

test('with one agent, the proxy adds no option, command or other frame', async ({ stage }) => {
  const agent = stage.agent('only', { describe: () => ({}) });
  const client = stage.proxy([agent]);
  const init = await hello(client);
  expect(init.agentInfo.name).toBe('only');
  const session = await open(client, stage.cwd);
  expect(session.result).toEqual({ sessionId: 'only-1' });
  await client.call('session/prompt', { sessionId: session.id, prompt: text('/agent') });
  await client.call('session/load', { sessionId: session.id, cwd: stage.cwd, mcpServers: [] });
  const refused = await client.refused('session/set_config_option', { sessionId: session.id, configId: 'agent', value: 'only' });
  expect(refused.message).toBe('only has no option agent=only'); // the agent's own text
  expect(client.agentText(session.id)).toBe('only heard /agentreplay of only-1 by only');
  expect(client.all('session/update')).toHaveLength(2);
});
