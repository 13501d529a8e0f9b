// The Agents screen: resource use, host tool connections, and stopping an agent.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { AgentActions, AgentLoad, AgentTopics, HostTools, NetworkClient } from '../protocol/agents.ts';
import type { ActionsOf, Handlers, TopicsOf } from '../server/screens.ts';

export type AgentDeps = {
  /** Returns whether the agent exists. */
  readonly stop: (agent: string, how: 'now' | 'drain') => boolean;
  readonly loads: () => readonly AgentLoad[];
  readonly hostTools: () => readonly HostTools[];
  readonly clients: () => readonly NetworkClient[];
  /** Returns whether the client was connected. */
  readonly disconnect: (client: number) => boolean;
  readonly redact: Redactor;
};

const LOOK_EVERY_MS = 2000;

export function agentHandlers({ stop, loads, hostTools, clients, disconnect, redact }: AgentDeps): Handlers {
  const clean = (text: string) => neutralise(redact(text));
  const actions: ActionsOf<AgentActions> = {
    disconnectClient: {
      params: z.strictObject({ client: z.int() }),
      perform({ client }) {
        if (!disconnect(client)) throw new ClientError(-32602, 'the client is no longer connected');
      },
    },
    stopAgent: {
      params: z.strictObject({ agent: z.string().max(200), how: z.enum(['now', 'drain']) }),
      perform({ agent, how }) {
        if (!stop(agent, how)) throw new ClientError(-32602, `there is no agent "${neutralise(agent)}"`);
      },
    },
  };
  const shownClient = (client: NetworkClient): NetworkClient => ({
    ...client,
    principal: clean(client.principal),
    program: client.program === undefined ? undefined : clean(client.program),
  });
  const topics: TopicsOf<AgentTopics> = {
    agentUse: {
      params: z.strictObject({}),
      subscribe(_, send, page) {
        const look = () => {
          if (page.isBehind) return;
          send({
            loads: loads(),
            hostTools: hostTools().map((row) => ({ ...row, tools: row.tools.map(clean) })),
            clients: clients().map(shownClient),
          });
        };
        look();
        const timer = setInterval(look, LOOK_EVERY_MS);
        return () => clearInterval(timer);
      },
    },
  };
  return { actions, topics };
}
