// What each tool does. Everything that a call needs from the client (answers, progress, roots) is in its `Call`.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AgentShown } from '../../client/agents-shown.ts';
import type { SessionShown } from '../../client/live-session.ts';
import type { Step } from '../../client/turn-record.ts';
import { fields, type JsonObject } from '../../json-object.ts';
import { ToolFailure } from '../server/tool.ts';
import type { Agents, OperationHandlers, TurnHandlers } from './agents.ts';
import { allowedDirectory } from './allowed-directories.ts';
import type { KeptTurns } from './kept-turns.ts';
import { loginFailure } from './login.ts';
import { chosenOption, elicitationOf, elicitationReply, type Question, type Reply, refusalIn } from './open-requests.ts';
import { promptBlocks } from './prompt-content.ts';
import type { ToolName } from './schemas.ts';
import { turnResult } from './turn-result.ts';

/** One call: the client's side of it. */
export type Call = {
  readonly signal: AbortSignal;
  progress(step: Step): void;
  /** Undefined if the client cannot be asked this. */
  ask(question: Question, signal: AbortSignal): Promise<Reply | undefined>;
};

export type ToolDeps = { readonly agents: Agents; readonly kept: KeptTurns; readonly cwd: string };
type Args = JsonObject;
export type RunTool = (args: Args, call: Call) => Promise<CallToolResult>;

