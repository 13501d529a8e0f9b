// The protocol's methods: who answers them, who receives them, and which field says so. Read this file first.
//
// `singleAgent` applies when one agent is configured: then the proxy is transparent, and nearly everything is the agent's.
// `several` is two or more: then a request must find its owner, and we answer for all of them where nobody else can.

/** Which field of `params` routes. `agent choice` is `_meta`, `--agent`, `routes`, `default_agent`, in that order. */
export type Key = 'sessionId' | 'methodId' | 'serverId' | 'requestId' | 'elicitationId' | 'terminalId' | 'agent choice' | 'none';

/**
 * - `us`: answered here.
 * - `owner`: the agent that owns the session.
 * - `chosen`: the agent picked for a new session.
 * - `named`: the agent whose name is in the key.
 * - `asker`: whoever sent the request that the key names.
 * - `every`: all agents that offer it, the answers merged into one.
 * - `editor`: the editor.
 * - `nobody`: -32601; it cannot be told which agent is meant.
 */
export type Receiver = 'us' | 'owner' | 'chosen' | 'named' | 'asker' | 'every' | 'editor' | 'nobody';

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

/** From the editor to agents. */
export const FROM_CLIENT = {
  initialize: request('none', 'us'), // alone: the agent's own answer, byte for byte
  authenticate: request('methodId', 'owner', 'named'),
  logout: request('none', 'owner', 'every'),
  'session/new': request('agent choice', 'chosen'), // its answer mints a session
  'session/load': request('sessionId', 'owner'),
  'session/resume': request('sessionId', 'owner'),
  'session/fork': request('sessionId', 'owner'), // its answer mints a session
  'session/list': request('none', 'owner', 'every'),
  'session/delete': request('sessionId', 'owner'),
  'session/close': request('sessionId', 'owner'),
  'session/prompt': request('sessionId', 'owner'),
  'session/cancel': notification('sessionId', 'owner'),
  'session/set_mode': request('sessionId', 'owner'),
  'session/set_model': request('sessionId', 'owner'), // gone from the protocol, still spoken
  'session/set_config_option': request('sessionId', 'owner'), // several: our `agent` option is ours
  'session/archive': request('sessionId', 'owner'),
  'session/unarchive': request('sessionId', 'owner'),
  'session/status': request('sessionId', 'owner'),
  'session/set_title': request('sessionId', 'owner'),
  'auth/status': request('none', 'owner', 'every'),
  'providers/list': request('none', 'owner', 'nobody'), // not advertised for several
  'providers/set': request('none', 'owner', 'nobody'),
  'providers/disable': request('none', 'owner', 'nobody'),
  'proxy/initialize': request('none', 'owner', 'nobody'), // a chain has one successor; several agents are no chain
  'proxy/successor': request('none', 'owner', 'nobody'),
  'mcp/message': notification('serverId', 'owner', 'asker'),
  '$/cancel_request': notification('requestId', 'asker'),
} as const satisfies Record<string, Method>;

/** From an agent to the editor. */
export const FROM_AGENT = {
  'session/update': notification('sessionId', 'editor'),
  'session/request_permission': request('sessionId', 'editor'),
  'fs/read_text_file': request('sessionId', 'editor'),
  'fs/write_text_file': request('sessionId', 'editor'),
  'terminal/create': request('sessionId', 'editor'), // its answer mints a terminal
  'terminal/output': request('terminalId', 'editor'),
  'terminal/wait_for_exit': request('terminalId', 'editor'),
  'terminal/kill': request('terminalId', 'editor'),
  'terminal/release': request('terminalId', 'editor'),
  'elicitation/create': request('sessionId', 'editor'), // or `requestId`, which we translate
  'elicitation/complete': notification('elicitationId', 'editor'),
  'auth/status_update': notification('none', 'editor'),
  'mcp/message': request('serverId', 'editor'),
  'proxy/successor': request('none', 'editor'),
  '$/cancel_request': notification('requestId', 'asker'),
} as const satisfies Record<string, Method>;

export type ClientMethod = keyof typeof FROM_CLIENT;

/** Methods that begin with an underscore are vendors' own: `_vendor/what`. */
export const vendorOf = (method: string): string | undefined => /^_([^/]+)\//.exec(method)?.[1];
