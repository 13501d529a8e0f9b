// The network of a contained agent: hosts by name, ports of this machine, and host tools.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Message, openSandboxSession } from './support.ts';

async function model(): Promise<Server & AsyncDisposable & { readonly port: number }> {
  const server = createServer((_, response) => response.end('from the model'));
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  return Object.assign(server, {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  });
}

const get = (url: string): string =>
  `node -e 'fetch("${url}").then((r) => r.text()).then(console.log, (e) => { console.log(e.cause?.code ?? e.message); process.exit(1) })'`;
/** Node 20 knows no proxy settings. */
const connectTo = (host: string): string =>
  `node -e 'const s = require("net").connect(3128, "127.0.0.1"); s.end("CONNECT ${host}:443 HTTP/1.1\\r\\n\\r\\n"); s.pipe(process.stdout)'`;

test.each(['listed', 'none'])('with network %s only listed ports of this machine can be reached', async (network) => {
  await using local = await model();
  await using it = await openSandboxSession({ sandbox: { level: 'workspace', network, hosts: [`localhost:${local.port}`] } });
  expect(await it.run(get(`http://127.0.0.1:${local.port}/`))).toMatch(network === 'listed' ? /from the model/ : /ECONNREFUSED/);
});

test('the address of a model in the agent’s own environment is reachable', async () => {
  await using local = await model();
  const env = { MODEL_URL: `http://127.0.0.1:${local.port}/v1` };
  await using it = await openSandboxSession({ sandbox: { level: 'workspace', network: 'listed' }, agent: { env } });
  expect(await it.run(get(`http://127.0.0.1:${local.port}/`))).toMatch(/from the model/);
});

test('a host that is not listed is refused, and the refusal is reported', async () => {
  await using it = await openSandboxSession({ sandbox: { level: 'workspace', network: 'listed', hosts: ['listed.invalid'] } });
  expect(await it.run(connectTo('other.invalid'))).toMatch(/403 Forbidden[\s\S]*not in the list/);
  expect(await it.run(connectTo('listed.invalid'))).toMatch(/listed.invalid cannot be found/);
  expect(it.stderr()).toMatch(/the sandbox refused agent "scripts" a connection to other.invalid:443/);
});

test('a policy that asks holds the connection while the user is asked, and the decision is audited', async () => {
  const policy = {
    version: 1,
    default: 'allow',
    ask: [{ id: 'net', action: 'fetch' }],
    agents: { '*': { sandbox: 'workspace', network: 'listed' } },
  };
  await using it = await openSandboxSession({ policy });
  const asked: Message[] = [];
  it.answer = (message) => {
    asked.push(message);
    const optionId = message.params.toolCall.rawInput.host === 'good.invalid' ? 'allow' : 'reject';
    return { result: { outcome: { outcome: 'selected', optionId } } };
  };
  expect(await it.run(connectTo('bad.invalid'))).toMatch(/the user did not allow it/);
  expect(await it.run(connectTo('good.invalid'))).toMatch(/good.invalid cannot be found/); // allowed, and there is no such host
  expect(asked.map(({ params }) => params.toolCall.title)).toEqual(['Connect to bad.invalid:443', 'Connect to good.invalid:443']);
  const audit = readFileSync(path.join(it.state, 'audit.jsonl'), 'utf8');
  expect(audit).toMatch(/bad\.invalid/);
  expect(audit).toMatch(/good\.invalid/);
});

const CALL_HTTP = `node -e '
const [server] = JSON.parse(process.argv[1]).filter(({ name }) => name === "switchboard");
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...Object.fromEntries(server.headers.map(({ name, value }) => [name, value])) };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } });
fetch(server.url, { method: "POST", headers, body }).then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause)));
' '$MCP_SERVERS'`;
const CALL_STDIO = `node -e '
const [server] = JSON.parse(process.argv[1]).filter(({ name }) => name === "switchboard");
const env = { ...process.env, ...Object.fromEntries(server.env.map(({ name, value }) => [name, value])) };
const child = require("child_process").spawn(server.command, server.args, { env, stdio: ["pipe", "pipe", "inherit"] });
child.stdout.on("data", (d) => { console.log(String(d)); process.exit(0) });
child.on("exit", (code) => process.exit(code));
child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } }) + "\\n");
' '$MCP_SERVERS'`;

describe.each(['open', 'listed', 'none'])('with network %s', (network) => {
  test.each([
    ['http', ['--http'], CALL_HTTP],
    ['the shim', [], CALL_STDIO],
  ])('host tools can be reached over %s', async (_, agentArgs, script) => {
    await using it = await openSandboxSession({ sandbox: { level: 'workspace', network }, agentArgs });
    expect(await it.run(script)).toMatch(/"serverInfo"/);
  });
});

test('an MCP server that switchboard starts is contained by the key for all', async () => {
  const code = `const fs = require("fs"); const out = []; for (const f of [process.argv[1], "/tmp/inside"]) try { fs.writeFileSync(f, "x"); out.push("written"); } catch (e) { out.push(e.code); }
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => { const { id, method } = JSON.parse(line); if (id === undefined) return;
      const result = method === "initialize" ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "w", version: "1" } } : { tools: [{ name: out.join("-").toLowerCase(), inputSchema: { type: "object" } }] };
      console.log(JSON.stringify({ jsonrpc: "2.0", id, result })); });`;
  const list = CALL_HTTP.replace('method: "initialize"', 'method: "tools/list"');
  await using it = await openSandboxSession({
    agentArgs: ['--http'],
    config: {
      sandbox: 'workspace',
      mcp_servers: [{ name: 'writer', command: process.execPath, args: ['-e', code, '/var/outside-of-everything'] }],
    },
  });
  expect(await it.run(list)).toMatch(/erofs-written/);
});
