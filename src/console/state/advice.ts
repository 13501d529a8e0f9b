// Advice for a failure that an agent or the proxy reported.

import { ClientError } from '../../client/client-error.ts';
import { fields } from '../../json-object.ts';
import type { LoginMethod } from '../protocol/chat.ts';
import type { Advice } from '../protocol/conversation.ts';
import type { AgentRow } from '../protocol/state.ts';
import { list, text } from './read-update.ts';

const LOGIN_WANTED = -32000;
const NOT_FOUND = -32002;

/** Ways a running agent ends. An agent that was stopped or cannot start stays unavailable, and its message already says what to do. */
const ENDED = new Set(['agent_exited', 'hung_up', 'not_reading', 'queue_full', 'cancel_ignored', 'unreadable']);

/** `isTurn`: a prompt failed, rather than a step before it. */
export function adviceOn(error: unknown, agents: readonly AgentRow[], isTurn = false): Advice {
  if (!(error instanceof ClientError)) return {};
  const { agent, reason, authMethods } = fields(error.data);
  if (error.code === LOGIN_WANTED) {
    const logins = loginsOf(text(agent), list(authMethods), agents);
    return logins.length > 0 ? { logins } : { hint: 'The agent requires a login but offers no method. Its own command line may have one.' };
  }
  if (error.code === NOT_FOUND)
    return { hint: 'The agent no longer knows this session. Its transcript is kept; start a new session to continue.' };
  if (ENDED.has(text(reason) ?? '') && text(agent) !== undefined)
    return {
      hint: isTurn
        ? 'Send the prompt again: switchboard restarts the agent and the session continues.'
        : 'Try again: switchboard restarts the agent. Its last output is on the Agents screen.',
    };
  return {};
}

/** With several agents, a method id is `<agent>/<id>`. */
function loginsOf(agent: string | undefined, named: readonly unknown[], agents: readonly AgentRow[]): readonly LoginMethod[] {
  const hasSeveral = new Set(agents.map(({ name }) => name)).size > 1;
  const all = agents.flatMap(({ name, authMethods }) =>
    authMethods.map((method) => ({ agent: name, method: hasSeveral ? { ...method, id: `${name}/${method.id}` } : method })),
  );
  const ids = new Set(named.map((one) => text(one) ?? text(fields(one).id)));
  const offered = all.filter((one) => (ids.size > 0 ? ids.has(one.method.id) : agent === undefined || one.agent === agent));
  return [...new Map(offered.map(({ method }) => [method.id, method])).values()];
}
