// A call of a tool that the policy wants asked about: the editor's user decides, unless the agent takes the call back first.
import { randomUUID } from 'node:crypto';
import type { GateVerdict } from '../../mcp/server/gate.ts';
import type { Session } from '../sessions/session.ts';
import { askClient, type Shown } from './ask-user.ts';
import { type EnforcementDeps, type PendingAction, record, recordLate } from './evaluate.ts';

export type CallQuestion = {
  readonly action: PendingAction;
  readonly session: Session;
  readonly shown: Shown;
  /** Judges it anew. */
  readonly look: () => PendingAction;
  /** Aborted when nobody waits for the call any more. */
  readonly signal: AbortSignal;
  readonly allowed: GateVerdict;
};

const TAKEN_BACK = 'the call was taken back before anybody had answered';

export function askAboutCall(deps: EnforcementDeps, { action, session, shown, look, signal, allowed }: CallQuestion): Promise<GateVerdict> {
  const refused = (reason: string): GateVerdict => ({ allow: false, reason });
  if (signal.aborted) {
    record(deps, action, 'cancelled', 'agent', 'deny');
    return Promise.resolve(refused(TAKEN_BACK));
  }
  return new Promise((resolve) => {
    const idText = JSON.stringify(`call-${randomUUID()}`);
    askClient(
      deps,
      action,
      session,
      idText,
      shown,
      (reply) => {
        if (reply === 'taken-back') return resolve(refused(TAKEN_BACK));
        if (reply !== 'allowed') return resolve(refused('the user did not allow it'));
        // While the user thought, the policy may have changed.
        const now = look();
        if (now.verdict !== 'deny') return resolve(allowed);
        recordLate(deps, now, now.decision.why);
        resolve(refused(`denied by policy: ${now.decision.why}`));
      },
      signal,
    );
  });
}
