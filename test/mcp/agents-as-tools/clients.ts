// MCP clients of both SDK lines, on stdio and over HTTP, behind one interface: what a test does with one, it does with all.
import { randomBytes } from 'node:crypto';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { startDaemon, storeToken } from '../../e2e/daemon.ts';
import { type Json, type Stage, SWITCHBOARD } from '../../e2e/harness.ts';

/** SDK 1.x speaks 2025-11-25, SDK 2.x is pinned to 2026-07-28. */
export type Line = '1.x' | '2.x';
/** On `daemon`, the client uses `/mcp` of `switchboard serve`, with a token of the role client. */
export type Way = 'stdio' | 'http' | 'daemon';
export const CLIENTS = [
  { line: '1.x', way: 'stdio' },
  { line: '1.x', way: 'http' },
  { line: '2.x', way: 'stdio' },
  { line: '2.x', way: 'http' },
] as const satisfies readonly { readonly line: Line; readonly way: Way }[];
export const AT_DAEMON = [
  { line: '1.x', way: 'daemon' },
  { line: '2.x', way: 'daemon' },
] as const satisfies readonly { readonly line: Line; readonly way: Way }[];

export type ClientOptions = {
  readonly line?: Line;
  readonly way?: Way;
  readonly args?: readonly string[];
  readonly capabilities?: Json;
  /** Answers an elicitation. */
  readonly answer?: (params: Json) => Json;
  readonly roots?: readonly string[];
  readonly at?: Address;
};

export type Address = { readonly url: string; readonly token: string };

export type McpClient = {
  readonly client: Client1 | Client2;
  /** The whole result. */
  call(name: string, args?: Json, options?: Json): Promise<Json>;
  /** The structured result; fails if the tool failed. */
  ask(name: string, args?: Json, options?: Json): Promise<Json>;
  close(): Promise<void>;
};

/** Starts `switchboard mcp --http` and waits for its address. */
export async function startHttp(stage: Stage, args: readonly string[] = []): Promise<Address> {
  const token = randomBytes(24).toString('hex');
  const env = { HOME: stage.dir, SWITCHBOARD_HOME: stage.state, XDG_CONFIG_HOME: stage.dir, SWITCHBOARD_MCP_TOKEN: token };
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'mcp', '--http', ...args], env);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk) => {
      output += chunk;
      const found = /MCP at (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', () => reject(new Error(output)));
  });
  return { url, token };
}

/** Starts `switchboard serve`. */
async function startServe(stage: Stage, args: readonly string[]): Promise<Address> {
  const { address } = await startDaemon(stage, undefined, { args });
  return { url: `${address}/mcp`, token: storeToken(stage, 'ann', 'client') };
}

export async function connect(stage: Stage, options: ClientOptions = {}): Promise<McpClient> {
  const { line = '1.x', way = 'stdio', args = [], answer, roots } = options;
  const capabilities = {
    ...(answer && { elicitation: { form: {}, url: {} } }),
    ...(roots && { roots: {} }),
    ...options.capabilities,
  };
  const env = { ...getDefaultEnvironment(), HOME: stage.dir, SWITCHBOARD_HOME: stage.state, XDG_CONFIG_HOME: stage.dir };
  const program = { command: process.execPath, args: [SWITCHBOARD, 'mcp', ...args], env, cwd: stage.cwd, stderr: 'ignore' as const };
  const start = { http: startHttp, daemon: startServe, stdio: async () => ({ url: 'http://unused', token: '' }) };
  const { url, token } = options.at ?? (await start[way](stage, args));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const listed = { roots: (roots ?? []).map((root) => ({ uri: `file://${root}` })) };
  if (line === '1.x') {
    const client = new Client1({ name: 'test', version: '0' }, { capabilities });
    if (answer) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
    if (roots) client.setRequestHandler(ListRootsRequestSchema, () => listed);
    await client.connect(way !== 'stdio' ? (new Http1(new URL(url), { requestInit }) as never) : new Stdio1(program));
    return clientOf(client, (name, given, how) => client.callTool({ name, arguments: given }, CallToolResultSchema, how));
  }
  const client = new Client2({ name: 'test', version: '0' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (answer) client.setRequestHandler('elicitation/create', ({ params }) => answer(params) as never);
  if (roots) client.setRequestHandler('roots/list', () => listed);
  await client.connect(way !== 'stdio' ? new Http2(new URL(url), { requestInit }) : new Stdio2(program));
  return clientOf(client, (name, given, how) => client.callTool({ name, arguments: given }, how));
}

function clientOf(client: Client1 | Client2, send: (name: string, args: Json, options: Json) => Promise<Json>): McpClient {
  const call: McpClient['call'] = (name, args = {}, options = {}) => send(name, args, options);
  return {
    client,
    call,
    async ask(name, args, options) {
      const result = await call(name, args, options);
      if (result.isError) throw new Error(result.content[0].text);
      return result.structuredContent;
    },
    close: () => client.close(),
  };
}

/** Requests of the 2025 era over HTTP, below the SDK: it reads streams by itself. */
export function raw({ url, token }: Address) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return (init: {
    readonly session?: string | undefined;
    readonly body?: Json;
    readonly more?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  }) =>
    fetch(url, {
      method: init.body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(init.session !== undefined && { 'mcp-session-id': init.session }), ...init.more },
      ...(init.body !== undefined && { body: JSON.stringify({ jsonrpc: '2.0', ...init.body }) }),
      ...(init.signal && { signal: init.signal }),
    });
}

/** Opens a connection; returns its id. */
export async function handshake(request: ReturnType<typeof raw>, capabilities: Json = {}): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '0' } };
  const opened = await request({ body: { id: 0, method: 'initialize', params } });
  await opened.text();
  const session = opened.headers.get('mcp-session-id') ?? '';
  await (await request({ session, body: { method: 'notifications/initialized' } })).text();
  return session;
}

/** Reads events until one satisfies `isLast`; returns them with their ids. `reply` answers requests. */
export async function eventsUntil(
  response: Response,
  isLast: (message: Json) => boolean,
  reply: (request: Json) => Promise<void> = async () => {},
): Promise<{ id: string; message: Json }[]> {
  const found: { id: string; message: Json }[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: ?(.+)$/m.exec(event)?.[1];
      if (data === undefined || data.trim() === '') continue;
      const message = JSON.parse(data);
      found.push({ id: /^id: ?(.+)$/m.exec(event)?.[1] ?? '', message });
      if (message.method !== undefined && message.id !== undefined) await reply(message);
      if (isLast(message)) return found;
    }
  }
  return found;
}
