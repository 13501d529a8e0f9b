// `switchboard bus create`: makes the directories and streams of a tenant on NATS, which hosts and edges may not.
import { createStorage } from '../../bus/cluster/storage.ts';
import { notice, printJson } from '../output.ts';
import { type BusCommandFlags, usingBus } from './open-bus.ts';

export function busCreate({ json, ...flags }: BusCommandFlags): Promise<number> {
  return usingBus(flags, 'bus create', async (bus, { tenant, replicas }) => {
    const created = await createStorage(bus, tenant);
    if (json) printJson({ tenant, replicas, ...created });
    else
      notice(
        `the bus at ${bus.shownUrl} has ${created.directories.length} directories and ${created.streams.length} stream for tenant "${tenant}"`,
      );
    return 0;
  });
}
