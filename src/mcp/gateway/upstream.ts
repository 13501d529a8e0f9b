// One configured MCP server: connected when a session first needs tools, and reconnected after it exits.
import { Client, StreamableHTTPClientTransport, type Tool, type Transport } from '@modelcontextprotocol/client';
import { type CallContext, type ToolArgs, ToolFailure, type ToolOutcome } from '../server/tool.ts';
import type { McpServerSettings } from '../settings.ts';
import { type Children, type ServerCalls, serverCalls, serverProcess } from './server-process.ts';
export type UpstreamEvents = {
  readonly onTools: (tools: readonly Tool[]) => void;
  readonly onDown: (why: string) => void;
  readonly children: Children | undefined;
};

export type Upstream = {
  /** Resolves once it has listed its tools, or failed to. */
  start(): Promise<void>;
  call(tool: string, args: ToolArgs, context: CallContext): Promise<ToolOutcome>;
  close(): Promise<void>;
};

type Connected = { readonly client: Client; readonly calls: ServerCalls | undefined };

const CONNECT_MS = 30_000;
/** The tool's own limit ends the call by its signal. */
const CALL_MS = 2 ** 31 - 1;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

export function createUpstream(settings: McpServerSettings, version: string, on: UpstreamEvents): Upstream {
  let client: Promise<Connected> | undefined;
  let retryMs = FIRST_RETRY_MS;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  function connected(): Promise<Connected> {
    if (isClosed) return Promise.reject(new ToolFailure('switchboard is shutting down'));
    client ??= connect().catch((error: unknown) => {
      client = undefined;
      throw new ToolFailure(
        `the MCP server "${settings.name}" is not available: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    return client;
  }
  async function connect(): Promise<Connected> {
    const one = new Client(
      { name: 'acp-switchboard', version },
      { listChanged: { tools: { onChanged: (error, tools) => void (!error && tools && on.onTools(tools)) } } },
    );
    const { transport, calls } = transportTo(settings, on.children);
    await one.connect(transport, { timeout: CONNECT_MS });
    one.onclose = () => {
      client = undefined;
      calls?.over(`the MCP server "${settings.name}" has ended`);
      if (isClosed) return;
      on.onDown('it has ended');
      again();
    };
    on.onTools((await one.listTools()).tools);
    retryMs = FIRST_RETRY_MS;
    return { client: one, calls: one.getNegotiatedProtocolVersion()?.startsWith('2025') ? calls : undefined };
  }
  /** Retries in the background, less and less often; a call retries at once. */
  function again(): void {
    clearTimeout(retry);
    retry = setTimeout(() => void self.start(), retryMs);
    retry.unref();
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  const self: Upstream = {
    async start() {
      try {
        await connected();
      } catch (error) {
        if (isClosed) return;
        on.onDown((error as Error).message);
        again();
      }
    },
    async call(tool, args, context) {
      const { client: one, calls } = await connected();
      if (calls) return calls.call(tool, args, context);
      const { signal, progress } = context;
      try {
        const onprogress = ({ message }: { message?: string | undefined }) => {
          if (message !== undefined) progress(message);
        };
        return await one.callTool({ name: tool, arguments: { ...args } }, { signal, onprogress, timeout: CALL_MS });
      } catch (error) {
        if (signal.aborted) throw error;
        throw new ToolFailure(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await client?.then((one) => one.client.close()).catch(() => {});
    },
  };
  return self;
}

/** `calls` is a faster path for calls, if there is one. */
function transportTo(
  { at }: McpServerSettings,
  children: Children | undefined,
): { readonly transport: Transport; readonly calls?: ServerCalls } {
  if ('url' in at) return { transport: new StreamableHTTPClientTransport(new URL(at.url), { requestInit: { headers: at.headers } }) };
  const transport = serverProcess(at, children);
  return { transport, calls: serverCalls(transport) };
}
