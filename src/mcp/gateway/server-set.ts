// Connections to all configured servers, for MCP clients with the same capabilities. Agents read the tools' descriptions, so those are
// cleaned, and a tool that changed since it was first seen is not offered.
import type { Tool } from '@modelcontextprotocol/client';
import { unusableArgument } from '../server/portable-schema.ts';
import { portableName } from '../server/portable-tool.ts';
import type { HostTool, McpClient } from '../server/tool.ts';
import type { McpServerSettings } from '../settings.ts';
import { cleanTool, type ForeignTool, hashOf } from './clean-tool.ts';
import { createContent, type ForeignContent } from './content.ts';
import { askable, moreVerbose } from './mcp-client.ts';
import type { Logins } from './oauth.ts';
import type { Children } from './server-process.ts';
import type { Upstream } from './upstream.ts';

/** The hash under which a tool was first seen; `keep` stores it. */
export type Pins = { find(server: string, tool: string): string | undefined; keep(server: string, tool: string, hash: string): void };

export type ServerSetOptions = {
  readonly servers: readonly McpServerSettings[];
  readonly version: string;
  readonly pins: Pins;
  readonly onChange: () => void;
  /** Whether agents may see the tool of a server, or its `resources/read` and `prompts/get`. */
  readonly isExposed: (server: string, tool: string) => boolean;
  /** Reports each text once. */
  readonly report: (text: string) => void;
  readonly children: Children | undefined;
  /** Logins at servers over HTTP. */
  readonly logins?: Logins | undefined;
  /** What the ACP client offers for agents whose MCP client has no elicitation; undefined if nothing. */
  readonly elicitation: () => Readonly<Record<string, unknown>> | undefined;
};

export type ServerSet = {
  tools(): readonly HostTool[];
  readonly content: ForeignContent;
  /** Resolves when every server has listed its tools, or the wait is over. */
  ready(): Promise<void>;
  /** From now on at least messages of this level are wanted. */
  setLogLevel(level: string): void;
  /** The roots of a client have changed. */
  rootsChanged(): void;
  close(): Promise<void>;
};

const DOWN = '[not available at the moment]';
const CALL_MS = 300_000;
/** Agents list tools once, when a session starts, so waiting is worth it. */
const READY_MS = 10_000;

/** `client` stands for all clients that share these connections. */
export function createServerSet(client: McpClient, options: ServerSetOptions): ServerSet {
  const { servers, version, pins, onChange, isExposed, report: once, children, logins, elicitation } = options;
  const tools = new Map<string, readonly HostTool[]>();
  /** Of all servers; read for every call. */
  let all: readonly HostTool[] = [];
  const changed = () => {
    all = [...tools.values()].flat();
    onChange();
  };
  const upstreams: Upstream[] = [];
  const foreign = createContent(isExposed);
  let starting: Promise<void> | undefined;
  let logLevel: string | undefined;

  async function start(): Promise<void> {
    const loaded = await import('./upstream.ts').catch((error: Error) => {
      once(
        `no MCP server of the configuration is available: what starts them could not be loaded (${error.message}); only a new start helps`,
      );
    });
    if (!loaded) return;
    const { createUpstream } = loaded;
    const elicits = elicitation();
    const started = servers.map((settings) => {
      const { name } = settings;
      const upstream: Upstream = createUpstream(settings, version, {
        era: client.era,
        capabilities: { ...(elicits && { elicitation: elicits }), ...askable(client) },
        children,
        logins,
        onTools(listed) {
          tools.set(name, offered(name, listed, upstream));
          changed();
        },
        onContent(content) {
          foreign.set(name, { content, reader: upstream });
          onChange();
        },
        onDown(what) {
          once(`${what}; it is tried again`);
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
      if (logLevel !== undefined) upstream.setLogLevel(logLevel);
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
      const unusable = unusableArgument(tool.inputSchema);
      if (unusable !== undefined) {
        once(`${server}-${tool.name} is not offered: it requires an argument named ${JSON.stringify(unusable)}, which no model API takes`);
        return [];
      }
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
    content: foreign.content,
    ready() {
      starting ??= start();
      return starting;
    },
    setLogLevel(level) {
      logLevel = moreVerbose(logLevel, level);
      for (const upstream of upstreams) upstream.setLogLevel(logLevel);
    },
    rootsChanged() {
      for (const upstream of upstreams) upstream.rootsChanged();
    },
    async close() {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

function hostTool(server: string, { name, title, description, inputSchema }: ForeignTool, upstream: Upstream): HostTool {
  return {
    name: portableName(`${server}-${name}`),
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
