// `npm run interop`: the built command with programs of others: the official MCP conformance suite and the Inspector, agents that serve ACP over the
// network, and a collector. node test/interop/run.mjs [mcp|bridges|gateway|inspector|agents|collector …]
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkAgents } from './agents.mjs';
import { startBridge, startFixture } from './bridged.mjs';
import { checkCollector } from './collector.mjs';
import { REVISIONS, runConformance, startRelay } from './conformance.mjs';
import { LIMITS } from './limits.mjs';
import { mcpTools } from './tools.mjs';

const SWITCHBOARD = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const parts = process.argv.slice(2);
const wants = (part) => parts.length === 0 || parts.includes(part);
const wantsMcp = ['mcp', 'inspector', 'bridges', 'gateway'].some(wants);
const tools = wantsMcp ? mcpTools() : undefined;
const problems = [];
const print = (line) => process.stdout.write(`${line}\n`);

/** A check that only fails because the suite's own tool, prompt or resource is not there. */
const ABSENT =
  /Unknown (tool|prompt): |There is no resource test:|Not testable: server |not found\. Available tools|did not return|Prerequisite failed|Expected InputRequiredResult|MUST create a task|not create a task|could not be exercised|fixture from Check 2 unavailable|call for failing_job/;

async function againstMcp() {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'interop-'));
  const token = randomBytes(24).toString('hex');
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: dir, SWITCHBOARD_HOME: path.join(dir, 'state'), SWITCHBOARD_MCP_TOKEN: token };
  const child = spawn(process.execPath, [SWITCHBOARD, 'mcp', '--http'], { cwd: dir, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      const found = /MCP at (\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
  });
  const relay = await startRelay(url, { authorization: `Bearer ${token}` });
  try {
    if (wants('mcp'))
      for (const revision of REVISIONS) {
        const results = [...(await runConformance(tools, relay.url, revision))];
        const absent = results.filter(([, failed]) => failed.length > 0 && failed.every(({ message }) => ABSENT.test(message)));
        const wrong = results.filter(([, failed]) => failed.some(({ message }) => !ABSENT.test(message)));
        print(
          `mcp --http, ${revision}: ${results.length - absent.length - wrong.length} scenarios pass, ${absent.length} want tools of the suite's own server`,
        );
        for (const [scenario, [{ message }]] of absent) print(`  ${scenario}: ${message.split('\n')[0].slice(0, 100)}`);
        for (const [scenario, failed] of wrong)
          for (const { message } of failed) if (!ABSENT.test(message)) problems.push(`mcp --http ${revision} ${scenario}: ${message}`);
      }
    if (wants('inspector')) inspect(url, token, { cwd: dir, env });
  } finally {
    relay.close();
    child.kill();
    await new Promise((resolve) => child.on('close', resolve));
    rmSync(dir, { recursive: true });
  }
}

function inspect(url, token, { cwd, env }) {
  const calls = [
    ['--method', 'tools/list', '--strict'],
    ['--method', 'resources/list'],
    ['--method', 'resources/templates/list'],
    ['--method', 'prompts/list'],
    ['--method', 'tools/call', '--tool-name', 'list_agents'],
    ['--method', 'tools/call', '--tool-name', 'start_session'],
  ];
  const ways = {
    http: [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`],
    stdio: [process.execPath, SWITCHBOARD, 'mcp'],
  };
  for (const [way, target] of Object.entries(ways))
    for (const args of calls) {
      const { status, stdout, stderr } = spawnSync(tools.node, [tools.inspector, '--cli', ...target, ...args], {
        encoding: 'utf8',
        cwd,
        env,
      });
      const what = `inspector (${way}) ${args.join(' ')}`;
      print(`${what}: ${status === 0 ? 'valid' : 'fails'}`);
      if (status !== 0) problems.push(`${what}: ${(stderr || stdout).slice(0, 500)}`);
    }
}

const PREFIX = 'f-';
/** The gateway puts the server's name before those of tools and prompts. */
const renamed = {
  request(body, headers) {
    if (/^(test_|json_schema)/.test(headers['mcp-name'] ?? '')) headers['mcp-name'] = `${PREFIX}${headers['mcp-name']}`;
    return Buffer.from(body.toString('utf8').replace(/"name":"(test_|json_schema)/g, `"name":"${PREFIX}$1`));
  },
  response: (chunk) => Buffer.from(chunk.toString('utf8').replaceAll(`"name":"${PREFIX}`, '"name":"')),
};

/** The SSE transport has the 2025 era only. A server over HTTP is bridged to agents on stdio, which the suite reaches in the 2025 era only. */
const kinds = (revision) => [
  ...(wants('bridges') ? ['stdio', ...(revision.startsWith('2025') ? ['http', 'sse'] : []), 'acp'] : []),
  ...(wants('gateway') ? ['gateway'] : []),
];

/** Everything that passes directly must pass through us. */
async function throughUs() {
  const [fixture, sse] = [await startFixture('http'), await startFixture('sse')];
  try {
    for (const revision of REVISIONS) {
      const direct = await runConformance(tools, fixture.url, revision);
      const passing = [...direct].filter(([, failed]) => failed.length === 0).map(([scenario]) => scenario);
      print(`the suite's server directly, ${revision}: ${passing.length} of ${direct.size} scenarios pass`);
      for (const kind of kinds(revision)) {
        const bridge = await startBridge(kind, kind === 'sse' ? sse.url : fixture.url);
        const relay = await startRelay(bridge.url, bridge.headers, kind === 'gateway' ? renamed : undefined);
        const results = await runConformance(tools, relay.url, revision);
        const limits = LIMITS[kind]?.[revision] ?? {};
        const lost = passing.filter((scenario) => (results.get(scenario)?.length ?? 1) > 0);
        print(
          `  behind ${kind === 'gateway' ? 'the gateway' : `a bridge (${kind})`}: ${passing.length - lost.length} pass, ${lost.length} do not`,
        );
        for (const scenario of lost)
          if (!Object.hasOwn(limits, scenario))
            problems.push(`${kind} ${revision} ${scenario}: ${results.get(scenario)?.[0]?.message ?? 'did not run'}`);
        for (const scenario of Object.keys(limits))
          if (!lost.includes(scenario)) problems.push(`${kind} ${revision} ${scenario} passes: remove it from test/interop/limits.mjs`);
        relay.close();
        await bridge.close();
      }
    }
  } finally {
    fixture.close();
    sse.close();
  }
}

if (wants('mcp') || wants('inspector')) await againstMcp();
if (wants('bridges') || wants('gateway')) await throughUs();
if (wants('agents')) problems.push(...(await checkAgents(print)));
if (wants('collector')) problems.push(...(await checkCollector(print)));
for (const problem of problems) print(`✗ ${problem}`);
print(problems.length === 0 ? 'interop: everything as expected' : `interop: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 8;
