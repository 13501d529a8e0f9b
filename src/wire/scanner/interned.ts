// Methods and session ids repeat in every frame. Each distinct one has one entry, so that what belongs to a session is found by its index.

/** Then the table starts anew: what is in use comes back with its next frame. */
const MAX_ENTRIES = 8192;
const MAX_LENGTH = 64;

export type Interned = {
  /** From 1; unique as long as the table holds the entry. */
  readonly index: number;
  /** The bytes as text, escapes included. */
  readonly text: string;
  /** The value of a string token with this text, and the token itself; computed when first needed. */
  decoded: string | undefined;
  token: string | undefined;
};

/** What the string token says. */
export function decodedOf(entry: Interned): string {
  entry.decoded ??= entry.text.includes('\\') ? internalized(JSON.parse(`"${entry.text}"`)) : entry.text;
  return entry.decoded;
}

/** The string token with its quotes. */
export function tokenOf(entry: Interned): string {
  entry.token ??= internalized(`"${entry.text}"`);
  return entry.token;
}

/** Forces V8 to use its one copy of the string, as it does for property names: comparing two of those compares two addresses. */
function internalized(text: string): string {
  for (const key in { [text]: 0 }) return key;
  return text;
}

export class InternTable {
  /** By the bytes, one character for each. */
  private readonly entries = new Map<string, Interned>();

  /** The UTF-8 text of `bytes[start..end)`. */
  textOf(bytes: Buffer, start: number, end: number): string {
    return end - start > MAX_LENGTH ? bytes.toString('utf8', start, end) : this.entryOf(bytes, start, end).text;
  }

  /** The string token in `bytes[start..end)`; undefined when it is too long for the table. */
  ofToken(bytes: Buffer, start: number, end: number): Interned | undefined {
    return end - start - 2 > MAX_LENGTH ? undefined : this.entryOf(bytes, start + 1, end - 1);
  }

  /** The entry of `bytes[start..end)`; undefined if there is none yet. */
  find(bytes: Buffer, start: number, end: number): Interned | undefined {
    return this.entries.get(bytes.toString('latin1', start, end));
  }

  private entryOf(bytes: Buffer, start: number, end: number): Interned {
    const key = bytes.toString('latin1', start, end);
    return this.entries.get(key) ?? this.add(key, bytes.toString('utf8', start, end));
  }

  private add(key: string, text: string): Interned {
    if (this.entries.size >= MAX_ENTRIES) this.entries.clear();
    const entry: Interned = { index: this.entries.size + 1, text: internalized(text), decoded: undefined, token: undefined };
    this.entries.set(key, entry);
    return entry;
  }
}

/** A value per interned id, found by index: with a thousand sessions, several Maps of strings would not fit into the CPU cache. */
export class InternedMap<T> {
  /** Each entry is followed by its value: another entry may have taken over the index, so the entry is compared. */
  readonly #pairs: (Interned | T | undefined)[] = [];

  get(entry: Interned): T | undefined {
    const at = 2 * entry.index;
    return at < this.#pairs.length && this.#pairs[at] === entry ? (this.#pairs[at + 1] as T) : undefined;
  }

  set(entry: Interned, value: T): void {
    const at = 2 * entry.index;
    while (this.#pairs.length < at + 2) this.#pairs.push(undefined);
    this.#pairs[at] = entry;
    this.#pairs[at + 1] = value;
  }

  clear(): void {
    this.#pairs.length = 0;
  }
}
