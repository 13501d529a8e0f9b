// A host's lease: its record in the directory, renewed by the loop that serves its links. A host that could not renew it in time is fenced.
import type { Directory } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { type HostRecord, readHost, write } from './records.ts';

/** The record expires after this; edges then count the host as gone. */
export const LEASE_MS = 20_000;
export const RENEW_EVERY_MS = 4000;
/** Without a renewal for this long, the host stops: well before another host may take over. */
export const FENCE_MS = 15_000;
const LOOK_EVERY_MS = 500;

export type Lease = {
  isHeld(): boolean;
  /** Writes the record now, for instance because the load changed. */
  renew(): Promise<void>;
  /** Removes the record. */
  release(): Promise<void>;
};

export type LeaseDeps = {
  readonly directory: Directory;
  readonly record: () => HostRecord;
  readonly clock: BusClock;
  /** Called once for each absence: the record could not be written in time, and there is this long left. */
  readonly late?: (why: string, leftMs: number) => void;
  /** Called once: the host must end everything that it does for others. */
  readonly lost: (why: string) => void;
};

/** Takes the lease of the host's name; `takenBy` is the process that has it. */
export async function takeLease({ directory, record, clock, lost, late }: LeaseDeps): Promise<Lease | { readonly takenBy: string }> {
  const key = record().host;
  let revision = await directory.create(key, write(record()));
  if (revision === undefined) {
    const entry = await directory.get(key);
    const holder = entry && readHost(entry.value);
    return { takenBy: holder?.incarnation ?? 'unknown' };
  }
  const now = clock.monotonicMs;
  let renewedAt = now();
  let isOver = false;
  let isLate = false;
  let renewing: Promise<void> | undefined;

  function lose(why: string): void {
    if (isOver) return;
    isOver = true;
    stopTimers();
    lost(why);
  }
  async function writeRecord(): Promise<void> {
    const startedAt = now();
    try {
      const next = (await directory.update(key, write(record()), revision as number)) ?? (await restore());
      if (next !== undefined) revision = next; // also for its release
      if (isOver) return;
      if (next === undefined) return lose('another process took its place, or its lease expired');
      renewedAt = startedAt; // the write may have counted from then on
      isLate = false;
    } catch (error) {
      // The bus is unreachable: the next attempt renews the lease, or it expires.
      if (isOver || isLate) return;
      isLate = true;
      late?.((error as Error).message, renewedAt + FENCE_MS - now());
    }
  }
  /** Servers can be made to write answers into the directory. What is no record of a host with this name takes no place. */
  async function restore(): Promise<number | undefined> {
    const entry = await directory.get(key);
    if (!entry) return now() - renewedAt > FENCE_MS ? undefined : directory.create(key, write(record()));
    const found = readHost(entry.value);
    const isOther = found?.host === key && found.incarnation !== record().incarnation;
    return isOther ? undefined : directory.update(key, write(record()), entry.revision);
  }
  function renew(): Promise<void> {
    renewing ??= writeRecord().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }
  const stops = [every(clock, RENEW_EVERY_MS, () => void renew()), every(clock, LOOK_EVERY_MS, look)];
  const stopTimers = () => {
    for (const stop of stops) stop();
  };
  function look(): void {
    if (isLate) void renew(); // the bus may be back before the next regular attempt
    if (now() - renewedAt > FENCE_MS) lose(`it could not renew its lease for ${Math.round((now() - renewedAt) / 1000)} s`);
  }
  return {
    isHeld: () => !isOver && now() - renewedAt <= FENCE_MS,
    renew,
    async release() {
      if (isOver) return;
      isOver = true;
      stopTimers();
      await renewing;
      await directory.remove(key, revision as number).catch(() => {});
    },
  };
}
