// Corners of the protocol that must hold with one agent as with several.
import { describe, expect } from 'vitest';
import { type Client, hello, type Json, open, Refusal, type ScriptedAgent, type Stage, testAtOnce as test } from './harness.ts';
import { ALL_CAPABILITIES, type Traits } from './scripted-agent.ts';

type Options = { readonly traits?: Traits; readonly settings?: Json; readonly config?: Json; readonly clientCapabilities?: Json };
type Setup = { readonly agent: ScriptedAgent; readonly client: Client };

/** The proxy in front of one agent, or of that agent and another. */
const COUNTS = [['one agent'], ['several agents']] as const;
type Count = (typeof COUNTS)[number][0];

async function setUp(stage: Stage, count: Count, options: Options = {}): Promise<Setup> {
  const { traits = {}, settings = {}, config = {}, clientCapabilities } = options;
  const agent = stage.agent('left', traits);
  const left = { ...agent.server, ...settings };
  const client = stage.proxy(count === 'one agent' ? { left } : { left, right: stage.agent('right') }, { config });
  await hello(client, clientCapabilities === undefined ? {} : { clientCapabilities });
  return { agent, client };
}

const PIXEL = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const SOUND = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' };
const withPrompt = (promptCapabilities: Json): Traits => ({ capabilities: { ...ALL_CAPABILITIES, promptCapabilities } });

