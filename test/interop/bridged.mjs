// The fixture server behind the switchboard: `switchboard acp` with an agent that takes MCP servers over HTTP, or, for a server over HTTP, on stdio
// only. The agent's entry for the server is what the suite is run against.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { serveEntry } from './stdio-front.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FIXTURE = path.join(ROOT, 'test/interop/fixture-server.mjs');
const AGENT = path.join(ROOT, 'test/fixtures/mcp-agent.mjs');

/** Starts the fixture server over HTTP or SSE; resolves to its URL. */
export async function startFixture(way) {
  const child = spawn(process.execPath, [FIXTURE, `--${way}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await child.stdout.setEncoding('utf8').take(1).toArray();
  return { url: line.trim(), close: () => child.kill() };
}

/** The `mcpServers` entry of each kind. `url` is the fixture's HTTP URL, behind which the client serves the kind `acp`. */
const ENTRIES = {
  stdio: () => ({ name: 'fix', command: process.execPath, args: [FIXTURE], env: [] }),
  http: (url) => ({ type: 'http', name: 'fix', url, headers: [] }),
  sse: (url) => ({ type: 'sse', name: 'fix', url, headers: [] }),
  acp: () => ({ type: 'acp', name: 'fix', serverId: 'fix' }),
};

/** Opens a session with the server; resolves to the entry that the agent got. `kind` is a bridge's, or `gateway`. */
export async function startBridge(kind, url) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'interop-'));
  const mcp_servers = kind === 'gateway' ? [{ name: 'f', command: process.execPath, args: [FIXTURE] }] : [];
  const takes = kind === 'http' ? 'stdio' : 'http';
  const agent_servers = { one: { command: process.execPath, args: [AGENT, '--takes', takes], mcp_bridge: 'on', mcp_transport: takes } };
  const host_tools = { enabled: kind === 'gateway', files: false, terminal: false, ask_user: false, without: ['session_info'] };
  const config = path.join(dir, 'config.json');
  writeFileSync(config, JSON.stringify({ agent_servers, mcp_servers, host_tools }));
  const env = { ...process.env, HOME: dir, SWITCHBOARD_HOME: path.join(dir, 'state') };
  const child = spawn(process.execPath, [path.join(ROOT, 'bin/switchboard.js'), 'acp', '--config', config], {
    cwd: dir,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const waiting = new Map();
  let next = 0;
  let text = '';
  const request = (method, params) => {
    const id = next++;
    send({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === undefined) return waiting.get(id)?.(result ?? { error });
    if (method === 'session/update') text += params.update.content?.text ?? '';
    else if (method === 'session/request_permission')
      send({ id, result: { outcome: { outcome: 'selected', optionId: params.options[0].optionId } } });
    else if (method === 'mcp/message' && id !== undefined)
      void overAcp(url, params, send).then(
        (outcome) => send({ id, result: outcome }),
        () => {}, // the check is over
      );
    else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
  });
  await request('initialize', { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: 'interop', version: '0' } });
  const mcpServers = kind === 'gateway' ? [] : [ENTRIES[kind](url)];
  const { sessionId } = await request('session/new', { cwd: dir, mcpServers });
  await request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'servers' }] });
  const entry = JSON.parse(text).at(-1);
  const front = kind === 'http' ? await serveEntry(entry) : undefined;
  return {
    url: front?.url ?? entry.url,
    headers: Object.fromEntries((entry.headers ?? []).map(({ name, value }) => [name.toLowerCase(), value])),
    async close() {
      await front?.close();
      child.stdin.end();
      await new Promise((resolve) => child.on('close', resolve));
      rmSync(dir, { recursive: true });
    },
  };
}

/** A server inside the client: each message is one request of the 2026 era. */
async function overAcp(url, { serverId, requestId, method, params = {} }, send) {
  const name = params.name ?? params.uri;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: requestId, method, params }),
  });
  let outcome = { error: { code: -32603, message: 'no answer' } };
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  for await (const line of isStream ? linesOf(response.body) : [`data: ${await response.text()}`]) {
    if (!line.startsWith('data: ')) continue;
    const message = JSON.parse(line.slice(6));
    if (message.method !== undefined)
      send({ method: 'mcp/message', params: { serverId, requestId, method: message.method, params: message.params } });
    else outcome = message.error ? { error: message.error } : { result: message.result };
  }
  return outcome;
}

/** As they come: a client may drop progress that arrives together with the answer. */
async function* linesOf(body) {
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n');
    rest = lines.pop();
    yield* lines;
  }
}
