// Bounds what the unfinished messages of WebSockets hold: each may be as long as a frame, and a principal has many connections.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { BodyLimits } from './respond.ts';

/** Of a frame from a client: two bytes and the mask. */
const MIN_HEADER_BYTES = 6;

/** They count as bodies of their principal. One that has no room is closed. */
export function boundUnfinished(client: WebSocket, carrier: Socket, { hold }: Pick<BodyLimits, 'hold'>): void {
  let heldBytes = 0;
  const release = (bytes = heldBytes) => {
    const released = Math.min(bytes, heldBytes);
    heldBytes -= released;
    if (released > 0) hold(-released);
  };
  // Before the WebSocket reads the chunk, and with it perhaps the end of the message.
  carrier.prependListener('data', (chunk: Buffer) => {
    heldBytes += chunk.length;
    if (hold(chunk.length) || client.readyState !== client.OPEN) return;
    client.close(1013, 'too many bytes of this principal are being received');
    client.terminate();
  });
  client.on('message', () => release());
  // They come between the parts of a message, too.
  for (const control of ['ping', 'pong'] as const) client.on(control, (data: Buffer) => release(MIN_HEADER_BYTES + data.length));
  carrier.once('close', () => release());
}
