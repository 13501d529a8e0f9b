// A random policy for some of the histories, replaced at random, with the real enforcement and a record of its decisions.
import type { AuditEntry } from '../../src/audit/audit-line.ts';
import { createEnforcement } from '../../src/proxy/enforcement/create-enforcement.ts';
import type { CreateEnforcement } from '../../src/proxy/enforcement/enforcement.ts';
import type { CurrentPolicy } from '../../src/proxy/enforcement/evaluate.ts';
import { memoryParts, policyInForce } from '../proxy/memory-enforcement.ts';
import { type Random, seeded } from './random.ts';

type Modes = { readonly pin?: readonly string[]; readonly refuse?: readonly string[]; readonly isFor?: string };

type Decided = AuditEntry & { readonly isWritten: boolean };

export type PolicyModel = {
  readonly enforcement: CreateEnforcement;
  /** A separate random source, so that histories without a policy stay the same. */
  readonly random: Random;
  /** Nothing is blocked; what would have been is recorded. */
  readonly isObserving: boolean;
  /** Names the policy in force. */
  readonly hash: string;
  /** Whether a mode is refused for an agent, under the policy in force or another. */
  refuses(agent: string, mode: string, hash?: string): boolean;
  /** Another policy comes into force. */
  change(): void;
  /** The decision about a host tool call, by its key. */
  decidedOn(key: string): readonly Decided[];
  /** The decision about an agent's request, by its number, and whether it could be logged. */
  decided(serial: number): readonly Decided[];
};

/** Each of these is allowed, asked, denied or left to the default. */
const SUBJECTS = ['read(/w/**)', 'edit(/w/**)', 'execute(ls ...)', 'execute(make ...)', 'elicit', 'other'];
/** The share of histories with a policy. */
const SHARE = 0.45;

export function createPolicyModel(seed: number, trace: (text: string) => void): PolicyModel | undefined {
  const random = seeded(seed + 1_000_003);
  if (!random.chance(SHARE)) return undefined;
  const entries = new Map<unknown, Decided[]>();
  const mayFail = random.chance(0.2);
  const isObserving = random.chance(0.2);
  /** What each policy says about modes. */
  const modes = new Map<string, Modes>();
  let version = 0;
  let current = draw();

  function draw(): CurrentPolicy {
    const lists = { allow: [] as string[], ask: [] as string[], deny: [] as string[] };
    for (const subject of SUBJECTS) {
      const verdict = random.pick(['allow', 'allow', 'ask', 'deny', undefined] as const);
      if (verdict) lists[verdict].push(subject);
    }
    const onDelegations = random.pick(['allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'ask', 'deny'] as const);
    lists[onDelegations].push('delegate', 'mcp(switchboard:delegate)'); // also by its name, where everything without one is denied
    const mode = random.weighted<Modes>([
      [5, {}],
      [3, { refuse: ['code'] }],
      [1, { refuse: ['ask'] }],
      [1, { pin: ['ask'] }],
      [1, { pin: ['code'] }],
    ]);
    const onViolation = random.pick(['log', 'notify', 'notify', 'cancel', 'kill']);
    const policy = {
      version: 1,
      default: random.pick(['ask', 'ask', 'deny', 'allow']),
      ...lists,
      limits: { max_pending_permissions: random.pick([2, 32]), ...(random.chance(0.3) && { permission_timeout: '20s' }) },
      remember: { allow_always: random.pick(['once', 'session']) },
      agents: { [random.pick(['*', '*', 'a1'])]: { mode, on_violation: onViolation } },
    };
    const hash = String(++version);
    modes.set(hash, { ...mode, isFor: Object.keys(policy.agents)[0] as string });
    trace(`policy ${hash}: ${JSON.stringify(policy)}`);
    return policyInForce(policy, hash);
  }

  const enforcement = createEnforcement({
    ...memoryParts(),
    isObserving,
    current: () => current,
    audit: {
      record(entry) {
        const request = String(entry.request);
        const serial = entry.method === 'tools/call' ? /"\/w\/([\w.]+)"/.exec(request)?.[1] : Number(/"sim":(\d+)/.exec(request)?.[1]);
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
    enforcement,
    random,
    isObserving,
    get hash() {
      return current.hash;
    },
    refuses(agent, mode, hash = current.hash) {
      const { pin, refuse = [], isFor } = modes.get(hash) as Modes;
      return (isFor === '*' || isFor === agent) && (refuse.includes(mode) || pin?.includes(mode) === false);
    },
    change() {
      current = draw();
    },
    decidedOn: (key) => entries.get(key) ?? [],
    decided: (serial) => entries.get(serial) ?? [],
  };
}
