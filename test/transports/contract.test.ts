// The transports that run everywhere hold the contract; and what only network transports must notice.
import path from 'node:path';
import { expect, test } from 'vitest';
import { startChildProcess } from '../../src/transports/child-process.ts';
import { connectRemote } from '../../src/transports/connect-remote.ts';
import { inProcessPair } from '../../src/transports/in-process.ts';
import { onceExited } from '../../src/transports/transport.ts';
import { type Carrier, exitOf, holdsTheContract, MAX_FRAME_BYTES } from './contract.ts';
import { echoOverHttp, echoOverWebSocket } from './echo-peers.ts';

const ECHO = path.resolve(import.meta.dirname, '../fixtures/echoes-lines.mjs');

const remote = (url: string, keepaliveMs = 30_000) => ({
  url,
  headers: {},
  tls: {},
  connectMs: 5000,
  keepaliveMs,
  configKey: 'agent_servers.x',
});

const CARRIERS: readonly Carrier[] = [
  {
    name: 'an in-process pair',
    async start() {
      const { client, proxy } = inProcessPair();
      client.input.pipe(client.output); // the agent, here the client's end, echoes
      const exit = onceExited();
      proxy.input.on('close', () => exit.happened({ kind: 'disconnected', why: 'the other end closed' }));
      const cut = () => void proxy.input.destroy();
      const end = { stop: async () => cut(), kill: cut };
      const transport = {
        fromAgent: proxy.input,
        toAgent: proxy.output,
        pid: undefined,
        stderrTail: () => [],
        onExit: exit.listen,
        ...end,
      };
      return { transport, peer: { cut, stop: end.stop } };
    },
  },
  {
    name: 'a child process',
    async start() {
      const command = {
        command: process.execPath,
        args: [ECHO],
        env: process.env as Record<string, string>,
        cwd: undefined,
        configKey: 'x',
      };
      const transport = startChildProcess(command, { graceMs: 500 });
      return { transport, peer: { cut: () => process.kill(transport.pid as number, 'SIGKILL'), stop: async () => transport.kill() } };
    },
  },
  {
    name: 'a WebSocket',
    async start() {
      const peer = await echoOverWebSocket();
      return { transport: connectRemote(remote(peer.url), { maxFrameBytes: MAX_FRAME_BYTES }), peer };
    },
  },
  {
    name: 'streamable HTTP',
    async start() {
      const peer = await echoOverHttp();
      const transport = connectRemote(remote(peer.url), { maxFrameBytes: MAX_FRAME_BYTES });
      transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
      await new Promise<void>((resolve) => transport.fromAgent.on('data', () => resolve()));
      return { transport, peer };
    },
  },
];

for (const carrier of CARRIERS) holdsTheContract(carrier);

test('a WebSocket peer that answers no ping is lost', async () => {
  const peer = await echoOverWebSocket({ answersPings: false });
  const transport = connectRemote(remote(peer.url, 200), { maxFrameBytes: MAX_FRAME_BYTES });
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'no answer to a ping within 200 ms' });
  await transport.stop();
  await peer.stop();
});

test('an HTTP peer that has sent comments and then nothing is lost', async () => {
  const peer = await echoOverHttp({ comments: 2 });
  const transport = connectRemote(remote(peer.url, 300), { maxFrameBytes: MAX_FRAME_BYTES });
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'it was silent for 600 ms' });
  await transport.stop();
  await peer.stop();
});
