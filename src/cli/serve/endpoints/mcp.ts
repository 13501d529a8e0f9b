// `/mcp`: the agents as MCP tools, as `switchboard mcp --http` offers them. All MCP clients of a token are one client of the daemon, which sees the
// sessions that its principal may see.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { VERSION } from '../../../app/package-files.ts';
import { isTooDeep, MAX_NESTING } from '../../../json-nesting.ts';
import { isObject } from '../../../json-object.ts';
import type { Refusal } from '../../../listener/access.ts';
import type { Gate, GuardedEndpoint } from '../../../listener/gate.ts';
import { type BodyLimits, isJsonBody, readBody, refuse } from '../../../listener/respond.ts';
import type { HttpHandler } from '../../../mcp/transports/http-listener.ts';
import { sendResponse, webRequest } from '../../../mcp/transports/web-http.ts';
import type { Token } from '../../../store/tokens.ts';
import { inProcessPair } from '../../../transports/in-process.ts';
import type { InProcess } from '../../in-process-proxy.ts';
import { mcpAgents, openMcpSessions } from '../../mcp/agents.ts';
import type { NetworkClients } from '../network-clients.ts';

export type McpEndpointDeps = Pick<InProcess, 'config' | 'stateDir' | 'owns'> & {
  readonly gate: Pick<Gate, 'whileValid'>;
  readonly connect: NetworkClients['connect'];
  readonly bodyLimits: (principal: string) => BodyLimits;
};

export type McpEndpoint = GuardedEndpoint & {
  /** Whether a tool call has no answer yet. */
  isBusy(): boolean;
  close(): void;
};

/** What one token holds: its MCP clients share the sessions. */
type Serving = {
  readonly handle: HttpHandler;
  readonly responses: Set<ServerResponse>;
  /** Whether a turn runs. */
  isBusy(): boolean;
  lastUsedMs: number;
  close(): void;
};

/** Connections of MCP clients with a handshake; the oldest of a token is dropped. */
const MAX_CONNECTIONS = 64;
const MAX_IN_FLIGHT = 256;
/** How long sessions and the results of turns stay after the last request. */
const IDLE_MS = 3_600_000;
const LOOK_EVERY_MS = 60_000;
/** How long a client may leave an answer unread. */
const UNREAD_MS = 60_000;
const NOTHING = () => {};

export function mcpEndpoint({ config, stateDir, owns, gate, connect, bodyLimits }: McpEndpointDeps): McpEndpoint {
  const open = new Map<string, Promise<Serving>>();
  const inFlight = new Map<string, number>();
  const toolCalls = new Set<ServerResponse>();
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();

  function look(): void {
    for (const one of open.values())
      void one.then(({ responses, isBusy, lastUsedMs, close }) => {
        if (responses.size === 0 && !isBusy() && performance.now() - lastUsedMs > IDLE_MS) close();
      }, NOTHING);
  }
  /** A token that was revoked and created again is another one. */
  const keyOf = ({ name, createdAt }: Token): string => `${name} ${createdAt}`;

  function servingOf(token: Token): Promise<Serving> {
    const key = keyOf(token);
    const known = open.get(key);
    if (known) return known;
    const started = start(token, () => void (open.get(key) === started && open.delete(key)));
    started.catch(() => open.delete(key)); // the next request tries again
    open.set(key, started);
    return started;
  }
  async function start(token: Token, ended: () => void): Promise<Serving> {
    // Most daemons never need it.
    const { serveAgentsOverHttp } = await import('../../../mcp/agents-as-tools/serve.ts');
    const { client, proxy } = inProcessPair();
    const served = connect(proxy, token);
    const sessions = openMcpSessions(client, {
      isShared: true,
      onlyAgent: () => (config.agents.length === 1 ? config.agents[0]?.name : undefined),
      policy: (id) => served.evaluatedRequest(id)?.decision,
    });
    const isClient = token.role === 'client';
    const agents = mcpAgents(sessions, stateDir, (sessionId) => !isClient || owns(token.name, sessionId));
    const cwd = (isClient ? config.network.allowCwd?.[0] : undefined) ?? process.cwd();
    const http = serveAgentsOverHttp({ agents, cwd, version: VERSION, maxConnections: MAX_CONNECTIONS });
    const responses = new Set<ServerResponse>();
    const close = () => {
      ended();
      stopWatching();
      http.close();
      sessions.close();
      void served.close();
      for (const response of responses) response.destroy();
    };
    const stopWatching = gate.whileValid(token, close);
    void served.closed.then(close);
    const isBusy = () => sessions.sessions().some(({ isRunning }) => isRunning);
    return { handle: http.handle, responses, isBusy, lastUsedMs: performance.now(), close };
  }

  async function handle(request: IncomingMessage, response: ServerResponse, principal: Token): Promise<void> {
    const key = keyOf(principal);
    const now = inFlight.get(key) ?? 0;
    if (now >= MAX_IN_FLIGHT) return refuse(response, { status: 429, why: 'too many requests at once' });
    inFlight.set(key, now + 1);
    const abort = new AbortController();
    response.once('close', () => {
      const left = (inFlight.get(key) ?? 1) - 1;
      if (left > 0) inFlight.set(key, left);
      else inFlight.delete(key);
      if (!response.writableFinished) abort.abort(); // nobody waits for the answer any more
    });
    const body = request.method === 'POST' ? await bodyOf(request, bodyLimits(principal.name)) : { value: undefined };
    if ('status' in body) return refuse(response, body);
    const serving = await servingOf(principal);
    if (response.destroyed) return;
    serving.responses.add(response);
    if (isToolCall(body.value)) toolCalls.add(response);
    response.once('close', () => {
      serving.responses.delete(response);
      toolCalls.delete(response);
      serving.lastUsedMs = performance.now();
    });
    const answer = await serving.handle(webRequest(request, `http://${request.headers.host}/mcp`, abort.signal), body.value);
    await sendResponse(answer, response, UNREAD_MS);
  }

  return {
    roles: ['owner', 'client'],
    handle,
    isBusy: () => toolCalls.size > 0,
    close() {
      clearInterval(timer);
      for (const one of open.values()) void one.then(({ close }) => close(), NOTHING);
    },
  };
}

/** Event streams and subscriptions stay open, so they do not count. */
const isToolCall = (message: unknown): boolean => isObject(message) && message.method === 'tools/call';

async function bodyOf(request: IncomingMessage, limits: BodyLimits): Promise<{ readonly value: unknown } | Refusal> {
  if (!isJsonBody(request)) return { status: 415, why: 'the Content-Type must be application/json' };
  const body = await readBody(request, limits);
  if ('status' in body) return body;
  if (isTooDeep(body)) return { status: 400, why: TOO_DEEP };
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch {
    return { status: 400, why: NOT_JSON };
  }
}

const TOO_DEEP = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: nested deeper than ${MAX_NESTING} levels"}}`;
const NOT_JSON = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: the body is not JSON"}}';
