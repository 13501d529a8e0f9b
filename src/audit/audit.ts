// The audit log: one line for each decision, on disk before the answer is sent, each line holding the hash of the one before it.

import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';
import { sleepSync } from '../processes/lock-owner.ts';
import type { Redactor } from '../redaction/redact.ts';
import {
  type AuditEntry,
  type AuditLine,
  type Head,
  hashOf,
  headFile,
  NO_LINE,
  parseAuditLine,
  parseHead,
  type Torn,
} from './audit-line.ts';
import { removeOldMarks, takeTurn } from './line-lock.ts';

export type AuditOptions = {
  readonly redact: Redactor;
  readonly now?: () => Date;
  /** Told once when lines cannot be written any more, and again after it has worked in between. */
  readonly onProblem?: (problem: string) => void;
  /** Also wait for the disk itself: a loss of power then costs no line, and a decision some milliseconds. */
  readonly toDisk?: boolean;
  /** Fields of each line that say whose log it is. */
  readonly about?: Readonly<Record<string, string>>;
  /** How long other processes are waited for. */
  readonly waitMs?: number;
};

/** Unless it `isWritten`, nothing may be allowed on the strength of it. */
export type Written = { readonly isWritten: true; readonly seq: number } | { readonly isWritten: false; readonly problem: string };

export type Audit = {
  readonly file: string;
  /** Why the last line could not be written; undefined if it could. */
  problem(): string | undefined;
  /** Returns when the line is in the file. Never throws. */
  record(entry: AuditEntry): Written;
  /** Writes the end record, and waits until the log and its head are on the disk. Nothing if no decision was recorded. Never throws. */
  close(): void;
};

export const auditFile = (stateDir: string): string => path.join(stateDir, 'audit.jsonl');

const MAX_SUMMARY = 2000;
const MAX_WORDS = 500;
const WINDOW = 16 * 1024;

/** The log of this machine. */
export const createAudit = (stateDir: string, options: AuditOptions): Audit => createAuditIn(auditFile(stateDir), options);

export function createAuditIn(file: string, options: AuditOptions): Audit {
  const { now = () => new Date(), onProblem = () => {}, waitMs = 1000 } = options;
  let broken: string | undefined;
  let isTidy = false;
  let isUsed = false;

  /** Without an entry: the end record. */
  function write(entry: AuditEntry | undefined): number {
    const fd = open(file);
    try {
      // A writer that was too slow has delayed every session. Until a write works again, try once and do not wait.
      return inTurn(fd, file, broken === undefined ? waitMs : 0, (tail) => {
        const seq = tail.seq + 1;
        const head = readHead(file);
        const chain: Chain = {
          seq,
          time: now().toISOString(),
          about: options.about,
          prev: tail.hash,
          torn: tail.rest.length === 0 ? undefined : tornOf(tail.rest),
          lost: head === undefined || agrees(head, tail) ? undefined : head,
        };
        const line = entry === undefined ? endLine(chain) : lineOf(entry, options.redact, chain);
        const isOpenLine = tail.rest.length > 0 && tail.rest.at(-1) !== 0x0a;
        append(fd, Buffer.from(`${isOpenLine ? '\n' : ''}${line}\n`));
        const isToDisk = options.toDisk === true || entry === undefined;
        if (isToDisk) fdatasyncSync(fd);
        writeHead(file, { seq, hash: hashOf(line) }, isToDisk);
        if (!isTidy) removeOldMarks(file, tail.seq);
        isTidy = true;
        return seq;
      });
    } finally {
      closeSync(fd);
    }
  }

  return {
    file,
    problem: () => broken,
    record(entry) {
      try {
        const seq = write(entry);
        broken = undefined;
        isUsed = true;
        return { isWritten: true, seq };
      } catch (error) {
        const problem = `the audit log ${file} cannot be written: ${reasonOf(error)}`;
        if (broken === undefined) onProblem(problem);
        broken = problem;
        return { isWritten: false, problem };
      }
    },
    close() {
      if (!isUsed) return;
      isUsed = false;
      try {
        write(undefined);
      } catch {} // the decisions are in the log; only the mark that they are complete is missing
    },
  };
}

function open(file: string): number {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
  try {
    return openSync(file, flags, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeDirectory(path.dirname(file));
    return openSync(file, flags, 0o600);
  }
}

type Tail = Head & {
  readonly isEnd: boolean;
  /** After the last line that is one. */
  readonly rest: Buffer;
};

function inTurn<T>(fd: number, file: string, waitMs: number, work: (tail: Tail) => T): T {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const { seq } = readTail(fd);
    const turn = takeTurn(file, seq + 1);
    if ('takenBy' in turn) {
      if (performance.now() >= deadline) throw new Error(`another process is writing to it and does not finish (${turn.takenBy})`);
      sleepSync(1);
      continue;
    }
    let isWritten = false;
    try {
      // Between the look at the log and the turn, another process may have had this very turn and ended it.
      const tail = readTail(fd);
      if (tail.seq !== seq) continue;
      const result = work(tail);
      isWritten = true;
      return result;
    } finally {
      turn.end(isWritten);
    }
  }
}

