// A set that allocates nothing while it is empty: a session has several, and most sessions are idle.

const NOTHING: ReadonlySet<never> = new Set<never>();

export class LazySet<T> implements Iterable<T> {
  #items: Set<T> | undefined;

  get size(): number {
    return this.#items?.size ?? 0;
  }
  has(item: T): boolean {
    return this.#items?.has(item) ?? false;
  }
  add(item: T): void {
    this.#items ??= new Set();
    this.#items.add(item);
  }
  delete(item: T): boolean {
    return this.#items?.delete(item) ?? false;
  }
  clear(): void {
    this.#items?.clear();
  }
  /** Sees additions and deletions during the iteration, as any set does. */
  [Symbol.iterator](): Iterator<T> {
    return (this.#items ?? NOTHING).values();
  }
}
