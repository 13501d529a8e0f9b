// Real enforcement with a policy given as an object; files that it needs are kept in memory.
import type { Audit } from '../../src/audit/audit.ts';
import type { AuditEntry } from '../../src/audit/audit-line.ts';
import { loadPolicy } from '../../src/policy/format/load.ts';
import { combine, type Layer } from '../../src/policy/rules/layers.ts';
import { rememberedLayer } from '../../src/policy/rules/remembered.ts';
import { createEnforcement, type EnforcementOptions } from '../../src/proxy/enforcement/create-enforcement.ts';
import type { CreateEnforcement } from '../../src/proxy/enforcement/enforcement.ts';
import type { CurrentPolicy } from '../../src/proxy/enforcement/evaluate.ts';
import { hashKey, type RememberedAnswer, type RememberedAnswers } from '../../src/store/remembered-answers.ts';

/** Everything that enforcement needs except its policy and its audit. No disk is read: every path is canonical. */
export const memoryParts = (): Omit<EnforcementOptions, 'current' | 'audit'> => ({
  isObserving: false,
  isInteractive: true,
  remembered: createMemory(),
  canonical: (path) => path,
  home: '/home',
});

/** A policy as if it were in a file. */
export function policyInForce(policy: object, hash: string): CurrentPolicy {
  const { policy: read, problems } = loadPolicy('policy.yaml', JSON.stringify(policy));
  if (!read) throw new Error(JSON.stringify(problems));
  const layers: Layer[] = [{ name: 'user', policy: read }];
  return {
    policy: combine(layers),
    hash,
    withAnswers: (answers) => combine([...layers, rememberedLayer(answers, 'remembered', hashKey)]),
  };
}

export function memoryEnforcement(
  policy: object,
  parts: Partial<EnforcementOptions> = {},
): { readonly enforcement: CreateEnforcement; readonly entries: AuditEntry[] } {
  const entries: AuditEntry[] = [];
  const current = policyInForce({ version: 1, ...policy }, '1');
  const audit: Pick<Audit, 'record'> = { record: (entry) => ({ isWritten: true, seq: entries.push(entry) }) };
  return { entries, enforcement: createEnforcement({ ...memoryParts(), current: () => current, audit, ...parts }) };
}

function createMemory(): RememberedAnswers {
  let kept: RememberedAnswer[] = [];
  return {
    file: 'remembered',
    remember({ key, scope, ...answer }) {
      if (key === undefined || scope === 'once') return { isKept: false, why: 'not to be kept' };
      const id = String(kept.length);
      kept.push({ ...answer, id, at: '2026', scope, key: hashKey(key) });
      return { isKept: true, id };
    },
    answersFor: ({ cwd, session, policy }) => kept.filter((one) => one.cwd === cwd && one.session === session && one.policy === policy),
    list: () => kept,
    revoke: () => false,
    endSession(session) {
      kept = kept.filter((one) => one.session !== session);
    },
  } as RememberedAnswers;
}
