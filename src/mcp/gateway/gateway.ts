// The tools of configured servers: `docs-search` is `search` of the server `docs`. Credentials stay in the switchboard. Agents read the
// tools' descriptions, so those are cleaned, and a tool that changed since it was first seen is not offered.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import type { Tool } from '@modelcontextprotocol/client';
import type { ClientServer } from '../bridge/client-server.ts';
import type { HostTool } from '../server/tool.ts';
import type { McpServerSettings } from '../settings.ts';
import { cleanTool, type ForeignTool, hashOf } from './clean-tool.ts';
import type { Children } from './server-process.ts';
import type { Upstream } from './upstream.ts';

/** The hash under which a tool was first seen; `keep` stores it. */
export type Pins = { find(server: string, tool: string): string | undefined; keep(server: string, tool: string, hash: string): void };

export type GatewayOptions = {
  readonly servers: readonly McpServerSettings[];
  readonly version: string;
  readonly pins: Pins;
  readonly onChange: () => void;
  readonly report: (text: string) => void;
  readonly children: Children | undefined;
};

export type Gateway = {
  tools(): readonly HostTool[];
  /** Resolves when every server has listed its tools, or the wait is over. */
  ready(): Promise<void>;
  close(): Promise<void>;
};

const DOWN = '[not available at the moment]';
const CALL_MS = 300_000;
/** Agents list tools once, when a session starts, so waiting is worth it. */
const READY_MS = 10_000;

export function createGateway({ servers, version, pins, onChange, report, children }: GatewayOptions): Gateway {
  const tools = new Map<string, readonly HostTool[]>();
  /** Of all servers; read for every call. */
  let all: readonly HostTool[] = [];
  const changed = () => {
    all = [...tools.values()].flat();
    onChange();
  };
  const upstreams: Upstream[] = [];
  const reported = new Set<string>();
  const once = (text: string) => {
    if (!reported.has(text)) report(text);
    reported.add(text);
  };
  let starting: Promise<void> | undefined;

  async function start(): Promise<void> {
    const loaded = await import('./upstream.ts').catch((error: Error) => {
      once(
        `no MCP server of the configuration is available: what starts them could not be loaded (${error.message}); only a new start helps`,
      );
    });
    if (!loaded) return;
    const { createUpstream } = loaded;
    const started = servers.map((settings) => {
      const { name } = settings;
      const upstream: Upstream = createUpstream(settings, version, {
        children,
        onTools(listed) {
          tools.set(name, offered(name, listed, upstream));
          changed();
        },
        onDown(why) {
          once(`the MCP server "${name}" is not available: ${why}; it is tried again`);
          const known = tools.get(name);
          if (!known || known.some(({ description }) => description.startsWith(DOWN))) return;
          // Still listed: a call reconnects at once, and agents that list only once keep the tools.
          tools.set(
            name,
            known.map((tool) => ({ ...tool, description: `${DOWN} ${tool.description}` })),
          );
          changed();
        },
      });
      upstreams.push(upstream);
      return upstream.start();
    });
    await Promise.race([Promise.all(started), new Promise((resolve) => setTimeout(resolve, READY_MS).unref())]);
  }
  function offered(server: string, listed: readonly Tool[], upstream: Upstream): readonly HostTool[] {
    return listed.flatMap((raw) => {
      const cleaned = cleanTool(raw);
      if (!cleaned) {
        once(`a tool of the MCP server "${server}" is not offered: its name is not usable`);
        return [];
      }
      const { tool, removed } = cleaned;
      if (removed > 0) once(`the description of ${server}-${tool.name} held ${removed} characters that nobody sees; they were removed`);
      return isAsPinned(server, tool) ? [hostTool(server, tool, upstream)] : [];
    });
  }
  function isAsPinned(server: string, tool: ForeignTool): boolean {
    const hash = hashOf(tool);
    const pinned = pins.find(server, tool.name);
    if (pinned === undefined) pins.keep(server, tool.name, hash);
    if (pinned === undefined || pinned === hash) return true;
    once(
      `${server}-${tool.name} is not offered: it has changed since it was first seen. If that is right: switchboard mcp approve ${server}`,
    );
    return false;
  }

  return {
    tools: () => all,
    ready() {
      starting ??= start();
      return starting;
    },
    async close() {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

function hostTool(server: string, { name, title, description, inputSchema }: ForeignTool, upstream: Upstream): HostTool {
  return {
    name: `${server}-${name}`,
    ownName: name,
    title: title ?? name,
    description,
    inputSchema,
    effect: 'foreign', // a tool's own annotations are no evidence
    needs: [],
    timeoutMs: CALL_MS,
    server,
    run: (args, context) => upstream.call(name, args, context),
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
function findProgram(command: string, { PATH = '', PATHEXT = '' }: NodeJS.ProcessEnv): string | undefined {
  if (path.isAbsolute(command)) return command;
  const endings = process.platform === 'win32' ? PATHEXT.split(';') : [''];
  const places = command.includes(path.sep) ? [process.cwd()] : PATH.split(path.delimiter).filter((dir) => dir !== '');
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
