// The streams under a connection: a Readable and a Writable, or an adapter that translates their bytes. Adapters work synchronously, so that
// the end of a process cannot overtake its last bytes.
import { EventEmitter } from 'node:events';

export type Source = {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
};

export type Sink = {
  /** False when the buffer is full; `drain` follows. */
  write(chunk: Buffer): boolean;
  cork(): void;
  uncork(): void;
  end(): unknown;
  /** Bytes that the peer has not read yet. */
  readonly writableLength: number;
  on(event: 'drain', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

export type Streams = { readonly fromAgent: Source; readonly toAgent: Sink };

/** Translates a source: `push` gets each chunk, `end` is called once at the end; both return bytes through `emit`. */
export function sourceThrough(
  source: Source,
  through: (emit: (bytes: Buffer) => void) => { push(chunk: Buffer): void; end(): void },
): Source {
  const events = new EventEmitter();
  const { push, end } = through((bytes) => events.emit('data', bytes));
  let isOver = false;
  const over = (event: 'end' | 'close') => {
    if (!isOver) end();
    isOver = true;
    events.emit(event);
  };
  source.on('data', push);
  source.on('end', () => over('end'));
  source.on('close', () => over('close'));
  source.on('error', (error) => void (events.listenerCount('error') > 0 && events.emit('error', error)));
  return {
    on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
    pause: () => source.pause(),
    resume: () => source.resume(),
  };
}

/** Translates a sink: `push` returns what to write instead of the chunk. */
export function sinkThrough(sink: Sink, push: (chunk: Buffer) => readonly Buffer[], end: () => readonly Buffer[] = () => []): Sink {
  const write = (parts: readonly Buffer[]): boolean => {
    if (parts.length === 0) return true;
    return sink.write(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
  };
  return {
    write: (chunk) => write(push(chunk)),
    cork: () => sink.cork(),
    uncork: () => sink.uncork(),
    end() {
      write(end());
      return sink.end();
    },
    get writableLength() {
      return sink.writableLength;
    },
    on: (event: 'drain' | 'error', listener: (error: Error) => void) => sink.on(event as 'error', listener),
  };
}
