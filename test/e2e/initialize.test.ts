// initialize: one response for all agents, immediate when they are known, and honest about their capabilities.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import {
  CAPABILITIES,
  type Client,
  choosing,
  hello,
  type Json,
  open,
  prompt,
  Refusal,
  type ScriptedAgent,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';

const CLIENT = { protocolVersion: 1, clientCapabilities: CAPABILITIES, clientInfo: { name: 'test-editor', version: '1.0.0' } };
const initialized = (agents: readonly ScriptedAgent[]) => agents.map((agent) => agent.all('initialize').length);
/** The response line of `initialize`, without its id. */
const responseLine = (client: Client): string => (client.seen[0]?.line ?? '').replace(/"id":\d+/, '"id":0');

describe('the capabilities of several agents', () => {
  const A = {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, resume: {}, additionalDirectories: {}, systemPrompt: { mode: {} } },
    auth: { logout: {} },
    providers: {},
    _meta: { vendor: { a: 1 } },
  };
  const B = {
    promptCapabilities: { image: true, audio: true },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: { list: null, fork: {}, delete: {} },
    auth: { status: {} },
  };

  test('are merged: any for what routes by session, all for what would be lost, and our own name', async ({ stage }) => {
    const client = stage.proxy([stage.agent('a', { capabilities: A }), stage.agent('b', { capabilities: B, title: 'Bee' })]);
    const result = await hello(client);
    expect(result.protocolVersion).toBe(1);
    expect(result.agentInfo).toMatchObject({ name: 'acp-switchboard', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    const { agentCapabilities } = result;
    expect(agentCapabilities.loadSession).toBe(true);
    expect(agentCapabilities.promptCapabilities).toEqual({ image: true, audio: false, embeddedContext: true });
    expect(agentCapabilities.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
    expect(agentCapabilities.sessionCapabilities).toEqual({ list: {}, resume: {}, fork: {}, delete: {}, close: {} });
    expect(agentCapabilities.auth).toEqual({ logout: {}, status: {} });
    expect(agentCapabilities).not.toHaveProperty('providers');
    expect(Object.keys(agentCapabilities._meta)).toEqual(['acp-switchboard']);
    expect(agentCapabilities._meta['acp-switchboard'].agents).toMatchObject({ a: { _meta: { vendor: { a: 1 } } }, b: { title: 'Bee' } });
  });

  test('parameters that an agent would silently ignore are refused for it, and passed to those that accept them', async ({ stage }) => {
    const [a, b] = [stage.agent('a', { capabilities: A }), stage.agent('b', { capabilities: B })];
    const client = await stage.connect([a, b]);
    for (const field of [{ additionalDirectories: ['/x'] }, { systemPrompt: { mode: 'append', content: [] } }]) {
      const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...field, ...choosing('b') });
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(Object.keys(field)[0] as string),
        data: { agent: 'b' },
      });
      await open(client, stage.cwd, 'a', field);
    }
    await open(client, stage.cwd, 'b', { additionalDirectories: [], systemPrompt: null });
    expect([a, b].map((agent) => agent.all('session/new').length)).toEqual([2, 1]);
  });

  test('they are refused when a session is reopened or forked, too', async ({ stage }) => {
    const capabilities = { loadSession: true, sessionCapabilities: { resume: {}, fork: {} } };
    const [a, plain] = [stage.agent('a', { capabilities: A }), stage.agent('plain', { capabilities })];
    const client = await stage.connect([a, plain]);
    const { id: sessionId } = await open(client, stage.cwd, 'plain');
    for (const method of ['session/load', 'session/resume', 'session/fork']) {
      const error = await client.refused(method, { sessionId, cwd: stage.cwd, mcpServers: [], additionalDirectories: ['/x'] });
      expect(error, method).toMatchObject({ code: -32602, message: expect.stringContaining('additionalDirectories') });
      expect(plain.all(method)).toEqual([]);
    }
  });

  test('an embedded resource becomes text for an agent that accepts none, and everything else is unchanged', async ({ stage }) => {
    const [a, b] = [stage.agent('a', { capabilities: A }), stage.agent('b', { capabilities: B })];
    const client = await stage.connect([a, b]);
    const sessions = [await open(client, stage.cwd, 'a'), await open(client, stage.cwd, 'b')];
    const blocks =
      '{"type":"text","text":"see","x":1.0},{"type":"resource","resource":{"uri":"file:///a.txt","text":"content of a"},"annotations":{"priority":1.0}},' +
      '{"type":"resource","resource":{"uri":"file:///b.png","blob":"AAAA","mimeType":"image/png"}},{"type":"text","text":"end"}';
    for (const [n, { id }] of sessions.entries()) {
      client.line(`{"jsonrpc":"2.0","id":"p${n}","method":"session/prompt","params":{"sessionId":"${id}","prompt":[${blocks}]}}`);
      await client.until((msg) => msg.id === `p${n}`);
    }
    expect((await a.got('session/prompt')).line).toContain(`"prompt":[${blocks}]`);
    const got = await b.got('session/prompt');
    expect(got.line).toContain('{"type":"text","text":"see","x":1.0},');
    const [, first, second] = got.msg.params.prompt;
    expect(first).toMatchObject({ type: 'text', text: expect.stringContaining('content of a'), annotations: { priority: 1 } });
    expect(first.text).toContain('file:///a.txt');
    expect(second).toMatchObject({ type: 'resource_link', uri: 'file:///b.png', name: 'b.png', mimeType: 'image/png' });
  });
});

