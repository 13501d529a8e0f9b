// Refusals and bodies of HTTP requests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './access.ts';

/** A reason that begins as JSON is sent as such. The connection closes: the rest of the request is not read. */
export function refuse(response: ServerResponse, { status, why }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const isJson = why.startsWith('{');
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : undefined;
  response.shouldKeepAlive = false;
  response.writeHead(status, { 'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8', ...challenge });
  response.end(isJson ? why : `${why}\n`);
}

/** Closes both directions: nothing else would ever end an upgraded socket whose peer keeps its side open. */
export function refuseUpgrade(socket: Duplex, { status, why }: Refusal): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n`;
  socket.once('finish', () => socket.destroy());
  socket.end(`${head}Content-Length: ${Buffer.byteLength(why) + 1}\r\n\r\n${why}\n`);
}

export const isJsonBody = ({ headers }: IncomingMessage): boolean => /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

export type BodyLimits = {
  readonly maxBytes: number;
  readonly withinMs: number;
  /** Counts bytes that are held; false if there are too many. */
  hold(bytes: number): boolean;
};

/** How long a body may take: HTTP/2 has no limit of its own. */
const BODY_MS = 30_000;
/** Of one principal, bodies of this many frames may be on their way. */
const MAX_FRAMES_RECEIVED = 4;

/** What the bodies of each principal may hold, over all endpoints. */
export function createBodyBudget(maxFrameBytes: number): (principal: string) => BodyLimits {
  /** Bytes of bodies that are being received, by principal. */
  const receiving = new Map<string, number>();
  return (principal) => ({
    maxBytes: maxFrameBytes,
    withinMs: BODY_MS,
    hold(bytes) {
      const held = (receiving.get(principal) ?? 0) + bytes;
      if (held > 0) receiving.set(principal, held);
      else receiving.delete(principal);
      return held <= MAX_FRAMES_RECEIVED * maxFrameBytes;
    },
  });
}

/** The rest of a refused body is not read. */
export async function readBody(request: IncomingMessage, { maxBytes, withinMs, hold }: BodyLimits): Promise<Buffer | Refusal> {
  const tooLong = { status: 413, why: `the body exceeds ${maxBytes} bytes` };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLong;
  const parts: Buffer[] = [];
  let bytes = 0;
  const reading = (async () => {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes) return tooLong;
      if (!hold(part.length)) return { status: 429, why: 'too many bytes of this principal are being received' };
      parts.push(part);
    }
    return Buffer.concat(parts);
  })();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(resolve, withinMs, { status: 408, why: `the body took longer than ${withinMs} ms` });
  });
  reading.catch(() => {}); // the peer disconnects after it was late
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    hold(-bytes);
  }
}
