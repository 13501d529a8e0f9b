// Names without a session that agents and client must keep apart: elicitations, and calls to the client's MCP servers.
import { describe, expect } from 'vitest';
import { open, prompt, type Stage, testAtOnce as test, UNANSWERED } from './harness.ts';

const two = (stage: Stage) => [stage.agent('left'), stage.agent('right')] as const;
const URL_MODE = { mode: 'url', message: 'm', url: 'https://example.org', elicitationId: 'e1' };

describe('elicitation', () => {
  test('about a request of the client names it as the client wrote it', async ({ stage }) => {
    const [left, right] = two(stage);
    right.on('session/prompt', () => UNANSWERED);
    const client = await stage.connect([left, right], { config: { while_running: 'pass' } });
    const session = await open(client, stage.cwd, 'right');
    for (const id of ['"the turn"', '1.0', '9007199254740993']) {
      const [atAgent, atClient] = [right.seen.length, client.seen.length];
      client.line(`{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":{"sessionId":"${session.id}","prompt":[]}}`);
      const received = await right.got('session/prompt', () => true, atAgent);
      const answer = right.call('elicitation/create', { ...URL_MODE, requestId: received.msg.id });
      const seen = await client.got('elicitation/create', () => true, atClient);
      expect(seen.line).toContain(`"requestId":${id}}`);
      client.reply(seen.msg, { action: 'accept' });
      expect(await answer).toEqual({ action: 'accept' });
    }
  });

  test('about a request of the proxy, not of the client, is answered cancel: there is nobody to ask', async ({ stage }) => {
    const [left, right] = two(stage);
    right.on('session/new', async (_, msg) => {
      const answer = await right.call('elicitation/create', { ...URL_MODE, requestId: msg.id });
      return { sessionId: 'r', _meta: answer };
    });
    const client = await stage.connect([left, right]);
    const { id } = await open(client, stage.cwd);
    await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'right' });
    expect(client.all('elicitation/create')).toEqual([]);
    expect(right.seen.filter(({ msg }) => msg.result?.action === 'cancel')).toHaveLength(1);
  });

  test('equal ids of two agents are kept apart, and their completions find them', async ({ stage }) => {
    const [left, right] = two(stage);
    const client = await stage.connect([left, right]);
    for (const agent of ['left', 'right']) await open(client, stage.cwd, agent);
    const ids = [];
    for (const agent of [left, right]) {
      void agent.request('elicitation/create', { ...URL_MODE, sessionId: `${agent.name}-1` });
      const received = await client.got('elicitation/create', ({ sessionId }) => sessionId === `${agent.name}-1`);
      ids.push(received.msg.params.elicitationId);
      client.reply(received.msg, { action: 'accept' });
    }
    expect(ids[0]).toBe('e1');
    expect(ids[1]).not.toBe('e1');
    right.notify('elicitation/complete', { elicitationId: 'e1' });
    expect((await client.got('elicitation/complete')).msg.params).toEqual({ elicitationId: ids[1] });
    left.notify('elicitation/complete', { elicitationId: 'e1' });
    await client.got('elicitation/complete', ({ elicitationId }) => elicitationId === 'e1');
  });
});

const ACP_SERVER = { type: 'acp', name: 'tools', serverId: 'srv' };
const CALL = { serverId: 'srv', requestId: 'r1', method: 'tools/call', params: { name: 'x' } };

