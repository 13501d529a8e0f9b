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

// Request ids are kept as they were written and compared as what they mean: 1 and "1" differ, "a" and "\u0061" do not.
/** A key under which equal ids meet. Integers stay text: parsing would make 9007199254740993 another number. */
export function canonicalId(idText: string): string {
  if (/^(?:-?[1-9]\d*|0)$/.test(idText) || /^"[^"\\]*"$/.test(idText)) return idText;
  const value: unknown = JSON.parse(idText);
  // 1e400 is a legal number that JavaScript has not got; it is equal to itself as it is written.
  if (typeof value === 'number' && !Number.isFinite(value)) return idText;
  try {
    return JSON.stringify(value);
  } catch {
    return idText; // nested too deep to be written again
  }
}
