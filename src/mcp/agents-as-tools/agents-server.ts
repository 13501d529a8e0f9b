// Agents as tools of an MCP client: it opens sessions, prompts agents, and answers their permission requests.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { failed } from '../server/call-tool.ts';
import { httpSessions } from '../server/http-sessions.ts';
import { progressOf } from '../server/progress.ts';
import { type JsonSchema, object, text } from '../server/tool.ts';
import type { HttpHandler } from '../transports/http-listener.ts';
import { createPausedTurns, type PausedTurns, type PermissionRequest, refusalIn, type Step } from './paused-turns.ts';

type Permission = PermissionRequest;
type TurnHandlers = {
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  permission(request: Permission): Promise<string | undefined>;
};
type TurnDone = {
  readonly text: string;
  readonly toolCalls: readonly { readonly title: string; readonly kind: string; readonly status: string }[];
  readonly changedFiles: readonly string[];
  readonly stopReason: string;
};

/** The operations on agents that the tools need. */
export type Agents = {
  agents(): Promise<readonly { readonly name: string; readonly title: string }[]>;
  open(cwd: string, agent: string | undefined): Promise<{ readonly sessionId: string; readonly agent: string | undefined }>;
  reopen(sessionId: string, cwd: string): Promise<void>;
  isOpen(sessionId: string): boolean;
  prompt(sessionId: string, text: string, handlers: TurnHandlers): Promise<TurnDone>;
  cancel(sessionId: string): void;
  list(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  transcript(sessionId: string): string | undefined;
  hasTranscript(sessionId: string): boolean;
};

type Args = Readonly<Record<string, string | undefined>>;
type Tool = {
  readonly description: string;
  readonly inputSchema: JsonSchema;
  run(args: Args, handlers: TurnHandlers): Promise<CallToolResult>;
};

const SESSION = { session_id: { type: 'string', minLength: 1 } };
const PROMPT = { prompt: { type: 'string', minLength: 1 } };
const CWD = { cwd: { type: 'string', description: 'An absolute directory to work in; else the one switchboard was started in.' } };
const TRANSCRIPTS = 'switchboard://transcripts/';

function toolsOf(agents: Agents, cwd: string): Readonly<Record<string, Tool>> {
  const done = ({ text: content, toolCalls, changedFiles, stopReason }: TurnDone, sessionId: string): CallToolResult => ({
    ...text(content === '' ? `[the turn ended with ${stopReason}, without a message]` : content),
    structuredContent: {
      session_id: sessionId,
      text: content,
      stop_reason: stopReason,
      tool_calls: toolCalls.map(({ title, kind, status }) => ({ title, kind, status })),
      changed_files: [...changedFiles],
    },
  });
  const json = (value: object): CallToolResult => ({ ...text(JSON.stringify(value, null, 2)), structuredContent: { ...value } });
  return {
    list_agents: {
      description: 'The agents there are.',
      inputSchema: object({}),
      run: async () => json({ agents: await agents.agents() }),
    },
    start_session: {
      description: 'Opens a session with an agent. Its id is for prompt.',
      inputSchema: object({ agent: { type: 'string', description: 'By name; else the default one.' }, ...CWD }),
      async run(args) {
        const { sessionId, agent } = await agents.open(args.cwd ?? cwd, args.agent);
        return json({ session_id: sessionId, ...(agent !== undefined && { agent }) });
      },
    },
    prompt: {
      description: 'Sends a prompt to a session, waits for the turn to end, and returns its messages, tool calls and changed files.',
      inputSchema: object({ ...SESSION, ...PROMPT }, ['session_id', 'prompt']),
      async run({ session_id = '', prompt = '' }, handlers) {
        if (!agents.isOpen(session_id))
          return failed(`Session "${session_id}" is not open here; start_session opens one, continue reopens one`);
        return done(await agents.prompt(session_id, prompt, handlers), session_id);
      },
    },
    continue: {
      description: 'Reopens an earlier session from list_sessions and sends it a prompt.',
      inputSchema: object({ ...SESSION, ...PROMPT, ...CWD }, ['session_id', 'prompt']),
      async run({ session_id = '', prompt = '', cwd: where }, handlers) {
        if (!agents.isOpen(session_id)) await agents.reopen(session_id, where ?? cwd);
        return done(await agents.prompt(session_id, prompt, handlers), session_id);
      },
    },
    cancel: {
      description: 'Cancels the running turn of a session.',
      inputSchema: object(SESSION, ['session_id']),
      async run({ session_id = '' }) {
        agents.cancel(session_id);
        return text('The turn was cancelled.');
      },
    },
    list_sessions: {
      description: 'Lists the sessions of all agents, including earlier ones.',
      inputSchema: object({}),
      run: async () => json({ sessions: await agents.list() }),
    },
    get_transcript: {
      description: 'Returns the transcript of a session, including an earlier one.',
      inputSchema: object(SESSION, ['session_id']),
      async run({ session_id = '' }) {
        const transcript = agents.transcript(session_id);
        return transcript === undefined ? failed(`There is no transcript of session "${session_id}"`) : text(transcript);
      },
    },
  };
}

export type AgentsServerOptions = { readonly agents: Agents; readonly cwd: string; readonly version: string };

function serverOf({ agents, cwd, version }: AgentsServerOptions, paused: PausedTurns<CallToolResult>): Server {
  const tools = toolsOf(agents, cwd);
  const server = new Server({ name: 'acp-switchboard', title: 'Switchboard', version }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, context) => {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!tool) return failed(`There is no tool "${name}"; tools/list names those there are`);
    const { issues } = await fromJsonSchema<Args>(tool.inputSchema)['~standard'].validate(args);
    if (issues) return failed(`The arguments of ${name} are not valid: ${issues.map(({ message }) => message).join('; ')}`);
    try {
      const { flushed, ...handlers } = handlersOf(server, context);
      const outcome = canResume(context)
        ? await inSteps(paused, tool, args as Args, handlers, context.mcpReq)
        : await tool.run(args as Args, handlers);
      await flushed();
      return outcome;
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  });
  const known = async () => (await agents.list().catch(() => [])).map(({ sessionId }) => String(sessionId)).filter(agents.hasTranscript);
  server.setRequestHandler('resources/list', async () => ({
    resources: (await known()).map((id) => ({
      uri: `${TRANSCRIPTS}${encodeURIComponent(id)}`,
      name: `Transcript of ${id}`,
      mimeType: 'text/plain',
    })),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const id = uri.startsWith(TRANSCRIPTS) ? decodeURIComponent(uri.slice(TRANSCRIPTS.length)) : '';
    const transcript = agents.transcript(id);
    if (transcript === undefined) throw new Error(`There is no resource ${uri}`);
    return { contents: [{ uri, mimeType: 'text/plain', text: transcript }] };
  });
  return server;
}

function handlersOf(server: Server, { mcpReq }: ServerContext): TurnHandlers & { flushed(): Promise<void> } {
  return {
    ...progressOf(mcpReq),
    signal: mcpReq.signal,
    permission: (request) => elicited(server, mcpReq, request),
  };
}

/** The user may be away for a while. */
const ANSWER_MS = 30 * 60_000;

/** Asks the client for permission. A client that cannot be asked has not agreed, so the request is rejected. */
async function elicited(server: Server, mcpReq: ServerContext['mcpReq'], { title, options }: Permission): Promise<string | undefined> {
  const refusal = refusalIn({ title, options });
  // In the 2026 era a server cannot ask during a request; paused-turns.ts asks between requests.
  if (mcpReq.envelope !== undefined || server.getClientCapabilities()?.elicitation === undefined) return refusal;
  try {
    return (
      chosenIn(await mcpReq.elicitInput(elicitationOf({ title, options }), { timeout: ANSWER_MS, signal: mcpReq.signal }), options) ??
      refusal
    );
  } catch {
    return refusal;
  }
}

function elicitationOf({ title, options }: Permission) {
  const answer = { type: 'string' as const, title: 'Answer', enum: options.map(({ name }) => name) };
  const requestedSchema = { type: 'object' as const, properties: { answer }, required: ['answer'] };
  return { mode: 'form' as const, message: `The agent wants to do this: ${title}`, requestedSchema };
}

/** The client's answer, which may have any shape. */
function chosenIn(given: unknown, options: Permission['options']): string | undefined {
  const { action, content } = (given ?? {}) as { action?: unknown; content?: { answer?: unknown } | null };
  return action === 'accept' ? options.find(({ name }) => name === content?.answer)?.optionId : undefined;
}

/** A client of the 2026 era that shows forms: it receives the request as an answer, and calls again with the user's choice. */
function canResume({ mcpReq: { envelope } }: ServerContext): boolean {
  const capabilities = (envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  return (capabilities as { elicitation?: unknown } | undefined)?.elicitation !== undefined;
}

async function inSteps(
  paused: PausedTurns<CallToolResult>,
  tool: Tool,
  args: Args,
  listener: Pick<TurnHandlers, 'signal' | 'progress'>,
  mcpReq: ServerContext['mcpReq'],
): Promise<CallToolResult | InputRequiredResult> {
  const state = mcpReq.requestState<string>();
  let step: Step<CallToolResult> | undefined;
  if (state === undefined) step = await paused.begin(({ ask, ...handlers }) => tool.run(args, { ...handlers, permission: ask }), listener);
  else step = await paused.resume(state, ({ options }) => chosenIn(mcpReq.inputResponses?.permission, options), listener);
  if (!step) return failed('The turn that was waiting for this answer is over; send the prompt again');
  if ('done' in step) return step.done;
  const { id, request } = step.paused;
  return inputRequired({ inputRequests: { permission: inputRequired.elicit(elicitationOf(request)) }, requestState: id });
}

/** On stdio; resolves when the client disconnects. */
export function serveAgentsOnStdio(options: AgentsServerOptions): { close(): Promise<void> } {
  const paused = createPausedTurns<CallToolResult>(ANSWER_MS, refusalIn);
  return serveStdio(() => serverOf(options, paused));
}

export function serveAgentsOverHttp(options: AgentsServerOptions): HttpHandler {
  const paused = createPausedTurns<CallToolResult>(ANSWER_MS, refusalIn);
  const { fetch } = createMcpHandler(() => serverOf(options, paused));
  const otherwise: HttpHandler = (request, parsedBody) => fetch(request, parsedBody === undefined ? {} : { parsedBody });
  return httpSessions((front) => void serverOf(options, paused).connect(front), otherwise).handle;
}
