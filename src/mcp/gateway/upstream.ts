// One configured MCP server: connected when a session first needs tools, and reconnected after it exits.
import {
  Client,
  type LoggingLevel,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { createForwarder, type Forwarder } from '../bridge/forward.ts';
import { createResourceWatch } from '../bridge/watch-resources.ts';
import { type CallContext, type McpClient, type RunOutcome, ServerError, type ToolArgs, ToolFailure } from '../server/tool.ts';
import type { McpServerSettings } from '../settings.ts';
import { type ContentReader, NO_CONTENT, type UpstreamContent } from './content.ts';
import { answerer, forwarded, isPlain } from './mcp-client.ts';
import { type Logins, loginHint, oauthProvider } from './oauth.ts';
import { type Children, progressText, readOutcome, type ServerCalls, serverCalls, serverProcess } from './server-process.ts';

export type UpstreamEvents = {
  /** The era of the clients that this connection is for. */
  readonly era: McpClient['era'];
  /** What the server may ask of them. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly onTools: (tools: readonly Tool[]) => void;
  readonly onContent: (content: UpstreamContent) => void;
  /** With a sentence that names the server. */
  readonly onDown: (what: string) => void;
  readonly children: Children | undefined;
  readonly logins: Logins | undefined;
};

export type Upstream = ContentReader & {
  /** Resolves once it has listed its tools, or failed to. */
  start(): Promise<void>;
  call(tool: string, args: ToolArgs, context: CallContext): Promise<RunOutcome>;
  setLogLevel(level: string): void;
  rootsChanged(): void;
  close(): Promise<void>;
};

type Connected = { readonly client: Client; readonly forwarder: Forwarder; readonly calls: ServerCalls | undefined };
type Result = Readonly<Record<string, unknown>>;

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
  let logLevel: string | undefined;
  const resources = createResourceWatch();

  function connected(): Promise<Connected> {
    if (isClosed) return Promise.reject(new ToolFailure('switchboard is shutting down'));
    client ??= connect().catch((error: unknown) => {
      client = undefined;
      throw new ToolFailure(`the MCP server "${settings.name}" is not available: ${reasonOf(error, settings.name)}`);
    });
    return client;
  }
  async function connect(): Promise<Connected> {
    // A client of the 2026 era can have all of a server of its era. Most servers are of the 2025 era, and some exit when they are asked for
    // another.
    if (on.era === '2025') return connectIn('legacy');
    return connectIn('auto').catch(() => connectIn('legacy'));
  }
  async function connectIn(mode: 'legacy' | 'auto'): Promise<Connected> {
    const one: Client = new Client(
      { name: 'acp-switchboard', version },
      {
        capabilities: on.capabilities,
        versionNegotiation: { mode },
        listChanged: {
          tools: { onChanged: (error, tools) => void (!error && tools && on.onTools(tools)) },
          prompts: { onChanged: () => void listContent(one) },
          resources: { onChanged: () => void listContent(one) },
        },
      },
    );
    const { transport, calls } = transportTo(settings, on);
    await one.connect(transport, { timeout: CONNECT_MS });
    const forwarder = createForwarder(one, transport);
    resources.connected(one);
    setLevelOf(one);
    one.onclose = () => {
      client = undefined;
      calls?.over(ended);
      if (isClosed) return;
      on.onDown(`the MCP server "${settings.name}" has ended`);
      again();
    };
    const { tools } = one.getServerCapabilities() ?? {};
    on.onTools(tools === undefined ? [] : (await one.listTools()).tools);
    await listContent(one);
    retryMs = FIRST_RETRY_MS;
    return { client: one, forwarder, calls: one.getNegotiatedProtocolVersion()?.startsWith('2025') ? calls : undefined };
  }
  /** In the 2026 era every request has its level. */
  function setLevelOf(one: Client): void {
    const isNeeded = logLevel !== undefined && one.getServerCapabilities()?.logging !== undefined;
    if (isNeeded && one.getNegotiatedProtocolVersion()?.startsWith('2025'))
      void one.setLoggingLevel(logLevel as LoggingLevel).catch(() => {});
  }
  /** A server that cannot list what it announces has none of it. */
  async function listContent(one: Client): Promise<void> {
    const { prompts, resources } = one.getServerCapabilities() ?? {};
    if (prompts === undefined && resources === undefined) return on.onContent(NO_CONTENT);
    const none = () => undefined;
    const [listed, found, templates] = await Promise.all([
      prompts === undefined ? undefined : one.listPrompts().catch(none),
      resources === undefined ? undefined : one.listResources().catch(none),
      resources === undefined ? undefined : one.listResourceTemplates().catch(none),
    ]);
    on.onContent({
      prompts: listed?.prompts ?? [],
      resources: found?.resources ?? [],
      templates: templates?.resourceTemplates ?? [],
    });
  }
  /** Retries in the background, less and less often; a call retries at once. */
  function again(): void {
    clearTimeout(retry);
    retry = setTimeout(() => void self.start(), retryMs);
    retry.unref();
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
  }

  const ended = `the MCP server "${settings.name}" has ended`;
  function failure(error: unknown, { signal, mcp }: CallContext): unknown {
    if (signal.aborted) return error;
    if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return new ToolFailure(ended);
    const reason = reasonOf(error, settings.name);
    return mcp?.client.era === '2026' && error instanceof ProtocolError
      ? new ServerError(reason, { code: error.code, data: error.data, cause: error })
      : new ToolFailure(reason, { cause: error });
  }
  /** `plainly` is enough for a client that cannot be asked and wants no log messages. */
  async function request(
    method: string,
    params: Result,
    context: CallContext,
    plainly: (at: Connected) => Promise<Result>,
  ): Promise<Result> {
    const at = await connected();
    const { mcp, host } = context;
    const { elicit } = host;
    try {
      if (mcp && !isPlain(mcp.client)) return await at.forwarder.forward({ method, params }, forwarded(settings.name, context, mcp));
      if (!elicit) return await plainly(at);
      const answer = answerer(settings.name, context);
      const done = at.forwarder.track({
        owner: host.sessionId,
        ask: async (message) => ({ ...(await answer(message)) }),
        notify: () => {},
      });
      return await plainly(at).finally(done);
    } catch (error) {
      throw failure(error, context);
    }
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
      const { traceparent } = context;
      const params = { name: tool, arguments: { ...args }, ...(traceparent !== undefined && { _meta: { traceparent } }) };
      const plainly = ({ client: one, calls }: Connected) => {
        if (calls) return calls.call(tool, args, context);
        const { signal, progress } = context;
        const onprogress = (step: Parameters<typeof progressText>[0]) => progress(progressText(step));
        return one.callTool(params, { signal, onprogress, timeout: CALL_MS });
      };
      const result = await request('tools/call', params, context, plainly);
      if (result.resultType === 'input_required') return result as RunOutcome;
      const outcome = readOutcome(result);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    readResource: (uri, context) =>
      request('resources/read', { uri }, context, ({ client: one }) =>
        one.readResource({ uri }, { signal: context.signal, timeout: CALL_MS }),
      ),
    getPrompt(name, args, context) {
      const params = { name, arguments: { ...args } };
      return request('prompts/get', params, context, ({ client: one }) =>
        one.getPrompt(params, { signal: context.signal, timeout: CALL_MS }),
      );
    },
    async complete(params, signal) {
      const { client: one } = await connected();
      if (one.getServerCapabilities()?.completions === undefined) return { values: [] };
      return (await one.complete(params, { signal })).completion;
    },
    async watch(uri, onUpdate) {
      await connected();
      return resources.add(uri, onUpdate);
    },
    setLogLevel(level) {
      logLevel = level;
      void client?.then((at) => setLevelOf(at.client)).catch(() => {});
    },
    rootsChanged() {
      void client?.then((at) => at.client.sendRootsListChanged()).catch(() => {}); // only if its client has announced it
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await client?.then((one) => one.client.close()).catch(() => {});
    },
  };
  return self;
}

/** A login that is missing or no longer accepted. */
function reasonOf(error: unknown, server: string): string {
  const isLogin =
    error instanceof OAuthError || error instanceof UnauthorizedError || (error as { status?: unknown } | null)?.status === 401;
  return isLogin ? loginHint(server) : error instanceof Error ? error.message : String(error);
}

/** `calls` is a faster path for calls, if there is one. */
function transportTo(
  { name, at }: McpServerSettings,
  { children, logins }: Pick<UpstreamEvents, 'children' | 'logins'>,
): { readonly transport: Transport; readonly calls?: ServerCalls } {
  if ('url' in at) {
    const authProvider = logins?.find(name, at.url) && oauthProvider(name, at.url, logins);
    const options = { requestInit: { headers: at.headers }, ...(authProvider && { authProvider }) };
    return { transport: new StreamableHTTPClientTransport(new URL(at.url), options) };
  }
  const transport = serverProcess(at, children);
  return { transport, calls: serverCalls(transport) };
}
