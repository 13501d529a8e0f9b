// An ACP agent that, when prompted, calls a tool repeatedly over three routes in turn: a server that it starts itself, the same server
// behind plain pipes, and a host tool. `node mcp-agent.mjs stdio|http|acp own|configured CALLS ROUNDS`; it sends only the figures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [way, whose, calls, rounds] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];
const here = (file) => path.join(path.dirname(fileURLToPath(import.meta.url)), file);
const server = [process.execPath, here(whose === 'own' ? 'mcp-own-server.mjs' : 'mcp-server.mjs')];
const WARM_ROUNDS = 2;

/** JSON-RPC lines without a library: the cost is the same on all routes. */
function peer(input, output, onCall) {
  const waiting = new Map();
  let nextId = 1;
  let rest = '';
  input.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method !== undefined) {
        onCall?.(message);
        continue;
      }
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const send = (message) => output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
      send({ id, method, params });
    });
  return { send, request };
}

const pairs = (list) => Object.fromEntries(list.map(({ name, value }) => [name, value]));

function started([command, ...args], env = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const { send, request } = peer(child.stdout, child.stdin);
  return { request, notify: (method) => send({ method }), end: () => child.stdin.end() };
}

/** The same server in or behind its own process, with a shim in front: the cost of our setup without our work. */
async function piped() {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-bench-mcp-'));
  const address = path.join(dir, 's');
  const program = whose === 'own' ? ['own'] : server;
  const behind = spawn(process.execPath, [here('mcp-pipe.mjs'), 'serve', address, ...program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(behind.stdout, 'data');
  const shim = started([process.execPath, here('mcp-pipe.mjs'), 'shim', address]);
  return {
    ...shim,
    end() {
      shim.end();
      behind.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function overHttp({ url, headers }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let nextId = 1;
  let session = {};
  const post = (message) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: '2.0', ...message });
      const accept = 'application/json, text/event-stream';
      const more = { accept, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...session };
      const sent = httpRequest(url, { method: 'POST', agent, headers: { ...pairs(headers), ...more } }, (response) => {
        const id = response.headers['mcp-session-id'];
        if (id !== undefined) session = { 'mcp-session-id': id };
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const json = text.startsWith('{') ? text : /^data: (\{.*)$/m.exec(text)?.[1];
          if (json === undefined) return resolve(undefined);
          const { result, error } = JSON.parse(json);
          if (error) reject(new Error(error.message));
          else resolve(result);
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    request: (method, params) => post({ id: nextId++, method, params }),
    notify: (method) => post({ method }),
    end: () => agent.destroy(),
  };
}

function throughAcp(serverId) {
  const request = async (method, params) => (await acp.request('mcp/message', { serverId, method, params })).result;
  return { request, notify: (method) => acp.send({ method: 'mcp/message', params: { serverId, method } }), end: () => {} };
}

const hosted = () =>
  way === 'acp' ? throughAcp(entry.serverId) : way === 'http' ? overHttp(entry) : started([entry.command, ...entry.args], pairs(entry.env));

async function connected(one) {
  await one.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  await one.notify('notifications/initialized');
  const { tools } = await one.request('tools/list', {});
  const name = tools.map((tool) => tool.name).find((tool) => tool.endsWith('echo'));
  return { call: (text) => one.request('tools/call', { name, arguments: { text } }), end: one.end };
}

/** The median of the calls, in microseconds. */
async function timed({ call }) {
  const took = [];
  for (let n = 0; n < calls; n++) {
    const text = `words ${n}`;
    const from = process.hrtime.bigint();
    const { content } = await call(text);
    took.push(Number(process.hrtime.bigint() - from) / 1000);
    if (content?.[0]?.text !== text) throw new Error(`"${text}" came back as ${JSON.stringify(content)}`);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(calls / 2)];
}

async function measured() {
  const ways = { hosted: await connected(hosted()), direct: await connected(started(server)), piped: await connected(await piped()) };
  const figures = { hosted: [], direct: [], piped: [] };
  for (let round = 0; round < rounds + WARM_ROUNDS; round++)
    for (const [name, one] of Object.entries(ways)) {
      const took = await timed(one);
      if (round >= WARM_ROUNDS) figures[name].push(took);
    }
  for (const { end } of Object.values(ways)) end();
  return figures;
}

let entry;
const acp = peer(process.stdin, process.stdout, async ({ id, method, params }) => {
  const answer = (result) => acp.send({ id, result });
  if (method === 'initialize')
    return answer({ protocolVersion: 1, agentCapabilities: { mcpCapabilities: { acp: way === 'acp', http: way === 'http' } } });
  if (method === 'session/new') {
    entry = params.mcpServers.find(({ name }) => name === 'switchboard');
    return answer({ sessionId: 'bench' });
  }
  if (method !== 'session/prompt')
    return id === undefined ? undefined : acp.send({ id, error: { code: -32601, message: 'no such method' } });
  const text = await measured().then(JSON.stringify, (error) => JSON.stringify({ failure: error.message }));
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  acp.send({ method: 'session/update', params: { sessionId: 'bench', update } });
  answer({ stopReason: 'end_turn' });
});
process.stdin.on('end', () => process.exit());
