// What somebody keeps for each of the ids that come by in frames. It is found by the place of the id among those that are known, which takes
// a fraction of the time of a table of strings: with a thousand sessions, neither the strings nor such a table would be in the cache.
import type { Interned } from './interned.ts';

export class InternedMap<T> {
  /** An entry, and what is kept for it: another entry may have got its place. */
  readonly #pairs: (Interned | T | undefined)[] = [];

  get(entry: Interned): T | undefined {
    const at = 2 * entry.place;
    return at < this.#pairs.length && this.#pairs[at] === entry ? (this.#pairs[at + 1] as T) : undefined;
  }

  set(entry: Interned, value: T): void {
    const at = 2 * entry.place;
    while (this.#pairs.length < at + 2) this.#pairs.push(undefined);
    this.#pairs[at] = entry;
    this.#pairs[at + 1] = value;
  }

  clear(): void {
    this.#pairs.length = 0;
  }
}
