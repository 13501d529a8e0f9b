// The buses that need nothing installed hold the contract.
import { createBroker } from '../../src/bus/broker.ts';
import { holdsTheContract } from './contract.ts';
import { busOverWebSocket } from './websocket-peer.ts';

holdsTheContract('a bus in this process', async () => {
  const broker = createBroker(Date.now);
  return { connect: async () => broker.connect(), stop: async () => {} };
});

holdsTheContract('a bus over a WebSocket', busOverWebSocket);
