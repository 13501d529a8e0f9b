// `/bus`: the bus of this daemon, for hosts and edges on other machines that have an owner's token.
import { type WebSocket, WebSocketServer } from 'ws';
import type { Broker } from '../../../bus/broker.ts';
import { MAX_MESSAGE_BYTES, serveBus } from '../../../bus/websocket/serve-bus.ts';
import type { Gate, GuardedEndpoint } from '../../../listener/gate.ts';
import { refuse } from '../../../listener/respond.ts';

export type BusEndpoint = Required<GuardedEndpoint> & { close(): void };

export function busEndpoint(broker: Broker, { whileValid }: Pick<Gate, 'whileValid'>): BusEndpoint {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  return {
    roles: ['owner'],
    handle: (_, response) => refuse(response, { status: 426, why: 'the bus is a WebSocket' }),
    upgrade(request, socket, head, principal) {
      sockets.handleUpgrade(request, socket, head, (client: WebSocket) => {
        const stop = whileValid(principal, () => client.close(1008, 'the token was revoked or has expired'));
        client.once('close', stop);
        serveBus(client, broker);
      });
    },
    close() {
      for (const client of sockets.clients) client.close(1001, 'the server is shutting down');
      sockets.close();
    },
  };
}
