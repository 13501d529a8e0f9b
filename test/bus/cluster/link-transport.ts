// A link on a bus, as a transport of the contract suite.
import type { Bus } from '../../../src/bus/bus.ts';
import type { Carrier } from '../../transports/contract.ts';
import { echoHost, edgeOn, newTenant, TO_ECHO } from './echo-host.ts';

export const linkCarrier = (name: string, connect: () => Promise<Bus>): Carrier => ({
  name,
  async start() {
    const tenant = newTenant();
    const [hostBus, edgeBus] = [await connect(), await connect()];
    const host = await echoHost(hostBus, tenant);
    const edge = await edgeOn(edgeBus, tenant);
    const transport = edge.connect(TO_ECHO);
    return {
      transport,
      peer: {
        cut: () => void host.close(),
        async stop() {
          await host.close();
          await edge.close();
          await Promise.all([hostBus.close(), edgeBus.close()]);
        },
      },
    };
  },
});
