// A policy that denies everything: in force while nothing may be allowed, for instance because decisions cannot be recorded.
import type { Policy } from './policy.ts';
import { NO_CONDITIONS } from './rules/rule.ts';

/** `id` names the cause, and `reason` says it to people. The settings of `policy` stay. */
export function closePolicy(policy: Policy, id: string, reason: string): Policy {
  const rule = { ...NO_CONDITIONS, verdict: 'deny' as const, id, file: 'built-in', line: 1, column: 1, reason };
  return { ...policy, strict: [{ rule, layer: 'built-in', onlyTightens: false }], allow: [], default: 'deny' };
}
