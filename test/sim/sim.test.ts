// The proxy through hundreds of seeded histories. A failed one is printed and can be reproduced: SIM_SEED=n npx vitest run test/sim
import { afterAll, expect, test } from 'vitest';
import { runHistory } from './history.ts';
import { addTotals, explain, noTotals, runSeeds, summary } from './seeds.ts';
import { BUS_SEEDS, OPTION_SEEDS, REMOTE_SEEDS } from './world.ts';

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

  test.each(shares.slice(0, Math.ceil(shares.length / 4)))(
    'the same with remote agents, whose connections break: seeds from 1000000 + %i',
    async (from) => {
      const share = await runSeeds(REMOTE_SEEDS + from, SHARE, (report) => {
        if (report.problem !== undefined) process.stdout.write(`\n${explain(report)}\n`);
      });
      addTotals(totals, share);
      expect(share.failed.map((one) => one.seed)).toEqual([]);
    },
  );

  test.each(shares.slice(0, Math.ceil(shares.length / 5)))(
    'the same with limits, and with agents that take prompts into a running turn: seeds from 1000000000 + %i',
    async (from) => {
      const share = await runSeeds(OPTION_SEEDS + from, SHARE, (report) => {
        if (report.problem !== undefined) process.stdout.write(`\n${explain(report)}\n`);
      });
      addTotals(totals, share);
      expect(share.failed.map((one) => one.seed)).toEqual([]);
    },
  );

  test.each(shares.slice(0, Math.ceil((2 * shares.length) / 5)))(
    'the same with agents on hosts of a bus that loses, repeats and reorders messages, restarts, and is cut: seeds from 2000000000 + %i',
    async (from) => {
      const share = await runSeeds(BUS_SEEDS + from, Math.min(SHARE, seeds), (report) => {
        if (report.problem !== undefined) process.stdout.write(`\n${explain(report)}\n`);
      });
      addTotals(totals, share);
      expect(share.failed.map((one) => one.seed)).toEqual([]);
    },
  );

  test.each([1_000_359, 1_000_555])('prompts that wait for a session that cannot be restored get an answer: seed %i', async (one) => {
    expect((await runSeeds(one, 1)).failed).toEqual([]);
  });

  test.each([
    ['an agent exits while the policy changes the mode of a session that it has just loaded', 140_000_807],
    ['a close is refused while a prompt waits for a turn', 140_001_039],
    ['a session is closed by a failed load while prompts wait for a turn', 513_438],
    ['an agent goes on with a load that the client has closed, behind a resume', 518_263],
    ['two changes of agent arrive in one read, and the first is cancelled', 150_006_311],
    ['a permission request has exceeded its limit soon after it is shown, because initialize was slow on a bus', 2_000_002_007],
    ['the policy ends an agent on a bus while updates that were held back are being passed on', 2_000_009_378],
  ])('%s: seed %i', async (_, one) => {
    expect((await runSeeds(one, 1)).failed).toEqual([]);
  });

  // The second has a policy and host tools, so that parts of it are not ours.
  test.each([7, 67, BUS_SEEDS + 7])('the same seed makes the same history: %i', async (one) => {
    const [first, second] = [await runHistory(one), await runHistory(one)];
    expect(second.trace).toEqual(first.trace);
  });
}
