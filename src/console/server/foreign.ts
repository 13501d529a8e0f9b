// What gives away a web page of somebody else's, or a name that was made to point at this machine. Asked before anything is routed.
import type { IncomingMessage } from 'node:http';

/** The reason, or undefined for a browser that shows our own page. `isUpgrade`: a socket comes from a page, and pages say which they are. */
export function foreignness(request: IncomingMessage, port: number, isUpgrade: boolean): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  const names = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (request.headersDistinct.host?.length !== 1 || !names.includes(host ?? '')) return 'the Host header is not this address';
  const isState = isUpgrade || request.method === 'POST';
  if (origin === undefined ? isState : origin !== `http://${host}`) return 'the Origin header is not this address';
  // A link to the page may be followed from anywhere; nothing is done by that.
  const isFollowed = request.url === '/' && !isState && request.headers['sec-fetch-dest'] === 'document';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isFollowed) return 'the request comes from another site';
  return undefined;
}
