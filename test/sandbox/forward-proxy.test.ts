// The proxy of a sandbox: decides by name, and never connects to this machine by another name.
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isForbiddenAddress, isListed, plainHost } from '../../src/sandbox/network/addresses.ts';
import { createForwardProxy, type DecideHost } from '../../src/sandbox/network/forward-proxy.ts';

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['0.0.0.0', true],
  ['169.254.169.254', true],
  ['::1', true],
  ['::', true],
  ['fe80::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['64:ff9b::7f00:1', true],
  ['224.0.0.1', true],
  ['not an address', true],
  ['10.0.0.1', false],
  ['192.0.2.1', false],
  ['2001:db8::1', false],
])('an allowed name may lead to %s: forbidden %s', (address, expected) => {
  expect(isForbiddenAddress(address)).toBe(expected);
});

test.each([
  ['example.com', ['example.com'], true],
  ['sub.example.com', ['example.com'], false],
  ['sub.example.com', ['*.example.com'], true],
  ['example.com', ['*.example.com'], false],
  ['evil-example.com', ['*.example.com'], false],
  ['anything', ['*'], true],
])('%s in %j: %s', (host, list, expected) => {
  expect(isListed(host, list)).toBe(expected);
});

test.each([
  ['Example.COM.', 'example.com'],
  ['[::1]', '::1'],
  ['a b', undefined],
  ['', undefined],
  ['x/y', undefined],
])('%j is the host %s', (text, expected) => {
  expect(plainHost(text)).toBe(expected);
});

describe('a connection', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function listening(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  /** Sends text through a proxy whose names all lead to this machine; the answer, when the proxy closes. */
  async function through(decide: DecideHost, text: string, allowsAddress?: () => boolean): Promise<string> {
    const proxy = createForwardProxy(decide, async () => [{ address: '127.0.0.1' }], allowsAddress);
    const port = await listening(createTcpServer((socket) => proxy.serve(socket)));
    closing.push(() => proxy.close());
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => {
        if (answer === '' && String(chunk).includes('established')) socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.write(text);
    });
  }
  const allow: DecideHost = async () => undefined;
  const web = () => listening(createServer(({ url }, response) => response.end(`got ${url}`)));

  test('to an allowed host passes, as a tunnel and as a plain request', async () => {
    const port = await web();
    expect(await through(allow, `CONNECT good.test:${port} HTTP/1.1\r\n\r\n`, () => true)).toMatch(
      /200 Connection established[\s\S]*got \//,
    );
    const plain = `GET http://good.test:${port}/x?y HTTP/1.1\r\nhost: good.test:${port}\r\nconnection: close\r\n\r\n`;
    expect(await through(allow, plain, () => true)).toMatch(/200 OK[\s\S]*got \/x\?y/);
  });
  test('to an allowed name of this machine is refused', async () => {
    const port = await web();
    expect(await through(allow, `CONNECT good.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(/403 Forbidden[\s\S]*which no name may lead to/);
    expect(await through(allow, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`)).toMatch(/403 Forbidden/);
  });
  test('to another host is refused with the reason', async () => {
    expect(await through(async (host, port) => `no ${host} ${port}`, 'CONNECT Bad.test.:443 HTTP/1.1\r\n\r\n')).toMatch(
      /403 Forbidden[\s\S]*no bad.test 443/,
    );
  });
  test('without a host and port, or without a URL, is refused', async () => {
    expect(await through(allow, 'CONNECT nonsense HTTP/1.1\r\n\r\n')).toMatch(/403/);
    expect(await through(allow, 'GET /x HTTP/1.1\r\nhost: y\r\n\r\n')).toMatch(/400/);
  });
  test('whose client leaves is withdrawn', async () => {
    let aborted: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    const proxy = createForwardProxy((_host, _port, signal) => new Promise(() => signal.addEventListener('abort', aborted)));
    const port = await listening(createTcpServer((socket) => proxy.serve(socket)));
    closing.push(() => proxy.close());
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('CONNECT slow.test:443 HTTP/1.1\r\n\r\n', () => setImmediate(() => socket.destroy()));
    });
    await gone;
  });
});
