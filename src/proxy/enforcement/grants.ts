// One action passes several surfaces. The user's consent to a permission request is kept for the file or terminal request that follows from it
// in the same turn, and a decision about a file, terminal or tool request for the tool call that reports it.
import type { AnsweredBy } from '../../audit/audit-line.ts';
import type { Action } from '../../policy/actions/action.ts';
import { covers, type Grant, runsWithin } from '../../policy/actions/grant.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Session } from '../sessions/session.ts';
import type { Evaluation } from './evaluate.ts';

/** More than an agent has requested and not yet done. */
const MAX_GRANTS = 64;

export type Given = {
  readonly grants: readonly Grant[];
  readonly toolCallId: string;
  /** The turn of the permission request. */
  readonly turn: ClientRequest;
};

/** The answer that allowed an action: its audit line, and who gave it. */
export type Consent = { readonly seq: number; readonly by: AnsweredBy };

type Held = {
  readonly grant: Grant;
  readonly toolCallId: string;
  readonly turn: ClientRequest;
  readonly agent: Agent;
  readonly connection: AgentConnection | undefined;
  readonly policyHash: string;
  readonly consent: Consent;
};

/** The only turn that the agent can be working on; undefined when there is none, when it was cancelled, or when there are several. */
export function currentTurn({ turns }: Pick<Session, 'turns'>): ClientRequest | undefined {
  const [turn, another] = turns;
  return another === undefined && !turn?.isCancelled ? turn : undefined;
}

/** The grants of one session. */
export class Grants {
  #all: readonly Held[] = [];

  give(evaluation: Evaluation, { grants, toolCallId, turn }: Given, consent: Consent): void {
    const { session, agent, policyHash } = evaluation;
    if (!session || currentTurn(session) !== turn) return;
    const given = grants.map((grant) => ({ grant, toolCallId, turn, agent, connection: agent.connection, policyHash, consent }));
    this.#all = [...this.#valid(evaluation), ...given].slice(-MAX_GRANTS);
  }
  /** Uses up the grant that covers `use`, and returns the consent behind it. */
  take(evaluation: Evaluation, use: Grant | undefined): Consent | undefined {
    if (!use || this.#all.length === 0) return undefined;
    const valid = this.#valid(evaluation);
    const found = valid.find(({ grant }) => covers(grant, use));
    this.#all = valid.filter((held) => held !== found);
    return found?.consent;
  }
  /** The tool call has ended: whatever follows is another action. */
  end(toolCallId: string): void {
    if (this.#all.length > 0) this.#all = this.#all.filter((held) => held.toolCallId !== toolCallId);
  }
  /** Grants end with their turn, with the agent's connection and with a change of the policy. */
  #valid({ session, agent, policyHash }: Evaluation): readonly Held[] {
    const turn = session && currentTurn(session);
    if (!turn) return [];
    return this.#all.filter(
      (held) => held.turn === turn && held.agent === agent && held.connection === agent.connection && held.policyHash === policyHash,
    );
  }
}

type Decided = { readonly action: Action; readonly isAllowed: boolean; readonly turn: ClientRequest | undefined };

/** Decisions of this turn about requests of files, terminals and tools. The tool call that such a request belongs to needs no other. */
export class DecidedActions {
  #all: readonly Decided[] = [];

  note(session: Pick<Session, 'turns'>, action: Action, isAllowed: boolean): void {
    const turn = currentTurn(session);
    this.#all = [...this.#all.filter((decided) => decided.turn === turn), { action, isAllowed, turn }].slice(-MAX_GRANTS);
  }
  /** Uses up the decision about what the tool call did; undefined if there is none. */
  take(session: Pick<Session, 'turns'>, done: Action, hasTerminal: boolean): 'allow' | 'deny' | undefined {
    const turn = currentTurn(session);
    const found = decisionsOn(
      done,
      this.#all.filter((decided) => decided.turn === turn),
      hasTerminal,
    );
    if (found.length === 0) return undefined;
    this.#all = this.#all.filter((decided) => !found.includes(decided));
    return found.every(({ isAllowed }) => isAllowed) ? 'allow' : 'deny';
  }
}

/** Empty unless they cover all that was done. */
function decisionsOn(done: Action, decided: readonly Decided[], hasTerminal: boolean): readonly Decided[] {
  const one = (is: (action: Action) => boolean): readonly Decided[] => {
    const found = decided.findLast(({ action }) => is(action));
    return found ? [found] : [];
  };
  const { mcp, paths } = done;
  if (mcp) return one((action) => action.mcp?.server === mcp.server && action.mcp.tool === mcp.tool);
  if (done.kind === 'execute') return one((action) => action.kind === 'execute' && (hasTerminal || runsWithin(done, action)));
  const all = paths.map(({ path, access }) =>
    one((action) => action.paths.some((other) => other.path === path && (access === 'read' || other.access !== 'read'))),
  );
  return all.every((found) => found.length > 0) ? all.flat() : [];
}
