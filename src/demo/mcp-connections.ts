// The MCP servers of a session: connected in the background when the session starts, as agents do, and kept until it ends.
import type { McpServer } from '@agentclientprotocol/sdk';
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { ScenarioFailure } from './scenarios/scenario.ts';

export type McpConnections = {
  readonly names: readonly string[];
  listTools(server: string, signal: AbortSignal): Promise<Tool[]>;
  callTool(server: string, tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
};

type Connection = { readonly client: Client; close(): Promise<void> };

export function createMcpConnections(servers: readonly McpServer[], clientInfo: { name: string; version: string }): McpConnections {
  const byName = new Map<string, Promise<Connection>>();
  const closing = new AbortController();

  const connected = async (name: string): Promise<Client> => {
    const server = servers.find((candidate) => candidate.name === name);
    if (server === undefined) throw new ScenarioFailure(`I was given no MCP server called "${name}".`);
    const connection = byName.get(name) ?? connect(server, clientInfo, closing.signal);
    byName.set(name, connection);
    // Forget a failed attempt: the server may be up the next time.
    connection.catch(() => byName.delete(name));
    return (await connection).client;
  };

  const use = async <T>(name: string, signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> => {
    try {
      return await work(await unless(signal, connected(name)));
    } catch (error) {
      if (error instanceof ScenarioFailure) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new ScenarioFailure(`The MCP server "${name}" did not do it: ${reason}`, { cause: error });
    }
  };

  // The host waits for its servers to be used; one that fails now is retried by the scenario that needs it.
  for (const { name } of servers) void connected(name).catch(() => {});

  return {
    names: servers.map((server) => server.name),
    listTools: (name, signal) => use(name, signal, async (client) => (await client.listTools(undefined, { signal })).tools),
    callTool: (name, tool, args, signal) => use(name, signal, (client) => client.callTool({ name: tool, arguments: args }, { signal })),
    async close() {
      closing.abort();
      const open = await Promise.allSettled(byName.values());
      byName.clear();
      await Promise.allSettled(open.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
    },
  };
}

/** A server that never answers must not block a cancelled turn. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelled = () => reject(signal.reason);
    if (signal.aborted) cancelled();
    signal.addEventListener('abort', cancelled, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancelled));
  });
}

async function connect(server: McpServer, clientInfo: { name: string; version: string }, signal: AbortSignal): Promise<Connection> {
  // Loaded lazily: the session's answer does not wait for the larger half of the program.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(clientInfo);
  if ('type' in server) {
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } });
    await client.connect(transport, { signal });
    const close = async () => {
      await transport.terminateSession().catch(() => {}); // optional: the server may have exited, or keep no sessions
      await client.close();
    };
    return { client, close };
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
  await client.connect(new StdioClientTransport({ command: server.command, args: server.args, env }), { signal });
  return { client, close: () => client.close() };
}
