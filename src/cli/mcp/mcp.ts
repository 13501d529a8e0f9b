// `switchboard mcp`: offers the agents as tools to an MCP client. It is an ACP client of the proxy in the same process.

import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { VERSION } from '../../app/package-files.ts';
import type { AgentSessions } from '../../client/sessions.ts';
import { tokenKey } from '../../mcp/server/tool-server.ts';
import { type HttpHandler, type HttpListener, openHttpListener, type TokenHolder } from '../../mcp/transports/http-listener.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { stateDir } from '../../store/state-dir.ts';
import { createToolPins } from '../../store/tool-pins.ts';
import { inProcessPair } from '../../transports/in-process.ts';
import { type AcpOptions, acp, type Served } from '../acp.ts';
import { CommandFailure } from '../failure.ts';
import { notice, noticeAtTerminal } from '../output.ts';
import { resolveConfig } from '../resolve-config.ts';
import { mcpAgents, openMcpSessions } from './agents.ts';

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
  const agents = openMcpSessions(client, {
    onlyAgent: () => (proxy?.agents.length === 1 ? proxy.agents[0]?.name : undefined),
    policy: (id) => proxy?.connection.evaluatedRequest(id)?.decision,
  });
  const { serveAgentsOnStdio, serveAgentsOverHttp } = await import('../../mcp/agents-as-tools/serve.ts');
  const served = { agents: mcpAgents(agents, stateDir(process.env, os.homedir(), process.platform)), cwd: process.cwd(), version: VERSION };
  if (port === undefined) {
    noticeAtTerminal('an MCP client');
    const { close } = serveAgentsOnStdio(served);
    for (const over of ['end', 'close']) process.stdin.on(over, agents.close);
    void agents.closed.then(close);
    return proxied;
  }
  await Promise.race([ready, proxied]); // an invalid configuration is reported before anything listens
  const listener = await listen(serveAgentsOverHttp(served).handle, port, agents);
  const code = await proxied;
  listener.close();
  return code;
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
