// A policy over some of the histories: made by chance, replaced by chance, with the real guard in front of it and a record of what was decided.
import type { AuditEntry } from '../../src/log/audit-line.ts';
import { createGuard } from '../../src/proxy/guard/create-guard.ts';
import type { CurrentPolicy } from '../../src/proxy/guard/judge.ts';
import type { Guard } from '../../src/proxy/guard.ts';
import { memoryParts, policyInForce } from '../proxy/memory-guard.ts';
import { type Random, seeded } from './random.ts';

type Decided = AuditEntry & { readonly isWritten: boolean };

export type Guarding = {
  readonly guard: Guard;
  /** What is drawn for the policy's sake, so that histories without one stay as they are. */
  readonly random: Random;
  /** Another policy comes into force. */
  change(): void;
  /** What was decided about an agent's request, by its number, and whether that could be written down. */
  decided(serial: number): readonly Decided[];
};

/** Of these, each is allowed, asked, denied or left to the default. */
const SUBJECTS = ['read(/w/**)', 'edit(/w/**)', 'execute(ls ...)', 'execute(make ...)', 'elicit', 'other'];
/** As many histories as this have a policy. */
const SHARE = 0.35;

export function createGuarding(seed: number, trace: (text: string) => void): Guarding | undefined {
  const random = seeded(seed + 1_000_003);
  if (!random.chance(SHARE)) return undefined;
  const entries = new Map<number, Decided[]>();
  const mayFail = random.chance(0.2);
  let version = 0;
  let current = draw();

  function draw(): CurrentPolicy {
    const lists = { allow: [] as string[], ask: [] as string[], deny: [] as string[] };
    for (const subject of SUBJECTS) {
      const verdict = random.pick(['allow', 'allow', 'ask', 'deny', undefined] as const);
      if (verdict) lists[verdict].push(subject);
    }
    const policy = {
      version: 1,
      default: random.pick(['ask', 'ask', 'deny', 'allow']),
      ...lists,
      limits: { max_pending_permissions: random.pick([2, 32]), ...(random.chance(0.3) && { permission_timeout: '20s' }) },
      remember: { allow_always: random.pick(['once', 'session']) },
    };
    trace(`policy ${++version}: ${JSON.stringify(policy)}`);
    return policyInForce(policy, String(version));
  }

  const guard = createGuard({
    ...memoryParts(),
    current: () => current,
    audit: {
      file: 'audit',
      record(entry) {
        const serial = Number(/"sim":(\d+)/.exec(String(entry.request))?.[1]);
        const isWritten = !(mayFail && random.chance(0.2));
        trace(
          `${isWritten ? 'written' : 'NOT written'}: ${serial} ${entry.verdict} by ${entry.answeredBy}, ${entry.option} (${entry.why})`,
        );
        entries.set(serial, [...(entries.get(serial) ?? []), { ...entry, isWritten }]);
        return isWritten ? { isWritten, seq: 1 } : { isWritten, problem: 'the disk is full' };
      },
    },
  });
  return {
    guard,
    random,
    change() {
      current = draw();
    },
    decided: (serial) => entries.get(serial) ?? [],
  };
}
