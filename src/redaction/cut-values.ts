// The ends of a text may go through a secret: what is left of it there is still too much.

/** So few characters of a secret are of no use to anybody, and too many texts end with them by chance. */
const FEWEST = 6;

/** Addresses and paths begin alike. */
const PLACE = /^(?:[a-z][a-z0-9+.-]*:\/\/|\/)/i;
const FEWEST_OF_PLACE = 16;

export type CutFinder = (text: string, onlyEnd: boolean) => { readonly start: number; readonly end: number; readonly name: string }[];

/** Finds what is left of known values at the beginning and at the end of a text. */
export function createCutFinder(names: ReadonlyMap<string, string>): CutFinder {
  const byBeginning = new Map<string, string[]>();
  const byEnd = new Map<string, string[]>();
  let longest = 0;
  for (const literal of names.keys()) {
    note(byBeginning, literal.slice(0, FEWEST), literal);
    note(byEnd, literal.slice(-FEWEST), literal);
    longest = Math.max(longest, literal.length);
  }
  return (text, onlyEnd) => {
    const found: { start: number; end: number; name: string }[] = [];
    for (let at = Math.max(0, text.length - longest + 1); at <= text.length - FEWEST; at++) {
      const rest = text.slice(at);
      const literal = byBeginning
        .get(rest.slice(0, FEWEST))
        ?.find((one) => one.startsWith(rest) && !(PLACE.test(one) && rest.length < FEWEST_OF_PLACE));
      if (literal === undefined) continue;
      found.push({ start: at, end: text.length, name: names.get(literal) ?? '' });
      break;
    }
    if (onlyEnd) return found;
    for (let end = Math.min(text.length, longest - 1); end >= FEWEST; end--) {
      const literal = byEnd.get(text.slice(end - FEWEST, end))?.find((one) => one.endsWith(text.slice(0, end)));
      if (literal === undefined) continue;
      found.push({ start: 0, end, name: names.get(literal) ?? '' });
      break;
    }
    // Both ends of it may be gone.
    if (found.length === 0 && text.length >= FEWEST && text.length < longest)
      for (const [literal, name] of names) if (literal.includes(text)) return [{ start: 0, end: text.length, name }];
    return found;
  };
}

function note(table: Map<string, string[]>, key: string, literal: string): void {
  const list = table.get(key);
  if (list) list.push(literal);
  else table.set(key, [literal]);
}
