// Requests on their way to one peer, under ids of ours: each side counts for itself, so the same number means different things on every leg.

export type Ledger<T> = {
  /** Notes an entry and returns the id under which its answer will come. */
  open(entry: T): string;
  /** The entry an answer belongs to, which is then settled; undefined for an id that is unknown or answered already. */
  settle(id: string): T | undefined;
  find(id: string): T | undefined;
  /** Everything that is still open, settled at once. */
  drain(): readonly T[];
  size(): number;
};

export function createLedger<T>(firstId: number): Ledger<T> {
  const entries = new Map<string, T>();
  let nextId = firstId;
  return {
    open(entry) {
      const id = String(nextId++);
      entries.set(id, entry);
      return id;
    },
    settle(id) {
      const entry = entries.get(id);
      entries.delete(id);
      return entry;
    },
    find: (id) => entries.get(id),
    drain() {
      const open = [...entries.values()];
      entries.clear();
      return open;
    },
    size: () => entries.size,
  };
}
