// Runs many histories of the client multiplexer: npm run sim -- --clients
import { explain as explainSeed, runSeeds as runAll, type SeedReport, type Totals } from '../sim/seeds.ts';
import { runClientHistory } from './history.ts';

export { addTotals, noTotals, summary } from '../sim/seeds.ts';

export const runSeeds = (from: number, count: number, onReport?: (report: SeedReport) => void): Promise<Totals> =>
  runAll(from, count, onReport, runClientHistory);

export const explain = (report: SeedReport, lines?: number): string => explainSeed(report, lines, 'test/attach');
