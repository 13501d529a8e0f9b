// Whether an agent uses the host tools it was offered, and what is reported and cached if it does not.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { McpTransport, SeenTransports } from '../../src/mcp/server/inject-servers.ts';
import { ToolServer, type ToolServerDeps } from '../../src/mcp/server/tool-server.ts';
import { sessionInfoTool } from '../../src/mcp/tools/ask-user.ts';
import { createCapabilityCache } from '../../src/store/capability-cache.ts';
import { createSessionStore, type SessionRecord, type SessionStore } from '../../src/store/sessions/session-store.ts';
import { hello, type Json, type Peer, prompt } from '../e2e/harness.ts';
import { connectInProcess, createActor, createStillClock } from '../faults/in-process.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(
  options: { mcp_transport?: 'stdio' } = {},
  seen: Record<string, SeenTransports[McpTransport]> = {},
  log?: SessionStore,
  agentCapabilities: Json = { mcpCapabilities: { acp: true } },
) {
  const clock = createStillClock();
  const agent = createActor('one');
  agent.on('initialize', () => ({ protocolVersion: 1, agentCapabilities, authMethods: [] }));
  agent.on('session/new', () => ({ sessionId: `s${agent.all('session/new').length}` }));
  agent.on('session/prompt', () => ({ stopReason: 'end_turn' }));
  const memory = {
    seen: () => seen,
    note(_: string, transport: McpTransport, how: 'connected' | 'ignored') {
      seen[transport] = how;
    },
  };
  const toolAttachments = { tools: [sessionInfoTool], shim: { command: '/bin/true', args: [] }, memory };
  const { client, connection, notices } = connectInProcess({
    agents: { one: { command: 'x', ...options } },
    launch: agent.launch,
    clock,
    toolAttachments,
    ...(log && { log }),
  });
  running.push(connection);
  await hello(client);
  const open = async () => (await client.call('session/new', { cwd: '/', mcpServers: [] })).sessionId as string;
  return { clock, agent, client, notices, seen, open };
}
const warnings = (client: { updates(id: string, kind: string): Json[] }, id: string) =>
  client.updates(id, 'agent_thought_chunk').map((update) => update.content.text as string);

/** The agent lists the tools of its first session. */
async function listTools(agent: Peer): Promise<void> {
  const [{ serverId }] = agent.all('session/new')[0]?.msg.params.mcpServers ?? [];
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const answer = await agent.call('mcp/message', { serverId, requestId: 'r', method: 'tools/list', params: { _meta } });
  expect(answer.result.tools).toHaveLength(1);
}

test('an agent that ends its first turn without connecting is reported once', async () => {
  const { clock, client, notices, seen, open } = await start();
  const id = await open();
  await prompt(client, id, 'go');
  expect(warnings(client, id)).toEqual([]);
  clock.advance(10_000);
  await client.got('session/update');
  expect(warnings(client, id)).toEqual([
    '[switchboard] one does not use its host tools. They were offered by acp, and it never connected. The next session offers them by stdio.\n',
  ]);
  expect(seen).toEqual({ acp: 'ignored' });
  expect(notices.filter((text) => text.includes('never connected'))).toHaveLength(1);

  await prompt(client, id, 'again');
  const other = await open();
  await prompt(client, other, 'go');
  clock.advance(20_000);
  await prompt(client, other, 'and on');
  expect(warnings(client, id)).toHaveLength(1);
  expect(warnings(client, other)).toEqual([]);
});

test.each([
  ['cline', { loadSession: true }],
  ['pi', { mcpCapabilities: { http: false, sse: false } }],
])('an agent that takes no servers, as %s, gets its session told so once', async (_, capabilities) => {
  const { clock, client, open } = await start({}, {}, undefined, capabilities);
  const id = await open();
  for (const words of ['go', 'go on']) {
    await prompt(client, id, words);
    clock.advance(10_000);
  }
  await client.got('session/update');
  const other = await open();
  await prompt(client, other, 'go');
  clock.advance(10_000);
  await prompt(client, other, 'go on');
  expect([...warnings(client, id), ...warnings(client, other)]).toEqual([
    '[switchboard] one does not use its host tools. They were offered by stdio, and it never connected. It announces no other way to MCP servers, so its model does not see them. Set agent_servers.one.mcp_transport to off to stop offering them.\n',
  ]);
});

