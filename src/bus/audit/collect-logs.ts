// The collector: takes the lines of all hosts from the bus into files, says how far it has them, and removes them from the bus.

import { splitLines } from '../../audit/audit-line.ts';
import type { CollectedLogs, LogName } from '../../audit/collected-logs.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { type Bus, BusFailure, NAME, nameOf, type StreamRecord } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { readHost, subjects } from '../cluster/records.ts';
import { openHosts } from '../cluster/storage.ts';
import { collectedKey, readBatch, readCollected, writeCollected } from './batch.ts';

export type CollectOptions = {
  readonly bus: Bus;
  readonly tenant: string;
  readonly logs: CollectedLogs;
  readonly clock: BusClock;
  /** A new line, as its host wrote it. It is on the disk. */
  readonly onLine: (line: Buffer) => void;
  /** The lines of this log do not follow each other. */
  readonly onBroken: (name: LogName) => void;
  /** A record that is no part of a host's log. */
  readonly onUnknownRecord: (text: string) => void;
  /** It cannot go on. */
  readonly onFailure: (error: Error) => void;
};

export type Collector = {
  /** How many lines came. */
  readonly count: number;
  /** Resolves when everything is collected that is on the bus now. Rejects with a `BusFailure`, or what writing the files throws. */
  caughtUp(): Promise<void>;
  /** Lines of logs here, and of running hosts, that are in no file here: another collector has them. `seq` is the last of them. */
  elsewhere(): Promise<readonly { readonly name: LogName; readonly seq: number }[]>;
  /** The logs of the hosts that are on the bus now. */
  running(): Promise<readonly LogName[]>;
  close(): Promise<void>;
};

const CONFIRM_EVERY_MS = 2000;
const LOOK_EVERY_MS = 100;
/** Then the bus does not send what it has. */
const NO_PROGRESS_MS = 15_000;
const TRIES = 5;

export async function collectLogs({
  bus,
  tenant,
  logs,
  clock,
  onLine,
  onBroken,
  onUnknownRecord,
  onFailure,
}: CollectOptions): Promise<Collector> {
  const names = subjects(tenant);
  const [stream, collected] = [await bus.stream(names.audit), await bus.directory(names.collected)];
  const work = createSerialQueue();
  /** Logs whose entry on the bus is older than the file. */
  const toConfirm = new Set<LogName>();
  let seen = 0;
  let trimmed = 0;
  /** The first record that stays on the bus, because nobody here understands it. */
  let kept = Number.POSITIVE_INFINITY;
  let count = 0;
  let failed: Error | undefined;

  function take({ subject, sequence, bytes }: StreamRecord): void {
    const name = nameIn(subject);
    const batch = readBatch(bytes);
    if (!name || !batch) {
      kept = Math.min(kept, sequence);
      onUnknownRecord(`record ${sequence} of "${subject}" is no part of an audit log, or of a later version; it stays on the bus`);
    } else {
      const added = logs.add(name, splitLines(batch.lines), batch.head);
      count += added.lines.length;
      for (const line of added.lines) onLine(line);
      if (!added.isInOrder) onBroken(name);
      toConfirm.add(known(name));
    }
    seen = sequence;
  }
  /** First the files, then the entries, then the end of the records: whatever is lost in between comes again and is left out. */
  async function confirmAll(): Promise<void> {
    const upTo = Math.min(seen, kept - 1);
    for (const name of [...toConfirm]) {
      await confirm(name);
      toConfirm.delete(name);
    }
    if (upTo <= trimmed) return;
    await stream.trim(upTo);
    trimmed = upTo;
  }
  async function confirm({ host, incarnation }: LogName): Promise<void> {
    const key = collectedKey(host, incarnation);
    const { seq, hash, isEnded } = logs.last({ host, incarnation });
    for (let tries = 0; tries < TRIES; tries++) {
      const entry = await collected.get(key);
      const there = entry && readCollected(entry.value);
      if (there && (there.seq > seq || (there.seq === seq && there.hash === hash && there.isEnded === isEnded))) return;
      const value = writeCollected({ seq, hash, isEnded });
      const written = entry ? await collected.update(key, value, entry.revision) : await collected.create(key, value);
      if (written !== undefined) return;
    }
    throw new BusFailure('refused', 'another collector collects at the same time');
  }
  /** One object for each log. */
  const all = new Map<string, LogName>();
  function known(name: LogName): LogName {
    const key = collectedKey(name.host, name.incarnation);
    const found = all.get(key) ?? name;
    all.set(key, found);
    return found;
  }
  const confirmEverything = () => {
    for (const name of logs.all()) toConfirm.add(known(name));
  };

  async function running(): Promise<readonly LogName[]> {
    const found: LogName[] = [];
    const stopWatch = await (await openHosts(bus, tenant)).watch(({ value }) => {
      const record = value && readHost(value);
      const name = record && nameIn(`${nameOf(record.host)}.${record.incarnation}`);
      if (name) found.push(name);
    });
    stopWatch();
    return found;
  }

  confirmEverything();
  const stop = await stream.read(0, (record) => {
    void work.run(() => {
      if (failed) return;
      try {
        take(record);
      } catch (error) {
        failed = error as Error;
        onFailure(failed);
      }
    });
  });
  const confirmAgain = () => void work.run(confirmAll).catch(() => {}); // the bus is away: again later
  const stops = [
    stop,
    every(clock, CONFIRM_EVERY_MS, confirmAgain),
    bus.onConnection((isConnected) => {
      if (isConnected) confirmEverything(); // a bus in memory has forgotten it
    }),
  ];
  return {
    get count() {
      return count;
    },
    async caughtUp() {
      const now = () => clock.monotonicMs();
      let [before, since] = [seen, now()];
      for (;;) {
        const end = await stream.end();
        await work.idle();
        if (failed) throw failed;
        if (seen >= end) return work.run(confirmAll);
        if (seen !== before) [before, since] = [seen, now()];
        else if (now() - since > NO_PROGRESS_MS) throw new BusFailure('timeout', `the bus does not send its records ${seen + 1} to ${end}`);
        await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
      }
    },
    async elsewhere() {
      const found: { name: LogName; seq: number }[] = [];
      for (const name of [...logs.all(), ...(await running())]) {
        const entry = await collected.get(collectedKey(name.host, name.incarnation));
        const there = entry && readCollected(entry.value);
        if (there && there.seq > logs.last(name).seq) found.push({ name, seq: there.seq });
      }
      return [...new Map(found.map((one) => [collectedKey(one.name.host, one.name.incarnation), one])).values()];
    },
    running,
    async close() {
      for (const one of stops) one();
      await work.idle();
      if (!failed && bus.isConnected) await work.run(confirmAll).catch(() => {});
    },
  };
}

function nameIn(subject: string): LogName | undefined {
  const [host, incarnation, ...rest] = subject.split('.');
  if (host === undefined || incarnation === undefined || rest.length > 0) return undefined;
  return NAME.test(host) && NAME.test(incarnation) && !incarnation.startsWith('=') ? { host, incarnation } : undefined;
}
