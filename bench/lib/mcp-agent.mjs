// An ACP agent that, when prompted, calls a tool over and over: of a server it starts itself, and of the same server behind the tools it was
// lent, in turns. `node mcp-agent.mjs stdio|acp CALLS ROUNDS`; the figures are its only words.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [way, calls, rounds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const echo = [process.execPath, path.join(path.dirname(fileURLToPath(import.meta.url)), 'mcp-server.mjs')];
const WARM_ROUNDS = 2;

/** Lines of JSON-RPC, with no library in between: whatever it costs is the same on both ways. */
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

function started([command, ...args], env = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const { send, request } = peer(child.stdout, child.stdin);
  return { request, notify: (method) => send({ method }), end: () => child.stdin.end() };
}

async function connected(server) {
  await server.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  server.notify('notifications/initialized');
  const { tools } = await server.request('tools/list', {});
  const name = tools.map((tool) => tool.name).find((tool) => tool.endsWith('echo'));
  return { call: (text) => server.request('tools/call', { name, arguments: { text } }), end: server.end };
}

/** Microseconds of each call. */
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
  const lent = await connected(
    way === 'acp'
      ? throughAcp(entry.serverId)
      : started([entry.command, ...entry.args], Object.fromEntries(entry.env.map(({ name, value }) => [name, value]))),
  );
  const direct = await connected(started(echo));
  const figures = { lent: [], direct: [] };
  for (let round = 0; round < rounds + WARM_ROUNDS; round++) {
    const sample = { lent: await timed(lent), direct: await timed(direct) };
    if (round < WARM_ROUNDS) continue;
    figures.lent.push(sample.lent);
    figures.direct.push(sample.direct);
  }
  for (const { end } of [lent, direct]) end();
  return figures;
}

function throughAcp(serverId) {
  const request = async (method, params) => (await acp.request('mcp/message', { serverId, method, params })).result;
  return { request, notify: (method) => acp.send({ method: 'mcp/message', params: { serverId, method } }), end: () => {} };
}

let entry;
const acp = peer(process.stdin, process.stdout, async ({ id, method, params }) => {
  const answer = (result) => acp.send({ id, result });
  if (method === 'initialize') return answer({ protocolVersion: 1, agentCapabilities: { mcpCapabilities: { acp: way === 'acp' } } });
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
