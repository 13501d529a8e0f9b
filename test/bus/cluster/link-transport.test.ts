// A link holds the contract of transports, on the buses that need nothing installed.
import { createBroker } from '../../../src/bus/broker.ts';
import { holdsTheContract } from '../../transports/contract.ts';
import { busOverWebSocket } from '../websocket-peer.ts';
import { linkCarrier } from './link-transport.ts';

const broker = createBroker(Date.now);
holdsTheContract(linkCarrier('a link in this process', async () => broker.connect()));

const peer = busOverWebSocket();
holdsTheContract(linkCarrier('a link over WebSockets', async () => (await peer).connect()));
