// A call of a host tool, compared with the same call to the same server without us: agent, shim, switchboard (and server) and back, against
// agent, server and back. The agent measures the time and alternates between them.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { summary } from '../lib/collect.mjs';

const lib = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'lib');
const TIMEOUT_MS = 120_000;

/** Who provides the tool: the switchboard itself, or a configured server behind it. */
const OWNERS = ['own', 'configured'];
const WAYS = ['stdio', 'http', 'acp'];

export default {
  name: 'mcp-call',
  title: 'MCP: a call of a host tool, and the same call to the same server over stdio',
  /** Without us, through a shim and pipes that do nothing, and through each transport. */
  variants: OWNERS.flatMap((owner) => ['direct', 'piped', ...WAYS].map((way) => `${owner}-${way}`)),
  metrics: { p50Us: { title: 'p50 µs', digits: 0 } },
  async measure({ isShort, workDir, variants }) {
    const results = Object.fromEntries(this.variants.map((name) => [name, []]));
    for (let cycle = 0; cycle < (isShort ? 1 : 3); cycle++)
      for (const owner of OWNERS)
        for (const way of WAYS) {
          const { hosted, direct, piped } = await oneTurn(way, owner, variants.ours, workDir, isShort ? ['200', '6'] : ['500', '10']);
          results[`${owner}-${way}`].push(...hosted);
          results[`${owner}-direct`].push(...direct);
          results[`${owner}-piped`].push(...piped);
        }
    return Object.fromEntries(Object.entries(results).map(([name, samples]) => [name, { p50Us: summary(samples) }]));
  },
};

/** A client that opens a session, allows the tool for the session, and waits for the agent's figures. */
async function oneTurn(way, owner, { start }, workDir, counts) {
  const dir = mkdtempSync(path.join(workDir, 'mcp-'));
  const config = path.join(dir, 'switchboard.json');
  const agent = { command: process.execPath, args: [path.join(lib, 'mcp-agent.mjs'), way, owner, ...counts], mcp_transport: way };
  const tools =
    owner === 'own'
      ? { host_tools: { modules: [path.join(lib, 'mcp-tool.mjs')] } }
      : { mcp_servers: [{ name: 'echo', command: process.execPath, args: [path.join(lib, 'mcp-server.mjs')] }] };
  writeFileSync(config, JSON.stringify({ agent_servers: { agent }, ...tools }));
  const [command, ...args] = start(config);
  const env = { ...process.env, SWITCHBOARD_HOME: path.join(dir, 'home') };
  const child = spawn(command, args, { cwd: dir, env, stdio: ['pipe', 'pipe', 'ignore'], timeout: TIMEOUT_MS });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ended = new Promise((resolve) => child.on('close', resolve));
  try {
    send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
    let text = '';
    for await (const line of lines(child.stdout)) {
      const { id, method, params, result, error } = JSON.parse(line);
      if (error) throw new Error(error.message);
      if (method === 'session/request_permission') send({ id, result: { outcome: { outcome: 'selected', optionId: 'session' } } });
      else if (method === 'session/update' && params.update.sessionUpdate === 'agent_message_chunk') text += params.update.content.text;
      else if (id === 1) send({ id: 2, method: 'session/new', params: { cwd: dir, mcpServers: [] } });
      else if (id === 2)
        send({ id: 3, method: 'session/prompt', params: { sessionId: result.sessionId, prompt: [{ type: 'text', text: 'go' }] } });
      else if (id === 3) break;
    }
    const figures = JSON.parse(text);
    if (figures.failure !== undefined) throw new Error(figures.failure);
    return figures;
  } finally {
    child.stdin.end();
    await ended;
    rmSync(dir, { recursive: true, force: true });
  }
}

async function* lines(stream) {
  let rest = '';
  for await (const text of stream.setEncoding('utf8')) {
    const all = (rest + text).split('\n');
    rest = all.pop();
    yield* all;
  }
}
