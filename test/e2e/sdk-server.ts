// The SDK's own agent and server over HTTP and WebSocket: a remote peer that shares no code with us.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agent, methods } from '@agentclientprotocol/sdk';
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { WebSocketServer } from 'ws';
import type { Json } from './harness.ts';

export type SdkServer = { readonly address: string; stop(): Promise<void> };

/** Sessions of all connections: an agent that can load what an earlier connection opened. */
export async function startSdkServer(): Promise<SdkServer> {
  const textsOf = new Map<string, string[]>();
  const cancelled = new Map<string, () => void>();
  const chunk = (sessionId: string, text: string): Json => ({
    sessionId,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  });
  const app = () =>
    agent({ name: 'sdk-agent' })
      .onRequest(
        methods.agent.initialize,
        () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }) as Json,
      )
      .onRequest(methods.agent.session.new, () => {
        const sessionId = `sdk-${textsOf.size + 1}`;
        textsOf.set(sessionId, []);
        return { sessionId };
      })
      .onRequest(methods.agent.session.load, async ({ params, client }) => {
        for (const text of textsOf.get(params.sessionId) ?? [])
          await client.notify(methods.client.session.update, chunk(params.sessionId, text));
        return {};
      })
      .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
      .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
        const { sessionId } = params;
        const [block] = params.prompt as Json[];
        if (block.text === 'wait') {
          await client.notify(methods.client.session.update, chunk(sessionId, 'waiting'));
          await new Promise<void>((resolve) => cancelled.set(sessionId, resolve));
          return { stopReason: 'cancelled' };
        }
        if (block.text === 'ask') {
          const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' as const }];
          const toolCall = { toolCallId: 't1', title: 'Look' };
          const { outcome } = (await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options })) as Json;
          await client.notify(methods.client.session.update, chunk(sessionId, JSON.stringify(outcome)));
          return { stopReason: 'end_turn' };
        }
        for (let n = 0; n < 3; n++) await client.notify(methods.client.session.update, chunk(sessionId, `${block.text} ${n};`));
        textsOf.get(sessionId)?.push(`${block.text};`);
        return { stopReason: 'end_turn' };
      });
  const server = new AcpServer({ createAgent: app });
  const http = createServer(createNodeHttpHandler(server));
  const sockets = new WebSocketServer({ noServer: true });
  http.on('upgrade', createNodeWebSocketUpgradeHandler(server, sockets as never));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(http.address() as AddressInfo).port}/acp`,
    async stop() {
      await server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
