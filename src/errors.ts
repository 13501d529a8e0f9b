// Every failure that reaches a peer: the key is for logs and tests, `rpc` is the JSON-RPC code, and the message says what to do next.

/** Details about an agent that has exited. */
type Exited = {
  /** A request to the agent was still open. */
  readonly hadOpenRequest: boolean;
  readonly lastOutput: string | undefined;
  /** `switchboard agents test` may show the cause. */
  readonly isWorthTest: boolean;
};

const lastOutputOf = (lastOutput: string | undefined): string => (lastOutput === undefined ? '' : `; its last output: "${lastOutput}"`);

const FAILURES = {
  PARSE: { rpc: -32700, message: (reason: string) => `Parse error: the line is ${reason}` },
  NOT_A_MESSAGE: { rpc: -32600, message: (reason: string) => `Invalid request: ${reason}` },
  AMBIGUOUS: { rpc: -32600, message: (reason: string) => `Invalid request: ${reason}, so parsers disagree about its meaning` },
  FRAME_TOO_LONG: {
    rpc: -32600,
    message: (limit: number) => `The frame exceeds limits.max_frame_bytes (${limit}); send a smaller one or raise the limit`,
  },
  ANSWER_TOO_LONG: {
    rpc: -32603,
    message: (who: string, limit: number) =>
      `The response from ${who} exceeds limits.max_frame_bytes (${limit}) and was dropped; raise the limit to receive it`,
  },
  ANSWER_UNCLEAR: {
    rpc: -32603,
    message: (who: string, method: string) => `The response from ${who} to ${method} is invalid: it must have either result or error`,
  },
  ANSWER_REFUSED: {
    rpc: -32603,
    message: (who: string, method: string, reason: string) => `The response from ${who} to ${method} was rejected: ${reason}`,
  },
  ID_IN_USE: { rpc: -32600, message: (id: string) => `An earlier request with id ${id} is still open; use another id` },
  NOT_INITIALIZED: { rpc: -32600, message: (method: string) => `${method} was sent before initialize` },
  METHOD_UNROUTABLE: {
    rpc: -32601,
    message: (method: string) => `Method not found: ${method} has no sessionId, so the agent is ambiguous`,
  },
  METHOD_UNKNOWN: { rpc: -32601, message: (method: string) => `Method not found: ${method}` },
  METHOD_UNSUPPORTED: {
    rpc: -32601,
    message: (method: string, agent: string) => `Method not found: agent "${agent}" does not support ${method}`,
  },
  CLIENT_UNSUPPORTED: {
    rpc: -32601,
    message: (method: string) =>
      `Method not found: the client does not support ${method}; set workspace to "serve-missing" to let switchboard serve it`,
  },
  SESSION_UNKNOWN: { rpc: -32002, message: (id: string) => `No agent owns session "${id}"` },
  SESSION_AMBIGUOUS: {
    rpc: -32602,
    message: (id: string, agents: string) =>
      `Several agents have a session "${id}" (${agents}); start switchboard with --agent NAME to choose one`,
  },
  SESSION_ORPHANED: {
    rpc: -32002,
    message: (id: string, agent: string) =>
      `Session "${id}" belongs to agent "${agent}", which is no longer configured; add it to agent_servers again`,
  },
  SESSION_SUPERSEDED: {
    rpc: -32002,
    message: (id: string, agent: string, other: string) =>
      `Session "${id}" has ended: agent "${agent}" has given its id to session "${other}". To read it, run: switchboard sessions show ${id}`,
  },
  SESSION_NOT_LOADABLE: {
    rpc: -32602,
    message: (id: string, agent: string, method: string) =>
      `Session "${id}" cannot be restored: agent "${agent}" does not support ${method}${method === 'session/load' ? ', and no transcript is stored' : ''}; open a new session`,
  },
  SESSION_RECORD: {
    rpc: -32602,
    message: (id: string, agent: string, method: string) =>
      `${method} failed: session "${id}" is read-only, because agent "${agent}" supports neither session/load nor session/resume; open a new session`,
  },
  PARAMS: { rpc: -32602, message: (method: string, reason: string) => `Invalid params for ${method}: ${reason}` },
  CWD_RELATIVE: { rpc: -32602, message: (method: string) => `Invalid params for ${method}: cwd must be an absolute path` },
  CWD_NOT_ALLOWED: {
    rpc: -32602,
    message: (method: string, cwd: string) =>
      `Invalid params for ${method}: network clients may not open sessions in ${cwd}; the owner of the daemon can add it to allow_cwd`,
  },
  STDIO_SERVER_REFUSED: {
    rpc: -32602,
    message: (method: string, server: string) =>
      `Invalid params for ${method}: MCP server "${server}" is a program, and network clients may not start programs; use an http server, or let the owner of the daemon set network_clients.stdio_servers`,
  },
  METHOD_NOT_ALLOWED: {
    rpc: -32601,
    message: (method: string) =>
      `${method} is not allowed: network clients may only use the methods of their sessions; use a token with the role owner`,
  },
  OBSERVER: {
    rpc: -32603,
    message: (method: string) => `${method} is not allowed: a token with the role observer can only list and read sessions`,
  },
  NOT_LIVE: { rpc: -32001, message: (id: string) => `Session "${id}" is not live; open it with session/load` },
  CLIENT_GONE: {
    rpc: -32603,
    message: (method: string) => `The client disconnected before it answered ${method}; it may have done it`,
  },
  AGENT_UNKNOWN: { rpc: -32602, message: (agent: string, known: string) => `Unknown agent "${agent}"; configured agents: ${known}` },
  AGENT_LOCKED: {
    rpc: -32602,
    message: (agent: string, wanted: string) => `The session already started with agent "${agent}"; open a new session to use "${wanted}"`,
  },
  CONTENT_UNSUPPORTED: {
    rpc: -32602,
    message: (agent: string, what: string) =>
      `Invalid params for session/prompt: agent "${agent}" does not support ${what} (promptCapabilities.${what}); use another agent, or set agent_servers.${agent}.unsupported_content to "describe"`,
  },
  CAPABILITY_MISSING: {
    rpc: -32602,
    message: (method: string, agent: string, what: string) => `Invalid params for ${method}: agent "${agent}" does not support ${what}`,
  },
  AUTH_METHOD_UNKNOWN: {
    rpc: -32602,
    message: (id: string, known: string) => `Unknown authentication method "${id}"; available methods: ${known}`,
  },
  CURSOR_UNKNOWN: {
    rpc: -32602,
    message: () => 'Invalid params for session/list: unknown cursor; list again without a cursor',
  },
  TERMINAL_FOREIGN: { rpc: -32602, message: (id: string) => `This agent did not create terminal "${id}" in this session` },
  POLICY_DENIED: { rpc: -32603, message: (method: string, why: string) => `${method} denied by policy: ${why}` },
  MODE_REFUSED: {
    rpc: -32602,
    message: (mode: string, agent: string, why: string) =>
      `Mode "${mode}" of agent "${agent}" is not allowed: ${why}; see agents.${agent}.mode in the policy`,
  },
  SERVER_DENIED: {
    rpc: -32602,
    message: (server: string, agent: string, why: string) => `MCP server "${server}" is not allowed for agent "${agent}": ${why}`,
  },
  FILE_MISSING: { rpc: -32002, message: () => 'Resource not found: the file does not exist' },
  PATH_OUTSIDE: {
    rpc: -32602,
    message: () => 'The path is outside the session directories (cwd and additionalDirectories)',
  },
  PATH_MOVED: { rpc: -32603, message: () => 'The path changed after the policy checked it; try again' },
  FILE_UNUSABLE: { rpc: -32603, message: (method: string, why: string) => `${method} failed: ${why}` },
  FILE_CHANGED: {
    rpc: -32603,
    message: () => 'Another program changed the file during the edit, so nothing was written; read the file again',
  },
  FILE_TOO_LARGE: {
    rpc: -32603,
    message: (limit: number) => `The text exceeds ${limit} bytes; read it in parts with line and limit`,
  },
  ROOTS_UNKNOWN: {
    rpc: -32602,
    message: (method: string) => `${method} failed: this session has no directory; open it with an absolute cwd`,
  },
  TERMINAL_UNSTARTABLE: { rpc: -32603, message: (why: string) => `The terminal did not start: ${why}` },
  CANCELLED: { rpc: -32800, message: (method: string) => `${method} was cancelled` },
  AGENT_MISSING: {
    rpc: -32603,
    message: (agent: string, command: string, why: string, next = `Check "command" in agent_servers.${agent}, or install the agent`) =>
      `Agent "${agent}" did not start: ${why} (command: ${command}). ${next}`,
  },
  AGENT_UNREACHABLE: {
    rpc: -32603,
    message: (agent: string, address: string, why: string, next = `Check "url" in agent_servers.${agent}`) =>
      `Agent "${agent}" cannot be reached at ${address}: ${why}. ${next}`,
  },
  AGENT_SILENT: {
    rpc: -32603,
    message: (agent: string, ms: number, lastOutput: string | undefined) =>
      `Agent "${agent}" did not answer initialize within ${ms} ms${lastOutputOf(lastOutput)}. Run its command in a terminal to see why, set framing or dialect if it does not speak newline-delimited ACP, or raise agent_servers.${agent}.timeouts.initialize_ms`,
  },
  AGENT_VERSION: {
    rpc: -32603,
    message: (agent: string, version: string) =>
      `Agent "${agent}" speaks ACP version ${version}, but switchboard needs version 1; install a version of the agent that supports it`,
  },
  AGENT_UNAVAILABLE: {
    rpc: -32603,
    message: (agent: string, seconds: number, why: string) => `Agent "${agent}" is unavailable; try again in ${seconds} s. ${why}`,
  },
  AGENT_CRASH_LOOP: {
    rpc: -32603,
    message: (agent: string, crashes: number, windowS: number, seconds: number) =>
      `Agent "${agent}" crashed more than ${crashes} times within ${windowS} s and restarts in ${seconds} s at the earliest. To find out why, run: switchboard agents test ${agent}`,
  },
  AGENT_STOPPED: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" is stopped; start it in the console or use another agent`,
  },
  AGENT_NOT_RESTARTED: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" exited, and restart.enabled is false in agent_servers.${agent}; open a new session`,
  },
  SESSION_LOST: {
    rpc: -32603,
    message: (id: string, agent: string, why: string) =>
      `Session "${id}" was lost when agent "${agent}" exited, and restoring it failed: ${why}. Open a new session`,
  },
  SESSION_NOT_BACK: {
    rpc: -32603,
    message: (id: string, agent: string, method: string, ms: number) =>
      `Session "${id}" was lost when agent "${agent}" exited, and is still being restored: no response to ${method} within ${ms} ms. Send the request again to wait longer, raise agent_servers.${agent}.timeouts.initialize_ms, or open a new session`,
  },
  SESSION_NOT_OPENED: {
    rpc: -32603,
    message: (agent: string, ms: number, lastOutput: string | undefined) =>
      `Agent "${agent}" did not open a session within ${ms} ms${lastOutputOf(lastOutput)}. Use another agent, or raise agent_servers.${agent}.timeouts.initialize_ms (this limit is twice that)`,
  },
  TOO_MANY_OPEN: {
    rpc: -32603,
    message: (what: string, limit: number, where = 'in this session') =>
      `Too many ${what} are open ${where} (limit ${limit}); wait until one completes`,
  },
  SESSION_IN_USE: {
    rpc: -32603,
    message: (agent: string, id: string) =>
      `The session that agent "${agent}" opened is already in use as "${id}"; use that one, or try again`,
  },
  AGENT_REFUSED: {
    rpc: -32603,
    message: (agent: string, method: string, message: string) => `Agent "${agent}" rejected ${method}: ${message}`,
  },
  MCP_SERVER_UNKNOWN: { rpc: -33001, message: (serverId: string) => `This agent has no MCP server "${serverId}"` },
  MCP_REFUSED: { rpc: -32603, message: (why: string) => `The MCP server rejected the request: ${why}` },
  AGENT_GONE: {
    rpc: -32603,
    message: (agent: string, how: string, { hadOpenRequest, lastOutput, isWorthTest }: Exited) =>
      [
        `Agent "${agent}" exited (${how})${hadOpenRequest ? ' before answering' : ''}${lastOutputOf(lastOutput)}`,
        ...(isWorthTest ? [`. To find out why, run: switchboard agents test ${agent}`] : []),
      ].join(''),
  },
  AGENT_DISCONNECTED: {
    rpc: -32603,
    message: (agent: string, why: string, hadOpenRequest: boolean) =>
      `The connection to agent "${agent}" was lost (${why})${hadOpenRequest ? ' before it answered' : ''}`,
  },
  FILES_WITHHELD: {
    rpc: -32601,
    message: (method: string, agent: string) =>
      `Method not found: "${method}": agent "${agent}" does not share files with the client: it is remote (see agent_servers.${agent}.files) or works at the sandbox level "review"`,
  },
  PATH_UNMAPPED: {
    rpc: -32602,
    message: (method: string, path: string, agent: string) =>
      `Invalid params for "${method}": "${path}" is outside the directories that remote agent "${agent}" shares; see agent_servers.${agent}.files`,
  },
  AGENT_HUNG_UP: {
    rpc: -32603,
    message: (agent: string, stream: string) => `Agent "${agent}" closed its ${stream} but kept running, so it was stopped`,
  },
  AGENT_BACKLOG: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `Agent "${agent}" is still starting, and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  PROMPT_QUEUE_FULL: {
    rpc: -32602,
    message: (agent: string, limit: number) =>
      `${limit} prompts already wait for agent "${agent}" to finish its turn, which is the limit; wait, or cancel the turn`,
  },
  TURN_RUNNING: {
    rpc: -32602,
    message: (agent: string) =>
      `Agent "${agent}" is still working on the last prompt, and while_running is "refuse"; wait for it, or cancel the turn`,
  },
  PROMPT_TIMEOUT: {
    rpc: -32603,
    message: (agent: string, ms: number) =>
      `Agent "${agent}" did not finish the prompt within ${ms} ms, so it was cancelled. Send a smaller task, or raise agent_servers.${agent}.timeouts.prompt_ms`,
  },
  SESSION_BACKLOG: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `The session is waiting for agent "${agent}", and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  INTERNAL: { rpc: -32603, message: (method: string, why: string) => `Internal error in ${method} (${why}); please report this` },
  AGENT_UNREADABLE: {
    rpc: -32603,
    message: (agent: string, why: string) =>
      `Agent "${agent}" was stopped: a message from it caused an internal error (${why}); please report this`,
  },
  AGENT_DEAF: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `Agent "${agent}" was stopped: it does not read its input, and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  AGENT_STUCK: {
    rpc: -32603,
    message: (agent: string, seconds: number) => `Agent "${agent}" was stopped: it read none of its input for ${seconds} s`,
  },
  AGENT_UNSTOPPABLE: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" was stopped: it continued a turn that was cancelled`,
  },
  FAN_OUT: { rpc: -32603, message: (method: string, failures: string) => `${method} failed for: ${failures}` },
  SHUTTING_DOWN: { rpc: -32603, message: () => 'switchboard is shutting down' },
} as const;

