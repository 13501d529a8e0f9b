// The logs of a host: one chain for each of its incarnations, in a directory of its own. They wait there for the bus, and go when a collector has
// them; the log of the machine keeps the same decisions.
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';
import { type Audit, type AuditOptions, createAuditIn } from './audit.ts';
import { type Head, headFile, parseHead } from './audit-line.ts';

export type IncarnationLog = {
  readonly incarnation: string;
  readonly file: string;
  /** No process writes to it any more. */
  readonly isEnded: boolean;
};

const LOG = /^([\w-]{1,100})\.jsonl$/;

export const incarnationLogs = (stateDir: string, tenant: string, host: string): string => path.join(stateDir, 'host-audit', tenant, host);

/** Throws the system's error if the directory cannot be written. */
export function beginIncarnationLog(dir: string, host: string, incarnation: string, options: AuditOptions): Audit {
  const file = path.join(dir, `${incarnation}.jsonl`);
  makeDirectory(dir);
  writeFileSync(ownerFile(file), lockOwner(), { mode: 0o600 });
  const audit = createAuditIn(file, { ...options, about: { host, incarnation } });
  return {
    ...audit,
    close() {
      audit.close();
      rmSync(ownerFile(file), { force: true });
    },
  };
}

/** Oldest first. */
export function findIncarnationLogs(dir: string): readonly IncarnationLog[] {
  return namesIn(dir)
    .flatMap((name) => {
      const incarnation = LOG.exec(name)?.[1];
      const file = path.join(dir, name);
      return incarnation === undefined ? [] : [{ incarnation, file, isEnded: isEnded(file), at: sizeAndTime(file).birthtimeMs }];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ at: _, ...log }) => log);
}

export const sizeOfLog = (file: string): number => sizeAndTime(file).size;

/** Whole lines from a place on, at most `max` bytes of them or one line. */
export function readLines(file: string, from: number, max: number): Buffer {
  const fd = openSync(file, 'r');
  try {
    for (let wanted = max; ; wanted *= 4) {
      const bytes = Buffer.alloc(wanted);
      const got = readSync(fd, bytes, 0, wanted, from);
      const end = bytes.subarray(0, got).lastIndexOf(0x0a) + 1;
      if (end > 0 || got < wanted) return bytes.subarray(0, end);
    }
  } finally {
    closeSync(fd);
  }
}

export function headOf(file: string): Head | undefined {
  try {
    return parseHead(readFileSync(headFile(file), 'utf8'));
  } catch {
    return undefined;
  }
}

export function removeLog(file: string): void {
  for (const one of [file, headFile(file), ownerFile(file)]) rmSync(one, { force: true });
}

const ownerFile = (file: string): string => `${file.replace(/\.jsonl$/, '')}.owner`;

function isEnded(file: string): boolean {
  try {
    return !mayBeAlive(readFileSync(ownerFile(file), 'utf8'));
  } catch {
    return true;
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function sizeAndTime(file: string): { readonly size: number; readonly birthtimeMs: number } {
  return statSync(file, { throwIfNoEntry: false }) ?? { size: 0, birthtimeMs: 0 };
}
