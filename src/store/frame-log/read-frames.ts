// Reads the frame log from disk: one or more files per process, newest first, or following new records.
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { FrameFilter, FrameRecord } from './frame-filter.ts';
import { recordsOf } from './frame-lines.ts';

/** The last `count` matching records, oldest first, of all files or some. */
export function lastRecords(
  dir: string,
  wanted: FrameFilter,
  count: number,
  isWanted: (file: string) => boolean = () => true,
): FrameRecord[] {
  const found: FrameRecord[] = [];
  for (const file of filesOf(dir).filter(isWanted).toReversed()) {
    // Files of several processes overlap in time, so read all candidates and sort them below.
    if (found.length >= count && newestIn(file) < (found[0]?.t ?? 0)) break;
    found.push(...parse(readFileSync(file, 'utf8')).filter(wanted).slice(-count));
    found.sort((a, b) => a.t - b.t);
  }
  return found.slice(-count);
}

/** The last exit of an agent or failed prompt, with the last `count` frames of its connection before it. */
export function lastFailure(dir: string, count: number): readonly FrameRecord[] {
  const [last] = lastRecords(dir, (record) => isDown(record) || isFailedTurn(record), 1);
  if (!last) return [];
  const before = lastRecords(dir, ({ leg, t, event }) => leg === last.leg && t <= last.t && event === undefined, count);
  return isDown(last) ? [...before, last] : before;
}

const isDown = ({ event, reason }: FrameRecord): boolean => event === 'down' && reason !== 'stopped';
const isFailedTurn = ({ dir, method, error }: FrameRecord): boolean =>
  dir === 'fromAgent' && method === 'session/prompt' && error !== undefined;

export type Follower = {
  /** The records since the last call. */
  look(): readonly FrameRecord[];
};

/** Starts at the current end. */
export function followRecords(dir: string): Follower {
  const seen = new Map(filesOf(dir).map((file) => [file, { bytes: sizeOf(file), rest: '' }]));
  return {
    look() {
      const fresh: FrameRecord[] = [];
      for (const file of filesOf(dir)) {
        const at = seen.get(file) ?? { bytes: 0, rest: '' };
        const size = sizeOf(file);
        if (size <= at.bytes) continue;
        const text = at.rest + readFrom(file, at.bytes, size);
        const whole = text.lastIndexOf('\n') + 1;
        seen.set(file, { bytes: size, rest: text.slice(whole) });
        fresh.push(...parse(text.slice(0, whole)));
      }
      return fresh.sort((a, b) => a.t - b.t);
    },
  };
}

function filesOf(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => path.join(dir, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const newestIn = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function readFrom(file: string, from: number, to: number): string {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
  } finally {
    closeSync(fd);
  }
}

/** Skips incomplete and foreign lines. */
function parse(text: string): FrameRecord[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    try {
      const record = JSON.parse(line);
      if (typeof record?.t !== 'number') return [];
      return recordsOf(record);
    } catch {
      return [];
    }
  });
}
