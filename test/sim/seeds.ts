// Runs many histories one after the other, and sums them up.
import { type Report, runHistory } from './history.ts';

export type Totals = {
  seeds: number;
  events: number;
  frames: number;
  readonly faults: Record<string, number>;
  readonly failed: { readonly seed: number; readonly problem: string }[];
};

export const noTotals = (): Totals => ({ seeds: 0, events: 0, frames: 0, faults: {}, failed: [] });

type Run = (seed: number) => SeedReport | Promise<SeedReport>;
export type SeedReport = Pick<Report, 'seed' | 'events' | 'frames' | 'faults' | 'problem' | 'trace'>;

export async function runSeeds(
  from: number,
  count: number,
  onReport: (report: SeedReport) => void = () => {},
  run: Run = runHistory,
): Promise<Totals> {
  const totals = noTotals();
  for (let seed = from; seed < from + count; seed++) {
    const report = await run(seed);
    const { events, frames, faults, problem } = report;
    const failed = problem === undefined ? [] : [{ seed, problem }];
    addTotals(totals, { seeds: 1, events, frames, faults: Object.fromEntries(faults), failed });
    onReport(report);
  }
  return totals;
}

export function addTotals(totals: Totals, more: Totals): void {
  totals.seeds += more.seeds;
  totals.events += more.events;
  totals.frames += more.frames;
  for (const [fault, times] of Object.entries(more.faults)) totals.faults[fault] = (totals.faults[fault] ?? 0) + times;
  totals.failed.push(...more.failed);
}

/** The end of a failed history, and how to reproduce it. */
export function explain({ seed, problem, trace }: SeedReport, lines = 60, folder = 'test/sim'): string {
  const shown = trace.slice(-lines);
  const left = trace.length - shown.length;
  return [
    ...(left > 0 ? [`(${left} lines before these)`] : []),
    ...shown,
    ...(problem === undefined
      ? [`seed ${seed} is well`]
      : [`seed ${seed} fails:`, `  ${problem}`, `again: SIM_SEED=${seed} npx vitest run ${folder}`]),
  ].join('\n');
}

export function summary({ seeds, events, frames, faults, failed }: Totals): string {
  const count = (total: number) => total.toLocaleString('en-US');
  const kinds = Object.entries(faults).sort(([, a], [, b]) => b - a);
  const injected = kinds.reduce((sum, [, times]) => sum + times, 0);
  return [
    `sim: ${count(seeds)} seeds, ${count(events)} events, ${count(frames)} frames, ${count(injected)} faults of ${kinds.length} kinds, ${failed.length} failed`,
    `sim faults: ${kinds.map(([fault, times]) => `${fault} ${count(times)}`).join(', ')}`,
  ].join('\n');
}
