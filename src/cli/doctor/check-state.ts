// Checks our own files: writable, private, no leftovers.
import { readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { describeDaemons, livingDaemons } from '../../agents/daemons.ts';
import { isRunning, readRunningRecords } from '../../agents/running-record.ts';
import { auditFile } from '../../audit/audit.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { isAbsent } from '../../config/watch-files.ts';
import { platformOf } from '../../platform/platform.ts';
import { makeDirectory, replaceFile } from '../../private-files.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export async function checkState(dir: string, platform: NodeJS.Platform): Promise<Finding[]> {
  const place = writable(dir);
  if (place.status !== 'ok') return [place];
  return [place, ...(platformOf(platform).hasModes ? openToOthers(dir) : []), ...leftovers(dir), ...daemons(dir), ...(await audit(dir))];
}

function writable(dir: string): Finding {
  const elsewhere = 'set SWITCHBOARD_HOME to a writable directory';
  const why = 'switchboard cannot store sessions, capabilities and decisions';
  const above = firstMissing(dir);
  try {
    makeDirectory(dir); // as the first session does
    if (!statSync(dir).isDirectory()) return problem('state.writable', `${dir} is not a directory`, why, elsewhere);
    tryToWrite(dir);
    const blocked = OUR_FILES.map((name) => path.join(dir, name)).find((file) => stat(file)?.isDirectory());
    if (blocked !== undefined) return problem('state.writable', `${blocked} is a directory`, why, `remove it, or ${elsewhere}`);
    return ok('state.writable', `the state directory is ${dir}`);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const [at] = ((error as NodeJS.ErrnoException).path ?? dir).split(`${path.sep}doctor.probe`);
    if (code === 'ENOTDIR' || code === 'EEXIST')
      return problem('state.writable', `${notDirectory(dir)} is not a directory`, why, elsewhere);
    if (code !== 'ENOSPC' && code !== 'EDQUOT') return problem('state.writable', `${at} is not writable (${code})`, why, elsewhere);
    return problem('state.writable', `the disk of ${at} is full (${code})`, why, `free some space (df -h ${at}), or ${elsewhere}`);
  } finally {
    // The doctor leaves nothing behind.
    if (above !== undefined && stat(above)) rmSync(above, { recursive: true, force: true });
  }
}

const OUR_FILES = ['sessions.jsonl', 'capabilities.json', 'audit.jsonl'];

/** The outermost directory that would be created for this one; undefined if it exists. */
function firstMissing(dir: string): string | undefined {
  let missing: string | undefined;
  for (let at = dir; stat(at) === undefined && at !== path.dirname(at); at = path.dirname(at)) missing = at;
  return missing;
}

/** The part of the path that is a file. */
function notDirectory(dir: string): string {
  for (let at = dir; at !== path.dirname(at); at = path.dirname(at)) if (stat(at)?.isDirectory() === false) return at;
  return dir;
}

/** Write permission does not mean that there is space. */
function tryToWrite(dir: string): void {
  const file = path.join(dir, 'doctor.probe');
  replaceFile(file, ' '.repeat(PROBE_BYTES));
  rmSync(file, { force: true });
}

const PROBE_BYTES = 4096;

function openToOthers(dir: string): Finding[] {
  const open = [dir, ...entries(dir)].filter((file) => ((stat(file)?.mode ?? 0) & 0o077) !== 0);
  const [first] = open;
  if (first === undefined) return [ok('state.private', 'only you can read the state directory')];
  const why = 'other users of this machine can read what agents said and did';
  return [
    problem(
      'state.private',
      `other users can read ${open.length === 1 ? first : `${first} and ${open.length - 1} more`}`,
      why,
      `chmod -R go= ${dir}`,
    ),
  ];
}

function leftovers(dir: string): Finding[] {
  const stale = readRunningRecords(dir).filter(({ record }) => !record || !isRunning(record.owner));
  if (stale.length === 0) return [ok('state.leftovers', 'no leftovers of a killed switchboard')];
  const why = 'agents that it started may still be running';
  return [
    warning(
      'state.leftovers',
      `${stale.length} killed switchboard process(es) left a record`,
      why,
      'start switchboard: it stops the leftover agents',
    ),
  ];
}

/** Processes that an agent put into their own group: only the user ends them. */
function daemons(dir: string): Finding[] {
  const living = livingDaemons(dir);
  if (living.length === 0) return [];
  const { names, end } = describeDaemons(living);
  const why = 'agents detached them as daemons, and switchboard does not stop daemons';
  return [warning('state.daemons', `agents left these processes running: ${names}`, why, `to stop them, run: ${end}`)];
}

async function audit(dir: string): Promise<Finding[]> {
  try {
    const { lines, problems } = await verifyAudit(auditFile(dir));
    if (problems.length === 0) return [ok('state.audit', `the audit log is intact (${lines} decisions)`)];
    return [
      problem('state.audit', `the audit log was modified: ${problems[0]?.says}`, 'its hash chain is broken', 'switchboard audit verify'),
    ];
  } catch (error) {
    return isAbsent(error)
      ? []
      : [
          problem(
            'state.audit',
            `cannot read the audit log (${(error as Error).message})`,
            'switchboard cannot verify it',
            'switchboard audit verify',
          ),
        ];
  }
}

function entries(dir: string): string[] {
  try {
    return readdirSync(dir).map((name) => path.join(dir, name));
  } catch {
    return [];
  }
}

function stat(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}
