// Collecting over a real NATS server.
import { connectNats } from '../../../src/bus/nats-bus.ts';
import { startNats } from '../nats-server.ts';
import { collectsLogs } from './collecting.ts';

collectsLogs('a bus on NATS', async () => {
  const server = await startNats();
  return { connect: () => connectNats({ url: server.url, name: 'test' }), restart: server.restart, stop: server.stop };
});