test('the next session offers the tools over another transport', async () => {
  const { agent, client, open, clock } = await start();
  const id = await open();
  await prompt(client, id, 'go');
  clock.advance(10_000);
  await open();
  const types = agent.all('session/new').map(({ msg }) => msg.params.mcpServers[0].type ?? 'stdio');
  expect(types).toEqual(['acp', 'stdio']);
});

test('a tool call by the agent is as good a sign as the end of its turn', async () => {
  const { agent, client, open, clock } = await start();
  const id = await open();
  agent.notify('session/update', { sessionId: id, update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'x', status: 'pending' } });
  await client.got('session/update');
  clock.advance(10_000);
  await client.got('session/update', ({ update }) => update.sessionUpdate === 'agent_thought_chunk');
});

test('an agent that connects in time is not reported, and the transport is cached', async () => {
  const { agent, client, open, clock, seen } = await start();
  const id = await open();
  await listTools(agent);
  await prompt(client, id, 'go');
  clock.advance(60_000);
  await prompt(client, id, 'go on');
  expect(warnings(client, id)).toEqual([]);
  expect(seen).toEqual({ acp: 'connected' });
});

test('an agent that lists its tools does not restore a session that was deleted in the meantime', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-deleted-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const log = createSessionStore(dir, (error) => expect.unreachable(String(error)));
  const { agent, open, seen } = await start({}, {}, log);
  const id = await open();
  const kept = log.records().get(id);
  expect(kept).toMatchObject({ tools: { transport: 'acp', state: 'offered' } });
  createSessionStore(dir, () => {}).append({ ...(kept as SessionRecord), isGone: true }); // as `sessions delete` does in another process
  await listTools(agent);
  expect([...log.records()]).toEqual([]);
  expect(seen).toEqual({ acp: 'connected' });
});

test('a connection accepted before its session ended reports nothing after that', () => {
  const states: string[] = [];
  const toolSession = {
    abilities: new Set<never>(),
    onState: ({ state }: ToolServer) => void states.push(state),
    onRevoke() {},
    host: expect.unreachable,
  };
  const toolServer = new ToolServer('http', 'key', toolSession, { onRevoke() {} } as unknown as ToolServerDeps);
  toolServer.reached('connected');
  toolServer.revoke();
  toolServer.reached('listed');
  expect(states).toEqual(['connected']);
});

test('if the user set the transport, the warning lists the alternatives', async () => {
  const { client, open, clock } = await start({ mcp_transport: 'stdio' });
  const id = await open();
  await prompt(client, id, 'go');
  clock.advance(10_000);
  await client.got('session/update');
  expect(warnings(client, id)[0]).toContain('Set agent_servers.one.mcp_transport to auto, acp or off.');
});

test('an agent known to ignore every transport still gets the tools, without a warning', async () => {
  const { agent, client, open, clock } = await start({}, { acp: 'ignored', stdio: 'ignored' });
  const id = await open();
  await prompt(client, id, 'go');
  clock.advance(10_000);
  await prompt(client, id, 'go on');
  expect(agent.all('session/new')[0]?.msg.params.mcpServers).toHaveLength(1);
  expect(warnings(client, id)).toEqual([]);
});

describe('the cache', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-memory-'));
  const cache = () =>
    createCapabilityCache(
      dir,
      () => 'now',
      (error) => expect.unreachable(String(error)),
    );
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test("survives a restart until the agent's version changes", () => {
    const first = cache();
    first.keep('k', { agent: 'one', version: '1', text: '{}' });
    first.note('k', 'http', 'ignored');
    first.note('k', 'stdio', 'connected');
    first.note('k', 'stdio', 'ignored'); // it has connected before, so it can
    const second = cache();
    expect(second.seen('k')).toEqual({ http: 'ignored', stdio: 'connected' });
    expect(second.find('k')).toEqual({ text: '{}' });
    second.keep('k', { agent: 'one', version: '1', text: '{"a":1}' });
    expect(cache().seen('k')).toEqual({ http: 'ignored', stdio: 'connected' });
    second.keep('k', { agent: 'one', version: '2', text: '{"a":2}' });
    expect(cache().seen('k')).toEqual({});
  });
});
