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
