// Every failure a peer can hear of: the key is for logs and tests, `rpc` is the number on the wire, and the words say what to do next.

/** About an agent that has exited. */
type Gone = {
  /** Somebody waited for its answer. */
  readonly wasAsked: boolean;
  readonly lastWords: string | undefined;
  /** To start it once more by itself may show why. */
  readonly isWorthTest: boolean;
};

const saidLast = (lastWords: string | undefined): string => (lastWords === undefined ? '' : `; its last words: "${lastWords}"`);

const FAILURES = {
  PARSE: { rpc: -32700, say: (reason: string) => `Parse error: the line is ${reason}` },
  NOT_A_MESSAGE: { rpc: -32600, say: (reason: string) => `Invalid request: ${reason}` },
  AMBIGUOUS: { rpc: -32600, say: (reason: string) => `Invalid request: ${reason}, which parsers read differently` },
  FRAME_TOO_LONG: {
    rpc: -32600,
    say: (limit: number) => `The frame is longer than limits.max_frame_bytes (${limit}); send less at once or raise the limit`,
  },
  ANSWER_TOO_LONG: {
    rpc: -32603,
    say: (who: string, limit: number) => `The answer of ${who} is longer than limits.max_frame_bytes (${limit}) and was skipped`,
  },
  ANSWER_UNCLEAR: {
    rpc: -32603,
    say: (who: string, method: string) => `The answer of ${who} to ${method} is not usable: it needs exactly one of result and error`,
  },
  ANSWER_REFUSED: {
    rpc: -32603,
    say: (who: string, method: string, reason: string) => `The answer of ${who} to ${method} was refused: ${reason}`,
  },
  ID_IN_USE: { rpc: -32600, say: (id: string) => `The request id ${id} is still in use by an earlier request` },
  NOT_INITIALIZED: { rpc: -32600, say: (method: string) => `${method} came before initialize` },
  METHOD_UNROUTABLE: {
    rpc: -32601,
    say: (method: string) => `Method not found: ${method} names no session, and none of several agents can be meant by it alone`,
  },
  METHOD_UNKNOWN: { rpc: -32601, say: (method: string) => `Method not found: ${method}` },
  METHOD_UNSUPPORTED: {
    rpc: -32601,
    say: (method: string, agent: string) => `Method not found: agent "${agent}" does not offer ${method}`,
  },
  SESSION_UNKNOWN: { rpc: -32002, say: (id: string) => `No agent owns session "${id}"` },
  SESSION_AMBIGUOUS: {
    rpc: -32602,
    say: (id: string, agents: string) =>
      `Session "${id}" exists at several agents (${agents}); start switchboard with --agent NAME to pick one`,
  },
  SESSION_ORPHANED: {
    rpc: -32002,
    say: (id: string, agent: string) =>
      `Session "${id}" belongs to agent "${agent}", which is not configured; add it to agent_servers again`,
  },
  SESSION_NOT_LOADABLE: {
    rpc: -32602,
    say: (id: string, agent: string, method: string) =>
      `Session "${id}" cannot be brought back: agent "${agent}" does not offer ${method}${method === 'session/load' ? ', and there is no transcript of it' : ''}; open a new session`,
  },
  SESSION_RECORD: {
    rpc: -32602,
    say: (id: string, agent: string, method: string) =>
      `${method} is not possible: session "${id}" is only a record of what was said. Agent "${agent}" offers neither session/load nor session/resume, so it cannot go on; open a new session`,
  },
  PARAMS: { rpc: -32602, say: (method: string, reason: string) => `Invalid params for ${method}: ${reason}` },
  CWD_RELATIVE: { rpc: -32602, say: (method: string) => `Invalid params for ${method}: cwd must be an absolute path` },
  AGENT_UNKNOWN: { rpc: -32602, say: (agent: string, known: string) => `There is no agent "${agent}"; configured are: ${known}` },
  AGENT_LOCKED: {
    rpc: -32602,
    say: (agent: string, wanted: string) => `The session has begun with agent "${agent}"; open a new session to use "${wanted}"`,
  },
  CAPABILITY_MISSING: {
    rpc: -32602,
    say: (method: string, agent: string, what: string) => `Invalid params for ${method}: agent "${agent}" does not support ${what}`,
  },
  AUTH_METHOD_UNKNOWN: {
    rpc: -32602,
    say: (id: string, known: string) => `There is no authentication method "${id}"; known are: ${known}`,
  },
  CURSOR_UNKNOWN: {
    rpc: -32602,
    say: () => 'Invalid params for session/list: the cursor is not one of ours; begin again without a cursor',
  },
  TERMINAL_FOREIGN: { rpc: -32602, say: (id: string) => `Terminal "${id}" was not created by this agent in this session` },
  POLICY_DENIED: { rpc: -32603, say: (method: string, why: string) => `${method} was denied by policy: ${why}` },
  MODE_REFUSED: {
    rpc: -32602,
    say: (mode: string, agent: string, why: string) =>
      `Mode "${mode}" of agent "${agent}" is refused: ${why}; see agents.${agent}.mode in the policy`,
  },
  SERVER_DENIED: {
    rpc: -32602,
    say: (server: string, agent: string, why: string) => `MCP server "${server}" may not be given to agent "${agent}": ${why}`,
  },
  FILE_MISSING: { rpc: -32002, say: () => 'Resource not found: there is no such file' },
  PATH_OUTSIDE: {
    rpc: -32602,
    say: () => 'The path leads outside the directories of the session (cwd and additionalDirectories), where nothing is served',
  },
  PATH_MOVED: { rpc: -32603, say: () => 'The path leads elsewhere than when the policy judged it; try again' },
  FILE_UNUSABLE: { rpc: -32603, say: (method: string, why: string) => `${method} failed: ${why}` },
  FILE_CHANGED: { rpc: -32603, say: () => 'The file was changed by somebody else at this very moment; nothing was written. Look again' },
  FILE_TOO_LARGE: {
    rpc: -32603,
    say: (limit: number) => `The text is longer than ${limit} bytes; read it in parts with line and limit`,
  },
  ROOTS_UNKNOWN: {
    rpc: -32602,
    say: (method: string) => `${method} cannot be served: no session with a directory of its own was opened under this id`,
  },
  TERMINAL_UNSTARTABLE: { rpc: -32603, say: (why: string) => `The terminal could not be started: ${why}` },
  CANCELLED: { rpc: -32800, say: (method: string) => `${method} was cancelled` },
  AGENT_MISSING: {
    rpc: -32603,
    say: (agent: string, command: string, why: string, next = `Check "command" in agent_servers.${agent}, or install the agent`) =>
      `Agent "${agent}" could not be started: ${why} (command: ${command}). ${next}`,
  },
  AGENT_SILENT: {
    rpc: -32603,
    say: (agent: string, ms: number, lastWords: string | undefined) =>
      `Agent "${agent}" did not answer initialize within ${ms} ms${saidLast(lastWords)}. Start its command by hand to see why, set its framing or dialect if it does not speak ACP in lines, or raise agent_servers.${agent}.timeouts.initialize_ms`,
  },
  AGENT_VERSION: {
    rpc: -32603,
    say: (agent: string, version: string) =>
      `Agent "${agent}" speaks ACP version ${version}, and switchboard speaks version 1; install a version of the agent that does too`,
  },
  AGENT_UNAVAILABLE: {
    rpc: -32603,
    say: (agent: string, seconds: number, why: string) =>
      `Agent "${agent}" is not available; the next try is possible in ${seconds} s. ${why}`,
  },
  AGENT_CRASH_LOOP: {
    rpc: -32603,
    say: (agent: string, crashes: number, windowS: number, seconds: number) =>
      `Agent "${agent}" crashed more than ${crashes} times within ${windowS} s and is left alone for ${seconds} s; run: switchboard agents test ${agent}`,
  },
  AGENT_STOPPED: {
    rpc: -32603,
    say: (agent: string) => `Agent "${agent}" was stopped by hand; start it in the console, or use another agent`,
  },
  AGENT_NOT_RESTARTED: {
    rpc: -32603,
    say: (agent: string) => `Agent "${agent}" exited, and restart.enabled is false in agent_servers.${agent}; open a new session`,
  },
  SESSION_LOST: {
    rpc: -32603,
    say: (id: string, agent: string, why: string) =>
      `Session "${id}" was lost when agent "${agent}" exited, and could not be brought back: ${why}. Open a new session`,
  },
  SESSION_NOT_BACK: {
    rpc: -32603,
    say: (id: string, agent: string, method: string, ms: number) =>
      `Session "${id}" was lost when agent "${agent}" exited, and is not back yet: no answer to ${method} within ${ms} ms. Send the request again to wait for it, raise agent_servers.${agent}.timeouts.initialize_ms, or open a new session`,
  },
  SESSION_NOT_OPENED: {
    rpc: -32603,
    say: (agent: string, ms: number, lastWords: string | undefined) =>
      `Agent "${agent}" did not open a session within ${ms} ms${saidLast(lastWords)}. Use another agent, or raise agent_servers.${agent}.timeouts.initialize_ms, of which this is the double`,
  },
  TOO_MANY_OPEN: {
    rpc: -32603,
    say: (what: string, limit: number, where = 'in this session') => `There are already ${limit} ${what} open ${where}; settle some first`,
  },
  AGENT_REFUSED: { rpc: -32603, say: (agent: string, method: string, message: string) => `Agent "${agent}" refused ${method}: ${message}` },
  MCP_SERVER_UNKNOWN: { rpc: -33001, say: (serverId: string) => `MCP server "${serverId}" was not given to this agent` },
  MCP_REFUSED: { rpc: -32603, say: (why: string) => `The MCP server refused: ${why}` },
  AGENT_GONE: {
    rpc: -32603,
    say: (agent: string, how: string, { wasAsked, lastWords, isWorthTest }: Gone) =>
      [
        `Agent "${agent}" exited (${how})${wasAsked ? ' before answering' : ''}${saidLast(lastWords)}`,
        ...(isWorthTest ? [`. See: switchboard agents test ${agent}`] : []),
      ].join(''),
  },
  AGENT_HUNG_UP: {
    rpc: -32603,
    say: (agent: string, stream: string) => `Agent "${agent}" closed its ${stream} and lived on, so it was ended`,
  },
  AGENT_BACKLOG: {
    rpc: -32603,
    say: (agent: string, limit: number) =>
      `Agent "${agent}" is still starting, and more than limits.max_queue_bytes (${limit}) wait for it`,
  },
  SESSION_BACKLOG: {
    rpc: -32603,
    say: (agent: string, limit: number) =>
      `The session waits for agent "${agent}", and more than limits.max_queue_bytes (${limit}) already wait with it`,
  },
  INTERNAL: { rpc: -32603, say: (method: string, why: string) => `switchboard failed on ${method} (${why}); please report this` },
  AGENT_UNREADABLE: {
    rpc: -32603,
    say: (agent: string, why: string) => `Agent "${agent}" sent what switchboard failed on (${why}), so it was ended; please report this`,
  },
  AGENT_DEAF: {
    rpc: -32603,
    say: (agent: string, limit: number) =>
      `Agent "${agent}" stopped reading: more than limits.max_queue_bytes (${limit}) were waiting for it, so it was ended`,
  },
  AGENT_STUCK: {
    rpc: -32603,
    say: (agent: string, seconds: number) => `Agent "${agent}" has read nothing of what was sent to it for ${seconds} s, so it was ended`,
  },
  AGENT_UNSTOPPABLE: {
    rpc: -32603,
    say: (agent: string) => `Agent "${agent}" went on with a turn that was cancelled, so it was ended`,
  },
  FAN_OUT: { rpc: -32603, say: (method: string, failures: string) => `${method} failed at: ${failures}` },
  SHUTTING_DOWN: { rpc: -32603, say: () => 'switchboard is shutting down' },
} as const;

/** A peer's value inside our words: `String` would call what the peer has put in its place. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));

type Failures = typeof FAILURES;
export type FailureKey = keyof Failures;

/** A failure that a peer must hear of; it becomes an error frame in `proxy/`. */
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

/** A failure in its own words; `data` travels with it. */
export function failure<K extends FailureKey>(
  key: K,
  args: Parameters<Failures[K]['say']>,
  data?: Readonly<Record<string, unknown>>,
): ProxyError {
  const say = FAILURES[key].say as (...args: unknown[]) => string;
  return new ProxyError(key, say(...args), data);
}
