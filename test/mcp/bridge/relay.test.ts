// The relay between an agent and a server, both controlled by the test.
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { relay } from '../../../src/mcp/bridge/relay.ts';

/** All messages, and ways to send as the agent and as the server. */
async function relayed(mayCall: Parameters<typeof relay>[2]['mayCall'] = async () => ({ allow: true })) {
  const [agent, downstream] = InMemoryTransport.createLinkedPair();
  const [server, upstream] = InMemoryTransport.createLinkedPair();
  const toAgent: JSONRPCMessage[] = [];
  const toServer: JSONRPCMessage[] = [];
  agent.onmessage = (message) => toAgent.push(message);
  server.onmessage = (message) => toServer.push(message);
  relay(downstream, upstream, { server: 'far', ownNames: new Map(), mayCall, exposes: () => true, onEnding: () => {}, onDied: () => {} });
  await Promise.all([agent.start(), server.start()]);
  const call = (id: number) => agent.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait' } });
  const cancel = (requestId: number) => agent.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  return { agent, server, toAgent, toServer, call, cancel };
}
/** Runs everything that does not wait for an outside event. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('cancelled calls do not count, even if the server never answers them', async () => {
  const { server, toAgent, toServer, call, cancel } = await relayed();
  for (let id = 0; id < 100; id++) {
    await call(id);
    await settled();
    await cancel(id);
  }
  await call(1000);
  await settled();
  expect(toServer.at(-1)).toMatchObject({ id: 1000, method: 'tools/call' });
  await server.send({ jsonrpc: '2.0', id: 1000, result: { content: [] } });
  await server.send({ jsonrpc: '2.0', id: 3, result: { content: [] } }); // the server had already finished
  expect(toAgent).toEqual([{ jsonrpc: '2.0', id: 1000, result: { content: [] } }]);
});

test('a server that exits cancels pending decisions', async () => {
  const asked: AbortSignal[] = [];
  const { server, toAgent, call } = await relayed((_, __, signal) => {
    asked.push(signal);
    return new Promise(() => {});
  });
  await call(1);
  await settled();
  await server.close();
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  expect(toAgent).toMatchObject([{ id: 1, error: { message: expect.stringContaining('it has ended') } }]);
});

test('a call is not forwarded if its decision fails', async () => {
  const { toAgent, toServer, call } = await relayed(() => Promise.reject(new Error('no place to write to')));
  await call(1);
  await settled();
  expect(toServer).toEqual([]);
  expect(toAgent).toMatchObject([{ id: 1, result: { isError: true } }]);
});

test('a call without an id, which the policy cannot decide on, is dropped; notifications are forwarded', async () => {
  const asked: string[] = [];
  const { agent, toServer } = await relayed(async (tool) => {
    asked.push(tool);
    return { allow: false, reason: 'no' };
  });
  await agent.send({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'wipe' } });
  await agent.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await settled();
  expect(toServer).toEqual([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
  expect(asked).toEqual([]);
});

test('while a server starts, 64 messages wait for it and further ones are refused', async () => {
  const [agent, downstream] = InMemoryTransport.createLinkedPair();
  const [server, upstream] = InMemoryTransport.createLinkedPair();
  const toAgent: JSONRPCMessage[] = [];
  const toServer: JSONRPCMessage[] = [];
  agent.onmessage = (message) => toAgent.push(message);
  server.onmessage = (message) => toServer.push(message);
  let started = () => {};
  const start = upstream.start.bind(upstream);
  upstream.start = async () => {
    await new Promise<void>((resolve) => {
      started = resolve;
    });
    await start();
  };
  relay(downstream, upstream, {
    server: 'far',
    ownNames: new Map(),
    mayCall: async () => ({ allow: true }),
    exposes: () => true,
    onEnding: () => {},
    onDied: () => {},
  });
  await Promise.all([agent.start(), server.start()]);
  for (let id = 0; id < 100; id++) await agent.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  expect(toAgent).toHaveLength(36);
  expect(toAgent[0]).toMatchObject({
    id: 64,
    error: { code: -32000, message: 'The MCP server "far" has not started yet, and 64 messages already wait for it' },
  });
  started();
  await settled();
  expect(toServer.map((message) => 'id' in message && message.id)).toEqual(Array.from({ length: 64 }, (_, id) => id));
});
