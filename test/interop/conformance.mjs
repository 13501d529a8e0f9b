// Runs the conformance suite against a URL, and tells which scenarios passed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import os from 'node:os';
import path from 'node:path';

export const REVISIONS = ['2025-11-25', '2026-07-28'];

/** By scenario: the failed checks; none for a scenario that passed. */
export async function runConformance({ node, conformance }, url, revision) {
  const out = mkdtempSync(path.join(os.tmpdir(), 'interop-'));
  const args = [conformance, 'server', '--url', url, '--requirements', revision, '-o', out, '--timeout', '20000'];
  await new Promise((resolve) => spawn(node, args, { stdio: 'ignore' }).on('close', resolve));
  const results = new Map();
  for (const name of readdirSync(out)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
    const checks = JSON.parse(readFileSync(path.join(out, name, 'checks.json'), 'utf8'));
    const failed = checks.filter(({ status }) => status === 'FAILURE').map(({ id, errorMessage = '' }) => ({ id, message: errorMessage }));
    if (scenario) results.set(scenario, failed);
  }
  rmSync(out, { recursive: true });
  return results;
}

/** The suite does not send these headers, so a relay adds them. `rename` may change messages, for a server whose names have a prefix. */
export async function startRelay(target, headers, rename) {
  const { port, pathname } = new URL(target);
  const server = createServer(async (request, response) => {
    const own = server.address().port;
    const swap = (value) => value?.replace(`:${own}`, `:${port}`);
    const { host, origin, 'content-length': _, ...rest } = request.headers;
    const chunks = await request.toArray();
    const body = rename ? rename.request(Buffer.concat(chunks), rest) : Buffer.concat(chunks);
    const given = {
      ...rest,
      host: swap(host),
      ...(origin !== undefined && { origin: swap(origin) }),
      ...headers,
      'content-length': body.length,
    };
    const upstream = httpRequest({ host: '127.0.0.1', port, path: pathname, method: request.method, headers: given }, (answer) => {
      const { 'content-length': length, ...others } = answer.headers;
      response.writeHead(answer.statusCode, rename ? others : answer.headers);
      answer.on('error', () => response.destroy());
      if (!rename) return answer.pipe(response);
      answer.on('data', (chunk) => response.write(rename.response(chunk)));
      answer.on('end', () => response.end());
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    upstream.end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${server.address().port}/mcp`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
