// Which of many literals occur in a text, in one pass over it that skips characters where it can (Wu and Manber). Nearly every text holds
// none of them, and looking for a hundred one after the other would cost a hundred passes.

/** The indexes of the literals that occur; undefined when none does. */
export type LiteralFinder = (text: string) => ReadonlySet<number> | undefined;

/** A literal, and the place in it that is looked for first. */
type Candidate = { readonly index: number; readonly literal: string; readonly offset: number; readonly first: number };

const TABLE_SIZE = 1 << 14;
const LONGEST_SHIFT = 255;
const FREQUENT = new Set('etaoinsrhldcupmfg ');

const hash = (before: number, last: number): number => ((before & 0x7f) << 7) | (last & 0x7f);
const rarity = (char: string): number => (FREQUENT.has(char) ? 0 : /[a-z]/.test(char) ? 1 : 2);

/** Literals have at least two characters; the longer the shortest of them, the faster. */
export function createLiteralFinder(literals: readonly string[]): LiteralFinder {
  if (literals.length === 0) return () => undefined;
  const window = Math.min(LONGEST_SHIFT, ...literals.map(({ length }) => length));
  // How far the window may move when it ends in these two characters; 0 when a literal's window may end there.
  const shifts = new Uint8Array(TABLE_SIZE).fill(window - 1);
  const candidates: Candidate[][] = [];
  for (const [index, literal] of literals.entries()) {
    const offset = rarestWindow(literal, window);
    for (let at = 1; at < window; at++) {
      const key = hash(literal.charCodeAt(offset + at - 1), literal.charCodeAt(offset + at));
      shifts[key] = Math.min(shifts[key] as number, window - 1 - at);
      if (at < window - 1) continue;
      candidates[key] ??= [];
      candidates[key].push({ index, literal, offset, first: literal.charCodeAt(offset) });
    }
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
      for (const candidate of candidates[key] as Candidate[])
        if (candidate.first === first && text.startsWith(candidate.literal, start - candidate.offset))
          found = (found ?? new Set()).add(candidate.index);
      at++;
    }
    return found;
  };
}

/** Where in the literal the window ends in characters that are seldom seen. */
function rarestWindow(literal: string, window: number): number {
  let best = 0;
  let bestRarity = -1;
  for (let offset = 0; offset + window <= literal.length; offset++) {
    const rare = rarity(literal.charAt(offset + window - 2)) + rarity(literal.charAt(offset + window - 1));
    if (rare <= bestRarity) continue;
    best = offset;
    bestRarity = rare;
  }
  return best;
}
