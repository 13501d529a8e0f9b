// Posts one payload to a collector. It never rejects, and what the collector answers is not believed beyond its status.
import http from 'node:http';
import https from 'node:https';
import { gzipSync } from 'node:zlib';
import { fields } from '../../json-object.ts';
import type { Target } from '../settings.ts';

/** `retry`: later, with the same payload. `rejected`: never. */
export type Posted =
  | { readonly kind: 'accepted'; readonly rejected: number }
  | { readonly kind: 'retry'; readonly why: string; readonly afterMs: number | undefined }
  | { readonly kind: 'rejected'; readonly why: string };

export type Post = (payload: object, timeoutMs?: number) => Promise<Posted>;

const RETRYABLE = new Set([429, 502, 503, 504]);
const MAX_ANSWER_BYTES = 64 * 1024;

/** `close` ends the connections that wait for the next payload. */
export function createPost({ url, headers, timeoutMs, isCompressed }: Target): { readonly post: Post; close(): void } {
  const { request, Agent } = url.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const more = isCompressed ? { 'content-encoding': 'gzip' } : {};
  const send: Post = (payload, limitMs = timeoutMs) =>
    new Promise((resolve) => {
      const json = Buffer.from(JSON.stringify(payload));
      const body = isCompressed ? gzipSync(json) : json;
      const done = (posted: Posted) => {
        clearTimeout(timer);
        resolve(posted);
      };
      const sent = request(
        url,
        { method: 'POST', agent, headers: { ...headers, ...more, 'content-type': 'application/json', 'content-length': body.length } },
        (response) => {
          const parts: Buffer[] = [];
          let bytes = 0;
          response.on('data', (part: Buffer) => {
            bytes += part.length;
            if (bytes <= MAX_ANSWER_BYTES) parts.push(part);
            else response.destroy();
          });
          response.on('error', () => {});
          response.on('close', () => done(readAnswer(response, Buffer.concat(parts))));
        },
      );
      const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs);
      timer.unref();
      sent.on('error', (error: NodeJS.ErrnoException) => done({ kind: 'retry', why: error.code ?? error.message, afterMs: undefined }));
      sent.end(body);
    });
  const post: Post = (payload, limitMs) =>
    send(payload, limitMs).catch((error: NodeJS.ErrnoException) => ({ kind: 'rejected', why: error.code ?? error.message }));
  return { post, close: () => agent.destroy() };
}

function readAnswer({ statusCode = 0, headers }: http.IncomingMessage, body: Buffer): Posted {
  const why = `HTTP ${statusCode}`;
  if (statusCode >= 200 && statusCode < 300) return { kind: 'accepted', rejected: rejectedIn(body) };
  if (RETRYABLE.has(statusCode)) return { kind: 'retry', why, afterMs: retryAfter(headers['retry-after']) };
  return { kind: 'rejected', why };
}

/** `partialSuccess` names how many of the items were rejected. */
function rejectedIn(body: Buffer): number {
  try {
    const { rejectedSpans, rejectedDataPoints } = fields(fields(JSON.parse(body.toString('utf8'))).partialSuccess);
    const count = Number(rejectedSpans ?? rejectedDataPoints ?? 0);
    return Number.isFinite(count) && count > 0 ? count : 0;
  } catch {
    return 0; // a collector may answer with Protobuf, or nothing
  }
}

const MAX_RETRY_AFTER_MS = 300_000;

/** Seconds, or a date. */
export function retryAfter(text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : undefined;
}
