// A policy over some of the histories: made by chance, replaced by chance, with the real guard in front of it and a record of what was decided.
import type { AuditEntry } from '../../src/log/audit-line.ts';
import { combine, type Layer } from '../../src/policy/layers.ts';
import { loadPolicy } from '../../src/policy/load.ts';
import { rememberedLayer } from '../../src/policy/remembered.ts';
import { createGuard } from '../../src/proxy/guard/create-guard.ts';
import type { CurrentPolicy } from '../../src/proxy/guard/judge.ts';
import type { Guard } from '../../src/proxy/guard.ts';
import { hashKey, type RememberedAnswer, type RememberedAnswers } from '../../src/store/remembered.ts';
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
    const { policy: read, problems } = loadPolicy('policy.yaml', JSON.stringify(policy));
    if (!read) throw new Error(JSON.stringify(problems));
    const layers: Layer[] = [{ name: 'user', policy: read }];
    const hash = String(version);
    return {
      policy: combine(layers),
      hash,
      withAnswers: (answers) => combine([...layers, rememberedLayer(answers, 'remembered', hashKey)]),
    };
  }

  const guard = createGuard({
    current: () => current,
    isObserving: false,
    isInteractive: true,
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
    remembered: createMemory(),
    canonical: (path) => path,
    home: '/home',
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
