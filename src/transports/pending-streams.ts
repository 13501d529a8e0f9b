// Streams that exist before their connection does: what is written to them goes out when it opens.
import { EventEmitter } from 'node:events';
import type { Sink, Source } from '../wire/byte-stream.ts';

/** The streams of an open connection. */
export type OpenStreams = { readonly source: Source; readonly sink: Sink };

/** `open` connects them to the streams of the connection; `ended` reports the end if there are none. */
export type PendingStreams = OpenStreams & { open(streams: OpenStreams): void; ended(): void };

export function pendingStreams(): PendingStreams {
  const events = new EventEmitter();
  let opened: OpenStreams | undefined;
  let isPaused = false;
  let isFinished = false;
  let isOver = false;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const source: Source = {
    on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
    pause() {
      isPaused = true;
      opened?.source.pause();
    },
    resume() {
      isPaused = false;
      opened?.source.resume();
    },
  };
  const sink: Sink = {
    write(chunk) {
      if (opened) return opened.sink.write(chunk);
      waiting.push(chunk);
      waitingBytes += chunk.length;
      return true;
    },
    cork: () => opened?.sink.cork(),
    uncork: () => opened?.sink.uncork(),
    end() {
      isFinished = true;
      opened?.sink.end();
    },
    get writableLength() {
      return opened ? opened.sink.writableLength : waitingBytes;
    },
    // A failed write ends the connection, which is reported as its exit.
    on: (event: 'drain' | 'error', listener: (error: Error) => void) =>
      event === 'drain' ? events.on('drain', listener as () => void) : undefined,
  };
  function ended(): void {
    if (isOver) return;
    isOver = true;
    events.emit('end');
    events.emit('close');
  }
  return {
    source,
    sink,
    ended,
    open(streams) {
      opened = streams;
      streams.source.on('data', (chunk) => events.emit('data', chunk));
      streams.source.on('close', ended);
      streams.sink.on('drain', () => events.emit('drain'));
      if (isPaused) streams.source.pause();
      for (const chunk of waiting) streams.sink.write(chunk);
      waiting = [];
      waitingBytes = 0;
      if (isFinished) streams.sink.end();
    },
  };
}
