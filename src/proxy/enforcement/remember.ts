// An answer for always is ours to keep: an agent would make a rule of its own of it, and ask no more.

import { summaryOf } from '../../policy/actions/summary.ts';
import { keyOf } from '../../policy/rules/remembered.ts';
import { rememberOf } from '../../policy/rules/settings.ts';
import { type EnforcementDeps, NOWHERE, type PendingAction } from './evaluate.ts';

/** `kind` is that of the option the user chose; only those for always are kept, and as widely as the policy permits. */
export function remember(deps: EnforcementDeps, { asked, policyHash }: PendingAction, kind: string): void {
  if (kind !== 'allow_always' && kind !== 'reject_always') return;
  if (asked.cwd === NOWHERE) return; // it would hold for every session whose directory nobody knows
  const { allowAlways: scope, ttlMs } = rememberOf(deps.current().policy);
  deps.remembered.remember({
    verdict: kind === 'allow_always' ? 'allow' : 'deny',
    scope,
    agent: asked.agent,
    cwd: asked.cwd,
    session: asked.session,
    key: keyOf(asked),
    what: summaryOf(asked),
    policy: policyHash,
    ttlMs,
  });
}

/** Whether it makes sense to offer an answer for always. */
export function isRememberable(deps: EnforcementDeps, { asked }: PendingAction): boolean {
  return asked.cwd !== NOWHERE && keyOf(asked) !== undefined && rememberOf(deps.current().policy).allowAlways !== 'once';
}