describe.for(COUNTS)('with %s', ([count]) => {
  describe('a client that omits mcpServers', () => {
    test('gets host tools', async ({ stage }) => {
      const { agent, client } = await setUp(stage, count, { config: { host_tools: {} } });
      await client.call('session/new', { cwd: stage.cwd });
      expect((await agent.got('session/new')).msg.params.mcpServers).toMatchObject([{ name: 'switchboard' }]);
    });

    test('gets host tools in a session that it loads', async ({ stage }) => {
      const { agent, client } = await setUp(stage, count, { config: { host_tools: {} } });
      const { id: sessionId } = await open(client, stage.cwd);
      await client.call('session/load', { sessionId, cwd: stage.cwd });
      expect((await agent.got('session/load')).msg.params.mcpServers).toMatchObject([{ name: 'switchboard' }]);
    });
  });

  describe('content that the agent does not support', () => {
    test.for([
      ['an image', PIXEL, { audio: true }, 'promptCapabilities.image'],
      ['audio', SOUND, { image: true }, 'promptCapabilities.audio'],
      ['an image, whatever the spelling of its type', PIXEL, {}, 'promptCapabilities.image'],
    ] as const)('is refused by the name of the capability: %s', async ([name, block, offered, capability], { stage }) => {
      const { agent, client } = await setUp(stage, count, { traits: withPrompt(offered) });
      const { id: sessionId } = await open(client, stage.cwd);
      const params = JSON.stringify({ sessionId, prompt: [{ type: 'text', text: 'Look' }, block] });
      const spelled = name.includes('spelling') ? params.replace('"image"', '"im\\u0061ge"') : params;
      client.line(`{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":${spelled}}`);
      const { msg } = await client.until(({ id }) => id === 'p');
      expect(msg.error).toMatchObject({ code: -32602, message: expect.stringContaining(capability), data: { agent: 'left' } });
      await client.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Just text about an "image"' }] });
      expect(agent.all('session/prompt')).toHaveLength(1);
    });

    test('that it supports passes', async ({ stage }) => {
      const { agent, client } = await setUp(stage, count);
      const { id: sessionId } = await open(client, stage.cwd);
      await client.call('session/prompt', { sessionId, prompt: [PIXEL, SOUND] });
      expect((await agent.got('session/prompt')).msg.params.prompt).toEqual([PIXEL, SOUND]);
    });

    test('is announced in initialize where it is described', async ({ stage }) => {
      const agent = stage.agent('left', withPrompt({ embeddedContext: true }));
      const left = { ...agent.server, unsupported_content: 'describe' };
      const right = { ...stage.agent('right', withPrompt({ image: true })).server, unsupported_content: 'describe' };
      const client = stage.proxy(count === 'one agent' ? { left } : { left, right });
      const { agentCapabilities } = await hello(client);
      expect(agentCapabilities.promptCapabilities).toEqual({ image: true, audio: true, embeddedContext: true });
    });

    test('is described in words where unsupported_content says so', async ({ stage }) => {
      const { agent, client } = await setUp(stage, count, { traits: withPrompt({}), settings: { unsupported_content: 'describe' } });
      const { id: sessionId } = await open(client, stage.cwd);
      const linked = { ...PIXEL, uri: 'file:///work/a.png', _meta: { keep: 1 } };
      await client.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Look' }, PIXEL, linked, SOUND] });
      expect((await agent.got('session/prompt')).msg.params.prompt).toEqual([
        { type: 'text', text: 'Look' },
        { type: 'text', text: '[image/png of 8 bytes, not shown: left does not support images]' },
        { type: 'resource_link', uri: 'file:///work/a.png', name: 'a.png', mimeType: 'image/png', _meta: { keep: 1 } },
        { type: 'text', text: '[audio/wav of 4 bytes, not shown: left does not support audio]' },
      ]);
      const twice = JSON.stringify({ sessionId, prompt: [PIXEL] }).replace('{"type"', '{"type":"text","type"');
      client.line(`{"jsonrpc":"2.0","id":"twice","method":"session/prompt","params":${twice}}`);
      expect((await client.until(({ id }) => id === 'twice')).msg.error).toMatchObject({ code: -32600 });
      expect(agent.all('session/prompt')).toHaveLength(1);
    });
  });

  describe('a relative cwd', () => {
    test.for([
      ['a policy', { policy: { version: 1, default: 'allow' } }],
      ['our own workspace', { workspace: 'serve-missing' }],
    ] as const)('is refused under %s', async ([, config], { stage }) => {
      const { agent, client } = await setUp(stage, count, { config, clientCapabilities: {} });
      for (const cwd of ['work', './x', ''])
        expect(await client.refused('session/new', { cwd, mcpServers: [] })).toMatchObject({
          code: -32602,
          message: expect.stringContaining('absolute'),
        });
      const { id: sessionId } = await open(client, stage.cwd);
      expect(await client.refused('session/load', { sessionId, cwd: 'work', mcpServers: [] })).toMatchObject({ code: -32602 });
      expect(agent.all('session/new')).toHaveLength(1);
      expect(agent.all('session/load')).toEqual([]);
    });
  });

  test('a line of 0 is -32602: the first is 1', async ({ stage }) => {
    const { agent, client } = await setUp(stage, count, { config: { workspace: 'serve-missing' }, clientCapabilities: {} });
    const { id: sessionId } = await open(client, stage.cwd);
    expect(await agent.refused('fs/read_text_file', { sessionId, path: `${stage.cwd}/a`, line: 0 })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('line must be a whole number from 1'),
    });
  });

  test('an object with an id and nothing else is -32600 under that id', async ({ stage }) => {
    const { agent, client } = await setUp(stage, count);
    agent.on('_x/echo', () => ({ late: true }));
    const { id: sessionId } = await open(client, stage.cwd);
    client.line('{"jsonrpc":"2.0","id":"lone"}');
    expect((await client.until(({ id }) => id === 'lone')).msg.error).toMatchObject({ code: -32600 });
    expect((await client.request('_x/echo', { sessionId }, 'lone')).result).toEqual({ late: true });
  });

  describe('params that are no object', () => {
    test('of initialize are -32602, and a proper one follows', async ({ stage }) => {
      const agent = stage.agent('left');
      const client = stage.proxy(count === 'one agent' ? [agent] : [agent, stage.agent('right')]);
      for (const params of ['[1]', '"x"', '5', 'true'])
        client.line(`{"jsonrpc":"2.0","id":${JSON.stringify(params)},"method":"initialize","params":${params}}`);
      for (const id of ['[1]', '"x"', '5', 'true'])
        expect((await client.until((msg) => msg.id === id)).msg.error, id).toMatchObject({ code: -32602 });
      expect((await hello(client)).protocolVersion).toBe(1);
    });

    test('of requests that open or use a session are -32602 and reach no agent', async ({ stage }) => {
      const { agent, client } = await setUp(stage, count);
      await open(client, stage.cwd);
      const methods = ['session/new', 'session/load', 'session/resume', 'session/fork', 'session/prompt', 'session/set_mode'];
      for (const method of methods)
        for (const params of ['[1]', '"x"', '5']) {
          const from = client.seen.length;
          client.line(`{"jsonrpc":"2.0","id":"odd","method":"${method}","params":${params}}`);
          const { msg } = await client.until(({ id }) => id === 'odd', from);
          expect(msg.error, `${method} ${params}`).toMatchObject({ code: -32602 });
        }
      expect(agent.seen.map(({ msg }) => msg.method)).toEqual(['initialize', 'session/new']);
    });
  });

  test.for([
    ['neither result nor error', '"x":1'],
    ['both', '"result":{"outcome":{"outcome":"selected","optionId":"yes"}},"error":{"code":1,"message":"m"}'],
    ['no outcome', '"result":{}'],
    ['null', '"result":null'],
    ['an outcome that is a word', '"result":{"outcome":"selected"}'],
    ['no option', '"result":{"outcome":{"outcome":"selected"}}'],
    ['an option that was not offered', '"result":{"outcome":{"outcome":"selected","optionId":"YES"}}'],
    ['an unknown outcome', '"result":{"outcome":{"outcome":"approved","optionId":"yes"}}'],
    ['the outcome twice', '"result":{"outcome":{"outcome":"cancelled"},"outcome":{"outcome":"selected","optionId":"yes"}}'],
  ] as const)('a permission answer that cannot be read is cancelled for the agent: %s', async ([, answer], { stage }) => {
    const { agent, client } = await setUp(stage, count);
    const { id: sessionId } = await open(client, stage.cwd);
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
    const received = agent.call('session/request_permission', { sessionId, toolCall: { toolCallId: 'c' }, options });
    const { msg } = await client.got('session/request_permission');
    client.line(`{"jsonrpc":"2.0","id":${msg.id},${answer}}`);
    expect(await received).toEqual({ outcome: { outcome: 'cancelled' } });
  });

  test('a permission answer that can be read passes as it was written, and so does an error', async ({ stage }) => {
    const { agent, client } = await setUp(stage, count);
    const { id: sessionId } = await open(client, stage.cwd);
    const options = [{ optionId: 'é', name: 'Yes', kind: 'allow_once' }];
    for (const answer of [
      '"result":{"outcome":{"optionId":"\\u00e9","outcome":"selected","x":1.0}}',
      '"result":{"outcome":{"outcome":"cancelled"},"_meta":{"why":1.0}}',
      '"error":{"code":-32603,"message":"no window"}',
    ]) {
      const from = client.seen.length;
      const asked = agent.request('session/request_permission', { sessionId, toolCall: { toolCallId: 'c' }, options }, 'q');
      client.line(`{"jsonrpc":"2.0","id":${(await client.got('session/request_permission', () => true, from)).msg.id},${answer}}`);
      expect(agent.seen[agent.place(await asked)]?.line).toContain(answer);
    }
  });

  test('requests for files and terminals do not reach a client that has none', async ({ stage }) => {
    const { agent, client } = await setUp(stage, count, { clientCapabilities: { fs: { readTextFile: true } } });
    client.on('*', () => ({ content: 'from the client' }));
    const { id: sessionId } = await open(client, stage.cwd);
    expect(await agent.call('fs/read_text_file', { sessionId, path: '/a' })).toEqual({ content: 'from the client' });
    for (const method of ['fs/write_text_file', 'terminal/create', 'terminal/output'])
      expect(await agent.refused(method, { sessionId, path: '/a', content: '', command: 'x', terminalId: 't' }), method).toMatchObject({
        code: -32601,
        message: expect.stringContaining(method),
      });
    expect(client.seen.filter(({ msg }) => msg.method !== undefined).map(({ msg }) => msg.method)).not.toContain('fs/write_text_file');
  });

  test.for([
    ['no data', undefined],
    ['data of its own', { own: true }],
  ] as const)('an error that asks for a login names the agent and its methods: %s', async ([, data], { stage }) => {
    const { agent, client } = await setUp(stage, count, { traits: { authMethods: [{ id: 'login', name: 'Log in' }] } });
    const wants = () => {
      throw new Refusal(-32000, 'Authentication required', data);
    };
    agent.on('session/new', wants);
    const methods = [count === 'one agent' ? 'login' : 'left/login'];
    expect(await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).toEqual({
      code: -32000,
      message: 'Authentication required',
      data: { agent: 'left', authMethods: methods, ...data },
    });
  });
});
