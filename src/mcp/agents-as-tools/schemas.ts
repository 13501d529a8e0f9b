// The tools as clients see them: name, title, description, schemas of arguments and results, and what a call may do.
import { type JsonSchema, object } from '../server/tool.ts';

export type ToolAnnotations = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
};

export type ToolShape = {
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** Runs a turn, so it may last long. */
  readonly isTurn?: true;
};

const string = (description?: string): JsonSchema => ({ type: 'string', ...(description !== undefined && { description }) });
const integer = (description?: string): JsonSchema => ({ type: 'integer', ...(description !== undefined && { description }) });
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
/** Results may gain fields. */
const result = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

const READS: ToolAnnotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const CHANGES: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
/** An agent may do anything that the policy and the user allow. */
const ACTS: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

const SESSION_ID = { session_id: { type: 'string', minLength: 1, description: 'A session, by its id.' } };
const CWD = {
  cwd: string('An absolute directory to work in. Default: the directory of switchboard, or the first root that the client gives.'),
};
const PROMPT = {
  prompt: string('The text of the prompt.'),
  content: {
    type: 'array',
    description:
      'More content of the prompt, as MCP content blocks: text, image, audio, resource_link, resource. `list_agents` says what an agent takes.',
    items: { type: 'object', properties: { type: { enum: ['text', 'image', 'audio', 'resource_link', 'resource'] } }, required: ['type'] },
  },
};

const SETTING = result(
  {
    id: string(),
    name: string(),
    category: string(),
    value: { type: ['string', 'boolean'] },
    choices: list(result({ value: string(), name: string() }, ['value', 'name'])),
  },
  ['id', 'name', 'value', 'choices'],
);
const SESSION = result(
  {
    session_id: string(),
    agent: string(),
    cwd: string(),
    title: string(),
    is_running: { type: 'boolean', description: 'Whether a turn runs.' },
    turns: integer('The number of its turns.'),
    options: list(SETTING),
    commands: list(result({ name: string(), description: string(), hint: string() }, ['name', 'description'])),
  },
  ['session_id', 'is_running', 'turns', 'options', 'commands'],
);
const TOOL_CALL = result({ tool_call_id: string(), title: string(), kind: string(), status: string(), paths: list(string()) }, [
  'title',
  'kind',
  'status',
]);
const TURN = {
  session_id: string(),
  turn: integer('Its number in the session, from 1; session://SESSION/turn/NUMBER has its text.'),
  text: string('The messages of the agent.'),
  stop_reason: string('end_turn, max_tokens, max_turn_requests, refusal or cancelled.'),
  tool_calls: list(TOOL_CALL),
  changed_files: list(string()),
  plan: list(result({ content: string(), status: string() }, ['content', 'status'])),
  usage: result({ tokens: integer(), context_size: integer(), cost: result({ amount: { type: 'number' }, currency: string() }, []) }, []),
  notes: list(string('Notices of switchboard and the agent, for example about what the policy refused and how to allow it.')),
};
const TURN_RESULT = result(TURN, ['session_id', 'turn', 'text', 'stop_reason', 'tool_calls', 'changed_files']);
const ACK = result({ session_id: string(), done: string() }, ['session_id', 'done']);

