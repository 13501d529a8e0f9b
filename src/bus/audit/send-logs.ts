// The host's side of collecting: sends the lines of its logs to the bus, in order, from where the bus or a collector has them. What the bus does not
// take waits in the files.
import { type Head, hashOf, parseAuditLine, splitLines } from '../../audit/audit-line.ts';
import { findIncarnationLogs, headOf, type IncarnationLog, readLines, removeLog, sizeOfLog } from '../../audit/incarnation-logs.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { type Bus, BusFailure, type Directory, nameOf, type Stream } from '../bus.ts';
import { type BusClock, every } from '../clock.ts';
import { subjects } from '../cluster/records.ts';
import { collectedKey, lastLineOf, readBatch, readCollected, writeBatch } from './batch.ts';

export type SendOptions = {
  readonly bus: Bus;
  readonly tenant: string;
  readonly host: string;
  /** Where its logs are. */
  readonly dir: string;
  readonly clock: BusClock;
  readonly report: (text: string) => void;
};

export type LogSender = {
  /** There are new lines. */
  wake(): void;
  /** How many bytes the bus has not taken. */
  waitingBytes(): number;
  /** Why the bus took nothing at the last attempt. */
  problem(): string | undefined;
  /** Sends what there is, if that is possible at once. */
  close(): Promise<void>;
};

const BATCH_BYTES = 64 * 1024;
const BATCH_MS = 250;
const TRY_AGAIN_MS = 2000;
/** Also how soon a log that is collected to its end is removed. */
const LOOK_EVERY_MS = 10_000;
const CLOSE_MS = 3000;
/** Others cannot write to these records, so only a lost answer or a collector's cleanup comes between. */
const MOST_CONFLICTS = 20;

/** How far a log is on the bus. */
type Sent = {
  offset: number;
  /** The stream's sequence of the last record of this log. */
  after: number;
  last: Head | undefined;
  isKnown: boolean;
  lookedAt: number;
};

export function sendLogs({ bus, tenant, host, dir, clock, report }: SendOptions): LogSender {
  const names = subjects(tenant);
  const sent = new Map<string, Sent>();
  const passes = createSerialQueue();
  let opened: { readonly stream: Stream; readonly collected: Directory } | undefined;
  let failure: string | undefined;
  let cancelNext: (() => void) | undefined;
  let isClosed = false;

  async function open(): Promise<NonNullable<typeof opened>> {
    opened ??= { stream: await bus.stream(names.audit), collected: await bus.directory(names.collected) };
    return opened;
  }
  const sentOf = ({ incarnation }: IncarnationLog): Sent => {
    const known = sent.get(incarnation) ?? {
      offset: 0,
      after: 0,
      last: undefined,
      isKnown: false,
      lookedAt: Number.NEGATIVE_INFINITY,
    };
    sent.set(incarnation, known);
    return known;
  };

  /** Continues after the last line that the bus or a collector has. If that is no line of this file, everything is sent: collectors compare. */
  async function resume(log: IncarnationLog, state: Sent): Promise<void> {
    const { stream, collected } = await open();
    const record = await stream.last(subjectOf(log));
    const inStream = record && readBatch(record.bytes);
    state.last = (inStream && lastLineOf(inStream.lines)) ?? (await collectedOf(collected, log));
    state.after = record?.sequence ?? 0;
    state.offset = state.last ? (offsetAfter(log.file, state.last) ?? 0) : 0;
    state.isKnown = true;
  }
  async function collectedOf(collected: Directory, { incarnation }: IncarnationLog): Promise<Head | undefined> {
    const entry = await collected.get(collectedKey(nameOf(host), incarnation));
    return entry && readCollected(entry.value);
  }
  const subjectOf = ({ incarnation }: IncarnationLog): string => `${nameOf(host)}.${incarnation}`;

  async function send(log: IncarnationLog): Promise<void> {
    const { stream, collected } = await open();
    const state = sentOf(log);
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; ) {
      if (sizeOfLog(log.file) < state.offset) state.isKnown = false; // the file was cut or replaced
      if (!state.isKnown) await resume(log, state);
      const lines = readLines(log.file, state.offset, BATCH_BYTES);
      const isAll = readLines(log.file, state.offset + lines.length, BATCH_BYTES).length === 0;
      const head = isAll ? headOf(log.file) : undefined;
      const isCut = lines.length === 0 && head !== undefined && head.seq > (state.last?.seq ?? 0);
      if (lines.length === 0 && !isCut) break;
      const sequence = await stream.append(subjectOf(log), writeBatch({ lines, head }), state.after);
      if (sequence === undefined) {
        state.isKnown = false;
        conflicts += 1;
        continue;
      }
      state.after = sequence;
      state.offset += lines.length;
      state.last = isCut ? head : (lastLineOf(lines) ?? state.last);
    }
    if (log.isEnded && clock.monotonicMs() - state.lookedAt >= LOOK_EVERY_MS) {
      state.lookedAt = clock.monotonicMs();
      const found = await collectedOf(collected, log);
      const isCollected =
        state.last === undefined || (found !== undefined && found.seq === state.last.seq && found.hash === state.last.hash);
      if (!isCollected) return;
      removeLog(log.file);
      sent.delete(log.incarnation);
    }
  }
  async function pass(): Promise<void> {
    try {
      for (const log of findIncarnationLogs(dir)) await send(log);
      if (failure !== undefined) report('the bus takes decisions of the audit log again');
      failure = undefined;
    } catch (error) {
      const hint = /stream is full/.test((error as Error).message) ? '; collect the audit log: switchboard audit collect' : '';
      const why =
        error instanceof BusFailure ? `${error.message}${hint}` : `the audit log of the host cannot be sent: ${(error as Error).message}`;
      if (failure === undefined) report(`decisions wait in ${dir} until the bus takes them: ${why}`);
      failure = why;
      next(TRY_AGAIN_MS);
    }
  }
  function next(ms: number): void {
    if (isClosed || cancelNext) return;
    cancelNext = clock.after(ms, () => {
      cancelNext = undefined;
      void passes.run(pass);
    });
  }
  const waitingBytes = (): number =>
    findIncarnationLogs(dir).reduce((sum, log) => sum + Math.max(0, sizeOfLog(log.file) - (sent.get(log.incarnation)?.offset ?? 0)), 0);
  const stops = [
    every(clock, LOOK_EVERY_MS, () => next(0)),
    bus.onConnection((isConnected) => {
      // A bus in memory has lost its records; one on disk may have taken a batch without an answer.
      for (const state of sent.values()) state.isKnown = false;
      if (isConnected) next(0);
    }),
  ];
  next(0);
  return {
    wake: () => next(BATCH_MS),
    waitingBytes,
    problem: () => failure,
    async close() {
      cancelNext?.();
      isClosed = true;
      for (const stop of stops) stop();
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(CLOSE_MS, resolve);
      });
      await Promise.race([bus.isConnected ? passes.run(pass) : undefined, late]);
      cancel();
    },
  };
}

/** Undefined if the file has no such line. */
function offsetAfter(file: string, { seq, hash }: Head): number | undefined {
  for (let offset = 0; ; ) {
    const lines = readLines(file, offset, BATCH_BYTES);
    if (lines.length === 0) return undefined;
    let at = offset;
    for (const line of splitLines(lines)) {
      at += line.length + 1;
      if (hashOf(line) === hash && parseAuditLine(line.toString('utf8'))?.seq === seq) return at;
    }
    offset += lines.length;
  }
}
