// Endpoints behind the gate see only requests of principals with their roles.
import { EventEmitter } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { createGate, MAX_SOCKETS_OF_ONE } from '../../src/listener/gate.ts';
import { type Endpoint, type Listener, listen } from '../../src/listener/listener.ts';
import type { Role, Token } from '../../src/store/tokens.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Every role is a token of its own; `/page` and its WebSocket are for owners and clients. */
async function start() {
  const revoked = new Set<string>();
  const tokenOf = (name: string): Token => ({ name, role: name as Role, createdAt: '2026-01-01', expiresAt: undefined });
  const gate = createGate({
    tokens: {
      verify: (presented) =>
        ['owner', 'client', 'metrics'].includes(presented) && !revoked.has(presented) ? tokenOf(presented) : undefined,
      isValid: ({ name }) => !revoked.has(name),
    },
    addresses: () => ({ hosts: new Set([`127.0.0.1:${listener.port}`]), origins: new Set(['http://app.test']) }),
  });
  const page = gate.guard({
    roles: ['owner', 'client'],
    handle: (_, response, { name }) => void response.end(name),
    upgrade: (_, socket, __, { name }) =>
      void socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\nConnection: close\r\n\r\n${name}`),
  });
  const plain = gate.guard({ roles: ['metrics'], handle: (_, response) => void response.end('figures') });
  const listener: Listener = await listen({
    host: '127.0.0.1',
    port: 0,
    endpoints: new Map([
      ['/page', page],
      ['/plain', plain],
    ]),
  });
  cleanups.push(listener.close, gate.close);
  const ask = (path: string, headers: Record<string, string>) =>
    new Promise<string>((resolve, reject) => {
      const request = http.get({ host: '127.0.0.1', port: listener.port, path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(`${response.statusCode} ${text.trim()}`));
      });
      request.on('error', reject);
    });
  return { gate, revoked, tokenOf, ask };
}

const as = (token: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...more });
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };

test.each([
  ['its role may use it', '/page', as('client'), '200 client'],
  ['another role may not', '/page', as('metrics'), '403 a token with the role metrics may not do this'],
  ['each path has its own roles', '/plain', as('metrics'), '200 figures'],
  ['an owner is no role of its own accord', '/plain', as('owner'), '403 a token with the role owner may not do this'],
  ['no token', '/page', {}, '401 a token is required: Authorization: Bearer TOKEN'],
  ['a wrong token', '/page', as('nobody'), '401 the token is unknown, revoked or expired'],
  [
    'a foreign Host is refused before the token is looked at',
    '/page',
    { host: 'evil.test' },
    '403 the Host header is not this address: add the name to network_clients.hosts',
  ],
  ['a foreign Origin', '/page', as('client', { origin: 'http://evil.test' }), '403 the Origin header is not allowed'],
  ['a listed Origin', '/page', as('client', { origin: 'http://app.test' }), '200 client'],
  ['another path is refused before all else', '/other', { host: 'evil.test' }, '404 not found'],
  ['a WebSocket of its role', '/page', as('owner', UPGRADE), '200 owner'],
  ['a WebSocket of another role', '/page', as('metrics', UPGRADE), '403 a token with the role metrics may not do this'],
  ['a WebSocket where there is none', '/plain', as('metrics', UPGRADE), '404 not found'],
])('%s', async (_, path, headers, expected) => {
  const { ask } = await start();
  expect(await ask(path, headers)).toBe(expected);
});

test('a gate that is closed refuses known principals with 503, and tells others no more than before', async () => {
  const { gate, ask } = await start();
  gate.close();
  expect(await ask('/page', as('client'))).toBe('503 the server is shutting down');
  expect(await ask('/page', as('nobody'))).toMatch(/^401/);
});

test('the end of a token is reported once, to those who still watch it', async () => {
  vi.useFakeTimers();
  const { gate, revoked, tokenOf } = await start();
  const ended: string[] = [];
  gate.whileValid(tokenOf('client'), () => ended.push('client'));
  gate.whileValid(tokenOf('owner'), () => ended.push('owner'));
  const stop = gate.whileValid(tokenOf('client'), () => ended.push('stopped'));
  stop();
  vi.advanceTimersByTime(2000);
  expect(ended).toEqual([]);
  revoked.add('client');
  vi.advanceTimersByTime(5000);
  expect(ended).toEqual(['client']);
});

test('a principal holds only so many sockets, and others still get in', () => {
  const gate = createGate({
    tokens: { verify: (name) => ({ name, role: 'client', createdAt: '', expiresAt: undefined }), isValid: () => true },
    addresses: () => ({ hosts: new Set(['here']), origins: new Set() }),
  });
  cleanups.push(gate.close);
  let statuses: number[] = [];
  const page = gate.guard({ roles: ['client'], handle: (_, response) => void response.writeHead(200) });
  const ask = (name: string, socket = new EventEmitter()) => {
    const authorization = `Bearer ${name}`;
    const headers = { host: 'here', authorization };
    const request = { headers, headersDistinct: { host: ['here'], authorization: [authorization] }, socket } as unknown as IncomingMessage;
    const response = { writeHead: (status: number) => void statuses.push(status), end() {} } as unknown as ServerResponse;
    void page.handle(request, response, () => {});
    return socket;
  };
  const [first] = Array.from({ length: MAX_SOCKETS_OF_ONE }, () => ask('ann'));
  expect(statuses.every((status) => status === 200)).toBe(true);
  statuses = [];
  ask('ann');
  ask('ann', first); // a socket that it has already
  ask('bob');
  expect(statuses).toEqual([429, 200, 200]);
  first?.emit('close');
  ask('ann');
  expect(statuses.at(-1)).toBe(200);
});

test('an endpoint that throws ends its request, and the listener goes on', async () => {
  const listener = await listen({
    ...{ host: '127.0.0.1', port: 0 },
    endpoints: new Map<string, Endpoint>([
      [
        '/broken',
        {
          handle() {
            throw new Error('a bug');
          },
        },
      ],
      ['/fine', { handle: (_, response) => void response.end('fine') }],
    ]),
  });
  cleanups.push(listener.close);
  const at = `http://127.0.0.1:${listener.port}`;
  await expect(fetch(`${at}/broken`)).rejects.toThrow();
  expect(await (await fetch(`${at}/fine`)).text()).toBe('fine');
});
