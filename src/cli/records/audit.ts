// `switchboard audit verify` and `switchboard audit tail`.
import { watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { auditFile } from '../../audit/audit.ts';
import { type AuditLine, parseAuditLine } from '../../audit/audit-line.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { errorCode } from '../../config/watch-files.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { CommandFailure } from '../failure.ts';
import { complain, inEnvelope, print, printData } from '../policy/output.ts';
import { refuse, surroundings } from '../resolve-config.ts';

export type VerifyFlags = { readonly file?: string; readonly json?: true };

const FOUND_PROBLEMS = 8;

export function auditVerify(flags: VerifyFlags): Promise<number> {
  return inEnvelope('AUDIT_UNREADABLE', async () => {
    const file = flags.file === undefined ? auditFile(surroundings({}).stateDir) : path.resolve(flags.file);
    const report = await verifyAudit(file).catch((error: unknown) => {
      throw unreadable(file, flags, error);
    });
    const { lines, problems, notes, isEnded } = report;
    const isIntact = problems.length === 0;
    if (flags.json)
      printData(
        { ...report, isIntact },
        notes.map(({ says }) => says),
      );
    else {
      for (const { says } of problems) complain(says);
      for (const { says } of notes) complain(`note: ${says}`);
      const counted = `${lines} ${lines === 1 ? 'decision' : 'decisions'}`;
      if (isIntact) print(`intact: ${file} (${counted}${isEnded ? '' : '; no end record: a process still writes to it, or was killed'})`);
      else print(`not intact: ${file} (${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, ${lines} lines)`);
    }
    return isIntact ? 0 : FOUND_PROBLEMS;
  });
}

/** A log named with --file is input; our own log may not exist yet. */
function unreadable(file: string, { file: named }: { readonly file?: string }, error: unknown): CommandFailure {
  if (named !== undefined) refuse('the audit log', named, error);
  if (errorCode(error) === 'ENOENT')
    return new CommandFailure(4, `no audit log at ${file}`, 'the first policy decision creates it; use --file for another log');
  return new CommandFailure(1, `cannot read the audit log ${file} (${errorCode(error)})`);
}

export type TailFlags = { readonly lines: number; readonly follow?: true; readonly file?: string; readonly json?: true };

const CHUNK = 64 * 1024;
/** For file systems that do not report changes. */
const LOOK_AGAIN_MS = 1000;

export function auditTail(flags: TailFlags): Promise<number> {
  return inEnvelope('AUDIT_UNREADABLE', async () => {
    const file = flags.file === undefined ? auditFile(surroundings({}).stateDir) : path.resolve(flags.file);
    const handle = await open(file, 'r').catch((error: unknown) => {
      throw unreadable(file, flags, error);
    });
    try {
      const { lines, end } = await lastLines(handle, flags.lines).catch((error: unknown) => {
        throw unreadable(file, flags, error);
      });
      if (flags.json && !flags.follow) printData({ file, lines: lines.flatMap((text) => parseAuditLine(text) ?? []) });
      else for (const text of lines) show(text, flags);
      if (flags.follow) await follow(handle, file, end, (text) => show(text, flags));
      return 0;
    } finally {
      await handle.close();
    }
  });
}

async function lastLines(handle: FileHandle, count: number): Promise<{ readonly lines: readonly string[]; readonly end: number }> {
  const { size } = await handle.stat();
  let bytes = Buffer.alloc(0);
  let start = size;
  // Read one more line than needed: the first one may be incomplete.
  while (start > 0 && bytes.filter((byte) => byte === 0x0a).length <= count) {
    const length = Math.min(CHUNK, start);
    start -= length;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
    bytes = Buffer.concat([buffer.subarray(0, bytesRead), bytes]);
  }
  const whole = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.toString('utf8', 0, whole).split('\n').slice(0, -1);
  return { lines: count === 0 ? [] : lines.slice(-count), end: start + whole };
}

/** Until the process is interrupted. */
async function follow(handle: FileHandle, file: string, from: number, show: (line: string) => void): Promise<void> {
  let at = from;
  const looks = createSerialQueue();
  const look = async () => {
    for (;;) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
      const whole = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      if (whole === 0) return;
      for (const line of buffer.toString('utf8', 0, whole).split('\n').slice(0, -1)) show(line);
      at += whole;
    }
  };
  await new Promise<void>((resolve, reject) => {
    const again = () => {
      void looks.run(look).catch(reject);
    };
    const watcher = watch(path.dirname(file), again).on('error', () => {});
    const timer = setInterval(again, LOOK_AGAIN_MS);
    const end = () => {
      watcher.close();
      clearInterval(timer);
      resolve();
    };
    process.stdout.once('close', end).once('error', end); // for example `| head`
    again();
  });
}

function show(text: string, { json }: TailFlags): void {
  const line = parseAuditLine(text);
  if (json) process.stdout.write(line === undefined ? '' : `${text}\n`);
  else print(line === undefined ? '(invalid line)' : inWords(line));
}

function inWords(line: AuditLine): string {
  const word = (key: string): string => (typeof line[key] === 'string' ? String(line[key]) : '');
  const rule = line.rule as { readonly id?: unknown; readonly at?: unknown } | undefined;
  if (line.end === true) return `${word('time')}  end of one process's records`;
  const answerer = word('by') === 'approve' ? '--approve' : word('by');
  const by = [
    word('answer') === '' ? answerer : `${answerer}: ${word('answer')}`,
    rule === undefined ? '' : `${rule.id} ${rule.at}`,
    typeof line.bundle === 'number' ? `bundle ${line.bundle}` : '',
    word('mode') === 'observe' ? 'observe mode' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
  return `${word('time')}  ${word('verdict').padEnd(5)}  ${word('outcome').padEnd(9)}  ${word('agent')}  ${word('summary')}  (${by})`;
}
