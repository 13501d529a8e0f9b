// A bus inside one process: the `local:` bus, and what `ws:` buses are clients of. Its contents end with the process.
import {
  type Bus,
  BusFailure,
  type Change,
  type Directory,
  type DirectoryOptions,
  type Entry,
  type Stream,
  type StreamRecord,
} from './bus.ts';

export type Broker = {
  /** A client of this broker. Listeners of a closed client hear nothing. */
  connect(): Bus;
};

type Stored = Entry & { readonly expiresAt: number };
type StoredDirectory = {
  readonly ttlMs: number;
  revision: number;
  readonly entries: Map<string, Stored>;
  readonly watchers: Set<(change: Change) => void>;
};
type StoredStream = {
  records: StreamRecord[];
  bytes: number;
  /** The sequence of the newest record; at first one that no earlier life of the broker has reached. */
  sequence: number;
  readonly last: Map<string, number>;
  readonly readers: Set<() => void>;
};
type Listening = { readonly pattern: Names; readonly listener: (bytes: Buffer, subject: string) => void };
type Answering = { readonly pattern: Names; readonly handler: (bytes: Buffer, subject: string) => Promise<Buffer> };
type Names = readonly string[];

const MAX_STREAM_BYTES = 64 * 1024 ** 2;

export function createBroker(now: () => number): Broker {
  const directories = new Map<string, StoredDirectory>();
  const streams = new Map<string, StoredStream>();
  const listening = new Set<Listening>();
  const answering = new Set<Answering>();

  function directoryOf(name: string, { ttlMs = Number.POSITIVE_INFINITY }: DirectoryOptions): StoredDirectory {
    const existing = directories.get(name);
    if (existing) return existing;
    const created = { ttlMs, revision: 0, entries: new Map<string, Stored>(), watchers: new Set<(change: Change) => void>() };
    directories.set(name, created);
    return created;
  }
  function streamOf(name: string): StoredStream {
    const existing = streams.get(name);
    if (existing) return existing;
    const last = new Map<string, number>();
    const created = { records: [], bytes: 0, sequence: Math.floor(now() * 1000), last, readers: new Set<() => void>() };
    streams.set(name, created);
    return created;
  }
  return {
    connect() {
      const endings = new Set<() => void>();
      let isOpen = true;
      /** Ends with the client. */
      function until(end: () => void): () => void {
        endings.add(end);
        return () => {
          endings.delete(end);
          end();
        };
      }
      function failIfClosed(): void {
        if (!isOpen) throw new BusFailure('disconnected', 'the bus is closed');
      }
      return {
        shownUrl: 'local:',
        get isConnected() {
          return isOpen;
        },
        async directory(name, options = {}) {
          failIfClosed();
          return openDirectory(directoryOf(name, options), now, until);
        },
        async stream(name) {
          failIfClosed();
          return openStream(streamOf(name), until);
        },
        send(subject, bytes) {
          if (!isOpen) return;
          // Never in the same tick, as on every other bus.
          setImmediate(() => {
            const names = subject.split('.');
            for (const { pattern, listener } of listening) if (isMatch(pattern, names)) listener(bytes, subject);
          });
        },
        listen(pattern, listener) {
          const one = { pattern: pattern.split('.'), listener };
          listening.add(one);
          return until(() => void listening.delete(one));
        },
        async ask(subject, bytes, timeoutMs) {
          failIfClosed();
          const names = subject.split('.');
          const found = [...answering].find(({ pattern }) => isMatch(pattern, names));
          if (!found) throw new BusFailure('nobody', `nobody answers ${subject}`);
          return within(found.handler(bytes, subject), subject, timeoutMs);
        },
        answer(pattern, handler) {
          const one = { pattern: pattern.split('.'), handler };
          answering.add(one);
          return until(() => void answering.delete(one));
        },
        onConnection: () => () => {},
        flush: async () => {},
        async close() {
          isOpen = false;
          for (const end of [...endings]) end();
          endings.clear();
        },
      };
    },
  };
}

function openDirectory(stored: StoredDirectory, now: () => number, until: (end: () => void) => () => void): Directory {
  const { entries, watchers, ttlMs } = stored;
  const find = (key: string): Stored | undefined => {
    const entry = entries.get(key);
    if (entry && entry.expiresAt > now()) return entry;
    entries.delete(key);
    return undefined;
  };
  function write(key: string, value: Buffer): number {
    stored.revision += 1;
    entries.set(key, { key, value, revision: stored.revision, expiresAt: now() + ttlMs });
    tell({ key, value, revision: stored.revision });
    return stored.revision;
  }
  function tell(change: Change): void {
    for (const watcher of watchers) setImmediate(() => watchers.has(watcher) && watcher(change));
  }
  return {
    get: async (key) => find(key),
    create: async (key, value) => (find(key) ? undefined : write(key, value)),
    update: async (key, value, revision) => (find(key)?.revision === revision ? write(key, value) : undefined),
    async remove(key, revision) {
      if (find(key)?.revision !== revision) return false;
      entries.delete(key);
      stored.revision += 1;
      tell({ key, value: undefined, revision: stored.revision });
      return true;
    },
    async watch(listener) {
      const watcher = (change: Change) => listener(change);
      for (const { key } of [...entries.values()]) {
        const entry = find(key);
        if (entry) listener(entry);
      }
      watchers.add(watcher);
      return until(() => void watchers.delete(watcher));
    },
  };
}

function openStream(stream: StoredStream, until: (end: () => void) => () => void): Stream {
  const { last, readers } = stream;
  return {
    async append(subject, bytes, after) {
      if ((last.get(subject) ?? 0) !== after) return undefined;
      if (stream.bytes + bytes.length > MAX_STREAM_BYTES) throw new BusFailure('refused', `the stream is full (${MAX_STREAM_BYTES} bytes)`);
      stream.sequence += 1;
      const { sequence } = stream;
      stream.records.push({ subject, sequence, bytes });
      stream.bytes += bytes.length;
      last.set(subject, sequence);
      for (const wake of readers) setImmediate(wake);
      return sequence;
    },
    last: async (subject) => stream.records.findLast((record) => record.subject === subject),
    end: async () => stream.records.at(-1)?.sequence ?? 0,
    async trim(sequence) {
      stream.records = stream.records.filter((one) => one.sequence > sequence);
      stream.bytes = stream.records.reduce((sum, { bytes }) => sum + bytes.length, 0);
      for (const [subject, at] of last) if (at <= sequence) last.delete(subject);
    },
    async read(sequence, listener) {
      let seen = sequence;
      const wake = () => {
        if (!readers.has(wake)) return;
        for (const record of stream.records.filter((one) => one.sequence > seen)) {
          seen = record.sequence;
          listener(record);
        }
      };
      readers.add(wake);
      wake();
      return until(() => void readers.delete(wake));
    },
  };
}

const isMatch = (pattern: Names, subject: Names): boolean =>
  pattern.length === subject.length && pattern.every((name, k) => name === '*' || name === subject[k]);

/** Rejects when the answer takes too long; a failure of the handler is the failure of the request. */
export function within<T>(answer: Promise<T>, subject: string, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new BusFailure('timeout', `${subject} did not answer within ${timeoutMs} ms`)), timeoutMs);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error instanceof BusFailure ? error : new BusFailure('refused', error.message));
      },
    );
  });
}
