// What a leg needs of the streams that carry it. A Readable and a Writable are such; so is whatever stands in front of one and says the
// same in other bytes. Everything happens in the call that brings it, so that nothing can be overtaken by the end of a process.
import { EventEmitter } from 'node:events';

export type Source = {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
};

export type Sink = {
  /** False when the other side has enough for now; `drain` follows. */
  write(chunk: Buffer): boolean;
  cork(): void;
  uncork(): void;
  end(): unknown;
  /** Bytes it holds that the other side has not taken. */
  readonly writableLength: number;
  on(event: 'drain', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

export type Streams = { readonly fromAgent: Source; readonly toAgent: Sink };

/** A stream said in other bytes: `push` gets what comes, `end` is told when nothing more will; both emit through `emit`. */
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

/** Likewise for what is written; `push` returns what is to be written in place of the chunk. */
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
