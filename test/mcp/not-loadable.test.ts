// The tool server is loaded on first use. If that fails, only the caller gets an error.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type Attached, createHostTools } from '../../src/mcp/server/host-tools.ts';

vi.mock('../../src/mcp/server/sdk-server.ts', () => {
  throw new Error('EMFILE');
});

const reports: string[] = [];
const hostTools = createHostTools({
  version: '0',
  shim: { command: '/bin/true', args: [] },
  tools: () => [],
  gate: async () => ({ allow: true }),
  onEvent() {},
  onUnserved: (why) => reports.push(why),
  maxOutputBytes: 1000,
});
afterEach(() => {
  expect(reports).toEqual([expect.stringMatching(/could not be loaded .*only a new start helps/s)]);
  reports.length = 0;
});

function attach(transport: 'http' | 'stdio' | 'acp'): Promise<Attached> {
  const toolSession = { abilities: new Set<never>(), onState() {}, onRevoke() {}, host: () => expect.unreachable() };
  return new Promise((resolve, reject) =>
    hostTools.attach(transport, toolSession, (attached) => (attached instanceof Error ? reject(attached) : resolve(attached))),
  );
}

test('the socket of the shim is closed', async () => {
  const { env } = JSON.parse((await attach('stdio')).entry('switchboard'));
  const socket = connect(env[0].value);
  socket.write(`${env[1].value}\n`);
  socket.resume();
  await once(socket, 'close');
});

test('every HTTP request gets an error', async () => {
  const { url, headers } = JSON.parse((await attach('http')).entry('switchboard'));
  const ask = { method: 'POST', headers: { authorization: headers[0].value, 'content-type': 'application/json' }, body: '{}' };
  for (const _ of [1, 2]) expect((await fetch(url, ask)).status).toBe(500);
});

test('messages over the ACP connection are answered with the reason, both queued and later ones', async () => {
  const pipe = hostTools.pipe((await attach('acp')).toolServer);
  const ask = () => new Promise((resolve) => pipe.request('tools/list', {}, resolve, () => {}));
  pipe.notify('notifications/initialized', {});
  for (const reply of [await ask(), await ask()])
    expect(reply).toEqual({ error: { code: -32603, message: expect.stringContaining('could not be loaded') } });
});