describe('the cache', () => {
  test('a first start asks all agents at once and waits for them', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')];
    for (const agent of agents) agent.on('initialize', () => UNANSWERED);
    const client = stage.proxy(agents);
    const answer = hello(client);
    const received = await Promise.all(agents.map((agent) => agent.got('initialize'))); // both, before either has answered
    expect(client.seen).toEqual([]);
    for (const [n, { msg }] of received.entries())
      agents[n]?.reply(msg, { protocolVersion: 1, agentCapabilities: { loadSession: n === 1 } });
    expect((await answer).agentCapabilities.loadSession).toBe(true);
  });

  test('the next start answers at once with the same, and starts only the default agent ahead of need', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b', { authMethods: [{ id: 'l', name: 'L' }] })] as const;
    const before = await stage.connect(agents);
    await before.close();
    for (const agent of agents) agent.on('initialize', () => UNANSWERED);
    const client = await stage.connect(agents, { config: { default_agent: 'b' } });
    expect(responseLine(client)).toBe(responseLine(before));
    await agents[1].started(2);
    expect(agents[0].pids).toHaveLength(1);
    const version = JSON.parse(readFileSync(path.join(stage.state, 'capabilities.json'), 'utf8'));
    expect(JSON.stringify(version)).toContain('1.2.3'); // each agent's version is stored
  });

  test('with one agent the cached response is the agent’s own, byte for byte', async ({ stage }) => {
    const only = stage.agent('only');
    const result = '{ "agentCapabilities":{"one":1.0,"big":9007199254740993,"esc":"\\u00e9"},"protocolVersion":1,"2":0,"1":0 }';
    only.on('initialize', (_, msg) => {
      only.line(`{"jsonrpc":"2.0","id":${msg.id},"result":${result}}`);
      return UNANSWERED;
    });
    for (let start = 0; start < 2; start++) {
      const client = await stage.connect([only]);
      expect(responseLine(client)).toBe(`{"jsonrpc":"2.0","id":0,"result":${result}}`);
      await client.close();
    }
  });

  test('other client capabilities, or another command line of the agent, are not served from the cache', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')] as const;
    await (await stage.connect(agents)).close();
    const other = stage.proxy(agents);
    await hello(other, { clientCapabilities: { fs: {} } });
    await other.close();
    expect(initialized(agents)).toEqual([2, 2]);
    const [a, b] = agents;
    const moved = { ...b.server, args: [...b.server.args, '--more'] };
    await (await stage.connect({ a, b: moved })).close();
    expect(initialized(agents)[1]).toBe(3);
  });

  test('a change of an agent is reported, and the next start shows it', async ({ stage }) => {
    const agents = [stage.agent('a', { capabilities: {} }), stage.agent('b', { capabilities: {} })] as const;
    await (await stage.connect(agents)).close();
    agents[0].on('initialize', () => ({ protocolVersion: 1, agentCapabilities: { sessionCapabilities: { fork: {} } } }));
    const second = stage.proxy(agents);
    expect((await hello(second)).agentCapabilities.sessionCapabilities.fork).toBeUndefined();
    await open(second, stage.cwd); // so that it has been read
    await second.close();
    expect(second.stderr()).toMatch(/"a".*changed/);
    expect((await hello(stage.proxy(agents))).agentCapabilities.sessionCapabilities.fork).toEqual({});
  });

  test('an unreadable cache is ignored', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')] as const;
    await (await stage.connect(agents)).close();
    writeFileSync(path.join(stage.state, 'capabilities.json'), '{"version":1,"entries":{"x":');
    const client = await stage.connect(agents);
    expect((await open(client, stage.cwd)).id).toBe('a-1');
  });

  test('a late agent counts with minimal capabilities, works when it arrives, and is known the next time', async ({ stage }) => {
    const [quick, late] = [stage.agent('quick'), stage.agent('late')];
    await (await stage.connect([quick, stage.agent('other')])).close(); // so that only the late one is awaited
    late.on('initialize', () => UNANSWERED);
    const config = { timeouts: { initialize_wait_ms: 60 } };
    const client = stage.proxy([quick, late], { config });
    const { agentCapabilities } = await hello(client);
    expect(agentCapabilities.promptCapabilities).toEqual({ image: false, audio: false, embeddedContext: true });
    expect(agentCapabilities.sessionCapabilities).not.toHaveProperty('additionalDirectories');
    const full = { promptCapabilities: { image: true }, sessionCapabilities: { additionalDirectories: {} } };
    late.reply((await late.got('initialize')).msg, { protocolVersion: 1, agentCapabilities: full });
    await prompt(client, (await open(client, stage.cwd, 'late')).id, 'hello');
    await client.close();
    const again = await hello(stage.proxy([quick, late], { config }));
    expect(again.agentCapabilities.promptCapabilities.image).toBe(true);
    expect(again.agentCapabilities.sessionCapabilities).toHaveProperty('additionalDirectories');
  });
});

