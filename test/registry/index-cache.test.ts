// The index is fetched with its ETag, kept, and read from disk while the registry cannot be reached.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createIndexCache } from '../../src/registry/index-cache.ts';
import { removeDirectory } from '../remove-directory.ts';
import { serve } from './local-server.ts';

const INDEX = {
  version: '1.0.0',
  agents: [{ id: 'one', name: 'One', version: '1.0.0', later: 1, distribution: { npx: { package: 'one@1.0.0' } } }],
  extensions: [{ id: 'x' }],
};

function state(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-index-'));
  onTestFinished(() => removeDirectory(dir));
  return dir;
}

test('the index is fetched once, confirmed by its ETag, and kept byte for byte', async () => {
  const server = await serve({ '/r.json': INDEX });
  const dir = state();
  let now = 1_000_000;
  const cache = createIndexCache(dir, `${server.url}/r.json`, () => now);
  expect(cache.cached()).toBeUndefined();
  expect(await cache.fresh()).toMatchObject({ from: 'fetched', agents: [{ id: 'one', later: 1 }] });
  expect(readFileSync(path.join(dir, 'registry', 'index.json'), 'utf8')).toBe(JSON.stringify(INDEX));
  now += 4000;
  expect(await cache.fresh()).toMatchObject({ from: 'fetched', at: new Date(now) });
  expect(server.requests[1]?.headers['if-none-match']).toMatch(/^"/);
  server.paths['/r.json'] = { ...INDEX, agents: [] };
  now += 6000;
  expect((await cache.fresh()).agents).toEqual([]);
  await server.close();
  now += 6000;
  await expect(cache.fresh()).rejects.toMatchObject({ code: 'REGISTRY_UNREACHABLE' });
  expect(cache.cached()).toMatchObject({ from: 'cached', agents: [], at: new Date(now - 6000) });
});

test('a cache of another registry, a damaged one and a torn one are not used', async () => {
  const server = await serve({ '/r.json': INDEX });
  const dir = state();
  const cache = createIndexCache(dir, `${server.url}/r.json`);
  await cache.fresh();
  expect(createIndexCache(dir, `${server.url}/other.json`).cached()).toBeUndefined();
  writeFileSync(path.join(dir, 'registry', 'index.json'), '{"agents":[]}');
  expect(cache.cached()).toBeUndefined();
  await cache.fresh();
  expect(server.requests.at(-1)?.headers['if-none-match']).toBeUndefined();
  expect(cache.cached()?.agents).toHaveLength(1);
});

test.each([
  ['an index that is not valid', '{"agents":7}', 'no list'],
  ['a page', '<html>', 'not JSON'],
  ['a compressed index that nobody asked for', gzipSync(JSON.stringify(INDEX)), 'not JSON'],
])('%s is refused, and the cache stays', async (_, answer, why) => {
  const server = await serve({ '/r.json': INDEX });
  const cache = createIndexCache(state(), `${server.url}/r.json`);
  await cache.fresh();
  server.paths['/r.json'] = answer;
  await expect(cache.fresh()).rejects.toThrow(why);
  expect(cache.cached()?.agents).toHaveLength(1);
});

test.each([
  [
    'an index without end',
    (_: unknown, response: ServerResponse) => {
      const more = () => void (response.write(Buffer.alloc(1 << 20, ' ')) ? setImmediate(more) : response.once('drain', more));
      response.on('close', () => response.destroy());
      more();
    },
    'larger than 16 MiB',
  ],
  [
    'an index that says it is too large',
    (_: unknown, response: ServerResponse) => void response.writeHead(200, { 'content-length': 2 ** 40 }).write('{'),
    'larger than 16 MiB',
  ],
  [
    'a circle of redirects',
    (_: unknown, response: ServerResponse) => void response.writeHead(302, { location: '/r.json' }).end(),
    'redirects more than',
  ],
  [
    'a redirect to a file',
    (_: unknown, response: ServerResponse) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'https',
  ],
  [
    'a redirect to http elsewhere',
    (_: unknown, response: ServerResponse) => void response.writeHead(302, { location: 'http://x.example/' }).end(),
    'https',
  ],
  [
    'a cut connection',
    (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 100 }).write('{');
      setImmediate(() => response.destroy());
    },
    'cannot fetch',
  ],
  ['an error', (_: unknown, response: ServerResponse) => void response.writeHead(500).end(), 'answered 500'],
])('%s is refused', async (_, answer, why) => {
  const server = await serve({ '/r.json': answer });
  await expect(createIndexCache(state(), `${server.url}/r.json`).fresh()).rejects.toThrow(why);
});

test.each(['http://x.example/r.json', 'file:///r.json', 'r.json', 'https://me:secret@x.example/'])('registry.url %s is refused', (url) => {
  expect(() => createIndexCache('/nowhere', url)).toThrow(expect.objectContaining({ code: 'REGISTRY_INVALID' }));
});
