// A web server on this machine that serves what a test gives it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Answer = http.RequestListener | Buffer | string | object;

export async function serve(paths: Record<string, Answer> = {}, tls?: { readonly cert: string; readonly key: string }) {
  const requests: http.IncomingMessage[] = [];
  const answerTo: http.RequestListener = (request, response) => {
    requests.push(request);
    const answer = paths[decodeURIComponent(request.url ?? '').split('?')[0] as string];
    if (answer === undefined) return void response.writeHead(404).end();
    if (typeof answer === 'function') return (answer as http.RequestListener)(request, response);
    const body = Buffer.isBuffer(answer) || typeof answer === 'string' ? answer : JSON.stringify(answer);
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 12)}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { etag, 'content-length': Buffer.byteLength(body) }).end(body);
  };
  const server = tls
    ? https.createServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, answerTo)
    : http.createServer(answerTo);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return { url: `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, requests, close };
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