describe('versions', () => {
  test.for([0, 2])('a client that asks for %i is answered 1, and agents are asked for 1', async (protocolVersion, { stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')];
    const client = stage.proxy(agents);
    expect((await hello(client, { protocolVersion })).protocolVersion).toBe(1);
    for (const agent of agents) expect((await agent.got('initialize')).msg.params).toEqual({ ...CLIENT, protocolVersion: 1 });
  });

  test('a client of version 2 is presented with version 1', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')];
    const client = stage.proxy(agents);
    const info = { name: 'new-editor', version: '2.0.0' };
    const capabilities = { auth: { terminal: {} }, elicitation: { form: {} } };
    const result = await client.call('initialize', { protocolVersion: 2, info, capabilities });
    expect(result).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'acp-switchboard' } });
    for (const agent of agents) {
      const { params } = (await agent.got('initialize')).msg;
      expect(params).toMatchObject({ protocolVersion: 1, clientInfo: info });
      expect(params.clientCapabilities).toMatchObject({
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        auth: { terminal: true },
        elicitation: { form: {} },
      });
    }
  });
});

describe('an unusable agent fails only its own sessions, by name', () => {
  const refuses = (client: Client, cwd: string, agent: string): Promise<Json> =>
    client.refused('session/new', { cwd, mcpServers: [], ...choosing(agent) });

  test('a missing command: agent, command and hint, at once', async ({ stage }) => {
    const client = stage.proxy({ gone: { command: '/no/such/agent', args: ['--acp'] }, fine: stage.agent('fine') });
    expect((await hello(client)).agentCapabilities.promptCapabilities.image).toBe(true); // not affected by the other
    const error = await refuses(client, stage.cwd, 'gone');
    expect(error).toMatchObject({ code: -32603, data: { agent: 'gone', command: '/no/such/agent' } });
    for (const word of ['gone', '/no/such/agent', 'agent_servers.gone']) expect(error.message).toContain(word);
    const session = await open(client, stage.cwd, 'fine');
    await prompt(client, session.id, 'hello');
    expect(client.agentText(session.id)).toBe('fine heard hello');
  });

  test('a missing command, as the only agent: initialize is answered all the same', async ({ stage }) => {
    const client = stage.proxy({ gone: { command: 'no-such-agent-in-path' } });
    expect((await hello(client)).protocolVersion).toBe(1);
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    for (const word of ['gone', 'no-such-agent-in-path']) expect(error.message).toContain(word);
  });

  test('another protocol version', async ({ stage }) => {
    const client = await stage.connect([stage.agent('newer', { version: 2 }), stage.agent('fine')]);
    const error = await refuses(client, stage.cwd, 'newer');
    expect(error.message).toMatch(/newer.*2/);
    expect((await open(client, stage.cwd, 'fine')).id).toBe('fine-1');
  });

  test('a refusal', async ({ stage }) => {
    const sullen = stage.agent('sullen');
    sullen.on('initialize', () => {
      throw new Refusal(-32603, 'licence expired');
    });
    const client = await stage.connect([sullen, stage.agent('fine')]);
    expect((await refuses(client, stage.cwd, 'sullen')).message).toMatch(/sullen.*licence expired/);
    expect((await open(client, stage.cwd, 'fine')).id).toBe('fine-1');
  });

  test('silence', async ({ stage }) => {
    const mute = stage.agent('mute', { isMute: true });
    const server = { ...mute.server, timeouts: { initialize_ms: 150 } };
    const client = await stage.connect({ mute: server, fine: stage.agent('fine') }, { config: { timeouts: { initialize_wait_ms: 50 } } });
    const session = await open(client, stage.cwd, 'fine');
    expect((await refuses(client, stage.cwd, 'mute')).message).toContain('mute');
    await prompt(client, session.id, 'hello');
    expect(client.agentText(session.id)).toBe('fine heard hello');
  });

  test('an invalid response', async ({ stage }) => {
    const answers: readonly (readonly [string, string])[] = [
      ['empty', '{}'],
      ['null', 'null'],
      ['in-words', '{"protocolVersion":"1"}'],
      ['twice', '{"protocolVersion":1,"agentCapabilities":{},"agentCapabilities":{"loadSession":true}}'],
    ];
    const odd = answers.map(([name, result]) => {
      const agent = stage.agent(name);
      agent.on('initialize', (_, msg) => {
        agent.line(`{"jsonrpc":"2.0","id":${msg.id},"result":${result}}`);
        return UNANSWERED;
      });
      return agent;
    });
    // An agent without a configured dialect could be of another one; a wrong version rules that out.
    const servers = Object.fromEntries(odd.map(({ name, server }) => [name, { ...server, dialect: 'acp' }]));
    const client = await stage.connect({ ...servers, fine: stage.agent('fine') });
    for (const [name] of answers) expect((await refuses(client, stage.cwd, name)).message, name).toContain(name);
    expect((await open(client, stage.cwd, 'fine')).id).toBe('fine-1');
  });
});

