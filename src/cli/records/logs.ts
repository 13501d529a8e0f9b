// `switchboard logs`: the frame log for people, or as JSON for programs.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutControls } from '../../control-characters.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { FILTER_TERMS, type FrameFilter, type FrameRecord, parseFilter, type WrongTerm } from '../../store/frame-log/frame-filter.ts';
import { followRecords, lastFailure, lastRecords } from '../../store/frame-log/read-frames.ts';
import { CommandFailure } from '../failure.ts';
import { notice, printJson } from '../output.ts';
import { surroundings } from '../resolve-config.ts';

export type LogsFlags = { readonly follow?: boolean; readonly json?: boolean; readonly lines?: string; readonly lastFailure?: boolean };

const LOOK_EVERY_MS = 200;
const FAILURE_FRAMES = 50;

export async function logs(terms: readonly string[], flags: LogsFlags): Promise<number> {
  const wanted = parseFilter(terms);
  if (typeof wanted !== 'function') throw wrongFilter(wanted);
  const count = Number(flags.lines ?? 200);
  if (!Number.isInteger(count) || count < 0) throw new CommandFailure(2, `--lines expects a whole number, not "${flags.lines}"`);
  const dir = path.join(surroundings({}).stateDir, 'frames');
  const records = flags.lastFailure ? lastFailure(dir, FAILURE_FRAMES).filter(wanted) : lastRecords(dir, wanted, count);
  if (flags.follow) return follow(dir, wanted, records, flags.json === true);
  if (flags.json) printJson({ records });
  else for (const record of records) print(pretty(record));
  if (records.length === 0)
    notice(
      flags.lastFailure
        ? 'the log contains no agent failure and no failed prompt'
        : terms.length > 0 && lastRecords(dir, () => true, 1).length > 0
          ? 'no record matches; see: switchboard help records'
          : `no records in ${dir}; log.frames may be "off"`,
    );
  return 0;
}

function wrongFilter({ wrong, value, values }: WrongTerm): CommandFailure {
  const hint = values ? nearestOf(value, values, 'values') : nearestOf(wrong.replace(/^!|(?<=[:<>]).*/g, ''), FILTER_TERMS, 'filters');
  return new CommandFailure(2, values ? `"${wrong}" has an unknown value` : `"${wrong}" is not a filter`, hint);
}

/** Runs until the reader closes stdout. */
async function follow(dir: string, wanted: FrameFilter, before: readonly FrameRecord[], isJson: boolean): Promise<number> {
  const show = (record: FrameRecord) => print(isJson ? JSON.stringify(record) : pretty(record));
  const follower = followRecords(dir);
  before.forEach(show);
  while (process.stdout.writable) {
    follower.look().filter(wanted).forEach(show);
    await sleep(LOOK_EVERY_MS);
  }
  return 0;
}

function pretty(record: FrameRecord): string {
  const { t, leg = '', dir = '', kind, method, id, session, ms, bytes, error, event, reason, records, chunks, msg, line } = record;
  const time = new Date(t).toISOString().slice(0, 23).replace('T', ' ');
  if (event === 'dropped') return `${time}  ${records} records dropped: the disk was too slow`;
  if (event !== undefined) return `${time}  ${nameOf(leg)}  ${event}${reason === undefined ? '' : `: ${reason}`}`;
  const parts = [
    time,
    nameOf(leg).padEnd(10),
    dir.startsWith('from') ? '->' : '<-',
    (kind ?? '').padEnd(12),
    method ?? '',
    id === undefined ? '' : `#${String(id)}`,
    session === undefined ? '' : `session ${session}`,
    ms === undefined ? '' : `${ms} ms`,
    bytes === undefined ? '' : `${bytes} B`,
    chunks === undefined ? '' : `${chunks} chunks`,
    error === undefined ? '' : `ERROR ${error}`,
  ].filter((part) => part !== '');
  const payload = msg === undefined ? line : JSON.stringify(msg);
  return withoutControls(payload === undefined ? parts.join('  ') : `${parts.join('  ')}\n    ${payload}`);
}

/** As the filter `connection:` names it. */
const nameOf = (leg: string): string => (leg === 'editor' ? 'client' : leg);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