export const TOOL_SHAPES = {
  list_agents: {
    title: 'List agents',
    description: 'Lists the agents, the content that their prompts take, and their login methods.',
    inputSchema: object({}),
    outputSchema: result(
      {
        agents: list(
          result(
            {
              name: string(),
              title: string(),
              takes: list({ enum: ['text', 'image', 'audio', 'resource_link', 'resource'] }),
              logins: list(result({ method: string(), name: string(), type: string(), url: string() }, ['method', 'name'])),
            },
            ['name', 'title', 'takes', 'logins'],
          ),
        ),
      },
      ['agents'],
    ),
    annotations: READS,
  },
  start_session: {
    title: 'Start a session',
    description: 'Opens a session with an agent. Its id is for prompt.',
    inputSchema: object({ agent: string('The name of the agent. Default: the configured one.'), ...CWD }),
    outputSchema: SESSION,
    annotations: { ...CHANGES, idempotentHint: false },
  },
  prompt: {
    title: 'Prompt an agent',
    description: 'Sends a prompt to a session, waits for the turn to end, and returns its messages, tool calls and changed files.',
    inputSchema: object({ ...SESSION_ID, ...PROMPT }, ['session_id']),
    outputSchema: TURN_RESULT,
    annotations: ACTS,
    isTurn: true,
  },
  continue: {
    title: 'Continue a session',
    description: 'Reopens an earlier session from list_sessions and sends it a prompt.',
    inputSchema: object({ ...SESSION_ID, ...PROMPT, ...CWD }, ['session_id']),
    outputSchema: TURN_RESULT,
    annotations: ACTS,
    isTurn: true,
  },
  get_turn: {
    title: 'Get the last turn',
    description: 'Returns the last turn of a session: its text so far while it runs, then its result, for 24 hours.',
    inputSchema: object(
      { ...SESSION_ID, wait_ms: { ...integer('Wait this long for the end of the turn.'), minimum: 0, maximum: 600_000 } },
      ['session_id'],
    ),
    outputSchema: result(
      {
        session_id: string(),
        turn: integer(),
        status: { enum: ['running', 'ended', 'failed'] },
        started_at: string(),
        ended_at: string(),
        kept_until: string(),
        text: string(),
        error: string(),
        result: TURN_RESULT,
      },
      ['session_id', 'turn', 'status', 'started_at'],
    ),
    annotations: READS,
  },
  cancel: {
    title: 'Cancel a turn',
    description: 'Cancels the running turn of a session.',
    inputSchema: object(SESSION_ID, ['session_id']),
    outputSchema: ACK,
    annotations: CHANGES,
  },
  get_session: {
    title: 'Show a session',
    description: 'Shows an open session: its agent, directory, options (mode, model and others) and slash commands.',
    inputSchema: object(SESSION_ID, ['session_id']),
    outputSchema: SESSION,
    annotations: READS,
  },
  set_option: {
    title: 'Set an option',
    description: 'Sets an option of a session: its mode, its model, or another one that get_session lists.',
    inputSchema: object({ ...SESSION_ID, option: string('The id of the option.'), value: { type: ['string', 'boolean'] } }, [
      'session_id',
      'option',
      'value',
    ]),
    outputSchema: SESSION,
    annotations: CHANGES,
  },
  list_sessions: {
    title: 'List sessions',
    description: 'Lists the sessions of all agents, including earlier ones, a page at a time.',
    inputSchema: object({ cursor: string('next_cursor of the page before.'), cwd: string('Only sessions of this directory.') }),
    outputSchema: result(
      {
        sessions: list(
          result(
            { session_id: string(), agent: string(), cwd: string(), title: string(), updated_at: string(), is_open: { type: 'boolean' } },
            ['session_id', 'is_open'],
          ),
        ),
        next_cursor: string(),
      },
      ['sessions'],
    ),
    annotations: READS,
  },
  resume_session: {
    title: 'Resume a session',
    description: 'Reopens an earlier session without a prompt.',
    inputSchema: object({ ...SESSION_ID, ...CWD }, ['session_id']),
    outputSchema: SESSION,
    annotations: CHANGES,
  },
  fork_session: {
    title: 'Fork a session',
    description: 'Opens another session that starts with the conversation of this one.',
    inputSchema: object({ ...SESSION_ID, ...CWD }, ['session_id']),
    outputSchema: SESSION,
    annotations: { ...CHANGES, idempotentHint: false },
  },
  close_session: {
    title: 'Close a session',
    description: 'Closes a session and cancels its turn. It can be resumed.',
    inputSchema: object(SESSION_ID, ['session_id']),
    outputSchema: ACK,
    annotations: CHANGES,
  },
  delete_session: {
    title: 'Delete a session',
    description: 'Deletes a session at its agent, if the agent supports it.',
    inputSchema: object(SESSION_ID, ['session_id']),
    outputSchema: ACK,
    annotations: { ...CHANGES, destructiveHint: true },
  },
  get_transcript: {
    title: 'Get a transcript',
    description: 'Returns the transcript of a session, including an earlier one, or of one turn.',
    inputSchema: object({ ...SESSION_ID, turn: { ...integer('Only this turn, counted from 1.'), minimum: 1 } }, ['session_id']),
    outputSchema: result({ session_id: string(), transcript: string() }, ['session_id', 'transcript']),
    annotations: READS,
  },
  login: {
    title: 'Log in',
    description: 'Logs in to an agent with one of its methods that need no terminal; list_agents names them.',
    inputSchema: object({ agent: string('The name of the agent.'), method: string('The login method.') }, ['agent', 'method']),
    outputSchema: result({ agent: string(), done: string() }, ['agent', 'done']),
    annotations: { ...CHANGES, openWorldHint: true },
  },
} as const satisfies Readonly<Record<string, ToolShape>>;

export type ToolName = keyof typeof TOOL_SHAPES;
