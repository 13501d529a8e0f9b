// Questions to the person at the editor, and what a session is.
import { type HostTool, object, text } from '../server/tool.ts';

export const askUserTool: HostTool = {
  name: 'ask_user',
  title: 'Ask the user',
  description: 'Puts a question to the user and waits for the answer: free words, or one of `choices`. For what only they can decide.',
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
    if (answer.kind === 'declined') return text('[the user did not want to answer]');
    return {
      ...text('The editor can only show a choice: ask again with `choices`, or put the question into your answer.'),
      isError: true,
    };
  },
};

export const sessionInfoTool: HostTool = {
  name: 'session_info',
  title: 'About this session',
  description: 'The session, its agent, its directory, the directories whose files may be used, and the other agents there are.',
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
