// Faults by name. Every seed has its own mixture: some faults often, some rarely, some never, because a history in which everything fails
// at once never gets far.
import type { Random } from './random.ts';

const AGENT_FAULTS = {
  unstartable: 0.06,
  'exit before initialize': 0.08,
  'silent at initialize': 0.06,
  'wrong protocol version': 0.04,
  'refuses initialize': 0.04,
  'speaks first': 0.2,
  'early update': 0.4,
  'slow answer': 0.25,
  'no answer': 0.08,
  'error answer': 0.08,
  'answers twice': 0.06,
  'answers unknown id': 0.06,
  'unclear answer': 0.05,
  'duplicate keys': 0.05,
  'oversized line': 0.04,
  'broken line': 0.08,
  'invalid UTF-8': 0.04,
  'withdraws request': 0.2,
  'ignores cancel': 0.3,
  'ignores close': 0.2,
  'foreign terminal': 0.3,
  'session of its own': 0.1,
  crash: 0.015,
  'crash in mid-line': 0.015,
  'exit with stdout held open': 0.01,
  'hangs up': 0.008,
  'stops reading': 0.03,
  flood: 0.02,
  'many requests': 0.01,
  'many broken lines': 0.01,
} as const;

const CLIENT_FAULTS = {
  'client: broken line': 0.04,
  'client: batch': 0.02,
  'client: oversized line': 0.03,
  'client: duplicate keys': 0.02,
  'client: duplicate keys within': 0.02,
  'client: no sessionId': 0.02,
  'client: many prompts': 0.02,
  'client: duplicate id': 0.06,
  'client: id null': 0.02,
  'client: cancels request': 0.1,
  'client: unknown session': 0.05,
  'client: unknown method': 0.05,
  'client: too early': 0.2,
  'client: stops reading': 0.04,
  'client: answers late': 0.4,
  'client: never answers': 0.1,
  'client: answers with an error': 0.15,
  'client: answers twice': 0.08,
  'client: answers unknown id': 0.04,
  'client: unclear answer': 0.05,
  'client: oversized answer': 0.03,
  'client: broken answer': 0.03,
  'client: goes at once': 0.002,
} as const;

const RATES = { ...AGENT_FAULTS, ...CLIENT_FAULTS };

export type Fault = keyof typeof RATES;

export type Faults = {
  /** Whether it happens here and now; counted when it does. */
  happens(fault: Fault): boolean;
  /** Counted without chance, for what the simulator does on purpose. */
  count(what: string): void;
  readonly counts: ReadonlyMap<string, number>;
};

export function createFaults(random: Random): Faults {
  const counts = new Map<string, number>();
  const calm = random.chance(0.15);
  const rates = new Map<Fault, number>();
  for (const [fault, rate] of Object.entries(RATES) as [Fault, number][]) {
    const factor = random.weighted([
      [calm ? 12 : 4, 0],
      [3, 0.5],
      [4, 1],
      [1.5, 2.5],
    ]);
    rates.set(fault, Math.min(0.8, rate * factor));
  }
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    counts,
    count,
    happens(fault) {
      const does = random.chance(rates.get(fault) ?? 0);
      if (does) count(fault);
      return does;
    },
  };
}
