// Decides about changes that wait, for `switchboard changes` and the console: the policy is asked again, and the audit log has a line for each.
import os from 'node:os';
import { createAudit } from '../../audit/audit.ts';
import { here } from '../../platform/platform.ts';
import type { Place } from '../../policy/actions/action.ts';
import { familyOf } from '../../policy/actions/agent-tools.ts';
import { pathAction } from '../../policy/actions/surfaces.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import type { Policy } from '../../policy/policy.ts';
import { createRedactor } from '../../redaction/redact.ts';
import type { Layer } from '../../review/layers.ts';
import { applyAll, type Change, dropAll, removeIfDecided } from '../../review/review.ts';
import { canonicalPath } from '../../workspace/canonical.ts';
import { CommandFailure } from '../failure.ts';

export type Decided = {
  readonly change: Change;
  readonly isApplied: boolean;
  readonly isDenied: boolean;
  /** Why it was not applied. */
  readonly why: string | undefined;
};

type Decisions = ReadonlyMap<Change, Decision>;

/** The user may apply what the policy asks about, not what it denies. */
export async function applyChosen(
  layer: Layer,
  changes: readonly Change[],
  { policy, stateDir }: { readonly policy: Policy | undefined; readonly stateDir: string },
): Promise<readonly Decided[]> {
  const decisions: Decisions = policy ? decideAll(policy, layer, changes) : new Map();
  const isDenied = (change: Change) => decisions.get(change)?.verdict === 'deny';
  const allowed = changes.filter((change) => !isDenied(change));
  record(stateDir, layer, changes.filter(isDenied), decisions, 'prevented');
  record(stateDir, layer, allowed, decisions, 'allowed');
  const outcomes = await applyAll(layer, allowed);
  const decided = changes.map((change): Decided => {
    const outcome = outcomes.get(change);
    const why = outcome?.how === 'kept' ? outcome.why : outcome ? undefined : `denied by policy: ${decisions.get(change)?.why}`;
    return { change, isApplied: outcome?.how === 'applied', isDenied: isDenied(change), why };
  });
  await removeIfDecided(layer).catch(() => false);
  return decided;
}

export async function dropChosen(layer: Layer, changes: readonly Change[], stateDir: string): Promise<void> {
  record(stateDir, layer, changes, new Map(), 'prevented');
  dropAll(layer, changes);
  await removeIfDecided(layer).catch(() => false);
}

function decideAll(policy: Policy, layer: Layer, changes: readonly Change[]): Decisions {
  const place: Place = {
    ...{ agent: layer.agent, family: familyOf(layer.agent), session: layer.sessionId, cwd: layer.roots[0] ?? '/', home: os.homedir() },
    ...{ interactive: true, canonical: canonicalPath, shell: here.shell },
  };
  return new Map(
    changes.map((change) => {
      const { kind, path: file, from } = change;
      const all = [
        decide(policy, pathAction(place, kind === 'delete' ? 'delete' : 'edit', file)),
        ...(from === undefined ? [] : [decide(policy, pathAction(place, 'delete', from))]),
      ];
      return [change, all.find(({ verdict }) => verdict === 'deny') ?? (all[0] as Decision)];
    }),
  );
}

/** Nothing is applied without its line in the audit log. */
function record(stateDir: string, layer: Layer, changes: readonly Change[], decisions: Decisions, outcome: 'allowed' | 'prevented'): void {
  if (changes.length === 0) return;
  const audit = createAudit(stateDir, { redact: createRedactor({}, process.env) });
  for (const change of changes) {
    const decision = decisions.get(change);
    const isDenied = decision?.verdict === 'deny';
    const written = audit.record({
      ...{
        agent: layer.agent,
        session: layer.sessionId,
        method: 'review',
        request: JSON.stringify({ kind: change.kind, path: change.path }),
      },
      ...{ summary: `${change.kind}: ${change.path}`, evidence: 'raw', verdict: isDenied ? 'deny' : 'ask', why: decision?.why },
      ...{ rule: decision?.rule, layer: decision?.layer, answeredBy: isDenied ? 'policy' : 'user', outcome, latencyMs: 0, policyHash: '' },
      ...(!isDenied && { answer: outcome === 'allowed' ? 'allow_once' : 'reject_once' }),
    });
    if (!written.isWritten && outcome === 'allowed')
      throw new CommandFailure(1, `the audit log cannot be written, so nothing was applied: ${written.problem}`);
  }
  audit.close();
}
