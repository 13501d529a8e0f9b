// `switchboard audit verify`
import path from 'node:path';
import { auditFile } from '../../audit/audit.ts';
import { verifyAudit } from '../../audit/verify-audit.ts';
import { errorCode } from '../../config/watch-files.ts';
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
    const { lines, problems, notes } = report;
    const isIntact = problems.length === 0;
    if (flags.json)
      printData(
        { ...report, isIntact },
        notes.map(({ says }) => says),
      );
    else {
      for (const { says } of problems) complain(says);
      for (const { says } of notes) complain(`note: ${says}`);
      if (isIntact) print(`intact: ${file} (${lines} ${lines === 1 ? 'decision' : 'decisions'})`);
      else print(`not intact: ${file} (${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, ${lines} lines)`);
    }
    return isIntact ? 0 : FOUND_PROBLEMS;
  });
}

/** One that was named is input like any other; of our own there may be none yet. */
export function unreadable(file: string, { file: named }: { readonly file?: string }, error: unknown): CommandFailure {
  if (named !== undefined) refuse('the audit log', named, error);
  if (errorCode(error) === 'ENOENT')
    return new CommandFailure(4, `there is no audit log ${file}`, 'it begins with the first decision of a policy; --file names another');
  return new CommandFailure(1, `the audit log ${file} cannot be read (${errorCode(error)})`);
}
