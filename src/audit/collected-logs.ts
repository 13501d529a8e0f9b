// The logs that a collector has: DIR/HOST/INCARNATION.jsonl with each line as its host wrote it, and its head. The files are all there is to know, so
// a collector that was killed goes on after the last whole line.
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { readTail } from './audit.ts';
import { type Head, hashOf, headFile, NO_LINE, parseAuditLine, splitLines } from './audit-line.ts';
import { readLines } from './incarnation-logs.ts';
import { type Turn, takeTurn } from './line-lock.ts';
import { type AuditReport, verifyAudit } from './verify-audit.ts';

export type LogName = { readonly host: string; readonly incarnation: string };

/** What came of a batch of lines. */
export type Added = {
  /** The new lines, in order. */
  readonly lines: readonly Buffer[];
  /** Each of them follows the one before it. */
  readonly isInOrder: boolean;
  readonly isEnded: boolean;
  readonly last: Head;
};

export type CollectedLogs = {
  readonly dir: string;
  all(): readonly LogName[];
  fileOf(name: LogName): string;
  /** The last line; `seq` is 0 if there is none. */
  last(name: LogName): Head & { readonly isEnded: boolean };
  /** On the disk when it returns. Lines that are there already are left out, all others are evidence. `head`: that of the host's log. */
  add(name: LogName, lines: readonly Buffer[], head: Head | undefined): Added;
  verify(name: LogName): Promise<AuditReport>;
  close(): void;
};

type Known = { last: Head; isEnded: boolean; hashes?: Set<string> };

const READ_BYTES = 1024 * 1024;
const NAME = /^[\w=-]{1,200}$/;

/** Throws the system's error if the directory cannot be used. The one who has it in use, if another process collects into it. */
export function openCollectedLogs(dir: string): CollectedLogs | { readonly usedBy: string } {
  makeDirectory(dir);
  const turn = takeTurn(path.join(dir, 'collector'), 1);
  return 'takenBy' in turn ? { usedBy: turn.takenBy } : opened(dir, turn);
}

function opened(dir: string, turn: Turn): CollectedLogs {
  const known = new Map<string, Known>();
  const fileOf = ({ host, incarnation }: LogName): string => path.join(dir, host, `${incarnation}.jsonl`);
  function knownOf(name: LogName): Known {
    const file = fileOf(name);
    const found = known.get(file) ?? readEnd(file);
    known.set(file, found);
    return found;
  }
  return {
    dir,
    all: () =>
      directoriesIn(dir).flatMap((host) =>
        readdirSync(path.join(dir, host))
          .flatMap((file) => /^([\w=-]{1,200})\.jsonl$/.exec(file)?.[1] ?? [])
          .map((incarnation) => ({ host, incarnation })),
      ),
    fileOf,
    last: (name) => {
      const { last, isEnded } = knownOf(name);
      return { ...last, isEnded };
    },
    add(name, lines, head) {
      const file = fileOf(name);
      const state = knownOf(name);
      let { last, isEnded } = state;
      let isInOrder = true;
      const added = lines.filter((bytes) => {
        const line = parseAuditLine(bytes.toString('utf8'));
        const hash = hashOf(bytes);
        const isNext = line?.seq === last.seq + 1 && line.prev === last.hash;
        if (!isNext) {
          state.hashes ??= existsSync(file) ? hashesIn(file) : new Set();
          if (state.hashes.has(hash)) return false;
          isInOrder = false;
        }
        state.hashes?.add(hash);
        if (line) [last, isEnded] = [{ seq: line.seq, hash }, line.end === true];
        return true;
      });
      const declared = head !== undefined && head.seq > last.seq ? head : last;
      if (added.length > 0) append(file, Buffer.concat(added.flatMap((line) => [line, LINE_FEED])));
      if (added.length > 0 || declared !== last) {
        makeDirectory(path.dirname(file));
        replaceFile(headFile(file), `${declared.seq} ${declared.hash}\n`);
      }
      Object.assign(state, { last, isEnded });
      return { lines: added, isInOrder: isInOrder && declared === last, isEnded, last };
    },
    verify: ({ host, incarnation }) => verifyAudit(fileOf({ host, incarnation }), { host, incarnation }),
    close: () => turn.end(false),
  };
}

const LINE_FEED = Buffer.from('\n');

/** A line that a killed collector did not finish is removed: the bus still has it. */
function readEnd(file: string): Known {
  const none = { last: { seq: 0, hash: NO_LINE }, isEnded: false };
  let fd: number;
  try {
    fd = openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none;
    throw error;
  }
  try {
    const { seq, hash, isEnd, rest } = readTail(fd);
    const open = rest.length - (rest.lastIndexOf(0x0a) + 1);
    if (open > 0) ftruncateSync(fd, fstatSync(fd).size - open);
    return seq === 0 ? none : { last: { seq, hash }, isEnded: isEnd };
  } finally {
    closeSync(fd);
  }
}

function hashesIn(file: string): Set<string> {
  const hashes = new Set<string>();
  for (let offset = 0; ; ) {
    const lines = readLines(file, offset, READ_BYTES);
    if (lines.length === 0) return hashes;
    for (const line of splitLines(lines)) hashes.add(hashOf(line));
    offset += lines.length;
  }
}

function append(file: string, bytes: Buffer): void {
  makeDirectory(path.dirname(file));
  const fd = openSync(file, 'a', 0o600);
  const { size } = fstatSync(fd);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fdatasyncSync(fd);
  } catch (error) {
    ftruncateSync(fd, size);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function directoriesIn(dir: string): readonly string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((one) => (one.isDirectory() && NAME.test(one.name) ? [one.name] : []));
}