/** The head is written after the line, so it may lag behind the log; it never runs ahead, and never names another last line. */
function agrees(head: Head, { seq, hash }: Tail): boolean {
  return head.seq < seq || (head.seq === seq && head.hash === hash);
}

/** The last line that is whole and ours, looked for from the end. */
export function readTail(fd: number): Tail {
  const { size } = fstatSync(fd);
  for (let wanted = Math.min(WINDOW, size); ; wanted = Math.min(wanted * 4, size)) {
    const bytes = Buffer.alloc(wanted);
    const got = readSync(fd, bytes, 0, wanted, size - wanted);
    const window = bytes.subarray(0, got);
    let end = window.lastIndexOf(0x0a);
    while (end >= 0) {
      const start = end === 0 ? 0 : window.lastIndexOf(0x0a, end - 1) + 1;
      if (start === 0 && wanted < size) break; // its beginning may lie before the window
      const text = window.subarray(start, end);
      const line = parseAuditLine(text.toString('utf8'));
      if (line !== undefined) return { seq: line.seq, hash: hashOf(text), isEnd: line.end === true, rest: window.subarray(end + 1) };
      end = start - 1;
    }
    if (wanted >= size) return { seq: 0, hash: NO_LINE, isEnd: false, rest: window };
  }
}

/** All of it, or nothing: a disk that is full takes the beginning of a line and then refuses. */
function append(fd: number, bytes: Buffer): void {
  const { size } = fstatSync(fd);
  try {
    let done = 0;
    while (done < bytes.length) done += writeSync(fd, bytes, done);
  } catch (error) {
    try {
      ftruncateSync(fd, size);
    } catch {} // then the next line tells of what is left
    throw error;
  }
}

function tornOf(rest: Buffer): Torn {
  return { bytes: rest.length, sha256: hashOf(rest), isCut: !rest.includes(0x0a) };
}

type Chain = Pick<AuditLine, 'seq' | 'prev'> & {
  readonly time: string;
  readonly about: AuditOptions['about'];
  readonly torn: Torn | undefined;
  readonly lost: Head | undefined;
};

const endLine = ({ seq, time, about, ...chain }: Chain): string => JSON.stringify({ seq, time, ...about, ...chain, end: true });

function lineOf(entry: AuditEntry, redact: Redactor, { seq, time, about, prev, torn, lost }: Chain): string {
  // Cut after redaction: half of a secret would not be known for one.
  const words = (text: string | undefined, max = MAX_WORDS) => (text === undefined ? undefined : shortened(redact(text), max));
  const { rule } = entry;
  return JSON.stringify({
    seq,
    time,
    ...about,
    agent: words(entry.agent),
    session: words(entry.session),
    method: words(entry.method),
    request: hashOf(entry.request),
    summary: words(entry.summary, MAX_SUMMARY),
    count: entry.count,
    evidence: entry.evidence,
    verdict: entry.verdict,
    why: words(entry.why),
    rule: rule && { id: words(rule.id), at: words(`${rule.file}:${rule.line}`) },
    layer: entry.layer,
    by: entry.answeredBy,
    outcome: entry.outcome,
    answer: entry.answer,
    answerIn: entry.answerIn,
    option: words(entry.option),
    latencyMs: Math.round(entry.latencyMs * 1000) / 1000,
    policy: entry.policyHash,
    bundle: entry.bundle,
    mode: entry.mode,
    line: entry.line,
    skipped: entry.skipped,
    torn,
    lost,
    prev,
  });
}

function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`;
}

function readHead(file: string): Head | undefined {
  try {
    return parseHead(readFileSync(headFile(file), 'utf8'));
  } catch {
    return undefined;
  }
}

// The line stands, whether the head could be written or not; one that lags behind is understood. In place, so that it is never empty.
function writeHead(file: string, { seq, hash }: Head, isToDisk: boolean): void {
  try {
    const fd = openSync(headFile(file), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      writeSync(fd, `${seq} ${hash}\n`, 0);
      if (isToDisk) fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {}
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'a directory is in its place',
  ENOTDIR: 'the state directory is no directory',
  EMFILE: 'too many open files',
};

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  const words = REASONS[code];
  return words === undefined ? code : `${words} (${code})`;
}
