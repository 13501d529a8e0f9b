// What crosses machines: a directory, messages, requests and streams. Three buses keep this contract: `local:` in this process, `ws:` and
// `wss:` through a switchboard that serves one, `nats:` and `tls:` through NATS with JetStream.

/** A name of one level: letters, digits, `_`, `-` and `=`. Subjects are names joined by dots. */
export const NAME = /^[\w=-]{1,200}$/;

export type Entry = { readonly key: string; readonly value: Buffer; readonly revision: number };
/** `value` is undefined when the entry was removed. */
export type Change = { readonly key: string; readonly value: Buffer | undefined; readonly revision: number };

/** Entries by key. A write counts only if nobody else wrote since; revisions of one directory only grow. */
export type Directory = {
  get(key: string): Promise<Entry | undefined>;
  /** Returns the revision; undefined if the key exists. */
  create(key: string, value: Buffer): Promise<number | undefined>;
  /** Returns the new revision; undefined if the entry has another revision than `revision`, or is gone. */
  update(key: string, value: Buffer, revision: number): Promise<number | undefined>;
  /** Returns whether the entry had this revision and is now gone. */
  remove(key: string, revision: number): Promise<boolean>;
  /** Calls back with every entry, and then with each change; resolves after the entries. Entries that expire are not reported. */
  watch(listener: (change: Change) => void): Promise<() => void>;
};

export type DirectoryOptions = {
  /** Entries expire this long after their last write. */
  readonly ttlMs?: number | undefined;
};

/** A record of a stream; `sequence` grows with each record of the stream, also over restarts of the bus. */
export type StreamRecord = { readonly subject: string; readonly sequence: number; readonly bytes: Buffer };

export type Stream = {
  /**
   * `after`: the sequence of the last record of this subject, 0 for none. Returns the new sequence; undefined if another record came first.
   * Rejects when the stream is full: no record is dropped for a new one.
   */
  append(subject: string, bytes: Buffer, after: number): Promise<number | undefined>;
  /** The last record of a subject that was not removed. */
  last(subject: string): Promise<StreamRecord | undefined>;
  /** The sequence of the last record; 0 if there is none. */
  end(): Promise<number>;
  /** Removes the records up to and including this sequence. */
  trim(sequence: number): Promise<void>;
  /** Calls back with the records after `sequence`, and then with each new one. */
  read(sequence: number, listener: (record: StreamRecord) => void): Promise<() => void>;
};

export type Bus = {
  /** The address without credentials. */
  readonly shownUrl: string;
  readonly isConnected: boolean;
  directory(name: string, options?: DirectoryOptions): Promise<Directory>;
  stream(name: string): Promise<Stream>;
  /** Sends a message to all who listen. It may be lost, repeated or overtaken. */
  send(subject: string, bytes: Buffer): void;
  /** `pattern`: a subject, in which `*` stands for any one name. */
  listen(pattern: string, listener: (bytes: Buffer, subject: string) => void): () => void;
  /** Rejects with a `BusFailure`. */
  ask(subject: string, bytes: Buffer, timeoutMs: number): Promise<Buffer>;
  answer(pattern: string, handler: (bytes: Buffer, subject: string) => Promise<Buffer>): () => void;
  /** Calls back when the connection to the bus is lost, and when it is there again. */
  onConnection(listener: (isConnected: boolean) => void): () => void;
  /** Waits until what was sent before is with the bus. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export class BusFailure extends Error {
  override readonly name = 'BusFailure';
  /** `nobody`: nobody answers this subject. */
  readonly reason: 'nobody' | 'timeout' | 'disconnected' | 'refused';

  constructor(reason: BusFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A key for any text, such as the session id of an agent. */
export const keyOf = (text: string): string => `k${Buffer.from(text).toString('base64url')}`;

/** The text of a key. */
export const textIn = (key: string): string => Buffer.from(key.slice(1), 'base64url').toString();

/** A name for any text: the text itself if it can be one. */
export const nameOf = (text: string): string =>
  NAME.test(text) && !text.startsWith('=') ? text : `=${Buffer.from(text).toString('base64url')}`;
