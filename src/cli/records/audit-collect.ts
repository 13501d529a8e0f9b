// `switchboard audit collect`: takes the audit logs of all hosts from the bus into files, and verifies them.
import path from 'node:path';
import { type CollectedLogs, type LogName, openCollectedLogs } from '../../audit/collected-logs.ts';
import type { AuditFinding } from '../../audit/verify-audit.ts';
import { type Collector, collectLogs } from '../../bus/audit/collect-logs.ts';
import { systemBusClock } from '../../bus/clock.ts';
import { errorCode } from '../../config/watch-files.ts';
import { type BusCommandFlags, usingBus } from '../bus/open-bus.ts';
import { CommandFailure } from '../failure.ts';
import { complain, inEnvelope, print, printData } from '../policy/output.ts';
import { surroundings } from '../resolve-config.ts';

export type CollectFlags = BusCommandFlags & { readonly dir?: string; readonly follow?: true };

const FOUND_PROBLEMS = 8;

type Verified = LogName & {
  readonly file: string;
  readonly decisions: number;
  readonly isEnded: boolean;
  /** Its host is on the bus with it. */
  readonly isRunning: boolean;
  readonly problems: readonly AuditFinding[];
  readonly notes: readonly AuditFinding[];
};

export function auditCollect(flags: CollectFlags): Promise<number> {
  const { dir: given, follow, json, ...busFlags } = flags;
  return inEnvelope('AUDIT_UNREADABLE', () =>
    usingBus(busFlags, 'audit collect', async (bus, { tenant }) => {
      const dir = given === undefined ? path.join(surroundings({}).stateDir, 'collected-audit', tenant) : path.resolve(given);
      const logs = openIn(dir);
      const reporter = createReporter(logs);
      let fail = (_: Error) => {};
      const failure = new Promise<never>((_, reject) => {
        fail = (error) => reject(unwritable(dir, error));
      });
      failure.catch(() => {});
      let collector: Collector | undefined;
      const ended = follow ? firstSignal() : undefined;
      try {
        collector = await collectLogs({
          bus,
          tenant,
          logs,
          clock: systemBusClock,
          onLine: (line) => void (follow && json && process.stdout.write(`${line.toString('utf8')}\n`)),
          onBroken: (name) => void (follow && reporter.check(name).catch(fail)),
          onUnknownRecord: reporter.warn,
          onFailure: fail,
        });
        await Promise.race([collector.caughtUp(), failure, ...(ended ? [ended] : [])]);
        const verified = await verifyAll(logs, collector);
        const elsewhere = await missingHere(collector, verified);
        for (const log of verified) reporter.found(log, log.problems);
        for (const text of elsewhere) reporter.warn(text);
        if (ended) {
          if (!json) print(`${collector.count} lines collected into ${dir}; new ones follow until Ctrl-C`);
          await Promise.race([ended, failure]);
        } else report({ dir, tenant, logs: verified, warnings: reporter.warnings, count: collector.count }, json === true);
        return reporter.isIntact ? 0 : FOUND_PROBLEMS;
      } finally {
        await collector?.close();
        logs.close();
      }
    }),
  );
}

function openIn(dir: string): CollectedLogs {
  try {
    const logs = openCollectedLogs(dir);
    if (!('usedBy' in logs)) return logs;
    throw new CommandFailure(
      1,
      `another process collects into ${dir} (${logs.usedBy})`,
      'end it first, or name another directory: --dir DIR',
    );
  } catch (error) {
    throw error instanceof CommandFailure ? error : unwritable(dir, error);
  }
}

function unwritable(dir: string, error: unknown): Error {
  const code = errorCode(error);
  return code === undefined
    ? (error as Error)
    : new CommandFailure(1, `cannot write the collected logs in ${dir} (${code})`, 'name another directory: --dir DIR');
}

/** Says each problem once. */
function createReporter(logs: CollectedLogs) {
  const known = new Set<string>();
  const warnings: string[] = [];
  const say = (text: string): void => {
    if (!known.has(text)) complain(text);
    known.add(text);
  };
  const found = (name: LogName, problems: readonly AuditFinding[]) => {
    for (const { kind, says } of problems) say(`${shown(name)}: ${kind}: ${says}`);
  };
  return {
    get isIntact() {
      return known.size === 0;
    },
    warnings,
    found,
    async check(name: LogName) {
      found(name, (await logs.verify(name)).problems);
    },
    warn(text: string) {
      warnings.push(text);
      say(text);
    },
  };
}

const shown = ({ host, incarnation }: LogName): string => `${host} ${incarnation}`;

async function verifyAll(logs: CollectedLogs, collector: Collector): Promise<readonly Verified[]> {
  const running = new Set((await collector.running()).map(shown));
  const verified: Verified[] = [];
  for (const name of logs.all()) {
    const { file, lines, isEnded, problems, notes } = await logs.verify(name);
    verified.push({ ...name, file, decisions: lines, isEnded, isRunning: running.has(shown(name)), problems, notes });
  }
  return verified;
}

/** A log that is broken has a problem of its own. */
async function missingHere(collector: Collector, verified: readonly Verified[]): Promise<readonly string[]> {
  const broken = new Set(verified.filter(({ problems }) => problems.length > 0).map(shown));
  return (await collector.elsewhere())
    .filter(({ name }) => !broken.has(shown(name)))
    .map(({ name, seq }) => `${shown(name)}: missing: its lines up to ${seq} were collected, and are not in this directory`);
}

type Report = {
  readonly dir: string;
  readonly tenant: string;
  readonly logs: readonly Verified[];
  readonly warnings: readonly string[];
  readonly count: number;
};

function report({ dir, tenant, logs, warnings, count }: Report, isJson: boolean): void {
  const broken = logs.filter(({ problems }) => problems.length > 0);
  const isIntact = broken.length === 0 && warnings.length === 0;
  if (isJson) return printData({ dir, tenant, collected: count, isIntact, logs }, warnings);
  for (const { notes, ...log } of logs) {
    for (const { says } of notes) complain(`note: ${shown(log)}: ${says}`);
    if (log.isEnded || log.isRunning) continue;
    complain(`note: ${shown(log)}: no end record: its host was killed or cut off; what it has not sent follows when it runs again`);
  }
  if (logs.length === 0) complain('note: no host has sent a decision yet');
  const decisions = logs.reduce((sum, log) => sum + log.decisions, 0);
  const what = `${logs.length} ${logs.length === 1 ? 'log' : 'logs'}, ${decisions} ${decisions === 1 ? 'decision' : 'decisions'}; ${count} new lines`;
  print(isIntact ? `intact: ${dir} (${what})` : `not intact: ${dir} (${broken.length} broken of ${what})`);
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
    process.stdout.once('close', resolve).once('error', () => resolve()); // for example `| head`
  });
}
