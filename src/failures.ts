// Every failure that reaches a peer: the key is for logs and tests, `rpc` is the JSON-RPC code, and the message says what to do next.
// docs/errors.md is made from the comments: when it happens, and what to do if that is not plain.

/** Details about an agent that has exited. */
type Exited = {
  /** A request to the agent was still open. */
  readonly hadOpenRequest: boolean;
  readonly lastOutput: string | undefined;
  /** `switchboard agents test` may show the cause. */
  readonly isWorthTest: boolean;
};

const lastOutputOf = (lastOutput: string | undefined): string => (lastOutput === undefined ? '' : `; its last output: "${lastOutput}"`);

export const FAILURES = {
  /** the line is not JSON */
  PARSE: { rpc: -32700, message: (reason: string) => `Parse error: the line is ${reason}` },
  /** the line is JSON, but no JSON-RPC message */
  NOT_A_MESSAGE: { rpc: -32600, message: (reason: string) => `Invalid request: ${reason}` },
  /** parsers read the message differently, for example because of a duplicate key */
  AMBIGUOUS: { rpc: -32600, message: (reason: string) => `Invalid request: ${reason}, so parsers disagree about its meaning` },
  /** the frame exceeds `limits.max_frame_bytes`: send less, or raise it */
  FRAME_TOO_LONG: {
    rpc: -32600,
    message: (limit: number) => `The frame exceeds limits.max_frame_bytes (${limit}); send a smaller one or raise the limit`,
  },
  /** the agent's answer exceeds `limits.max_frame_bytes`: raise it */
  ANSWER_TOO_LONG: {
    rpc: -32603,
    message: (who: string, limit: number) =>
      `The response from ${who} exceeds limits.max_frame_bytes (${limit}) and was dropped; raise the limit to receive it`,
  },
  /** the answer has neither or both of `result` and `error` */
  ANSWER_UNCLEAR: {
    rpc: -32603,
    message: (who: string, method: string) => `The response from ${who} to ${method} is invalid: it must have either result or error`,
  },
  /** the answer is not a valid frame */
  ANSWER_REFUSED: {
    rpc: -32603,
    message: (who: string, method: string, reason: string) => `The response from ${who} to ${method} was rejected: ${reason}`,
  },
  /** an earlier request with this id is open: use another id */
  ID_IN_USE: { rpc: -32600, message: (id: string) => `An earlier request with id ${id} is still open; use another id` },
  /** the request came before `initialize` */
  NOT_INITIALIZED: { rpc: -32600, message: (method: string) => `${method} was sent before initialize` },
  /** the request names no session, and there are several agents */
  METHOD_UNROUTABLE: {
    rpc: -32601,
    message: (method: string) => `Method not found: ${method} has no sessionId, so the agent is ambiguous`,
  },
  /** neither switchboard nor an agent serves the method */
  METHOD_UNKNOWN: { rpc: -32601, message: (method: string) => `Method not found: ${method}` },
  /** the agent does not support the method */
  METHOD_UNSUPPORTED: {
    rpc: -32601,
    message: (method: string, agent: string) => `Method not found: agent "${agent}" does not support ${method}`,
  },
  /** the client serves no files or terminals: set `workspace` */
  CLIENT_UNSUPPORTED: {
    rpc: -32601,
    message: (method: string) =>
      `Method not found: the client does not support ${method}; set workspace to "serve-missing" to let switchboard serve it`,
  },
  /** no agent has the session: list the sessions */
  SESSION_UNKNOWN: { rpc: -32002, message: (id: string) => `No agent owns session "${id}"` },
  /** several agents have a session of this id: choose one with `--agent` */
  SESSION_AMBIGUOUS: {
    rpc: -32602,
    message: (id: string, agents: string) =>
      `Several agents have a session "${id}" (${agents}); start switchboard with --agent NAME to choose one`,
  },
  /** the agent of the session is no longer configured: add it again */
  SESSION_ORPHANED: {
    rpc: -32002,
    message: (id: string, agent: string) =>
      `Session "${id}" belongs to agent "${agent}", which is no longer configured; add it to agent_servers again`,
  },
  /** the agent has given the id to another session: `sessions show` has the old one */
  SESSION_SUPERSEDED: {
    rpc: -32002,
    message: (id: string, agent: string, other: string) =>
      `Session "${id}" has ended: agent "${agent}" has given its id to session "${other}". To read it, run: switchboard sessions show ${id}`,
  },
  /** the agent cannot reopen the session, and there is no transcript: open a new one */
  SESSION_NOT_LOADABLE: {
    rpc: -32602,
    message: (id: string, agent: string, method: string) =>
      `Session "${id}" cannot be restored: agent "${agent}" does not support ${method}${method === 'session/load' ? ', and no transcript is stored' : ''}; open a new session`,
  },
  /** the session is a stored transcript and read-only: open a new one */
  SESSION_RECORD: {
    rpc: -32602,
    message: (id: string, agent: string, method: string) =>
      `${method} failed: session "${id}" is read-only, because agent "${agent}" supports neither session/load nor session/resume; open a new session`,
  },
  /** the parameters are invalid */
  PARAMS: { rpc: -32602, message: (method: string, reason: string) => `Invalid params for ${method}: ${reason}` },
  /** `cwd` is not an absolute path */
  CWD_RELATIVE: { rpc: -32602, message: (method: string) => `Invalid params for ${method}: cwd must be an absolute path` },
  /** a network client may not open sessions in this directory: add it to `allow_cwd` */
  CWD_NOT_ALLOWED: {
    rpc: -32602,
    message: (method: string, cwd: string, where: string) =>
      `Invalid params for ${method}: clients of ${where} may not open sessions in ${cwd}, or it is missing there; its owner can add it to allow_cwd`,
  },
  /** a network client may not start programs as MCP servers: see `network_clients.stdio_servers` */
  STDIO_SERVER_REFUSED: {
    rpc: -32602,
    message: (method: string, server: string) =>
      `Invalid params for ${method}: MCP server "${server}" is a program, and network clients may not start programs; use an http server, or let the owner of the daemon set network_clients.stdio_servers`,
  },
  /** a network client may use only the methods of its sessions: use an owner's token */
  METHOD_NOT_ALLOWED: {
    rpc: -32601,
    message: (method: string) =>
      `${method} is not allowed: network clients may only use the methods of their sessions; use a token with the role owner`,
  },
  /** an observer's token can only list and read sessions */
  OBSERVER: {
    rpc: -32603,
    message: (method: string) => `${method} is not allowed: a token with the role observer can only list and read sessions`,
  },
  /** the session is not live: open it with `session/load` */
  NOT_LIVE: { rpc: -32001, message: (id: string) => `Session "${id}" is not live; open it with session/load` },
  /** the one client that was asked disconnected before it answered; agents get this */
  CLIENT_GONE: {
    rpc: -32603,
    message: (method: string) => `The client disconnected before it answered ${method}; it may have done it`,
  },
  /** no such agent is configured */
  AGENT_UNKNOWN: { rpc: -32602, message: (agent: string, known: string) => `Unknown agent "${agent}"; configured agents: ${known}` },
  /** the session has begun with another agent: open a new one */
  AGENT_LOCKED: {
    rpc: -32602,
    message: (agent: string, wanted: string) => `The session already started with agent "${agent}"; open a new session to use "${wanted}"`,
  },
  /** the agent takes no such image or audio: see `unsupported_content` */
  CONTENT_UNSUPPORTED: {
    rpc: -32602,
    message: (agent: string, what: string) =>
      `Invalid params for session/prompt: agent "${agent}" does not support ${what} (promptCapabilities.${what}); use another agent, or set agent_servers.${agent}.unsupported_content to "describe"`,
  },
  /** the agent lacks a capability that the request needs */
  CAPABILITY_MISSING: {
    rpc: -32602,
    message: (method: string, agent: string, what: string) => `Invalid params for ${method}: agent "${agent}" does not support ${what}`,
  },
  /** no such login method: the message lists them */
  AUTH_METHOD_UNKNOWN: {
    rpc: -32602,
    message: (id: string, known: string) => `Unknown authentication method "${id}"; available methods: ${known}`,
  },
  /** unknown cursor of `session/list`: list again without one */
  CURSOR_UNKNOWN: {
    rpc: -32602,
    message: () => 'Invalid params for session/list: unknown cursor; list again without a cursor',
  },
  /** the terminal belongs to another session */
  TERMINAL_FOREIGN: { rpc: -32602, message: (id: string) => `This agent did not create terminal "${id}" in this session` },
  /** the policy denies the request: the message names the rule */
  POLICY_DENIED: { rpc: -32603, message: (method: string, why: string) => `${method} denied by policy: ${why}` },
  /** the policy does not allow the mode */
  MODE_REFUSED: {
    rpc: -32602,
    message: (mode: string, agent: string, why: string) =>
      `Mode "${mode}" of agent "${agent}" is not allowed: ${why}; see agents.${agent}.mode in the policy`,
  },
  /** the policy does not allow the MCP server */
  SERVER_DENIED: {
    rpc: -32602,
    message: (server: string, agent: string, why: string) => `MCP server "${server}" is not allowed for agent "${agent}": ${why}`,
  },
  /** the file does not exist */
  FILE_MISSING: { rpc: -32002, message: () => 'Resource not found: the file does not exist' },
  /** the path is outside the session's directories */
  PATH_OUTSIDE: {
    rpc: -32602,
    message: () => 'The path is outside the session directories (cwd and additionalDirectories)',
  },
  /** the path changed while it was checked: try again */
  PATH_MOVED: { rpc: -32603, message: () => 'The path changed after the policy checked it; try again' },
  /** the file cannot be read or written */
  FILE_UNUSABLE: { rpc: -32603, message: (method: string, why: string) => `${method} failed: ${why}` },
  /** another program changed the file: read it again */
  FILE_CHANGED: {
    rpc: -32603,
    message: () => 'Another program changed the file during the edit, so nothing was written; read the file again',
  },
  /** the text is too long for one answer: read it in parts */
  FILE_TOO_LARGE: {
    rpc: -32603,
    message: (limit: number) => `The text exceeds ${limit} bytes; read it in parts with line and limit`,
  },
  /** the session has no directory: open it with a `cwd` */
  ROOTS_UNKNOWN: {
    rpc: -32602,
    message: (method: string) => `${method} failed: this session has no directory; open it with an absolute cwd`,
  },
  /** the command of the terminal did not start */
  TERMINAL_UNSTARTABLE: { rpc: -32603, message: (why: string) => `The terminal did not start: ${why}` },
  /** the request was cancelled */
  CANCELLED: { rpc: -32800, message: (method: string) => `${method} was cancelled` },
  /** the command of the agent does not start: `agents test` says why */
  AGENT_MISSING: {
    rpc: -32603,
    message: (agent: string, command: string, why: string, next = `Check "command" in agent_servers.${agent}, or install the agent`) =>
      `Agent "${agent}" did not start: ${why} (command: ${command}). ${next}`,
  },
  /** the remote agent cannot be reached: check its `url` */
  AGENT_UNREACHABLE: {
    rpc: -32603,
    message: (agent: string, address: string, why: string, next = `Check "url" in agent_servers.${agent}`) =>
      `Agent "${agent}" cannot be reached at ${address}: ${why}. ${next}`,
  },
  /** the agent did not answer `initialize` in time: raise `timeouts.initialize_ms` */
  AGENT_SILENT: {
    rpc: -32603,
    message: (agent: string, ms: number, lastOutput: string | undefined) =>
      `Agent "${agent}" did not answer initialize within ${ms} ms${lastOutputOf(lastOutput)}. Run its command in a terminal to see why, set framing or dialect if it does not speak newline-delimited ACP, or raise agent_servers.${agent}.timeouts.initialize_ms`,
  },
  /** the agent speaks another version of ACP: install one for version 1 */
  AGENT_VERSION: {
    rpc: -32603,
    message: (agent: string, version: string) =>
      `Agent "${agent}" speaks ACP version ${version}, but switchboard needs version 1; install a version of the agent that supports it`,
  },
  /** the agent failed and starts again after a pause (`retryInMs`) */
  AGENT_UNAVAILABLE: {
    rpc: -32603,
    message: (agent: string, seconds: number, why: string) => `Agent "${agent}" is unavailable; try again in ${seconds} s. ${why}`,
  },
  /** the agent crashed too often and pauses longer (`retryInMs`): run `agents test` */
  AGENT_CRASH_LOOP: {
    rpc: -32603,
    message: (agent: string, crashes: number, windowS: number, seconds: number) =>
      `Agent "${agent}" crashed more than ${crashes} times within ${windowS} s and restarts in ${seconds} s at the earliest. To find out why, run: switchboard agents test ${agent}`,
  },
  /** a user stopped the agent in the console: start it there */
  AGENT_STOPPED: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" is stopped; start it in the console or use another agent`,
  },
  /** the agent exited, and `restart.enabled` is false: open a new session */
  AGENT_NOT_RESTARTED: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" exited, and restart.enabled is false in agent_servers.${agent}; open a new session`,
  },
  /** the session was lost with its agent and could not be restored: open a new one */
  SESSION_LOST: {
    rpc: -32603,
    message: (id: string, agent: string, why: string) =>
      `Session "${id}" was lost when agent "${agent}" exited, and restoring it failed: ${why}. Open a new session`,
  },
  /** the session is still being restored: send the request again */
  SESSION_NOT_BACK: {
    rpc: -32603,
    message: (id: string, agent: string, method: string, ms: number) =>
      `Session "${id}" was lost when agent "${agent}" exited, and is still being restored: no response to ${method} within ${ms} ms. Send the request again to wait longer, raise agent_servers.${agent}.timeouts.initialize_ms, or open a new session`,
  },
  /** the agent did not open a session in time */
  SESSION_NOT_OPENED: {
    rpc: -32603,
    message: (agent: string, ms: number, lastOutput: string | undefined) =>
      `Agent "${agent}" did not open a session within ${ms} ms${lastOutputOf(lastOutput)}. Use another agent, or raise agent_servers.${agent}.timeouts.initialize_ms (this limit is twice that)`,
  },
  /** too many requests of this kind are open: wait for one */
  TOO_MANY_OPEN: {
    rpc: -32603,
    message: (what: string, limit: number, where = 'in this session') =>
      `Too many ${what} are open ${where} (limit ${limit}); wait until one completes`,
  },
  /** the session is in use under another id: the message names it */
  SESSION_IN_USE: {
    rpc: -32603,
    message: (agent: string, id: string) =>
      `The session that agent "${agent}" opened is already in use as "${id}"; use that one, or try again`,
  },
  /** the agent rejected a request that switchboard sent for you */
  AGENT_REFUSED: {
    rpc: -32603,
    message: (agent: string, method: string, message: string) => `Agent "${agent}" rejected ${method}: ${message}`,
  },
  /** the agent has no such MCP server */
  MCP_SERVER_UNKNOWN: { rpc: -33001, message: (serverId: string) => `This agent has no MCP server "${serverId}"` },
  /** the MCP server rejected the request */
  MCP_REFUSED: { rpc: -32603, message: (why: string) => `The MCP server rejected the request: ${why}` },
  /** the agent exited (`code`, `signal`, `stderr`): `agents test` may say why */
  AGENT_GONE: {
    rpc: -32603,
    message: (agent: string, how: string, { hadOpenRequest, lastOutput, isWorthTest }: Exited) =>
      [
        `Agent "${agent}" exited (${how})${hadOpenRequest ? ' before answering' : ''}${lastOutputOf(lastOutput)}`,
        ...(isWorthTest ? [`. To find out why, run: switchboard agents test ${agent}`] : []),
      ].join(''),
  },
  /** the connection to a remote agent was lost (`why`) */
  AGENT_DISCONNECTED: {
    rpc: -32603,
    message: (agent: string, why: string, hadOpenRequest: boolean) =>
      `The connection to agent "${agent}" was lost (${why})${hadOpenRequest ? ' before it answered' : ''}`,
  },
  /** the agent is offered no files: it is remote (see `files`) or at the sandbox level `review` */
  FILES_WITHHELD: {
    rpc: -32601,
    message: (method: string, agent: string) =>
      `Method not found: "${method}": agent "${agent}" does not share files with the client: it is remote (see agent_servers.${agent}.files) or works at the sandbox level "review"`,
  },
  /** the remote agent does not share this directory: see `files.map` */
  PATH_UNMAPPED: {
    rpc: -32602,
    message: (method: string, path: string, agent: string) =>
      `Invalid params for "${method}": "${path}" is outside the directories that remote agent "${agent}" shares; see agent_servers.${agent}.files`,
  },
  /** the agent closed a stream and was stopped */
  AGENT_HUNG_UP: {
    rpc: -32603,
    message: (agent: string, stream: string) => `Agent "${agent}" closed its ${stream} but kept running, so it was stopped`,
  },
  /** too much waits for the start of the agent */
  AGENT_BACKLOG: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `Agent "${agent}" is still starting, and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  /** 16 prompts of the session already wait: wait, or cancel the turn */
  PROMPT_QUEUE_FULL: {
    rpc: -32602,
    message: (agent: string, limit: number) =>
      `${limit} prompts already wait for agent "${agent}" to finish its turn, which is the limit; wait, or cancel the turn`,
  },
  /** the agent works on another prompt, and `while_running` is `refuse` */
  TURN_RUNNING: {
    rpc: -32602,
    message: (agent: string) =>
      `Agent "${agent}" is still working on the last prompt, and while_running is "refuse"; wait for it, or cancel the turn`,
  },
  /** the prompt took longer than `timeouts.prompt_ms` and was cancelled */
  PROMPT_TIMEOUT: {
    rpc: -32603,
    message: (agent: string, ms: number) =>
      `Agent "${agent}" did not finish the prompt within ${ms} ms, so it was cancelled. Send a smaller task, or raise agent_servers.${agent}.timeouts.prompt_ms`,
  },
  /** too much waits in the session */
  SESSION_BACKLOG: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `The session is waiting for agent "${agent}", and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  /** a bug in switchboard: please report it */
  INTERNAL: { rpc: -32603, message: (method: string, why: string) => `Internal error in ${method} (${why}); please report this` },
  /** a message of the agent caused a bug in switchboard: please report it */
  AGENT_UNREADABLE: {
    rpc: -32603,
    message: (agent: string, why: string) =>
      `Agent "${agent}" was stopped: a message from it caused an internal error (${why}); please report this`,
  },
  /** the agent does not read, its queue was full, and it was stopped */
  AGENT_DEAF: {
    rpc: -32603,
    message: (agent: string, limit: number) =>
      `Agent "${agent}" was stopped: it does not read its input, and its queue exceeded limits.max_queue_bytes (${limit})`,
  },
  /** the agent read nothing for too long and was stopped */
  AGENT_STUCK: {
    rpc: -32603,
    message: (agent: string, seconds: number) => `Agent "${agent}" was stopped: it read none of its input for ${seconds} s`,
  },
  /** the agent went on with a cancelled turn and was stopped */
  AGENT_UNSTOPPABLE: {
    rpc: -32603,
    message: (agent: string) => `Agent "${agent}" was stopped: it continued a turn that was cancelled`,
  },
  /** a request to all agents failed for some of them */
  FAN_OUT: { rpc: -32603, message: (method: string, failures: string) => `${method} failed for: ${failures}` },
  /** switchboard is ending: start it again */
  SHUTTING_DOWN: { rpc: -32603, message: () => 'switchboard is shutting down' },
} as const;
