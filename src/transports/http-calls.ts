// HTTP requests to one remote agent. Redirects are not followed, and cookies go back to the server that set them.
import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { withoutControls } from '../control-characters.ts';
import type { Remote } from './remote.ts';

export type HttpCalls = {
  /** The body of the answer is read whole. It may take as long as the agent needs. */
  initialize(
    body: Buffer,
    maxBytes: number,
  ): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }>;
  /** `text` is the start of the body, if the status is an error. */
  post(body: Buffer, headers: Record<string, string>): Promise<{ readonly status: number; readonly text: string }>;
  /** Resolves with the response of an event stream, whatever its status. */
  events(headers: Record<string, string>): Promise<IncomingMessage>;
  /** Also after `abort`. */
  remove(headers: Record<string, string>): Promise<void>;
  /** Ends all requests. */
  abort(): void;
};

const JSON_BODY = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const EVENTS = { accept: 'text/event-stream', 'cache-control': 'no-cache' };
const MAX_ERROR_BYTES = 8 * 1024;
const MAX_ERROR_TEXT = 300;
const REMOVE_MS = 2000;
/** A server confirms a POST, and opens a stream, at once: after this many times `connectMs` it hangs. */
const ANSWER_FACTOR = 4;
/** Servers close sockets that are idle for a few seconds: one that is used at that moment would lose a POST. */
const IDLE_SOCKET_MS = 2000;
const MAX_COOKIES = 32;
const MAX_COOKIE_CHARACTERS = 4096;

export function createHttpCalls(remote: Remote, tls: SecureContextOptions): HttpCalls {
  const isTls = remote.url.startsWith('https:');
  // Event streams hold their sockets, so their number is not limited.
  const kept = { keepAlive: true, timeout: IDLE_SOCKET_MS };
  const agent = isTls ? new https.Agent({ ...kept, ...tls }) : new http.Agent(kept);
  const open = new Set<ClientRequest>();
  const cookies = new Map<string, string>();
  let isAborted = false;

  function keepCookie(line: string): void {
    const [, name, value = ''] = /^([^=;\s]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || name.length + value.length > MAX_COOKIE_CHARACTERS) return;
    if (cookies.has(name) || cookies.size < MAX_COOKIES) cookies.set(name, value);
  }
  function call(method: string, headers: Record<string, string>, body?: Buffer, isPatient = false): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      if (isAborted && method !== 'DELETE') return reject(new Error('the connection is closed'));
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const request = (isTls ? https : http).request(remote.url, {
        method,
        agent,
        headers: { ...remote.headers, ...headers, ...(cookie !== '' && { cookie }), ...(body && { 'content-length': body.length }) },
      });
      const late = setTimeout(() => request.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })), remote.connectMs);
      const answerMs = ANSWER_FACTOR * remote.connectMs;
      const silent = setTimeout(() => void (isPatient || request.destroy(new Error(`no HTTP answer within ${answerMs} ms`))), answerMs);
      request.on('socket', (socket) => {
        const ready = () => clearTimeout(late);
        if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', ready);
        else ready();
      });
      open.add(request);
      request.once('close', () => {
        clearTimeout(late);
        clearTimeout(silent);
        open.delete(request);
      });
      request.once('error', (error: NodeJS.ErrnoException) => {
        // The server closed a kept socket. A GET may be sent again; of a POST, nobody knows whether it arrived.
        const isStale = request.reusedSocket && method === 'GET' && error.code === 'ECONNRESET';
        if (isStale && !isAborted) call(method, headers, body, isPatient).then(resolve, reject);
        else reject(error);
      });
      request.once('response', (response) => {
        clearTimeout(late);
        clearTimeout(silent);
        for (const line of response.headers['set-cookie'] ?? []) keepCookie(line);
        response.on('error', () => {});
        resolve(response);
      });
      request.end(body);
    });
  }
  function endAll(): void {
    for (const request of open) request.destroy();
    agent.destroy();
  }
  return {
    async initialize(body, maxBytes) {
      const response = await call('POST', JSON_BODY, body, true);
      return { status: response.statusCode ?? 0, headers: response.headers, bytes: await bodyOf(response, maxBytes) };
    },
    async post(body, headers) {
      const response = await call('POST', { ...JSON_BODY, ...headers }, body);
      const status = response.statusCode ?? 0;
      if (status < 300) {
        response.resume();
        return { status, text: '' };
      }
      const text = withoutControls((await bodyOf(response, MAX_ERROR_BYTES)).toString()).replace(/\s+/g, ' ');
      return { status, text: text.trim().slice(0, MAX_ERROR_TEXT) };
    },
    events: (headers) => call('GET', { ...EVENTS, ...headers }),
    async remove(headers) {
      const response = await Promise.race([
        call('DELETE', headers),
        new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), REMOVE_MS).unref()),
      ]);
      response?.resume();
      if (isAborted) endAll();
    },
    abort() {
      isAborted = true;
      endAll();
    },
  };
}

async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) {
      response.destroy();
      break;
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
