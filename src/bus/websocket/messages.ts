// The messages of a bus over a WebSocket: a JSON header, and bytes behind it.

/** What a client asks of the bus. `id` names the request in its answer; `listen`, `answer`, `watch` and `read` keep it for what follows. */
export type ClientHeader =
  | { readonly op: 'send'; readonly subject: string }
  | { readonly op: 'listen'; readonly id: number; readonly pattern: string }
  | { readonly op: 'answer'; readonly id: number; readonly pattern: string }
  | { readonly op: 'ask'; readonly id: number; readonly subject: string; readonly timeoutMs: number }
  /** The answer to an `asked`. */
  | { readonly op: 'answered'; readonly asked: number; readonly why?: string }
  | { readonly op: 'get'; readonly id: number; readonly directory: string; readonly ttlMs?: number; readonly key: string }
  | { readonly op: 'create'; readonly id: number; readonly directory: string; readonly ttlMs?: number; readonly key: string }
  | {
      readonly op: 'update';
      readonly id: number;
      readonly directory: string;
      readonly ttlMs?: number;
      readonly key: string;
      readonly revision: number;
    }
  | {
      readonly op: 'remove';
      readonly id: number;
      readonly directory: string;
      readonly ttlMs?: number;
      readonly key: string;
      readonly revision: number;
    }
  | { readonly op: 'watch'; readonly id: number; readonly directory: string; readonly ttlMs?: number }
  | { readonly op: 'append'; readonly id: number; readonly stream: string; readonly subject: string; readonly after: number }
  | { readonly op: 'last'; readonly id: number; readonly stream: string; readonly subject: string }
  | { readonly op: 'newest'; readonly id: number; readonly stream: string }
  | { readonly op: 'trim'; readonly id: number; readonly stream: string; readonly sequence: number }
  | { readonly op: 'read'; readonly id: number; readonly stream: string; readonly sequence: number }
  /** Ends a `listen`, `answer`, `watch` or `read`. */
  | { readonly op: 'end'; readonly id: number };

/** What the bus tells a client. */
export type ServerHeader =
  | { readonly op: 'done'; readonly id: number; readonly revision?: number; readonly isSet?: boolean; readonly isRemoved?: boolean }
  | { readonly op: 'failed'; readonly id: number; readonly reason: 'nobody' | 'timeout' | 'disconnected' | 'refused'; readonly why: string }
  | { readonly op: 'heard'; readonly id: number; readonly subject: string }
  | { readonly op: 'asked'; readonly id: number; readonly asked: number; readonly subject: string }
  | { readonly op: 'changed'; readonly id: number; readonly key: string; readonly revision: number; readonly isRemoved: boolean }
  | { readonly op: 'record'; readonly id: number; readonly subject: string; readonly sequence: number };

const NO_BYTES = Buffer.alloc(0);

export function encode(header: ClientHeader | ServerHeader, bytes: Buffer = NO_BYTES): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const message = Buffer.allocUnsafe(4 + text.length + bytes.length);
  message.writeUInt32BE(text.length, 0);
  text.copy(message, 4);
  bytes.copy(message, 4 + text.length);
  return message;
}

/** Undefined for what is no message. The header is as the other end wrote it, so its fields are checked where they are used. */
export function decode<Header>(message: Buffer): { readonly header: Header; readonly bytes: Buffer } | undefined {
  if (message.length < 4) return undefined;
  const end = 4 + message.readUInt32BE(0);
  if (end > message.length) return undefined;
  try {
    const header: unknown = JSON.parse(message.toString('utf8', 4, end));
    if (typeof header !== 'object' || header === null) return undefined;
    return { header: header as Header, bytes: message.subarray(end) };
  } catch {
    return undefined;
  }
}
