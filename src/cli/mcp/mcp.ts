// `switchboard mcp`: offers the agents as tools to an MCP client. It is an ACP client of the proxy in the same process.

import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { VERSION } from '../../app/package-files.ts';
import type { Capabilities, PromptBlocks } from '../../client/acp-methods.ts';
import { ClientError } from '../../client/client-error.ts';
import { permissionLines } from '../../client/describe-permission.ts';
import { type AgentSessions, openAgentSessions } from '../../client/sessions.ts';
import type { Agents } from '../../mcp/agents-as-tools/agents.ts';
import { tokenKey } from '../../mcp/server/tool-server.ts';
import { type HttpHandler, type HttpListener, openHttpListener, type TokenHolder } from '../../mcp/transports/http-listener.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { stateDir } from '../../store/state-dir.ts';
import { createToolPins } from '../../store/tool-pins.ts';
import { hasTranscript, readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';
import { inProcessPair } from '../../transports/in-process.ts';
import { type AcpOptions, acp, type Served } from '../acp.ts';
import { CommandFailure } from '../failure.ts';
import { notice, noticeAtTerminal } from '../output.ts';
import { toWords } from '../records/render-transcript.ts';
import { resolveConfig } from '../resolve-config.ts';

export type McpOptions = AcpOptions & { readonly http?: string | true };

/** Serves until the client disconnects; returns the exit code. */
export async function mcp(options: McpOptions): Promise<number> {
  const port = options.http === undefined ? undefined : portOf(options.http);
  const { client, proxy: own } = inProcessPair();
  let proxy: Served | undefined;
  let started = () => {};
  const ready = new Promise<void>((resolve) => {
    started = resolve;
  });
  const proxied = acp(options, own, (served) => {
    proxy = served;
    started();
  });
  proxied.catch(() => {}); // awaited below; avoids an unhandled rejection until then
  const agents = openAgentSessions(
    client.input,
    client.output,
    { name: 'switchboard-mcp', version: VERSION },
    {
      capabilities: CAPABILITIES,
      async serve(_, method) {
        throw new ClientError(-32601, `Method not found: ${method}`);
      },
      onlyAgent: () => (proxy?.agents.length === 1 ? proxy.agents[0]?.name : undefined),
      policy: (id) => proxy?.connection.evaluatedRequest(id)?.decision,
    },
  );
  const { serveAgentsOnStdio, serveAgentsOverHttp } = await import('../../mcp/agents-as-tools/serve.ts');
  const served = { agents: agentsOf(agents), cwd: process.cwd(), version: VERSION };
  if (port === undefined) {
    noticeAtTerminal('an MCP client');
    const { close } = serveAgentsOnStdio(served);
    for (const over of ['end', 'close']) process.stdin.on(over, agents.close);
    void agents.closed.then(close);
    return proxied;
  }
  await Promise.race([ready, proxied]); // an invalid configuration is reported before anything listens
  const listener = await listen(serveAgentsOverHttp(served), port, agents);
  const code = await proxied;
  listener.close();
  return code;
}

/** Elicitations that the MCP client cannot show are declined with a reason. */
const CAPABILITIES: Capabilities = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} } },
};

/** The agents in the words of the MCP server, with the stored transcripts of earlier sessions. */
function agentsOf(agents: AgentSessions): Agents {
  const dir = transcriptsDir(stateDir(process.env, os.homedir(), process.platform));
  const stored = (sessionId: string, turn: number | undefined): string | undefined => {
    const records = readTranscript(dir, sessionId);
    const wanted = records && turn !== undefined ? turnIn(records, turn) : records;
    return wanted && toWords(wanted);
  };
  return {
    ...agents,
    prompt: (sessionId, blocks, handlers) =>
      agents.prompt(sessionId, blocks as PromptBlocks, {
        ...handlers,
        permission: (request, signal) =>
          handlers.permission({ text: permissionLines(request).join('\n'), options: request.options }, signal),
      }),
    hasTranscript: (sessionId) => agents.session(sessionId) !== undefined || hasTranscript(dir, sessionId),
    transcript: (sessionId, turn) => {
      const hasTurns = (agents.session(sessionId)?.turns ?? 0) > 0;
      return (hasTurns ? agents.transcript(sessionId, turn) : undefined) ?? stored(sessionId, turn);
    },
  };
}

/** The records of one turn, counted from 1; undefined if there is no such turn. */
function turnIn(records: readonly TranscriptRecord[], turn: number): readonly TranscriptRecord[] | undefined {
  const starts = records.flatMap(({ kind }, index) => (kind === 'prompt' ? [index] : []));
  const start = starts[turn - 1];
  return start === undefined ? undefined : records.slice(start, starts[turn]);
}

async function listen(handle: HttpHandler, port: number, agents: AgentSessions): Promise<HttpListener> {
  const given = process.env.SWITCHBOARD_MCP_TOKEN;
  const token = given !== undefined && given.length >= 32 ? given : randomBytes(32).toString('base64url');
  const client: TokenHolder = { onRevoke: () => () => {} };
  const admit = (word: string) => (tokenKey(word) === tokenKey(token) ? client : undefined);
  const listener = await new Promise<HttpListener | Error>((done) => openHttpListener({ admit, serve: async () => handle }, done, port));
  if (listener instanceof Error) {
    agents.close();
    throw new CommandFailure(
      1,
      `cannot listen on 127.0.0.1:${port}: ${listener.message}`,
      'choose another port, or omit it to use any free port',
    );
  }
  notice(`MCP at ${listener.url}`);
  if (given && token !== given) notice('ignoring SWITCHBOARD_MCP_TOKEN: it is shorter than 32 characters');
  if (token !== given)
    notice(`send the header: Authorization: Bearer ${token} (or set SWITCHBOARD_MCP_TOKEN to your own token of at least 32 characters)`);
  return listener;
}

function portOf(given: string | true): number {
  const port = given === true ? 0 : Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CommandFailure(2, `invalid port "${given}"`, 'use a whole number from 0 to 65535; 0 or no number selects any free port');
}

/** `switchboard mcp approve NAME`: accepts the current tools of a server. */
export async function approve(name: string, options: AcpOptions): Promise<number> {
  const { config, stateDir } = await resolveConfig(options);
  const pins = createToolPins(stateDir, (error) => notice(`${stateDir}: ${(error as Error).message}`));
  if (!config.mcpServers.some((server) => server.name === name)) {
    const known = config.mcpServers.map((server) => server.name);
    throw new CommandFailure(4, `unknown MCP server "${name}"`, nearestOf(name, known, 'configured servers'));
  }
  const count = pins.forget(name);
  process.stdout.write(`Approved: switchboard will accept the current definitions of ${count} tool${count === 1 ? '' : 's'} of ${name}.\n`);
  return 0;
}
