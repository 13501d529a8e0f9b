// The registry over https: a server on this machine, whose certificate a certificate authority of the user's own has signed.
import { expect, test } from 'vitest';
import { selfSigned } from '../../e2e/remote-agent.ts';
import { serve } from '../../registry/local-server.ts';
import { createHome, type Home } from '../command.ts';
import { startRegistry } from './local-registry.ts';

async function overHttps(home: Home) {
  const tls = selfSigned(home.tmp);
  const registry = await startRegistry(home, [], tls);
  const trusting = { ...registry.env, NODE_EXTRA_CA_CERTS: tls.cert };
  return { ...registry, tls, run: (...words: readonly string[]) => home.run(['agents', ...words], trusting) };
}

test('the list and an archive come over https, and the agent works', async () => {
  const home = createHome();
  const { list, binary, run, server, folders } = await overHttps(home);
  list(binary('3.0.0'));
  expect((await run('add', 'two')).stderr).toContain('downloading https://');
  expect(server.requests.map(({ url }) => url)).toEqual(['/registry.json', '/one-3.0.0.tar.gz']);
  expect(folders()).toHaveLength(1);
  expect((await run('test', 'two')).stdout).toMatch(/^two: ok/);
});

test.each([
  ['is not trusted', {}, /its certificate is not trusted \(\w+\); to trust .* NODE_EXTRA_CA_CERTS/],
  ['is for another host', { host: 'localhost' }, /its certificate is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\), and/],
])('a certificate that %s: nothing is fetched, and the message says why', async (_, { host }: { host?: string }, why) => {
  const home = createHome();
  const { server, tls, env } = await overHttps(home);
  const url = `${host === undefined ? server.url : server.url.replace('127.0.0.1', host)}/registry.json`;
  home.write(home.userFile, { registry: { url } });
  const { code, stderr } = await home.run(['agents', 'search'], host === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: tls.cert });
  expect({ code, stderr, requests: server.requests.length }).toEqual({ code: 1, stderr: expect.stringMatching(why), requests: 0 });
});

test('an archive that moves from https to http is refused, and one that is cut off leaves nothing', async () => {
  const home = createHome();
  const { list, binary, run, server, folders } = await overHttps(home);
  list(binary('3.0.0'));
  const plain = await serve({ '/one.tar.gz': 'x' });
  server.paths['/one-3.0.0.tar.gz'] = (_: unknown, response: { writeHead: (code: number, headers: object) => { end(): void } }) =>
    response.writeHead(302, { location: `${plain.url}/one.tar.gz` }).end();
  expect(await run('add', 'two')).toMatchObject({ code: 1, stderr: expect.stringContaining('it redirects from https to http') });
  server.paths['/one-3.0.0.tar.gz'] = (_: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(200, { 'content-length': 1000 }).write('x');
    setImmediate(() => response.destroy());
  };
  expect(await run('add', 'two')).toMatchObject({ code: 1, stderr: expect.stringContaining('the connection was cut') });
  expect({ folders: folders(), asked: plain.requests.length }).toEqual({ folders: [], asked: 0 });
});
