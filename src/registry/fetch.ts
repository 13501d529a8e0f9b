// Fetches over https, with limits. Redirects are followed by our own rules: never from https to http, never to this machine from elsewhere.
import http from 'node:http';
import https from 'node:https';
import { urlProblem } from './plan.ts';
import { RegistryError } from './registry-error.ts';

export type FetchOptions = {
  readonly maxBytes: number;
  readonly isLocal: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long a silent server is waited for. */
  readonly idleMs?: number;
  readonly onProgress?: (received: number, total: number | undefined) => void;
};

export type Fetched = { readonly status: number; readonly etag: string | undefined; readonly body: AsyncIterable<Buffer> };

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

export async function fetchSafely(url: string, options: FetchOptions): Promise<Fetched> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const problem = urlProblem(at, options.isLocal);
    if (problem !== undefined) throw failed(url, `${redirects > 0 ? 'a redirect of it ' : 'it '}${problem}`);
    const response = await request(at, options);
    const { statusCode = 0, headers } = response;
    if (!REDIRECTS.includes(statusCode) || headers.location === undefined) {
      const body = limited(url, response, options);
      return { status: statusCode, etag: headers.etag, body };
    }
    response.destroy();
    if (!URL.canParse(headers.location, at)) throw failed(url, 'it redirects to an invalid address');
    const next = new URL(headers.location, at);
    if (new URL(at).protocol === 'https:' && next.protocol !== 'https:') throw failed(url, 'it redirects from https to http');
    at = next.href;
  }
  throw failed(url, `it redirects more than ${MAX_REDIRECTS} times`);
}

function request(url: string, { headers, signal, idleMs = 30_000 }: FetchOptions): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? https.get : http.get;
    const sent = get(url, {
      headers: { 'user-agent': 'acp-switchboard', 'accept-encoding': 'identity', ...headers },
      ...(signal && { signal }),
      timeout: idleMs,
    });
    sent.once('timeout', () => sent.destroy(new Error(`no data for ${idleMs / 1000} s`)));
    sent.once('error', (error: NodeJS.ErrnoException) => reject(failed(url, reasonOf(error))));
    sent.once('response', resolve);
  });
}

async function* limited(url: string, response: http.IncomingMessage, { maxBytes, onProgress }: FetchOptions): AsyncIterable<Buffer> {
  const declared = Number(response.headers['content-length']);
  const total = Number.isSafeInteger(declared) ? declared : undefined;
  const tooLarge = () => failed(url, `it is larger than ${Math.round(maxBytes / 2 ** 20)} MiB`);
  let received = 0;
  try {
    if (total !== undefined && total > maxBytes) throw tooLarge();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > maxBytes) throw tooLarge();
      onProgress?.(received, total);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof RegistryError ? error : failed(url, reasonOf(error as NodeJS.ErrnoException));
  } finally {
    response.destroy();
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNRESET') return 'the connection was cut';
  if (code === undefined || !/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) return code ?? message;
  const advice = code.includes('ALTNAME') ? '' : "; to trust an authority of your own, put its file's path into NODE_EXTRA_CA_CERTS";
  return `its certificate is not trusted (${code})${advice}`;
}

export function failed(url: string, why: string): RegistryError {
  return new RegistryError(
    'REGISTRY_UNREACHABLE',
    `cannot fetch ${shown(url)}: ${why}`,
    'check the address and your network, then try again',
  );
}

/** Without what may be secret: a query can hold a signature. */
const shown = (url: string): string => (URL.canParse(url) ? `${new URL(url).origin}${new URL(url).pathname}` : 'an invalid address');
