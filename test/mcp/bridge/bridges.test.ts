// The client's own MCP servers, of every type, used by agents that support only one.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fromMcpServer } from '@agentclientprotocol/sdk/experimental/mcp-server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import * as z from 'zod';
import { type Shown, toolProblem } from '../../../src/mcp/server/portable-tool.ts';
import {
  type Client as AcpClient,
  fixture,
  hello,
  type Json,
  open,
  type Peer,
  prompt,
  Refusal,
  type Stage,
  testAtOnce as test,
  UNANSWERED,
} from '../../e2e/harness.ts';
import { noticed } from '../../faults/setup.ts';
import { mcpAgent, notified, type Takes, wordsOf } from '../tool-sessions.ts';

const RICH = fixture('mcp-rich');
const SECRET = 'canary-4f9c2d7e1b';
const running: ChildProcess[] = [];
const urls: Record<string, string> = {};

/** A server that runs before the test needs it. */
async function listening(how: 'http' | 'sse'): Promise<string> {
  const child = spawn(RICH.command, [...RICH.args, `--${how}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  const [first] = (await child.stdout?.setEncoding('utf8').take(1).toArray()) ?? [];
  return String(first).trim();
}
beforeAll(async () => {
  [urls.http, urls.sse] = await Promise.all([listening('http'), listening('sse')]);
});
afterAll(() => {
  for (const child of running) child.kill();
});

const serverOf = (type: string): Json =>
  type === 'stdio'
    ? { name: 'rich', command: RICH.command, args: RICH.args, env: [{ name: 'RICH_SECRET', value: SECRET }] }
    : { type, name: 'rich', url: urls[type], headers: [{ name: 'x-secret', value: SECRET }] };

/** Two agents, because a single agent gets no bridges. Sessions are opened with the first. */
async function connect(stage: Stage, takes: Takes, options: Json = {}, config: Json = {}): Promise<AcpClient> {
  return stage.connect({ first: { ...mcpAgent(takes), ...options }, second: mcpAgent('none') }, { config });
}
const given = async (acpClient: Peer, id: string): Promise<Json> => (await notified(acpClient, id, 'servers'))[0];
const on = (acpClient: Peer, id: string, words: string): Promise<Json> => notified(acpClient, id, `on rich ${words}`);

describe.each([
  ['an http server', 'http', 'stdio', {}],
  ['an sse server', 'sse', 'stdio', {}],
  ['an sse server', 'sse', 'http', {}],
  ['a stdio server', 'stdio', 'http', { mcp_transport: 'http' }],
] as const)('%s, for an agent that supports no %s but %s', (_, type, takes, options) => {
  test('is bridged with all its features, and its credentials stay in the proxy', async ({ stage }) => {
    const acpClient = await connect(stage, takes, options, { log: { frames: 'redacted' } });
    const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf(type)] });
    const entry = await given(acpClient, id);
    expect(entry.name).toBe('rich');
    expect(entry.type ?? 'stdio').toBe(takes);
    expect(JSON.stringify(entry)).not.toContain(SECRET);
    expect(`${entry.args} ${entry.url}`).not.toMatch(/[\w-]{43}/); // the token, which belongs in env or a header

    expect(wordsOf(await on(acpClient, id, 'call echo {"text":"hello"}'))).toBe('hello');
    expect(wordsOf(await on(acpClient, id, 'call secret'))).toBe(SECRET);
    expect(await on(acpClient, id, 'steps steps')).toMatchObject({ steps: ['step 1', 'step 2'] });
    expect(await on(acpClient, id, 'request prompts/get {"name":"greet"}')).toMatchObject({ messages: [{ role: 'user' }] });
    expect(await on(acpClient, id, 'request resources/read {"uri":"rich://one"}')).toMatchObject({ contents: [{ text: 'the one' }] });
    expect(wordsOf(await on(acpClient, id, 'call ask {"text":"why"}'))).toBe('accept: WHY');
    expect(await on(acpClient, id, 'stop wait')).toContain('cancelled');
    await on(acpClient, id, 'call log {"text":"look out"}');
    await on(acpClient, id, 'call grow');
    expect((await on(acpClient, id, 'tools')).map(({ name }: Json) => name)).toContain('grown');
    expect((await on(acpClient, id, 'heard')).map(({ method }: Json) => method)).toEqual(
      expect.arrayContaining(['notifications/message', 'notifications/tools/list_changed']),
    );
    expect(wordsOf(await on(acpClient, id, 'call waited'))).not.toBe('0');
    await acpClient.close();
    for (const file of readdirSync(path.join(stage.state, 'frames')))
      expect(readFileSync(path.join(stage.state, 'frames', file), 'utf8')).not.toContain(SECRET);
  });
});

test('tools of a bridged server that a model API would refuse are adapted, and called under their own names', async ({ stage }) => {
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' });
  const { command, args } = fixture('mcp-odd-tools');
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [{ name: 'rich', command, args, env: [] }] });
  const tools: Shown[] = await on(acpClient, id, 'tools');
  const [choice, tree, long, , plain] = tools;
  expect([choice, tree, long].map((tool) => tool && toolProblem(tool, 'rich'))).toEqual([undefined, undefined, undefined]);
  expect(plain).toMatchObject({
    name: 'plain',
    description: 'Plain.',
    inputSchema: { properties: { a: { type: 'string' } }, required: ['a'] },
  });
  expect(long?.name).toMatch(/^issues_comments_very-/);
  expect(wordsOf(await on(acpClient, id, `call ${long?.name} {}`))).toContain('"name":"issues.comments.very-');
});

test('a supported server is passed unchanged, and the client sees support for all types', async ({ stage }) => {
  const acpClient = stage.proxy({ first: mcpAgent('http'), second: mcpAgent('stdio') });
  expect((await hello(acpClient)).agentCapabilities.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
  const http = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('http')] });
  expect(await given(acpClient, http.id)).toEqual(serverOf('http'));
  const stdio = await open(acpClient, stage.cwd, 'second', { mcpServers: [serverOf('stdio')] });
  expect(await given(acpClient, stdio.id)).toEqual(serverOf('stdio'));
  const odd = { type: 'acp', name: 'of an older draft', id: 'x' };
  const unread = await open(acpClient, stage.cwd, 'second', { mcpServers: [odd] });
  expect(await given(acpClient, unread.id)).toEqual(odd);
});

test('without mcp_bridge no server is bridged, and the client sees only what the agents support', async ({ stage }) => {
  const acpClient = stage.proxy({ first: { ...mcpAgent('stdio'), mcp_bridge: 'off' }, second: mcpAgent('http') });
  expect((await hello(acpClient)).agentCapabilities.mcpCapabilities).toEqual({ http: false, sse: false });
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('http')] });
  expect(await given(acpClient, id)).toEqual(serverOf('http'));
});

test('a single agent gets no bridges unless they are enabled', async ({ stage }) => {
  const single = stage.proxy({ only: mcpAgent('stdio') });
  expect((await hello(single)).agentCapabilities.mcpCapabilities).toEqual({ http: false, sse: false });
  const { id } = await open(single, stage.cwd, undefined, { mcpServers: [serverOf('http')] });
  expect(await given(single, id)).toEqual(serverOf('http'));

  const bridging = stage.proxy({ only: { ...mcpAgent('stdio'), mcp_bridge: 'on' } });
  expect((await hello(bridging)).agentCapabilities.mcpCapabilities).toEqual({ http: true, sse: true, acp: true });
  const bridged = await open(bridging, stage.cwd, undefined, { mcpServers: [serverOf('http')] });
  expect(wordsOf(await on(bridging, bridged.id, 'call echo {"text":"hello"}'))).toBe('hello');
});

test('the policy decides on calls through a bridge and on which tools are visible', async ({ stage }) => {
  const policy = path.join(stage.dir, 'policy.json');
  writeFileSync(
    policy,
    JSON.stringify({
      version: 1,
      allow: ['mcp(rich:echo)'],
      ask: ['mcp(rich:log)'],
      deny: ['mcp(rich:secret)'],
      mcp: { expose: ['rich:echo', 'rich:secret', 'rich:log', 'rich:steps'] },
    }),
  );
  const acpClient = await connect(stage, 'stdio', {}, { policy });
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'reject' } }));
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('http')] });
  expect((await on(acpClient, id, 'tools')).map(({ name }: Json) => name)).toEqual(['echo', 'secret', 'steps', 'log']);
  expect(wordsOf(await on(acpClient, id, 'call echo {"text":"yes"}'))).toBe('yes');
  expect(await on(acpClient, id, 'call secret')).toMatchObject({ isError: true });
  expect(wordsOf(await on(acpClient, id, 'call log {"text":"x"}'))).toContain('the user did not allow it');
  expect(wordsOf(await on(acpClient, id, 'call steps'))).toBe('done'); // no rule covers it
  const audit = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8');
  expect(audit).toContain('rich:secret');
});

test.for([
  ['stdio', 'http', 'withdraw the call'],
  ['http', 'stdio', 'disconnect'],
] as const)('over %s to a server over %s, a pending permission request is cancelled after: %s', async ([takes, type, words], { stage }) => {
  const policy = { version: 1, ask: ['mcp(rich:log)'] };
  const acpClient = await connect(stage, takes, takes === 'http' ? { mcp_transport: 'http' } : {}, { policy, while_running: 'pass' });
  acpClient.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf(type)] });
  const call = prompt(acpClient, id, 'on rich call log {"text":"x"}');
  const asked = await acpClient.got('session/request_permission');
  await prompt(acpClient, id, `on rich ${words}`);
  expect((await acpClient.got('$/cancel_request')).msg.params).toEqual({ requestId: asked.msg.id });
  await call;
  expect(acpClient.agentText(id)).toMatch(/changed my mind|closed/);
  const line = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8').trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(line)).toMatchObject({ verdict: 'deny', by: 'agent', option: 'cancelled' });
});

test('a server that exits is reported, and pending calls fail with the reason', async ({ stage }) => {
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' });
  const missing = { ...serverOf('stdio'), name: 'missing', command: '/nowhere/to/be/found' };
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('stdio'), missing] });
  expect((await on(acpClient, id, 'call die')).failed).toContain('it exited with code 7');
  const words = () => acpClient.updates(id, 'agent_thought_chunk').map(({ content }: Json) => content.text);
  expect(words().join('')).toContain('The MCP server rich is not available. it exited with code 7');
  await noticed(acpClient, '"/nowhere/to/be/found" was not found');
});

test('the end of a session ends its bridges and the servers that they started', async ({ stage }) => {
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' });
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('stdio')] });
  const { url, headers } = await given(acpClient, id);
  const pid = Number(wordsOf(await on(acpClient, id, 'call pid')));
  expect(() => process.kill(pid, 0)).not.toThrow();
  const post = () =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: headers[0].value, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
  expect((await post()).status).not.toBe(401);
  await acpClient.call('session/close', { sessionId: id });
  expect((await post()).status).toBe(401);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 10_000 });
});

test('a bridge reports and audits a wrong token, but not the token of an ended session: an agent may come back with it', async ({
  stage,
}) => {
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' }, { policy: { version: 1 } });
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('stdio')] });
  const { url, headers } = await given(acpClient, id);
  const statusWith = async (authorization: string) =>
    (await fetch(url, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' })).status;
  await acpClient.call('session/close', { sessionId: id });
  expect(await statusWith(headers[0].value)).toBe(401);
  expect(await statusWith(`Bearer sbmcp_${'A'.repeat(43)}`)).toBe(401);
  await noticed(acpClient, 'rejected an MCP connection to a server of a session');
  const audit = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8').trim().split('\n');
  expect(audit.map((line) => JSON.parse(line)).filter(({ method }) => method === 'mcp')).toMatchObject([
    { verdict: 'deny', agent: 'unknown' },
  ]);
});

test('a client of both eras reaches a bridge over HTTP, and the server behind it exits before the proxy does', async ({ stage }) => {
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' });
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('stdio')] });
  const { url, headers } = await given(acpClient, id);
  const client = new Client({ name: 'both', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: headers[0].value } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({ content: [{ text: 'hi' }] });
  const pid = Number((await client.callTool({ name: 'pid' })).content.map((block) => ('text' in block ? block.text : '')));
  expect(() => process.kill(pid, 0)).not.toThrow();
  const farewell = path.join(stage.dir, 'farewell');
  await client.callTool({ name: 'linger', arguments: { text: farewell } });
  expect(await acpClient.close()).toBe(0);
  expect(readFileSync(farewell, 'utf8')).toBe('done'); // it exited by itself and was not killed
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

/** A client that speaks only the 2026 era. */
async function modern({ url, headers }: Json): Promise<{ client: Client; heard: string[] }> {
  const heard: string[] = [];
  const client = new Client(
    { name: 'modern', version: '1' },
    {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      capabilities: { elicitation: { form: {} } },
      listChanged: { tools: { onChanged: (_, tools) => void heard.push(...(tools ?? []).map(({ name }) => name)) } },
    },
  );
  const requestInit = { headers: { authorization: headers[0].value } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return { client, heard };
}

test('a client of only the 2026 era reaches a server of the 2025 era over HTTP', async ({ stage }) => {
  const policy = { version: 1, deny: ['mcp(rich:secret)'] };
  const acpClient = await connect(stage, 'http', { mcp_transport: 'http' }, { policy });
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [serverOf('stdio')] });
  const { client, heard } = await modern(await given(acpClient, id));
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(client.getInstructions()).toBe('Be rich.');
  const call = (name: string, text: string, options = {}) => client.callTool({ name, arguments: { text } }, options);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('steps');
  expect(await call('echo', 'hi')).toMatchObject({ content: [{ text: 'hi' }] });
  expect(await call('secret', '')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('denied by policy') }] });
  const steps: unknown[] = [];
  await call('steps', '', { onprogress: ({ message }: Json) => steps.push(message) });
  expect(steps).toEqual(['step 1', 'step 2']);
  expect(await client.readResource({ uri: 'rich://one' })).toMatchObject({ contents: [{ text: 'the one' }] });
  expect(await client.getPrompt({ name: 'greet' })).toMatchObject({ messages: [{ role: 'user' }] });
  const enough = new AbortController();
  const stopped = call('wait', '', { signal: enough.signal, onprogress: () => enough.abort() });
  await expect(stopped).rejects.toThrow();
  await vi.waitFor(async () => expect((await call('waited', '')).content).not.toEqual([{ type: 'text', text: '0' }]), 10_000);
  client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: { answer: params.message.toUpperCase() } }));
  expect(await call('ask', 'why')).toMatchObject({ content: [{ text: 'accept: WHY' }] });
  await call('grow', '');
  await vi.waitFor(() => expect(heard).toContain('grown'), 10_000);
  await expect(call('die', '')).rejects.toThrow('it exited with code 7');
  expect(await call('echo', 'again')).toMatchObject({ content: [{ text: 'again' }] }); // it is started again
  await client.close();
});

describe.each(['stdio', 'http'] as const)('a server inside the client, for an agent that supports %s', (takes) => {
  test("is reached in the agent's protocol version", async ({ stage }) => {
    const acpClient = await connect(stage, takes);
    const tools = inClient(acpClient);
    const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [{ type: 'acp', name: 'rich', serverId: 'S1' }] });
    expect((await given(acpClient, id)).type ?? 'stdio').toBe(takes);
    expect(wordsOf(await on(acpClient, id, 'call echo {"text":"hello"}'))).toBe('hello');
    expect(await on(acpClient, id, 'steps steps')).toMatchObject({ steps: ['step 1', 'step 2'] });
    expect(wordsOf(await on(acpClient, id, 'call ask {"text":"why"}'))).toBe('accept: WHY');
    expect(await on(acpClient, id, 'request resources/read {"uri":"rich://one"}')).toMatchObject({ contents: [{ text: 'the one' }] });
    expect(await on(acpClient, id, 'request ping')).toEqual({});
    expect(await on(acpClient, id, 'stop wait')).toContain('cancelled');
    await tools.takenBack;
    tools.notify.toolsChanged();
    await prompt(acpClient, id, 'on rich call echo {}');
    expect((await on(acpClient, id, 'heard')).map(({ method }: Json) => method)).toContain('notifications/tools/list_changed');
    expect(acpClient.seen.filter(({ msg }) => msg.method === 'mcp/message').map(({ msg }) => msg.params.method)).not.toContain(
      'initialize',
    );
  });
});

test('a server inside the client reports progress through a bridge when there is only one agent', async ({ stage }) => {
  const acpClient = await stage.connect({ only: { ...mcpAgent('http'), mcp_bridge: 'on' } });
  inClient(acpClient);
  const { result } = await acpClient.request('session/new', {
    cwd: stage.cwd,
    mcpServers: [{ type: 'acp', name: 'rich', serverId: 'S1' }],
  });
  expect(await on(acpClient, result.sessionId, 'steps steps')).toMatchObject({ steps: ['step 1', 'step 2'] });
});

test('a server inside the client is reached over HTTP by a client of only the 2026 era', async ({ stage }) => {
  const acpClient = await connect(stage, 'http');
  inClient(acpClient);
  const { id } = await open(acpClient, stage.cwd, 'first', { mcpServers: [{ type: 'acp', name: 'rich', serverId: 'S1' }] });
  const { client } = await modern(await given(acpClient, id));
  client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: { answer: params.message.toUpperCase() } }));
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({ content: [{ text: 'hi' }] });
  expect(await client.callTool({ name: 'ask', arguments: { text: 'why' } })).toMatchObject({ content: [{ text: 'accept: WHY' }] });
  await client.close();
});

/** An MCP server of the current SDK behind `mcp/message`, as editors provide it. */
function inClient(acpClient: Peer) {
  let taken = () => {};
  const takenBack = new Promise<void>((resolve) => {
    taken = resolve;
  });
  const { handler, notify } = fromMcpServer(() => {
    const server = new McpServer({ name: 'in-editor', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    const say = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
    const inputSchema = z.object({ text: z.string().optional() });
    server.registerTool('echo', { inputSchema }, ({ text = '' }) => say(text));
    server.registerTool('steps', { inputSchema }, async (_, { mcpReq }) => {
      for (const progress of [1, 2])
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress, message: `step ${progress}` },
        });
      return say('done');
    });
    server.registerTool('wait', { inputSchema }, async (_, { mcpReq }) => {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 } });
      return new Promise((resolve) => mcpReq.signal.addEventListener('abort', () => resolve(say('late'))));
    });
    server.registerTool('ask', { inputSchema }, ({ text = '' }, { mcpReq }): Json => {
      const given = (mcpReq as Json).inputResponses?.why;
      if (given) return say(`${given.action}: ${given.content?.answer}`);
      const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
      const params = { mode: 'form', message: text, requestedSchema };
      return { resultType: 'input_required', inputRequests: { why: { method: 'elicitation/create', params } } };
    });
    server.registerResource('one', 'rich://one', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'the one' }] }));
    return server;
  });
  const open = new Map<unknown, AbortController>();
  acpClient.on('$/cancel_request', ({ requestId }) => {
    if (!open.has(requestId)) return;
    open.get(requestId)?.abort();
    taken();
  });
  acpClient.on('mcp/message', async (params, { id }) => {
    const cancelled = new AbortController();
    open.set(id, cancelled);
    const { serverId, requestId, method, params: inner } = params;
    const meta = inner?._meta ?? {};
    try {
      return await handler({
        ...{ serverId, requestId, method, params: inner, envelopeMeta: undefined, signal: cancelled.signal },
        protocolVersion: meta['io.modelcontextprotocol/protocolVersion'],
        clientCapabilities: meta['io.modelcontextprotocol/clientCapabilities'],
        clientInfo: meta['io.modelcontextprotocol/clientInfo'],
        notify: async (note, about) => acpClient.notify('mcp/message', { serverId, requestId, method: note, params: about ?? {} }),
      });
    } catch (error) {
      throw cancelled.signal.aborted ? new Refusal(-32800, 'cancelled') : error;
    } finally {
      open.delete(id);
    }
  });
  return { notify, takenBack };
}
