// Configured servers behind our own: `docs-search` is `search` of the server `docs`. Credentials stay in the switchboard. A server learns what
// its client can be asked when it is connected to, so agents whose MCP clients differ in that have different connections; all others share one.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { here } from '../../platform/platform.ts';
import type { ClientServer } from '../bridge/client-server.ts';
import type { HostTool, McpClient } from '../server/tool.ts';
import type { McpServerSettings } from '../settings.ts';
import { connectionKey } from './mcp-client.ts';
import { createServerSet, type ServerSet, type ServerSetOptions } from './server-set.ts';

export type Gateway = {
  /** Without a client: all that some client has. */
  tools(client?: McpClient): readonly HostTool[];
  find(name: string, client?: McpClient): HostTool | undefined;
  /** The connections for a client. */
  of(client: McpClient): ServerSet;
  /** Resolves when every server has listed its tools, or the wait is over. */
  ready(client?: McpClient): Promise<void>;
  close(): Promise<void>;
};

/** Agents with more different capabilities than this share connections on which nothing is asked. */
const MAX_SETS = 16;
/** A client that cannot be asked. */
const PLAIN: McpClient = { era: '2025', capabilities: {}, logLevel: undefined };

export function createGateway(options: ServerSetOptions): Gateway {
  const sets = new Map<string, ServerSet>();
  const reported = new Set<string>();
  const report = (text: string) => {
    if (!reported.has(text)) options.report(text);
    reported.add(text);
  };
  function setOf(client: McpClient): ServerSet {
    const key = connectionKey(client);
    const known = sets.get(key);
    if (known) return known;
    if (sets.size >= MAX_SETS && key !== connectionKey(PLAIN)) return setOf(PLAIN);
    const set = createServerSet(client, { ...options, report });
    sets.set(key, set);
    return set;
  }
  function all(): readonly HostTool[] {
    const [first, ...others] = [...sets.values()].map((set) => set.tools());
    if (!first || others.length === 0) return first ?? [];
    return [...new Map([first, ...others].flat().map((tool) => [tool.name, tool])).values()];
  }
  const tools = (client?: McpClient) => (client ? setOf(client).tools() : all());
  return {
    tools,
    find: (name, client = PLAIN) => tools(client).find((tool) => tool.name === name),
    of: setOf,
    ready: (client = PLAIN) => setOf(client).ready(),
    async close() {
      await Promise.all([...sets.values()].map((set) => set.close()));
    },
  };
}

// A configured server as if the client had brought it, for agents without the gateway.
export const clientServer = ({ name, at }: McpServerSettings): ClientServer =>
  'url' in at ? { kind: 'http', name, ...at } : { kind: 'stdio', name, command: at.command, args: at.args, env: at.env };

/** The `mcpServers` entry as JSON text; undefined if the program cannot be found. */
export function directEntry({ name, at }: McpServerSettings, env: NodeJS.ProcessEnv): string | undefined {
  if ('url' in at) return JSON.stringify({ type: 'http', name, url: at.url, headers: pairs(at.headers) });
  const command = findProgram(at.command, env);
  return command === undefined ? undefined : JSON.stringify({ name, command, args: at.args, env: pairs(at.env) });
}

const pairs = (values: Readonly<Record<string, string>>) => Object.entries(values).map(([name, value]) => ({ name, value }));

/** Agents need an absolute path. */
function findProgram(command: string, env: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(command)) return command;
  const endings = here.programEndings(env, command);
  const places = command.includes(path.sep) ? [process.cwd()] : (env.PATH ?? '').split(path.delimiter).filter((dir) => dir !== '');
  return places.flatMap((dir) => endings.map((ending) => path.resolve(dir, `${command}${ending}`))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
