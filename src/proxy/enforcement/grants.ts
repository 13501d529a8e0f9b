// The user's yes to a permission request, kept for the one file or terminal request that follows from it in the same turn.
import { covers, type Grant } from '../../policy/actions/grant.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import type { OpenRequest } from '../client/client-connection.ts';
import type { Session } from '../sessions/session.ts';
import type { PendingAction } from './evaluate.ts';

/** More than an agent has open that was asked about and has not been done. */
const MAX_GRANTS = 64;

export type Given = {
  readonly grants: readonly Grant[];
  readonly toolCallId: string;
  /** The turn in which it was asked. */
  readonly turn: OpenRequest;
};

type Held = {
  readonly grant: Grant;
  readonly toolCallId: string;
  readonly turn: OpenRequest;
  readonly agent: Agent;
  readonly connection: AgentConnection | undefined;
  readonly policyHash: string;
  /** The line of the audit log that has the answer. */
  readonly seq: number;
};

export type Grants = {
  /** `seq` is the line in which the user's yes to `matter` is written down. */
  give(action: PendingAction, given: Given, seq: number): void;
  /** The line with the yes that covers `use`, which is used up by this. */
  take(action: PendingAction, use: Grant | undefined): number | undefined;
  /** The tool call is over: what comes after it is something else. */
  end(session: Session, toolCallId: string): void;
};

/** The one turn that an agent can be at work for; undefined when there is none, it was cancelled, or it cannot be told. */
export function turnOf(session: Session): OpenRequest | undefined {
  const [turn, another] = session.turns;
  return another === undefined && !turn?.isCancelled ? turn : undefined;
}

export function createGrants(): Grants {
  const bySession = new WeakMap<Session, readonly Held[]>();
  /** Another turn, another life of the agent or another policy leaves nothing of them. */
  function heldBy({ session, agent, policyHash }: PendingAction): readonly Held[] {
    const turn = session && turnOf(session);
    if (!session || !turn) return [];
    const all = bySession.get(session) ?? [];
    return all.filter(
      (held) => held.turn === turn && held.agent === agent && held.connection === agent.connection && held.policyHash === policyHash,
    );
  }
  return {
    give(action, { grants, toolCallId, turn }, seq) {
      const { session, agent, policyHash } = action;
      if (!session || turnOf(session) !== turn) return;
      const given = grants.map((grant) => ({ grant, toolCallId, turn, agent, connection: agent.connection, policyHash, seq }));
      bySession.set(session, [...heldBy(action), ...given].slice(-MAX_GRANTS));
    },
    take(action, use) {
      const { session } = action;
      if (!session || !use || !bySession.has(session)) return undefined;
      const all = heldBy(action);
      const found = all.find(({ grant }) => covers(grant, use));
      bySession.set(
        session,
        all.filter((held) => held !== found),
      );
      return found?.seq;
    },
    end(session, toolCallId) {
      const all = bySession.get(session);
      if (all)
        bySession.set(
          session,
          all.filter((held) => held.toolCallId !== toolCallId),
        );
    },
  };
}
