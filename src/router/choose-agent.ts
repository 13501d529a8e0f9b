// Which agent gets a new session.
import picomatch from 'picomatch';
import { failure, type ProxyError, shown } from '../errors.ts';

export type Choice = {
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

/** The first that applies: what the request itself asks for, a route, the default. (`--agent` leaves only one agent to begin with.) */
export function chooseAgent(choice: Choice, asked: unknown, cwd: string): string | ProxyError {
  if (asked !== undefined) {
    if (typeof asked === 'string' && choice.agents.includes(asked)) return asked;
    return failure('AGENT_UNKNOWN', [shown(asked), choice.agents.join(', ')], { agent: asked, agents: choice.agents });
  }
  const route = choice.routes.find(({ cwd: glob }) => picomatch.isMatch(cwd, glob, { dot: true }));
  return route?.agent ?? choice.defaultAgent;
}