describe('mcp/message', () => {
  test('equal call ids of two agents are kept apart; progress and results reach their callers', async ({ stage }) => {
    const [left, right] = two(stage);
    const client = await stage.connect([left, right]);
    for (const agent of ['left', 'right']) await open(client, stage.cwd, agent, { mcpServers: [ACP_SERVER] });
    for (const agent of [left, right]) agent.on('mcp/message', () => {});
    const results = [left, right].map((agent) => agent.call('mcp/message', { ...CALL, _meta: { by: agent.name } }));
    const calls = await Promise.all(['left', 'right'].map((name) => client.got('mcp/message', ({ _meta }) => _meta.by === name)));
    const pairs = calls.map(({ msg }) => `${msg.params.serverId} ${msg.params.requestId}`);
    expect(new Set(pairs).size).toBe(2);

    for (const [n, { msg }] of calls.entries()) {
      const { serverId, requestId } = msg.params;
      client.notify('mcp/message', { serverId, requestId, method: 'notifications/progress', params: { progress: n } });
    }
    for (const [n, agent] of [left, right].entries()) {
      const { params } = (await agent.got('mcp/message')).msg;
      expect(params).toEqual({ serverId: 'srv', requestId: 'r1', method: 'notifications/progress', params: { progress: n } });
      expect(agent.all('mcp/message')).toHaveLength(1);
    }
    for (const { msg } of calls.toReversed()) client.reply(msg, { result: { for: msg.params._meta.by } });
    expect(await Promise.all(results)).toEqual([{ result: { for: 'left' } }, { result: { for: 'right' } }]);
  });

  test('progress of a finished call is dropped', async ({ stage }) => {
    const [left, right] = two(stage);
    const client = await stage.connect([left, right]);
    const { id } = await open(client, stage.cwd, 'left', { mcpServers: [ACP_SERVER] });
    client.on('mcp/message', () => ({ result: {} }));
    await left.call('mcp/message', CALL);
    const { serverId, requestId } = (await client.got('mcp/message')).msg.params;
    client.notify('mcp/message', { serverId, requestId, method: 'notifications/progress', params: {} });
    await prompt(client, id, 'sync');
    expect(left.all('mcp/message')).toEqual([]);
  });

  test('an agent cannot call a server it was not given', async ({ stage }) => {
    const [left, right] = two(stage);
    const client = await stage.connect([left, right]);
    client.on('mcp/message', () => ({ result: { secret: true } }));
    await open(client, stage.cwd, 'left', { mcpServers: [ACP_SERVER] });
    await open(client, stage.cwd, 'right');
    expect(await left.call('mcp/message', CALL)).toEqual({ result: { secret: true } });
    expect((await right.refused('mcp/message', CALL)).code).toBe(-33001);
  });

  test('a server may be given with a new, loaded, resumed or forked session, or with one that moves', async ({ stage }) => {
    const [left, right] = two(stage);
    const client = await stage.connect([left, right]);
    client.on('mcp/message', () => ({ result: {} }));
    const { id: sessionId } = await open(client, stage.cwd, 'right');
    for (const method of ['session/load', 'session/resume', 'session/fork']) {
      await client.call(method, { sessionId, cwd: stage.cwd, mcpServers: [{ ...ACP_SERVER, serverId: `with ${method}` }] });
      expect(await right.call('mcp/message', { ...CALL, serverId: `with ${method}` }), method).toEqual({ result: {} });
    }
    const moving = await open(client, stage.cwd, 'left', { mcpServers: [{ ...ACP_SERVER, serverId: 'moves along' }] });
    await client.call('session/set_config_option', { sessionId: moving.id, configId: 'agent', value: 'right' });
    expect(await right.call('mcp/message', { ...CALL, serverId: 'moves along' })).toEqual({ result: {} });
  });
});

describe('extensions without a session', () => {
  test('a request goes to the agent that announced the vendor, whichever it is', async ({ stage }) => {
    const vendor = (name: string) => stage.agent(name, { capabilities: { _meta: { [`${name}.example`]: {} } } });
    const [left, right] = [vendor('left'), vendor('right')];
    for (const agent of [left, right]) agent.on(`_${agent.name}.example/do`, () => ({ by: agent.name }));
    const client = await stage.connect([left, right]);
    expect(await client.call('_right.example/do', {})).toEqual({ by: 'right' });
    expect(await client.call('_left.example/do', {})).toEqual({ by: 'left' });
  });

  test('one that nobody announced goes to the configured default agent, else it is -32601', async ({ stage }) => {
    const [left, right] = two(stage);
    right.on('_vendor/do', () => ({ by: 'right' }));
    const named = await stage.connect([left, right], { config: { default_agent: 'right' } });
    expect(await named.call('_vendor/do', {})).toEqual({ by: 'right' });
    const unnamed = await stage.connect([left, right]);
    expect(await unnamed.refused('_vendor/do', {})).toMatchObject({ code: -32601, data: { method: '_vendor/do' } });
    expect(await unnamed.refused('no/such_method', {})).toMatchObject({ code: -32601 });
  });

  test('a notification goes to every running agent; from an agent it goes to the client unchanged', async ({ stage }) => {
    const [left, right] = two(stage);
    for (const agent of [left, right]) agent.on('_x/note', () => {});
    const client = await stage.connect([left, right]);
    client.notify('_x/note', { n: 1 });
    for (const agent of [left, right]) {
      expect((await agent.got('_x/note')).msg.params).toEqual({ n: 1 });
      agent.line(`{"method":"_x/note","jsonrpc":"2.0","params":{"from":"${agent.name}","one":1.0}}`);
      expect((await client.got('_x/note', ({ from }) => from === agent.name)).line).toBe(
        `{"method":"_x/note","jsonrpc":"2.0","params":{"from":"${agent.name}","one":1.0}}`,
      );
    }
  });

  test('methods with a session go to its owner, known or not; those that need one agent among several are -32601', async ({ stage }) => {
    const [left, right] = two(stage);
    right.on('session/of_the_future', () => ({ by: 'right' }));
    const client = await stage.connect([left, right]);
    const { id: sessionId } = await open(client, stage.cwd, 'right');
    expect(await client.call('session/of_the_future', { sessionId })).toEqual({ by: 'right' });
    for (const method of ['providers/list', 'providers/set', 'providers/disable', 'proxy/initialize', 'proxy/successor'])
      expect(await client.refused(method, { providerId: 'p' }), method).toMatchObject({ code: -32601 });
  });
});
