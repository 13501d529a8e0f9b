// fish against the analysis: a line that is understood runs exactly the commands that it names.
import { expect, test } from 'vitest';
import { differences, randomLines } from './shells.ts';

/** POLICY_FUZZ=100000 for a long run. */
const LINES = Number(process.env.POLICY_FUZZ ?? 4000);

test.skipIf(process.platform === 'win32').each(['fish'] as const)(
  `%s runs nothing that the analysis does not name (${LINES} random lines)`,
  (shell) => {
    const { compared, found } = differences(randomLines(LINES, 20261118), shell);
    process.stdout.write(`policy fuzz: ${shell} ran ${compared} of ${LINES} lines, ${found.length} differences\n`);
    expect(found.slice(0, 20)).toEqual([]);
    expect(compared).toBeGreaterThan(LINES / 20);
  },
  600_000,
);
