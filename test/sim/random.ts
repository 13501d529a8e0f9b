// Seeded random numbers: the same seed makes the same history on every machine.

export type Random = {
  /** In [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** Both ends included. */
  int(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  /** One of the entries, by weight. */
  weighted<T>(entries: readonly (readonly [weight: number, value: T])[]): T;
};

/** mulberry32: small, fast, and good enough to choose what happens next. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => items[int(0, items.length - 1)] as (typeof items)[number],
    weighted(entries) {
      let at = next() * entries.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of entries) {
        at -= weight;
        if (at < 0) return value;
      }
      return (entries.at(-1) as (typeof entries)[number])[1];
    },
  };
}
