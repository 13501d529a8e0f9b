// What a tenant keeps on a bus.
import type { Bus, Directory } from '../bus.ts';
import { LEASE_MS } from './lease.ts';
import { subjects } from './records.ts';

/** Where a session was is known for this long after it was opened last. */
export const SESSIONS_MS = 30 * 24 * 3600_000;

export const openHosts = (bus: Bus, tenant: string): Promise<Directory> => bus.directory(subjects(tenant).hosts, { ttlMs: LEASE_MS });
export const openSessions = (bus: Bus, tenant: string): Promise<Directory> =>
  bus.directory(subjects(tenant).sessions, { ttlMs: SESSIONS_MS });

/** Makes what is missing. */
export async function createStorage(
  bus: Bus,
  tenant: string,
): Promise<{ readonly directories: readonly string[]; readonly streams: readonly string[] }> {
  const { hosts, sessions, collected, policy, audit } = subjects(tenant);
  await openHosts(bus, tenant);
  await openSessions(bus, tenant);
  for (const name of [collected, policy]) await bus.directory(name);
  await bus.stream(audit);
  return { directories: [hosts, sessions, collected, policy], streams: [audit] };
}
