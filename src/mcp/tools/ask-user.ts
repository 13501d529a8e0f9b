// Asks the user, and describes the session.
import { type HostTool, object, text } from '../server/tool.ts';

export const askUserTool: HostTool = {
  name: 'ask_question', // gemini drops tools named `ask_user`, its name until 0.1
  title: 'Ask the user',
  description:
    'Asks the user a question and waits for the answer: free text, or one of `choices`. Use it for decisions that only the user can make.',
  inputSchema: object(
    {
      question: { type: 'string', minLength: 1, maxLength: 4000 },
      choices: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 200 }, minItems: 2, maxItems: 10, uniqueItems: true },
    },
    ['question'],
  ),
  effect: 'ask',
  needs: ['ask'],
  timeoutMs: undefined,
  server: 'switchboard',
  async run(args, { host, signal }) {
    const choices = Array.isArray(args.choices) ? args.choices.map(String) : undefined;
    const answer = await host.ask({ message: String(args.question), choices }, signal);
    if (answer.kind === 'answered') return text(answer.text);
    if (answer.kind === 'declined') return text('[the user declined to answer]');
    return {
      ...text('The editor can only show choices: ask again with `choices`, or put the question into your reply.'),
      isError: true,
    };
  },
};

export const sessionInfoTool: HostTool = {
  name: 'session_info',
  title: 'About this session',
  description: 'Describes the session: its agent, its directory, the directories it may use, and the other agents.',
  inputSchema: object({}),
  effect: 'read',
  needs: [],
  timeoutMs: 10_000,
  server: 'switchboard',
  async run(_, { host }) {
    const about = {
      ...{ session_id: host.sessionId, agent: host.agent, cwd: host.cwd ?? null, directories: [...host.roots] },
      ...(host.otherAgents && { other_agents: [...host.otherAgents] }),
    };
    return { ...text(JSON.stringify(about, null, 2)), structuredContent: about };
  },
};
