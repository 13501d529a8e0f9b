// The audit log of a host for its collector: each decision is also in the log of the incarnation, whose lines go to the bus.
import type { Audit } from '../../audit/audit.ts';
import { beginIncarnationLog, incarnationLogs } from '../../audit/incarnation-logs.ts';
import { auditSettings } from '../../audit/settings.ts';
import { sendLogs } from '../../bus/audit/send-logs.ts';
import type { Bus } from '../../bus/bus.ts';
import { systemBusClock } from '../../bus/clock.ts';
import type { BusConfig } from '../../bus/config.ts';
import type { InProcess } from '../in-process-proxy.ts';
import { notice } from '../output.ts';

export type HostAudit = {
  /** What is decided from now on is in the log of this incarnation. */
  readonly began: (incarnation: string) => void;
  /** Ends the log, and sends what there is if the bus takes it at once. */
  close(): Promise<void>;
};

/** Undefined without a policy: then nothing is decided. */
export function sendDecisions(
  bus: Bus,
  { tenant }: BusConfig,
  host: string,
  { policy, stateDir, secrets, config }: Pick<InProcess, 'policy' | 'stateDir' | 'secrets' | 'config'>,
): HostAudit | undefined {
  if (!policy) return undefined;
  const { isRequired, spoolBytes } = config.audit ?? auditSettings({});
  const dir = incarnationLogs(stateDir, tenant, host);
  const sender = sendLogs({ bus, tenant, host, dir, clock: systemBusClock, report: notice });
  let log: Audit | undefined;
  let unopened: string | undefined = 'the host has no place on the bus yet';
  let skipped = 0;

  /** Why no more may wait. */
  function full(): string | undefined {
    if (!isRequired) return undefined;
    const waiting = sender.waitingBytes();
    if (waiting <= spoolBytes) return undefined;
    const why = sender.problem() ?? 'it is slower than they come';
    return `${waiting} bytes of decisions wait for the bus, and "audit.spool_bytes" allows ${spoolBytes}: ${why}`;
  }
  policy.alsoRecordIn({
    problem: () => unopened ?? log?.problem() ?? full(),
    record(entry) {
      const problem = unopened ?? full();
      if (problem !== undefined) {
        skipped += 1;
        return problem;
      }
      const outcome = log?.record({ ...entry, ...(skipped > 0 && { skipped }) });
      if (outcome?.isWritten === false) return outcome.problem;
      skipped = 0;
      sender.wake();
      return undefined;
    },
  });
  return {
    began(incarnation) {
      log?.close();
      unopened = undefined;
      try {
        log = beginIncarnationLog(dir, host, incarnation, { redact: secrets.redact, onProblem: notice });
      } catch (error) {
        unopened = `the audit log of the host cannot be written in ${dir} (${(error as NodeJS.ErrnoException).code})`;
        notice(unopened);
      }
      sender.wake();
    },
    async close() {
      log?.close();
      log = undefined;
      await sender.close();
    },
  };
}
