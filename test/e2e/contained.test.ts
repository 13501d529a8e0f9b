// A peer can send any shape. That ends neither the proxy nor other sessions.
import { describe, expect } from 'vitest';
import { type Client, hello, type Json, open, type Peer, prompt, type ScriptedAgent, testAtOnce as test, UNANSWERED } from './harness.ts';
import { ALL_CAPABILITIES } from './scripted-agent.ts';

const DEPTH = 20_000;
const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH);

/** A whole turn, in the same proxy process. */
async function goesOn(client: Client, agent: ScriptedAgent, sessionId: string): Promise<void> {
  const message = `turn ${agent.all('session/prompt').length}`;
  expect((await prompt(client, sessionId, message)).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(sessionId)).toContain(`${agent.name} heard ${message}`);
  expect(agent.pids).toHaveLength(1);
}

/** Lines too deep for the test to parse are not kept. */
const withoutDepth = (...peers: readonly Peer[]): void => {
  for (const peer of peers) peer.sift((line) => line.length > DEPTH);
};

describe('a response to session/new', () => {
  test.for([
    '{"modes":{}}',
    '{"modes":{"currentModeId":"x","availableModes":[null]}}',
    '{"modes":{"currentModeId":{},"availableModes":{}}}',
    '{"modes":[]}',
    '{"models":{}}',
    '{"models":{"currentModelId":"x","availableModels":[null]}}',
    '{"configOptions":[null]}',
    '{"configOptions":{}}',
  ])('with %s opens the session, and the other agent continues', async (result, { stage }) => {
    const [odd, other] = [stage.agent('odd', { describe: () => JSON.parse(result) }), stage.agent('other')];
    const client = await stage.connect([odd, other]);
    const before = await open(client, stage.cwd, 'other');
    const session = await open(client, stage.cwd, 'odd');
    expect(session.result.configOptions[0]).toMatchObject({ id: 'agent', currentValue: 'odd' });
    await goesOn(client, odd, session.id);
    await goesOn(client, other, before.id);
  });
});

describe.each([
  ['{}', {}],
  ['[null]', [null]],
  ['[1,{"id":{"toString":1}}]', [1, { id: { toString: 1 } }]],
] as const)('an agent whose authMethods are %s', (_, authMethods) => {
  test.for([
    ['alone', false],
    ['next to another', true],
  ] as const)('is initialized and opens sessions %s, also on the next start', async ([, hasOther], { stage }) => {
    const odd = stage.agent('odd', { authMethods: authMethods as Json });
    const agents = hasOther ? [odd, stage.agent('other')] : [odd];
    for (let start = 1; start <= 2; start++) {
      const client = stage.proxy(agents);
      expect(await hello(client)).toMatchObject({ protocolVersion: 1 });
      const { id } = await open(client, stage.cwd, hasOther ? 'odd' : undefined);
      expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
      expect(odd.pids).toHaveLength(start);
      expect(await client.close()).toBe(0);
    }
  });
});

describe.each([
  ['one agent', false],
  ['two agents', true],
] as const)('with %s', (_, hasOther) => {
  test('an agent’s request with an id 20,000 arrays deep, and its cancellation, end nobody', async ({ stage }) => {
    const [agent, other] = [stage.agent('agent'), stage.agent('other')];
    const client = await stage.connect(hasOther ? [agent, other] : [agent]);
    withoutDepth(client, agent);
    const { id } = await open(client, stage.cwd);
    const others = hasOther ? await open(client, stage.cwd, 'other') : undefined;
    agent.line(`{"jsonrpc":"2.0","id":${DEEP},"method":"fs/read_text_file","params":{"sessionId":"${id}","path":"/x"}}`);
    agent.line(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${DEEP}}}`);
    await goesOn(client, agent, id);
    if (others) await goesOn(client, other, others.id);
  });

  test('a client’s request with an id 20,000 arrays deep, and its cancellation, end nobody', async ({ stage }) => {
    const [agent, other] = [stage.agent('agent'), stage.agent('other')];
    const client = await stage.connect(hasOther ? [agent, other] : [agent]);
    withoutDepth(client, agent);
    const { id } = await open(client, stage.cwd);
    const others = hasOther ? await open(client, stage.cwd, 'other') : undefined;
    client.line(`{"jsonrpc":"2.0","id":${DEEP},"method":"session/set_mode","params":{"sessionId":"${id}","modeId":"code"}}`);
    client.line(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${DEEP}}}`);
    await goesOn(client, agent, id);
    if (others) await goesOn(client, other, others.id);
  });
});

test('a chosen agent that is not a string, and cannot be made one, is -32602', async ({ stage }) => {
  const client = await stage.connect([stage.agent('left'), stage.agent('right')]);
  for (const agent of [{ toString: 1 }, { toString: 1, valueOf: 1 }, [{ toString: 1 }], { toJSON: 1 }]) {
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent } } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('right') });
  }
  const { id: sessionId } = await open(client, stage.cwd);
  const set = { sessionId, configId: 'agent', value: { toString: 1 } };
  expect(await client.refused('session/set_config_option', set)).toMatchObject({ code: -32602 });
});

test('a logout error that cannot be converted to a string is still an error', async ({ stage }) => {
  const capabilities = { ...ALL_CAPABILITIES, auth: { logout: {} } };
  const [odd, other] = [stage.agent('odd', { capabilities }), stage.agent('other', { capabilities })];
  odd.on('logout', (_, msg) => {
    odd.line(`{"jsonrpc":"2.0","id":${msg.id},"error":{"code":-32603,"message":{"toString":1}}}`);
    return UNANSWERED;
  });
  other.on('logout', () => ({}));
  const client = await stage.connect([odd, other]);
  expect(await client.refused('logout')).toMatchObject({ message: expect.stringContaining('odd'), data: { agents: ['odd'] } });
  for (const agent of [odd, other]) await goesOn(client, agent, (await open(client, stage.cwd, agent.name)).id);
});