const structured = (value: JsonObject): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value, null, 2) }],
  structuredContent: { ...value },
});
const done = (sessionId: string, text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { session_id: sessionId, done: text },
});
const optional = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const known = (values: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function sessionResult({ sessionId, agent, cwd, title, settings, commands, turns, isRunning }: SessionShown): CallToolResult {
  return structured({
    ...known({ session_id: sessionId, agent, cwd, title }),
    ...{ is_running: isRunning, turns },
    options: settings.map(({ choices, ...setting }) => ({ ...known(setting), choices: choices.map((choice) => ({ ...choice })) })),
    commands: commands.map((command) => known(command)),
  });
}

export function createTools({ agents, kept, cwd }: ToolDeps): Readonly<Record<ToolName, RunTool>> {
  const directory = (args: Args, call: Call) => allowedDirectory(optional(args.cwd), cwd, (question) => call.ask(question, call.signal));
  const opened = (sessionId: string): SessionShown => {
    const session = agents.session(sessionId);
    if (session) return session;
    throw new ToolFailure(
      `Session "${sessionId}" is not open here; start_session opens one, resume_session or continue reopens an earlier one`,
    );
  };
  async function agentOf(session: SessionShown): Promise<AgentShown | undefined> {
    return (await agents.agents()).find(({ name }) => name === session.agent);
  }
  async function take(session: SessionShown, args: Args, call: Call): Promise<CallToolResult> {
    const { sessionId } = session;
    const blocks = promptBlocks(args.prompt, args.content, await agentOf(session));
    const notes: string[] = [];
    const turn = session.turns + 1;
    const handlers: TurnHandlers = { ...operation(call, notes), signal: call.signal, progress: call.progress, permission };
    async function permission(request: Parameters<TurnHandlers['permission']>[0], signal: AbortSignal): Promise<string | undefined> {
      const reply = await call.ask({ kind: 'permission', request }, signal);
      const [about] = request.text.split('\n');
      if (reply === undefined) notes.push(`rejected, because this client cannot ask its user: ${about}`);
      if (typeof reply?.problem === 'string') notes.push(`rejected, because this client gave no answer (${reply.problem}): ${about}`);
      return reply === undefined ? refusalIn(request.options) : chosenOption(reply, request.options);
    }
    if (session.isRunning && kept.last(sessionId)?.endedAt === undefined) {
      // The turn that runs keeps its place; the agent's answer says that the session is busy.
      return turnResult(await agents.prompt(sessionId, blocks, handlers), { sessionId, turn, notes });
    }
    return kept.run(sessionId, turn, async () => turnResult(await agents.prompt(sessionId, blocks, handlers), { sessionId, turn, notes }));
  }
  async function reopened(sessionId: string, args: Args, call: Call): Promise<SessionShown> {
    const where = await directory(args, call);
    return loggedIn(undefined, call, () => agents.reopen(sessionId, where, operation(call, [])));
  }
  /** Names the agent and its login methods if a login is required. */
  async function loggedIn<T>(agent: string | undefined, call: Call, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw (await loginFailure(error, agent, await agents.agents(), (question) => call.ask(question, call.signal))) ?? error;
    }
  }

  return {
    list_agents: async () =>
      structured({
        agents: (await agents.agents()).map(({ name, title, takes, logins }) => ({
          ...{ name, title },
          takes: ['text', ...(takes.image ? ['image'] : []), ...(takes.audio ? ['audio'] : []), 'resource_link', 'resource'],
          logins: logins.map(({ id, ...login }) => known({ method: id, ...login })),
        })),
      }),
    async start_session(args, call) {
      const where = await directory(args, call);
      const agent = optional(args.agent);
      return sessionResult(await loggedIn(agent, call, () => agents.open(where, agent, operation(call, []))));
    },
    prompt: async (args, call) => {
      const session = opened(String(args.session_id));
      return loggedIn(session.agent, call, () => take(session, args, call));
    },
    async continue(args, call) {
      const sessionId = String(args.session_id);
      const session = agents.session(sessionId) ?? (await reopened(sessionId, args, call));
      return loggedIn(session.agent, call, () => take(session, args, call));
    },
    async get_turn({ session_id, wait_ms }, call) {
      const sessionId = String(session_id);
      await kept.ended(sessionId, typeof wait_ms === 'number' ? wait_ms : 0, call.signal);
      const last = kept.last(sessionId);
      if (!last) throw new ToolFailure(`There is no turn of session "${sessionId}" here; get_transcript shows earlier ones`);
      const { turn, startedAt, endedAt, keptUntil, result, error } = last;
      const about = {
        ...{ session_id: sessionId, turn, status: endedAt === undefined ? 'running' : error === undefined ? 'ended' : 'failed' },
        ...known({ started_at: startedAt.toISOString(), ended_at: endedAt?.toISOString(), kept_until: keptUntil?.toISOString() }),
        ...known({ error, text: endedAt === undefined ? agents.transcript(sessionId, turn) : undefined }),
      };
      if (!result) return structured(about);
      const whole = { ...about, result: fields(result.structuredContent) };
      return { content: [...result.content], structuredContent: whole };
    },
    async cancel({ session_id }) {
      agents.cancel(opened(String(session_id)).sessionId);
      return done(String(session_id), 'The turn was cancelled.');
    },
    get_session: async ({ session_id }) => sessionResult(opened(String(session_id))),
    async set_option({ session_id, option, value }) {
      const { settings } = opened(String(session_id));
      const setting = settings.find(({ id }) => id === option);
      const names = settings.map(({ id }) => id).join(', ') || 'none';
      if (!setting) throw new ToolFailure(`There is no option "${String(option)}" in this session; its options: ${names}`);
      const choices = setting.choices.map((choice) => choice.value);
      if (choices.length > 0 && !choices.includes(String(value)))
        throw new ToolFailure(`"${String(value)}" is no value of ${setting.id}; its values: ${choices.join(', ')}`);
      const after = await agents.set(String(session_id), setting.id, value as string | boolean);
      return sessionResult(after ?? opened(String(session_id)));
    },
    async list_sessions({ cursor, cwd: where }) {
      const { sessions, nextCursor } = await agents.list(known({ cursor: optional(cursor), cwd: optional(where) }));
      return structured({
        sessions: sessions.map(({ sessionId, updatedAt, ...session }) => ({
          ...known({ session_id: sessionId, ...session, updated_at: updatedAt }),
          is_open: agents.session(sessionId) !== undefined,
        })),
        ...known({ next_cursor: nextCursor }),
      });
    },
    resume_session: async (args, call) =>
      sessionResult(agents.session(String(args.session_id)) ?? (await reopened(String(args.session_id), args, call))),
    async fork_session(args, call) {
      const where = args.cwd === undefined ? agents.session(String(args.session_id))?.cwd : undefined;
      const cwd = where ?? (await directory(args, call));
      return sessionResult(await supported('fork', () => agents.fork(String(args.session_id), cwd)));
    },
    async close_session({ session_id }) {
      await agents.closeSession(opened(String(session_id)).sessionId);
      return done(String(session_id), 'The session was closed.');
    },
    async delete_session({ session_id }) {
      await supported('delete', () => agents.deleteSession(String(session_id)));
      return done(String(session_id), 'The session was deleted.');
    },
    async get_transcript({ session_id, turn }) {
      const sessionId = String(session_id);
      const transcript = agents.transcript(sessionId, typeof turn === 'number' ? turn : undefined);
      if (transcript === undefined)
        throw new ToolFailure(`There is no transcript of ${turn === undefined ? '' : `turn ${String(turn)} of `}session "${sessionId}"`);
      return { content: [{ type: 'text', text: transcript }], structuredContent: { session_id: sessionId, transcript } };
    },
    async login({ agent, method }, call) {
      const all = await agents.agents();
      const one = all.find(({ name }) => name === agent);
      if (!one) throw new ToolFailure(`There is no agent "${String(agent)}"; list_agents names the agents`);
      const login = one.logins.find(({ id }) => id === method || id === `${one.name}/${String(method)}`);
      const command = `switchboard auth ${one.name} ${String(method)}`;
      if (!login) throw new ToolFailure(`Agent "${one.name}" has no login method "${String(method)}"; list_agents names the methods`);
      if (login.type !== undefined && login.type !== 'agent')
        throw new ToolFailure(`The login method "${String(method)}" of agent "${one.name}" needs a terminal; run: ${command}`);
      await agents.authenticate(login.id, operation(call, []));
      const text = `Logged in to ${one.name}.`;
      return { content: [{ type: 'text', text }], structuredContent: { agent: one.name, done: text } };
    },
  };
}

const METHOD_NOT_FOUND = -32601;

async function supported<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fields(error).code === METHOD_NOT_FOUND ? new ToolFailure(`The agent of this session cannot ${what} sessions`) : error;
  }
}

/** Passes the agent's elicitations to the client. */
function operation(call: Call, notes: string[]): OperationHandlers {
  return {
    async elicit(params, signal) {
      const question = elicitationOf(params);
      const reply = 'unsupported' in question ? undefined : await call.ask(question, signal);
      if (typeof reply?.problem === 'string')
        notes.push(`this client gave no answer (${reply.problem}) to a question of the agent: ${String(params.message)}`);
      if (reply !== undefined) return elicitationReply(reply);
      const reason =
        'unsupported' in question ? question.unsupported : `this client shows no ${question.kind === 'url' ? 'URLs' : 'forms'}`;
      notes.push(`declined a question of the agent, because ${reason}: ${String(params.message)}`);
      return { action: 'decline', _meta: { 'acp-switchboard': { reason } } };
    },
  };
}
