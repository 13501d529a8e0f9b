// Host tool tokens of an agent that has exited are void, for every holder.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, vi } from 'vitest';
import { type Client as AcpClient, hello, type Json, open, type ScriptedAgent, test, UNANSWERED } from '../e2e/harness.ts';
import { HOST_TOOLS } from './tool-sessions.ts';

type Entry = { readonly url: string; readonly headers: Json[]; readonly env: Json[]; readonly serverId: string };

async function entryOf(agent: ScriptedAgent): Promise<Entry> {
  return (await agent.got('session/new')).msg.params.mcpServers.at(-1);
}

async function die(acpClient: AcpClient, agent: ScriptedAgent): Promise<void> {
  agent.exit();
  await vi.waitFor(() => expect(acpClient.stderr()).toContain(`"${agent.name}" exited`), { timeout: 20_000, interval: 10 });
}

test('the tokens of an agent that exits are revoked on every transport: open connections are closed, and further calls are refused', async ({
  stage,
}) => {
  const taking = (mcpCapabilities: Json) => ({ capabilities: { loadSession: true, sessionCapabilities: { resume: {} }, mcpCapabilities } });
  const http = stage.agent('http', taking({ http: true }));
  const stdio = stage.agent('stdio', taking({}));
  const acp = stage.agent('acp', taking({ acp: true }));
  acp.on('_x/echo', () => ({}));
  const acpClient = stage.proxy([http, stdio, acp], { config: { ...HOST_TOOLS, workspace: 'serve-missing' } });
  await hello(acpClient, { clientCapabilities: {} });
  for (const agent of [http, stdio, acp]) await open(acpClient, stage.cwd, agent.name);

  // Over HTTP, with a call in progress that waits for the user.
  const { url, headers } = await entryOf(http);
  const authorization = headers[0].value;
  const client = new Client({ name: 'a helper of the agent that outlives it', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }));
  acpClient.on('session/request_permission', () => UNANSWERED);
  const writing = client.callTool({ name: 'write_file', arguments: { path: 'new.txt', content: 'x' } }).catch((error: Error) => error);
  const asked = await acpClient.got('session/request_permission');
  await die(acpClient, http);
  await acpClient.got('$/cancel_request', ({ requestId }) => requestId === asked.msg.id);
  acpClient.reply(asked.msg, { outcome: { outcome: 'selected', optionId: 'allow' } }); // too late
  expect(await writing).toSatisfy((outcome: Json) => outcome instanceof Error || outcome.isError === true);
  await expect(client.callTool({ name: 'session_info', arguments: {} })).rejects.toThrow();
  const knock = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' };
  expect((await fetch(url, knock)).status).toBe(401);
  expect(existsSync(path.join(stage.cwd, 'new.txt'))).toBe(false);

  // Over the socket of the shim.
  const { env } = await entryOf(stdio);
  const given = (name: string) => env.find((one) => one.name === name).value;
  const dial = async () => {
    const socket = connect(given('SWITCHBOARD_MCP_SOCKET'));
    socket.write(`${given('SWITCHBOARD_MCP_TOKEN')}\n`);
    return { socket, first: String((await once(socket, 'data'))[0]) };
  };
  const { socket, first } = await dial();
  expect(first).toBe('ok\n');
  const failOpenToolCalls = once(socket, 'close');
  await die(acpClient, stdio);
  await failOpenToolCalls;
  expect((await dial()).first).toMatch(/^invalid or expired token/);

  // Over the ACP connection: another session starts the next process, and this session was not restored to it.
  const { serverId } = await entryOf(acp);
  const other = await open(acpClient, stage.cwd, 'acp');
  const message = { serverId, requestId: '0', method: 'tools/call', params: { name: 'session_info', arguments: {} } };
  expect((await acp.call('mcp/message', message)).error).toBeUndefined();
  await die(acpClient, acp);
  await acpClient.call('_x/echo', { sessionId: other.id });
  expect(acp.pids).toHaveLength(2);
  expect((await acp.refused('mcp/message', message)).message).toContain('the session this server belonged to has ended');
});
