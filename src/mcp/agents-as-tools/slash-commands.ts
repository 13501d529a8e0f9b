// Slash commands of agents as MCP prompts, and completion of arguments. A prompt becomes a message that tells the client's model what to call.
import { type CompleteRequestParams, type GetPromptResult, INVALID_PARAMS, type Prompt, ProtocolError } from '@modelcontextprotocol/server';
import type { SessionShown } from '../../client/live-session.ts';
import type { Agents } from './agents.ts';
import { TEMPLATES } from './transcripts.ts';

const DELEGATE: Prompt = {
  name: 'delegate',
  title: 'Give a task to an agent',
  description: 'Starts a session with an agent and gives it a task.',
  arguments: [
    { name: 'task', description: 'What the agent should do.', required: true },
    { name: 'agent', description: 'The name of the agent; else the default one.', required: false },
  ],
};

type Command = SessionShown['commands'][number] & { readonly agent: string; readonly sessions: readonly string[] };

/** The commands of the open sessions, by the name of their prompt: `AGENT-COMMAND`. */
function commandsOf(agents: Agents): ReadonlyMap<string, Command> {
  const found = new Map<string, Command>();
  for (const { agent = 'agent', sessionId, commands } of agents.sessions())
    for (const command of commands) {
      const name = `${agent}-${command.name}`;
      found.set(name, { ...command, agent, sessions: [...(found.get(name)?.sessions ?? []), sessionId] });
    }
  return found;
}

export function listPrompts(agents: Agents): Prompt[] {
  const commands = [...commandsOf(agents)].map(([name, { name: command, description, hint, agent }]): Prompt => {
    const input = { name: 'input', description: hint ?? 'What follows the command.', required: false };
    const session = { name: 'session_id', description: `An open session of ${agent}; else the latest one.`, required: false };
    return { name, title: `/${command} (${agent})`, description, arguments: [input, session] };
  });
  return [DELEGATE, ...commands];
}

export function getPrompt(agents: Agents, name: string, args: Readonly<Record<string, string>>): GetPromptResult {
  if (name === DELEGATE.name) {
    if (!args.task) throw new ProtocolError(INVALID_PARAMS, 'The prompt delegate needs the argument task');
    const agent = args.agent ? ` with agent ${JSON.stringify(args.agent)}` : '';
    return message(
      `Call the tool start_session${agent}, then the tool prompt with its session_id and this prompt, and report the result:\n\n${args.task}`,
      DELEGATE.description,
    );
  }
  const command = commandsOf(agents).get(name);
  if (!command) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${name}`);
  const sessionId = args.session_id || (command.sessions.at(-1) as string);
  if (!command.sessions.includes(sessionId))
    throw new ProtocolError(INVALID_PARAMS, `Session "${sessionId}" is not open, or does not have the command /${command.name}`);
  const line = `/${command.name}${args.input ? ` ${args.input}` : ''}`;
  return message(
    `Call the tool prompt with session_id ${JSON.stringify(sessionId)} and exactly this prompt:\n\n${line}`,
    command.description,
  );
}

const message = (text: string, description: string | undefined): GetPromptResult => ({
  ...(description !== undefined && { description }),
  messages: [{ role: 'user', content: { type: 'text', text } }],
});

/** MCP allows at most this many. */
const MOST_VALUES = 100;

export async function complete(agents: Agents, { ref, argument, context }: CompleteRequestParams) {
  const values = (await candidates(agents, ref, argument.name, context?.arguments ?? {})).filter((value) =>
    value.startsWith(argument.value),
  );
  return { completion: { values: values.slice(0, MOST_VALUES), total: values.length, hasMore: values.length > MOST_VALUES } };
}

async function candidates(
  agents: Agents,
  ref: CompleteRequestParams['ref'],
  argument: string,
  given: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  if (ref.type === 'ref/resource') {
    const template = TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref.uri);
    if (!template) throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: ${ref.uri}`);
    if (argument === 'session_id') return (await agents.list({})).sessions.map(({ sessionId }) => sessionId).filter(agents.hasTranscript);
    const turns = agents.session(given.session_id ?? '')?.turns ?? 0;
    return argument === 'turn' ? Array.from({ length: turns }, (_, index) => String(index + 1)) : [];
  }
  if (ref.name === DELEGATE.name) return argument === 'agent' ? (await agents.agents()).map(({ name }) => name) : [];
  const command = commandsOf(agents).get(ref.name);
  if (!command) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${ref.name}`);
  return argument === 'session_id' ? command.sessions : [];
}
