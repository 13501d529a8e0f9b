// A WebSocket as byte streams: each message is one line of the stream, in both directions. The bytes of a frame stay as they are.
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { LF } from '../wire/frame.ts';
import { inMicrotask } from '../wire/writer.ts';

const CR = 0x0d;
const SPACE = 0x20;
/** Shorter messages that arrive together are joined, so that the scanner can compare them as a batch. */
const JOINED_BYTES = 64 * 1024;
const LINE_FEED = Buffer.from('\n');

export type WebSocketStreams = { readonly source: Source; readonly sink: Sink };

/** `carrier` is the socket below the WebSocket: it takes one write per chunk, and its back-pressure is ours. */
export function webSocketStreams(socket: WebSocket, carrier: Duplex): WebSocketStreams {
  return { source: sourceOf(socket), sink: sinkOf(socket, carrier) };
}

function sourceOf(socket: WebSocket): Source {
  const events = new EventEmitter();
  let parts: Buffer[] = [];
  let waitingBytes = 0;

  function flush(): void {
    if (parts.length === 0) return;
    const chunk = Buffer.concat(parts);
    parts = [];
    waitingBytes = 0;
    events.emit('data', chunk);
  }
  socket.on('message', (data: RawData, isBinary: boolean) => {
    // ACP's messages are text. A peer that sends bytes speaks another protocol.
    if (socket.readyState !== socket.OPEN) return; // we have ended it, and the peer goes on
    if (isBinary) return socket.close(1003, 'send text messages');
    const message = inOneLine(data as Buffer);
    if (message.length === 0) return;
    if (parts.length === 0) inMicrotask(flush);
    parts.push(message, LINE_FEED);
    waitingBytes += message.length;
    if (waitingBytes > JOINED_BYTES) flush();
  });
  socket.on('close', () => {
    flush();
    events.emit('end');
    events.emit('close');
  });
  socket.on('error', (error) => void (events.listenerCount('error') > 0 && events.emit('error', error)));
  return {
    on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

/** JSON may have line breaks between its tokens; a line may not. No valid frame has them anywhere else. */
function inOneLine(message: Buffer): Buffer {
  for (let at = message.indexOf(LF); at !== -1; at = message.indexOf(LF, at + 1)) message[at] = SPACE;
  for (let at = message.indexOf(CR); at !== -1; at = message.indexOf(CR, at + 1)) message[at] = SPACE;
  return message;
}

function sinkOf(socket: WebSocket, carrier: Duplex): Sink {
  /** A line without its end has been sent: what follows continues the same message. */
  let isOpen = false;
  const send = (bytes: Buffer, isLast: boolean) => {
    socket.send(bytes, { binary: false, fin: isLast }, ignore);
    isOpen = !isLast;
  };
  return {
    write(chunk) {
      if (socket.readyState !== socket.OPEN) return true; // `close` follows, or has been reported
      carrier.cork();
      for (let at = 0; at < chunk.length; ) {
        const end = chunk.indexOf(LF, at);
        if (end === -1) send(chunk.subarray(at), false);
        else if (end > at || isOpen) send(chunk.subarray(at, end), true);
        at = end === -1 ? chunk.length : end + 1;
      }
      carrier.uncork();
      return !carrier.writableNeedDrain;
    },
    cork: () => carrier.cork(),
    uncork: () => carrier.uncork(),
    end: () => socket.close(1000),
    get writableLength() {
      return socket.bufferedAmount;
    },
    on(event: 'drain' | 'error', listener: (error: Error) => void) {
      if (event === 'drain') carrier.on('drain', listener as () => void);
      else socket.on('error', listener);
    },
  };
}

/** A failed write ends the connection, which is reported by itself. */
function ignore(): void {}
