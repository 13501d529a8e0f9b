// The policy bundles of a host: taken from the bus, put in force above its own policy.
import type { Bus } from '../../bus/bus.ts';
import { systemBusClock } from '../../bus/clock.ts';
import { type HostRecord, subjects } from '../../bus/cluster/records.ts';
import type { BusConfig } from '../../bus/config.ts';
import { shown } from '../../bus/policy/accept.ts';
import { nameInBundle } from '../../bus/policy/bundle.ts';
import { followBundle } from '../../bus/policy/follow-bundle.ts';
import { seenVersions } from '../../bus/policy/seen-version.ts';
import { CommandFailure } from '../failure.ts';
import type { InProcess } from '../in-process-proxy.ts';
import { notice } from '../output.ts';

export type HostPolicy = {
  /** For the host's record. */
  state(): NonNullable<HostRecord['policy']>;
  /** `listener`: there is no bundle in force any more, or there is one again. */
  onChange(listener: () => void): void;
  stop(): void;
};

/** Undefined if the configuration pins no key. */
export async function obeyBundles(
  bus: Bus,
  { tenant, policy: pinned }: BusConfig,
  { policy, stateDir }: Pick<InProcess, 'policy' | 'stateDir'>,
): Promise<HostPolicy | undefined> {
  if (!pinned) return undefined;
  if (!policy || policy.state().isObserving)
    throw new CommandFailure(2, 'a host that obeys policy bundles cannot only observe', 'remove --policy-mode observe, or "bus.policy"');
  let changed = () => {};
  const followed = await followBundle({
    bus,
    directory: subjects(tenant).policy,
    pinned,
    seen: seenVersions(stateDir, tenant),
    clock: systemBusClock,
    now: Date.now,
    prepare: async ({ version, policies }) =>
      policy.prepareBundle({ version, policies: policies.map(({ name, text }) => ({ file: nameInBundle(version, name), text })) }),
    changed: () => changed(),
    report: notice,
  });
  policy.closeWhile(followed.problem);
  return {
    state() {
      const { bundle, expiresAtMs } = followed.current() ?? {};
      if (bundle && expiresAtMs !== undefined) return { bundle: bundle.version, expiresAt: shown(expiresAtMs) };
      return { problem: followed.problem() ?? 'there is no policy bundle' };
    },
    onChange(listener) {
      changed = listener;
    },
    stop: followed.stop,
  };
}
