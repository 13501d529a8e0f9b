// Finds which of many literals occur in a text, in one pass that skips characters (Wu-Manber). A separate search per literal would take a
// hundred passes, and nearly every text contains none.

/** The indexes of the literals that occur; undefined when none does. */
export type LiteralFinder = (text: string) => ReadonlySet<number> | undefined;

/** A literal, and the offset in it of the window that the search looks for. */
type Candidate = { readonly index: number; readonly literal: string; readonly offset: number; readonly first: number };

const TABLE_SIZE = 1 << 14;
const LONGEST_SHIFT = 255;
const FREQUENT = new Set('etaoinsrhldcupmfg ');

/** By character code: frequent letters, other lower-case letters, the rest. Precomputed, because every process builds a finder at start. */
const RARITY = Uint8Array.from({ length: 128 }, (_, code) =>
  FREQUENT.has(String.fromCharCode(code)) ? 0 : code > 0x60 && code < 0x7b ? 1 : 2,
);

const hash = (before: number, last: number): number => ((before & 0x7f) << 7) | (last & 0x7f);

/**
 * Literals have at least two characters; a longer shortest literal makes the search faster. With `following`, the shortest literals count
 * as one character longer: the finder reports them only if one of these characters follows.
 */
export function createLiteralFinder(literals: readonly string[], following = ''): LiteralFinder {
  if (literals.length === 0) return () => undefined;
  const shortest = literals.reduce((least, { length }) => Math.min(least, length), LONGEST_SHIFT);
  const window = Math.min(LONGEST_SHIFT, following === '' ? shortest : shortest + 1);
  // The distance the window may move if it ends in these two characters; 0 if a literal's window may end there.
  const shifts = new Uint8Array(TABLE_SIZE).fill(window - 1);
  const candidates = new Map<number, Candidate[]>();
  function endsIn(key: number, candidate: Candidate): void {
    shifts[key] = 0;
    const others = candidates.get(key);
    if (others) others.push(candidate);
    else candidates.set(key, [candidate]);
  }
  for (let index = 0; index < literals.length; index++) {
    const literal = literals[index] as string;
    const offset = rarestWindow(literal, window);
    const candidate = { index, literal, offset, first: literal.charCodeAt(offset) };
    const inside = Math.min(window, literal.length) - 1;
    for (let at = 1; at <= inside; at++) {
      const key = hash(literal.charCodeAt(offset + at - 1), literal.charCodeAt(offset + at));
      if (at === window - 1) endsIn(key, candidate);
      else shifts[key] = Math.min(shifts[key] as number, window - 1 - at);
    }
    if (literal.length >= window) continue;
    for (let k = 0; k < following.length; k++) endsIn(hash(literal.charCodeAt(inside), following.charCodeAt(k)), candidate);
  }

  return (text) => {
    let found: Set<number> | undefined;
    for (let at = window - 1, before = 0; at < text.length; ) {
      before = text.charCodeAt(at - 1);
      const key = hash(before, text.charCodeAt(at));
      const shift = shifts[key] as number;
      if (shift > 0) {
        at += shift;
        continue;
      }
      const start = at - window + 1;
      const first = text.charCodeAt(start);
      for (const candidate of candidates.get(key) as Candidate[])
        if (candidate.first === first && text.startsWith(candidate.literal, start - candidate.offset))
          found = (found ?? new Set()).add(candidate.index);
      at++;
    }
    return found;
  };
}

const rarity = (code: number): number => RARITY[code] ?? 2;

/** The offset of the window that ends in the rarest characters. */
function rarestWindow(literal: string, window: number): number {
  let best = 0;
  let bestRarity = -1;
  for (let offset = 0; offset + window <= literal.length; offset++) {
    const rare = rarity(literal.charCodeAt(offset + window - 2)) + rarity(literal.charCodeAt(offset + window - 1));
    if (rare <= bestRarity) continue;
    best = offset;
    bestRarity = rare;
  }
  return best;
}
