// Responses of the scripted model: JSON, or a stream of server-sent events.
import { setTimeout } from 'node:timers/promises';

let count = 0;
export const uniqueId = (prefix) => `${prefix}_${String(++count).padStart(6, '0')}`;
export const pause = (ms) => setTimeout(ms);

export function sendJson(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function eventStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': uniqueId('req') });
  let isOpen = true;
  response.on('close', () => {
    isOpen = false;
  });
  return {
    isOpen: () => isOpen,
    send(data, event) {
      if (isOpen) response.write(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    },
    end: () => response.end(),
  };
}
