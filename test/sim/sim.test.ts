// The proxy through hundreds of seeded histories. A failed one is printed and can be reproduced: SIM_SEED=n npx vitest run test/sim
import { afterAll, expect, test } from 'vitest';
import { runHistory } from './history.ts';
import { addTotals, explain, noTotals, runSeeds, summary } from './seeds.ts';

const SHARE = 50;
const seed = process.env.SIM_SEED === undefined ? undefined : Number(process.env.SIM_SEED);
const seeds = Number(process.env.SIM_SEEDS ?? 500);
const totals = noTotals();

afterAll(() => {
  process.stdout.write(`${summary(totals)}\n`);
});

if (seed !== undefined)
  test(`seed ${seed}`, async () => {
    const one = await runSeeds(seed, 1, (report) => {
      process.stdout.write(`${explain(report, Number.POSITIVE_INFINITY)}\n`);
    });
    addTotals(totals, one);
    expect(one.failed).toEqual([]);
  });
else histories();

function histories(): void {
  const shares = Array.from({ length: Math.ceil(seeds / SHARE) }, (_, i) => 1 + i * SHARE);
  test.each(shares)('every response comes once, every frame reaches its session in order: seeds from %i', async (from) => {
    const share = await runSeeds(from, Math.min(SHARE, seeds + 1 - from), (report) => {
      if (report.problem !== undefined) process.stdout.write(`\n${explain(report)}\n`);
    });
    addTotals(totals, share);
    expect(share.failed.map((one) => one.seed)).toEqual([]);
  });

  // The second has a policy and host tools, so that parts of it are not ours.
  test.each([7, 67])('the same seed makes the same history: %i', async (one) => {
    const [first, second] = [await runHistory(one), await runHistory(one)];
    expect(second.trace).toEqual(first.trace);
  });
}
