// A connection to an agent over a stream of lines. It hands messages over as they were read: whoever takes them has to look at them.
import type { Duplex } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { messageLines } from './message-lines.ts';

export function streamTransport(stream: Duplex): Transport {
  let isClosed = false;
  const closed = () => {
    if (isClosed) return;
    isClosed = true;
    transport.onclose?.();
  };
  const transport: Transport = {
    async start() {
      const read = messageLines({
        onMessage: (message) => transport.onmessage?.(message as JSONRPCMessage),
        onNoise: (error) => transport.onerror?.(error),
        onTooLong: () => stream.destroy(),
      });
      stream.on('data', read);
      stream.on('end', closed);
      stream.on('close', closed);
      // Who does not read its answers is not listened to: they would pile up here.
      stream.on('drain', () => stream.resume());
    },
    async send(message) {
      if (isClosed) throw new Error('the connection is closed');
      if (!stream.write(`${JSON.stringify(message)}\n`)) stream.pause();
    },
    async close() {
      stream.destroy();
      closed();
    },
  };
  return transport;
}