type Failures = typeof FAILURES;
export type FailureKey = keyof Failures;
export const FAILURE_KEYS = Object.keys(FAILURES) as readonly FailureKey[];

/** Sent again unchanged, the request may succeed: later, with another process of the agent, or once other work is done. */
const RETRYABLE: ReadonlySet<FailureKey> = new Set<FailureKey>([
  'AGENT_UNAVAILABLE',
  'AGENT_CRASH_LOOP',
  'AGENT_GONE',
  'AGENT_UNREACHABLE',
  'AGENT_DISCONNECTED',
  'AGENT_HUNG_UP',
  'AGENT_BACKLOG',
  'PROMPT_QUEUE_FULL',
  'TURN_RUNNING',
  'PROMPT_TIMEOUT',
  'SESSION_BACKLOG',
  'AGENT_SILENT',
  'SESSION_NOT_BACK',
  'SESSION_NOT_OPENED',
  'TOO_MANY_OPEN',
  'SESSION_IN_USE',
  'AGENT_DEAF',
  'AGENT_STUCK',
  'AGENT_UNSTOPPABLE',
  'AGENT_UNREADABLE',
  'FILE_CHANGED',
  'PATH_MOVED',
  'SHUTTING_DOWN',
  'ID_IN_USE',
]);

/** Formats a peer's value for a message. `String` would call a `toString` that the peer supplied. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));

/** A failure to report to a peer; `proxy/` turns it into an error frame. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly key: FailureKey;
  readonly rpc: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(key: FailureKey, message: string, data?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options);
    this.key = key;
    this.rpc = FAILURES[key].rpc;
    this.data = data;
  }
}

/** Reasons with a name of their own; the others are called like their key. */
const REASONS: Readonly<Partial<Record<FailureKey, string>>> = {
  AGENT_GONE: 'agent_exited',
  AGENT_MISSING: 'not_startable',
  AGENT_UNREACHABLE: 'not_reachable',
  AGENT_DISCONNECTED: 'disconnected',
  AGENT_SILENT: 'no_initialize',
  SESSION_NOT_OPENED: 'no_session',
  AGENT_STOPPED: 'stopped',
  AGENT_UNAVAILABLE: 'backing-off',
  AGENT_CRASH_LOOP: 'crash-loop',
  AGENT_UNSTOPPABLE: 'cancel_ignored',
  AGENT_UNREADABLE: 'unreadable',
  AGENT_DEAF: 'queue_full',
  AGENT_HUNG_UP: 'hung_up',
  AGENT_STUCK: 'not_reading',
};

/** How docs/errors.md and `data.reason` name a failure. */
export function reasonOf(key: FailureKey): { readonly reason: string; readonly rpc: number; readonly retryable: boolean } {
  return { reason: REASONS[key] ?? key.toLowerCase(), rpc: FAILURES[key].rpc, retryable: RETRYABLE.has(key) };
}

/** The `data` of the error frame: every error that the proxy makes has a reason and says whether the request may succeed if it is sent again. */
export function wireDataOf({ key, data }: Pick<ProxyError, 'key' | 'data'>): Readonly<Record<string, unknown>> {
  const { reason, retryable } = reasonOf(key);
  return { reason, ...data, retryable };
}

/** Creates the error for `key`; the peer receives `data` with it. */
export function failure<K extends FailureKey>(
  key: K,
  args: Parameters<Failures[K]['message']>,
  data?: Readonly<Record<string, unknown>>,
): ProxyError {
  const message = FAILURES[key].message as (...args: unknown[]) => string;
  return new ProxyError(key, message(...args), data);
}
