// The protocol's methods: who receives each, and which field decides. Read this file first. `singleAgent` applies if one agent is
// configured: the proxy is transparent, and the agent receives nearly everything. `several` applies to two or more: a request must find its
// owner, and the proxy answers where no single agent can.

/** The field of `params` that routes. `agent choice` is `--agent`, `_meta`, `routes`, `default_agent`, in that order. */
export type Key = 'sessionId' | 'methodId' | 'serverId' | 'requestId' | 'elicitationId' | 'terminalId' | 'agent choice' | 'none';

/**
 * - `proxy`: answered by the proxy.
 * - `owner`: the agent that owns the session.
 * - `chosen`: the agent picked for a new session.
 * - `named`: the agent whose name is in the key.
 * - `requester`: the sender of the request that the key names.
 * - `every`: all agents that offer it; the proxy merges the answers.
 * - `client`: the client.
 * - `nobody`: -32601, because the agent is ambiguous.
 */
export type Receiver = 'proxy' | 'owner' | 'chosen' | 'named' | 'requester' | 'every' | 'client' | 'nobody';

export type Method = {
  readonly kind: 'request' | 'notification';
  readonly key: Key;
  readonly singleAgent: Receiver;
  readonly several: Receiver;
};

const request = (key: Key, singleAgent: Receiver, several: Receiver = singleAgent): Method => ({
  kind: 'request',
  key,
  singleAgent,
  several,
});
const notification = (key: Key, singleAgent: Receiver, several: Receiver = singleAgent): Method => ({
  kind: 'notification',
  key,
  singleAgent,
  several,
});

/** From the client to agents. */
export const FROM_CLIENT = {
  initialize: request('none', 'proxy'), // with a single agent: the agent's own answer, byte for byte
  authenticate: request('methodId', 'owner', 'named'),
  logout: request('none', 'owner', 'every'),
  'session/new': request('agent choice', 'chosen'), // its answer creates a session
  'session/load': request('sessionId', 'owner'),
  'session/resume': request('sessionId', 'owner'),
  'session/fork': request('sessionId', 'owner'), // its answer creates a session
  'session/list': request('none', 'owner', 'every'),
  'session/delete': request('sessionId', 'owner'),
  'session/close': request('sessionId', 'owner'),
  'session/prompt': request('sessionId', 'owner'),
  'session/cancel': notification('sessionId', 'owner'),
  'session/set_mode': request('sessionId', 'owner'),
  'session/set_model': request('sessionId', 'owner'), // removed from the protocol, still in use
  'session/set_config_option': request('sessionId', 'owner'), // with several agents: `agent` is the proxy's own option
  'session/archive': request('sessionId', 'owner'),
  'session/unarchive': request('sessionId', 'owner'),
  'session/status': request('sessionId', 'owner'),
  'session/set_title': request('sessionId', 'owner'),
  'auth/status': request('none', 'owner', 'every'),
  'providers/list': request('none', 'owner', 'nobody'), // not advertised with several agents
  'providers/set': request('none', 'owner', 'nobody'),
  'providers/disable': request('none', 'owner', 'nobody'),
  'proxy/initialize': request('none', 'owner', 'nobody'), // a chain has one successor
  'proxy/successor': request('none', 'owner', 'nobody'),
  'mcp/message': notification('serverId', 'requester'), // also with one agent: its servers may be bridged
  '$/cancel_request': notification('requestId', 'requester'),
} as const satisfies Record<string, Method>;

/** From an agent to the client. */
export const FROM_AGENT = {
  'session/update': notification('sessionId', 'client'),
  'session/request_permission': request('sessionId', 'client'),
  'fs/read_text_file': request('sessionId', 'client'),
  'fs/write_text_file': request('sessionId', 'client'),
  'terminal/create': request('sessionId', 'client'), // its answer creates a terminal
  'terminal/output': request('terminalId', 'client'),
  'terminal/wait_for_exit': request('terminalId', 'client'),
  'terminal/kill': request('terminalId', 'client'),
  'terminal/release': request('terminalId', 'client'),
  'elicitation/create': request('sessionId', 'client'), // or `requestId`, which the proxy translates
  'elicitation/complete': notification('elicitationId', 'client'),
  'auth/status_update': notification('none', 'client'),
  'mcp/message': request('serverId', 'client'),
  'proxy/successor': request('none', 'client'),
  '$/cancel_request': notification('requestId', 'requester'),
} as const satisfies Record<string, Method>;

export type ClientMethod = keyof typeof FROM_CLIENT;

/** Requests from the client whose answers open a session. */
export const OPENS_SESSION: ReadonlySet<string> = new Set<ClientMethod>(['session/new', 'session/load', 'session/resume', 'session/fork']);

/** Methods that begin with an underscore belong to a vendor: `_vendor/name`. */
export const vendorOf = (method: string): string | undefined => /^_([^/]+)\//.exec(method)?.[1];
