// The Agents screen: resource use, host tool connections, and stopping an agent.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { AgentActions, AgentLoad, AgentTopics, HostTools } from '../protocol/agents.ts';
import type { ActionsOf, Handlers, TopicsOf } from '../server/screens.ts';
import { neutralise } from '../state/clean-text.ts';

export type AgentDeps = {
  /** Returns whether the agent exists. */
  readonly stop: (agent: string, how: 'now' | 'drain') => boolean;
  readonly loads: () => readonly AgentLoad[];
  readonly hostTools: () => readonly HostTools[];
  readonly redact: Redactor;
};

const LOOK_EVERY_MS = 2000;

export function agentHandlers({ stop, loads, hostTools, redact }: AgentDeps): Handlers {
  const clean = (text: string) => neutralise(redact(text));
  const actions: ActionsOf<AgentActions> = {
    stopAgent: {
      params: z.strictObject({ agent: z.string().max(200), how: z.enum(['now', 'drain']) }),
      perform({ agent, how }) {
        if (!stop(agent, how)) throw new ClientError(-32602, `there is no agent "${neutralise(agent)}"`);
      },
    },
  };
  const topics: TopicsOf<AgentTopics> = {
    agentUse: {
      params: z.strictObject({}),
      subscribe(_, send, page) {
        const look = () => {
          if (page.isBehind) return;
          send({ loads: loads(), hostTools: hostTools().map((row) => ({ ...row, tools: row.tools.map(clean) })) });
        };
        look();
        const timer = setInterval(look, LOOK_EVERY_MS);
        return () => clearInterval(timer);
      },
    },
  };
  return { actions, topics };
}