describe('order around initialize', () => {
  test('a request before it is -32600 and reaches no agent; a notification is dropped', async ({ stage }) => {
    const only = stage.agent('only');
    const client = stage.proxy([only]);
    client.notify('_x/note', {});
    expect(await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).toMatchObject({ code: -32600 });
    await hello(client);
    await open(client, stage.cwd);
    expect(only.seen.map(({ msg }) => msg.method)).toEqual(['initialize', 'session/new']);
  });

  test.for([1, 2])('requests sent right behind it are answered behind it, in order, with %i agent(s)', async (count, { stage }) => {
    const agents = Array.from({ length: count }, (_, n) => stage.agent(`agent${n}`));
    const client = stage.proxy(agents);
    const lines = [
      { jsonrpc: '2.0', id: 'hello', method: 'initialize', params: CLIENT },
      { jsonrpc: '2.0', id: 'new', method: 'session/new', params: { cwd: stage.cwd, mcpServers: [] } },
      { jsonrpc: '2.0', id: 'list', method: 'session/list', params: {} },
    ];
    client.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await Promise.all(lines.map(({ id }) => client.until((msg) => msg.id === id)));
    expect(client.seen[0]?.msg.id).toBe('hello');
    expect(client.answersTo('new')[0]?.msg.result.sessionId).toBe('agent0-1');
    expect(client.answersTo('list')[0]?.msg.result.sessions).toBeDefined();
  });

  test('frames from an agent before the client has its response come behind it', async ({ stage }) => {
    const [eager, slow] = [stage.agent('eager'), stage.agent('slow')];
    eager.on('initialize', () => {
      eager.notify('_x/early', { n: 1 });
      return { protocolVersion: 1 };
    });
    slow.on('initialize', () => UNANSWERED);
    const client = stage.proxy([eager, slow]);
    const answer = hello(client);
    await eager.got('initialize');
    slow.reply((await slow.got('initialize')).msg, { protocolVersion: 1 });
    await answer;
    expect((await client.got('_x/early')).index).toBe(1);
  });

  test('a second initialize is answered too', async ({ stage }) => {
    const client = await stage.connect([stage.agent('a'), stage.agent('b')]);
    const again = await hello(client);
    expect(again.agentInfo.name).toBe('acp-switchboard');
    expect((await open(client, stage.cwd)).id).toBe('a-1');
  });
});
