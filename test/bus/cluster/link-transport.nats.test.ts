// A link holds the contract of transports on NATS.
import { afterAll } from 'vitest';
import { connectNats } from '../../../src/bus/nats-bus.ts';
import { holdsTheContract } from '../../transports/contract.ts';
import { startNats } from '../nats-server.ts';
import { linkCarrier } from './link-transport.ts';

const server = startNats();
afterAll(async () => (await server).stop());
holdsTheContract(linkCarrier('a link on NATS', async () => connectNats({ url: (await server).url, name: 'test' })));
