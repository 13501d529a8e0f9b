// A set that takes hardly any room while nothing is in it: a session has several, and of a thousand sessions most are idle.

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
  /** As with any set, what is deleted meanwhile does not come, and what is added does. */
  [Symbol.iterator](): Iterator<T> {
    return (this.#items ?? NOTHING).values();
  }
}
