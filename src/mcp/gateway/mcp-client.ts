// What a server behind the gateway may ask of the MCP client of an agent, and which clients share a connection to it.
import type { ForwardCaller, ServerMessage } from '../bridge/forward.ts';
import type { CallContext, McpCaller, McpClient } from '../server/tool.ts';

type Params = Readonly<Record<string, unknown>>;

/** What a server can ask, and the capability that offers it. */
const CAPABILITY: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const DECLINED = -32603;

/** What a server may ask of the clients that share a connection. Declining is left for a client of the 2026 era that offers less than that. */
export function askable({ era, capabilities }: McpClient): Params {
  if (era === '2026') return { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  const known = Object.values(CAPABILITY).filter((name) => capabilities[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, capabilities[name]]));
}

/**
 * A server of the 2025 era learns what its client offers when it is connected to, so only clients that offer the same share a connection.
 * In the 2026 era every request says it.
 */
export const connectionKey = (client: McpClient): string => `${client.era} ${JSON.stringify(askable(client))}`;

/** A client that cannot be asked and wants no log messages: its calls need no more than their result. */
export const isPlain = (client: McpClient): boolean =>
  client.era === '2025' && client.logLevel === undefined && Object.keys(askable(client)).length === 0;

export const moreVerbose = (a: string | undefined, b: string): string =>
  a !== undefined && LEVELS.indexOf(a) <= LEVELS.indexOf(b) ? a : b;

function wants({ logLevel }: McpClient, { method, params }: ServerMessage): boolean {
  return method !== 'notifications/message' || logLevel === undefined || LEVELS.indexOf(String(params?.level)) >= LEVELS.indexOf(logLevel);
}

/** Who answers a request of the server: the MCP client if it can, else the ACP client if it is an elicitation, else nobody. */
export function answerer(server: string, { host, signal, mcp }: CallContext) {
  return (message: ServerMessage): Promise<Params> | undefined => {
    const { method, params = {} } = message;
    const capability = CAPABILITY[method];
    if (mcp && capability !== undefined && mcp.client.capabilities[capability] !== undefined) return undefined;
    if (method === 'elicitation/create' && host.elicit) return host.elicit({ server, params }, signal);
    const why = capability === undefined ? 'it is not known' : `neither agent nor editor offers ${capability}`;
    return Promise.reject(Object.assign(new Error(`${method} was declined: ${why}`), { code: DECLINED }));
  };
}

/** The caller of a request that must be forwarded whole. */
export const forwarded = (server: string, context: CallContext, { client, request }: McpCaller): ForwardCaller => ({
  owner: context.host.sessionId,
  mcpReq: request,
  signal: context.signal,
  answer: answerer(server, context),
  wants: (message) => wants(client, message),
});
