// The client multiplexer through hundreds of seeded histories. A failed one is printed: SIM_SEED=n npx vitest run test/attach
import { expect, test } from 'vitest';
import { runClientHistory } from './history.ts';
import { explain } from './seeds.ts';

const seed = process.env.SIM_SEED === undefined ? undefined : Number(process.env.SIM_SEED);
const SHARE = 100;

test.each(seed === undefined ? [1, 101, 201, 301, 401] : [seed])(
  'each request gets one answer, no update is lost or doubled, and no file request reaches two clients: seeds from %i',
  (from) => {
    for (let one = from; one < from + (seed === undefined ? SHARE : 1); one++) {
      const report = runClientHistory(one);
      if (report.problem !== undefined || seed !== undefined) process.stdout.write(`\n${explain(report)}\n`);
      expect(report.problem, `seed ${one}`).toBeUndefined();
    }
  },
);

test('the same seed makes the same history', () => {
  expect(runClientHistory(7).trace).toEqual(runClientHistory(7).trace);
});
