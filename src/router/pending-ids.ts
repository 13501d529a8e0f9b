// Requests in flight to one peer, under ids of the proxy: each side counts for itself, so one number means different things on each
// connection.

export type PendingIds<T> = {
  /** Adds an entry and returns the id for its request. */
  open(entry: T): string;
  /** Removes and returns the entry of a response; undefined for an id that is unknown or already answered. */
  settle(id: string): T | undefined;
  find(id: string): T | undefined;
  /** Removes and returns all open entries. */
  drain(): readonly T[];
  size(): number;
};

export function createPendingIds<T>(firstId: number): PendingIds<T> {
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

// A key that is the same for equal ids: 1 and "1" differ, "a" and "\u0061" do not. Integers stay text, because parsing would change
// 9007199254740993.
export function canonicalId(idText: string): string {
  if (/^(?:-?[1-9]\d*|0)$/.test(idText) || /^"[^"\\]*"$/.test(idText)) return idText;
  const value: unknown = JSON.parse(idText);
  // 1e400 is a legal number that JavaScript cannot represent; it equals its own text.
  if (typeof value === 'number' && !Number.isFinite(value)) return idText;
  try {
    return JSON.stringify(value);
  } catch {
    return idText; // nested too deep to serialise
  }
}
