// One `tools/call`: checked, and run in the way that its client supports. A client of the 2025 era is asked while the call runs. A client of the
// 2026 era gets the question as its answer and calls again, or gets a task.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  fromJsonSchema,
  INVALID_PARAMS,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { withDetail } from '../../client/client-error.ts';
import type { Step } from '../../client/turn-record.ts';
import { fields, type JsonObject } from '../../json-object.ts';
import { failed } from '../server/call-tool.ts';
import type { PausedTurns } from '../server/paused-turns.ts';
import { turnProgressOf } from '../server/progress.ts';
import { canAsk, formOf, inputRequestOf, NO_REPLY, type Question, type Reply } from './open-requests.ts';
import { TOOL_SHAPES, type ToolName, type ToolShape } from './schemas.ts';
import { TASKS_EXTENSION, type Tasks } from './tasks.ts';
import type { Call, RunTool } from './tools.ts';

export type CallDeps = {
  readonly tools: Readonly<Record<ToolName, RunTool>>;
  readonly paused: PausedTurns<CallToolResult, Question, Reply, Step>;
  readonly tasks: Tasks;
};

/** The user may be away for a while. */
export const ANSWER_MS = 30 * 60_000;

const checks = new Map<string, ReturnType<typeof fromJsonSchema>>();

export async function callTool(
  { tools, paused, tasks }: CallDeps,
  server: Server,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: JsonObject | undefined },
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  if (!Object.hasOwn(tools, name)) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name}`);
  const tool: ToolShape = TOOL_SHAPES[name as ToolName];
  const args = withOldNames(given);
  const wrong = await problemIn(name, tool, args);
  if (wrong !== undefined) return failed(`The arguments of ${name} are not valid: ${wrong}`);
  const run = async (call: Call): Promise<CallToolResult> => {
    try {
      return await tools[name as ToolName](args, call);
    } catch (error) {
      return failed(error instanceof Error ? withDetail(error.message, fields(error).data) : String(error));
    }
  };
  const { mcpReq } = context;
  const { progress: send, flushed } = turnProgressOf(mcpReq);
  const progress = (step: Step) => send(step.kind === 'thought' ? `Thinking: ${step.text}` : step.text, step);
  const capabilities = capabilitiesOf(server, context);
  const asks = (question: Question) => canAsk(capabilities, question);
  let outcome: CallToolResult | InputRequiredResult;
  if (mcpReq.envelope === undefined)
    outcome = await run({
      signal: mcpReq.signal,
      progress,
      ask: (question, signal) => ask(server, mcpReq, capabilities, question, signal),
    });
  else if (tool.isTurn && hasTasks(capabilities)) return tasks.create(run, asks) as CallToolResult;
  else outcome = await inSteps(paused, run, asks, { signal: mcpReq.signal, progress }, mcpReq);
  await flushed();
  return outcome;
}

/** `sessionId` was in results before names became alike. */
function withOldNames(args: JsonObject): JsonObject {
  const { sessionId, ...rest } = args;
  return sessionId === undefined || rest.session_id !== undefined ? args : { ...rest, session_id: sessionId };
}

async function problemIn(name: string, tool: ToolShape, args: JsonObject): Promise<string | undefined> {
  const schema = checks.get(name) ?? fromJsonSchema(tool.inputSchema);
  checks.set(name, schema);
  const { issues } = await schema['~standard'].validate(args);
  const known = Object.keys(fields(tool.inputSchema.properties));
  const unknown = Object.keys(args).filter((key) => !known.includes(key));
  if (unknown.length > 0) return `${unknown.join(', ')} is unknown; it takes ${known.join(', ') || 'none'}`;
  return issues?.map(({ message }) => message.replace(/^data\/?/, '').trim()).join('; ');
}

export function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities {
  if (mcpReq.envelope === undefined) return server.getClientCapabilities() ?? {};
  return fields(fields(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]) as ClientCapabilities;
}

export const hasTasks = (capabilities: ClientCapabilities): boolean =>
  fields(fields(capabilities).extensions)[TASKS_EXTENSION] !== undefined;

/**
 * Asks a client of the 2025 era. Its error is no consent. Over HTTP, the question goes out in the response to the call: a client need not have a
 * stream for anything else.
 */
async function ask(
  server: Server,
  mcpReq: ServerContext['mcpReq'],
  capabilities: ClientCapabilities,
  question: Question,
  withdrawn: AbortSignal,
): Promise<Reply | undefined> {
  if (!canAsk(capabilities, question)) return undefined;
  const signal = AbortSignal.any([mcpReq.signal, withdrawn]);
  const options = { timeout: ANSWER_MS, signal, relatedRequestId: mcpReq.id };
  try {
    if (question.kind === 'roots') return { ...(await server.listRoots(undefined, options)) };
    if (question.kind === 'url') {
      const { message, url, elicitationId } = question;
      return { ...(await mcpReq.elicitInput({ mode: 'url', message, url, elicitationId }, options)) };
    }
    return { ...(await mcpReq.elicitInput(formOf(question), options)) };
  } catch (error) {
    return signal.aborted ? NO_REPLY : { ...NO_REPLY, problem: error instanceof Error ? error.message : String(error) };
  }
}

type Listening = { readonly signal: AbortSignal; readonly progress: (step: Step) => void };

async function inSteps(
  paused: PausedTurns<CallToolResult, Question, Reply, Step>,
  run: (call: Call) => Promise<CallToolResult>,
  asks: (question: Question) => boolean,
  listener: Listening,
  mcpReq: ServerContext['mcpReq'],
): Promise<CallToolResult | InputRequiredResult> {
  const state = mcpReq.requestState<string>();
  const step =
    state === undefined
      ? await paused.begin(
          ({ ask: later, ...turn }) =>
            run({ ...turn, ask: async (question, withdrawn) => (asks(question) ? later(question, withdrawn) : undefined) }),
          listener,
        )
      : await paused.resume(state, () => fields(mcpReq.inputResponses?.question), listener);
  if (!step) return failed('The turn that was waiting for this answer is over; send the prompt again');
  if ('done' in step) return step.done;
  const { id, request } = step.paused;
  return inputRequired({ inputRequests: { question: inputRequestOf(request) }, requestState: id });
}
