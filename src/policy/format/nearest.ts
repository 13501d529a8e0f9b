// The name a user probably meant.

// The candidate closest to `word`, if it is close enough to be a typo; otherwise the only one that begins like it.
function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates];
  return slip(word, all) ?? (word.length >= 3 ? only(all.filter((name) => name.toLowerCase().startsWith(word.toLowerCase()))) : undefined);
}

const only = (found: readonly string[]): string | undefined => (found.length === 1 ? found[0] : undefined);

function slip(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  // A third of the word may be wrong, at least one letter, but never all of it.
  let least = Math.min(Math.max(Math.floor(word.length / 3), 1) + 1, word.length);
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** `did you mean "default_agent"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const found = nearest(word, candidates);
  return found === undefined ? undefined : `did you mean "${found}"?`;
}

/** `did you mean "x"? modes: x, y`: the nearest candidate, if one is near, and all candidates. */
export function nearestOf(word: string, candidates: readonly string[], kind: string): string {
  const all = `${kind}: ${candidates.join(', ') || 'none'}`;
  const meant = didYouMean(word, candidates);
  return meant === undefined ? all : `${meant} ${all}`;
}

// Two swapped neighbours count once: it is the most common typo ("defualt").
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const steps = [at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + (same ? 0 : 1)];
      if (swapped) steps.push(at(twoAbove, column - 2) + 1);
      current.push(Math.min(...steps));
    }
    [twoAbove, above] = [above, current];
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
