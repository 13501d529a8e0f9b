// The traces of a turn at a collector of others that takes OTLP over HTTP with JSON: Genkit's. It shows what it has understood.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '../../scripts/agents/client.mjs';
import { freePort, isOpen } from './ports.mjs';
import { COLLECTOR_VERSION, collectorTool } from './tools.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const START_MS = 60_000;
/** Parents first; a child below its parent. */
const EXPECTED = ['invoke_agent one', '  execute_tool execute', '    permission wait'];

/** Prints a line, and returns what went wrong. */
export async function checkCollector(print) {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'interop-')));
  const collector = await startCollector(dir);
  try {
    const said = await oneTurn(dir, `${collector.url}/api/otlp`);
    const traces = await collector.traces();
    const outlines = traces.map(({ spans }) => outline(Object.values(spans)));
    const found = outlines.some((lines) => lines.join('\n') === EXPECTED.join('\n'));
    const turn = traces.flatMap(({ spans }) => Object.values(spans)).find(({ displayName }) => displayName === 'invoke_agent one');
    const hasAttributes = turn?.attributes['gen_ai.agent.name'] === 'one' && turn.endTime >= turn.startTime;
    print(`telemetry server of Genkit ${COLLECTOR_VERSION}: ${found && hasAttributes ? 'understands the trace of a turn' : 'does not'}`);
    if (found && hasAttributes) return [];
    return [`the collector shows ${JSON.stringify(outlines)}, ${JSON.stringify(turn)}\n${said}\n${collector.output()}`];
  } finally {
    collector.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function oneTurn(dir, endpoint) {
  const agent = { command: process.execPath, args: [path.join(ROOT, 'test/fixtures/versatile.mjs'), 'one'] };
  const config = path.join(dir, 'config.json');
  const settings = { agent_servers: { one: agent }, telemetry: { traces: { endpoint } }, host_tools: { enabled: false } };
  writeFileSync(config, JSON.stringify(settings));
  const env = { PATH: process.env.PATH, HOME: dir, SWITCHBOARD_HOME: path.join(dir, 'state') };
  const client = new Client(process.execPath, [path.join(ROOT, 'bin/switchboard.js'), 'acp', '--config', config], { cwd: dir, env });
  await client.initialize();
  const { sessionId } = await client.request('session/new', { cwd: dir, mcpServers: [] });
  await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'tidy' }] });
  await client.close(); // sends what is left
  return client.stderr;
}

async function startCollector(dir) {
  const port = await freePort();
  const program = path.join(dir, 'collector.mjs');
  const module = pathToFileURL(path.join(collectorTool(), 'lib/cjs/index.js')).href;
  const at = JSON.stringify(path.join(dir, 'collector'));
  const store = (name) => `new ${name}({ storeRoot: ${at}, indexRoot: ${at} })`;
  mkdirSync(path.join(dir, 'collector'));
  writeFileSync(
    program,
    `import server from ${JSON.stringify(module)};
const { startTelemetryServer, LocalFileTraceStore, LocalFileLogStore } = server;
await startTelemetryServer({ port: ${port}, traceStore: ${store('LocalFileTraceStore')}, logStore: ${store('LocalFileLogStore')} });`,
  );
  const child = spawn(process.execPath, [program], { cwd: path.join(dir, 'collector'), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const until = Date.now() + START_MS;
  while (!(await isOpen(port))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`the collector does not listen\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    output: () => output,
    stop: () => child.kill(),
    async traces() {
      const read = async (path) => (await fetch(`${url}/api/traces${path}`)).json();
      const { traces } = await read('?limit=100'); // with the first span of each
      return Promise.all(traces.map(({ traceId }) => read(`/${traceId}`)));
    },
  };
}

function outline(spans) {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent, depth) =>
    spans
      .filter(({ parentSpanId }) => (parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent))
      .flatMap(({ spanId, displayName }) => [`${'  '.repeat(depth)}${displayName}`, ...below(spanId, depth + 1)]);
  return below(undefined, 0);
}
