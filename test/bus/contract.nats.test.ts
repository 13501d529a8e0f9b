// A bus on a real NATS server holds the contract.
import { connectNats } from '../../src/bus/nats-bus.ts';
import { holdsTheContract } from './contract.ts';
import { startNats } from './nats-server.ts';

holdsTheContract('a bus on NATS', async () => {
  const server = await startNats();
  return {
    connect: () => connectNats({ url: server.url, name: 'test' }),
    cut: server.restart,
    stop: server.stop,
  };
});
