// A connection to an agent over a stream of lines. Messages are delivered as read: the receiver must validate them.
import type { Duplex } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

// JSON-RPC on a stream, one message per line. The content is not checked.
const LF = 0x0a;
const MAX_LINE_BYTES = 32 * 1024 * 1024;

export type LineEvents = {
  onMessage(message: unknown): void;
  /** A line that is not JSON. Programs print things they should not. */
  onNoise(error: Error): void;
  onTooLong(why: string): void;
};

/** Returns a function that consumes the chunks of a stream. */
export function messageLines({ onMessage, onNoise, onTooLong }: LineEvents): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  let restBytes = 0;

  function heard(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (error) {
      return onNoise(error as Error);
    }
    onMessage(message);
  }
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      const last = chunk.subarray(from, end);
      const line = restBytes === 0 ? last : Buffer.concat([...rest, last]);
      rest = [];
      restBytes = 0;
      from = end + 1;
      heard(line.toString('utf8'));
    }
    if (from === chunk.length) return;
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > MAX_LINE_BYTES) onTooLong(`it sent a line of more than ${MAX_LINE_BYTES} bytes`);
  };
}

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
      // Pause a peer that does not read its answers: they would pile up here.
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
