// Our own files: writable for us, closed to others, nothing left behind.
import { accessSync, constants, readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { describeDaemons, livingDaemons } from '../../agents/daemons.ts';
import { isRunning, readRunningRecords } from '../../agents/running-record.ts';
import { auditFile } from '../../audit/audit.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { isAbsent } from '../../config/watch-files.ts';
import { replaceFile } from '../../private-files.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export async function checkState(dir: string, platform: NodeJS.Platform): Promise<Finding[]> {
  const place = writable(dir);
  if (place.status !== 'ok') return [place];
  return [place, ...(platform === 'win32' ? [] : openToOthers(dir)), ...leftovers(dir), ...daemons(dir), ...(await audit(dir))];
}

function writable(dir: string): Finding {
  const elsewhere = 'set SWITCHBOARD_HOME to a directory that can be written';
  const why = 'sessions, capabilities and decisions cannot be remembered';
  // It is made when first needed; until then its nearest folder counts.
  for (let at = dir; ; at = path.dirname(at))
    try {
      if (!statSync(at).isDirectory()) return problem('state.writable', `${at} is not a directory`, why, elsewhere);
      accessSync(at, constants.W_OK);
      if (at === dir) tryToWrite(dir);
      return ok('state.writable', `the state directory is ${dir}`);
    } catch (error) {
      if (isAbsent(error) && at !== path.dirname(at)) continue;
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (code !== 'ENOSPC' && code !== 'EDQUOT') return problem('state.writable', `${at} cannot be written (${code})`, why, elsewhere);
      return problem('state.writable', `the disk of ${at} is full (${code})`, why, `make room there (df -h ${at}), or ${elsewhere}`);
    }
}

/** Whether it may be written says nothing of whether there is room. */
function tryToWrite(dir: string): void {
  const file = path.join(dir, 'doctor.probe');
  replaceFile(file, ' '.repeat(PROBE_BYTES));
  rmSync(file, { force: true });
}

const PROBE_BYTES = 4096;

function openToOthers(dir: string): Finding[] {
  const open = [dir, ...entries(dir)].filter((file) => ((stat(file)?.mode ?? 0) & 0o077) !== 0);
  const [first] = open;
  if (first === undefined) return [ok('state.private', 'its files are private to you')];
  const why = 'others on this machine can read what agents said and did';
  return [
    problem(
      'state.private',
      `${open.length === 1 ? first : `${first} and ${open.length - 1} more`} can be read by others`,
      why,
      `chmod -R go= ${dir}`,
    ),
  ];
}

function leftovers(dir: string): Finding[] {
  const stale = readRunningRecords(dir).filter(({ record }) => !record || !isRunning(record.owner));
  if (stale.length === 0) return [ok('state.leftovers', 'nothing is left of a killed switchboard')];
  const why = 'agents it had started may still run';
  return [
    warning(
      'state.leftovers',
      `${stale.length} switchboard(s) were killed and left a record`,
      why,
      'start a switchboard: it ends what others left',
    ),
  ];
}

/** Which an agent has put into a group of its own: nobody ends them but the user. */
function daemons(dir: string): Finding[] {
  const living = livingDaemons(dir);
  if (living.length === 0) return [];
  const { names, end } = describeDaemons(living);
  const why = 'agents have put them into groups of their own, as daemons: the switchboard does not end those';
  return [warning('state.daemons', `agents of earlier switchboards have left running: ${names}`, why, `if they are not wanted: ${end}`)];
}

async function audit(dir: string): Promise<Finding[]> {
  try {
    const { lines, problems } = await verifyAudit(auditFile(dir));
    if (problems.length === 0) return [ok('state.audit', `the audit log is intact (${lines} decisions)`)];
    return [
      problem(
        'state.audit',
        `the audit log is not as it was written: ${problems[0]?.says}`,
        'somebody or something has changed it',
        'switchboard audit verify',
      ),
    ];
  } catch (error) {
    return isAbsent(error)
      ? []
      : [
          problem(
            'state.audit',
            `the audit log cannot be read (${(error as Error).message})`,
            'it cannot be verified',
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
