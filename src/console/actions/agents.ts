// What the Agents screen can do beside what every page shows: see what processes use and how tools are connected, take agents out of service.
import { z } from 'zod';
import { ClientError } from '../../client/client.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { AgentActions, AgentLoad, AgentTopics, HostTools } from '../protocol/agents.ts';
import type { ActionsOf, Part, TopicsOf } from '../server/screens.ts';
import { neutralise } from '../state/clean-text.ts';

export type AgentDeps = {
  /** Whether there is such an agent. */
  readonly stop: (agent: string, how: 'now' | 'drain') => boolean;
  readonly loads: () => readonly AgentLoad[];
  readonly lent: () => readonly HostTools[];
  readonly redact: Redactor;
};

const LOOK_EVERY_MS = 2000;

export function agentPart({ stop, loads, lent, redact }: AgentDeps): Part {
  const clean = (text: string) => neutralise(redact(text));
  const acts: ActionsOf<AgentActions> = {
    stopAgent: {
      gives: z.strictObject({ agent: z.string().max(200), how: z.enum(['now', 'drain']) }),
      perform({ agent, how }) {
        if (!stop(agent, how)) throw new ClientError(-32602, `there is no agent "${neutralise(agent)}"`);
      },
    },
  };
  const topics: TopicsOf<AgentTopics> = {
    agentUse: {
      gives: z.strictObject({}),
      follow(_, tell, page) {
        const look = () => {
          if (page.isBehind) return;
          tell({ loads: loads(), lent: lent().map((row) => ({ ...row, tools: row.tools.map(clean) })) });
        };
        look();
        const timer = setInterval(look, LOOK_EVERY_MS);
        return () => clearInterval(timer);
      },
    },
  };
  return { acts, topics };
}
