// A short form of `npm run policy:reality`: programs do in a sandbox what the program table says, and the comparison notices if they do not.
import path from 'node:path';
import { expect, test } from 'vitest';
import { runInSandboxes } from './sandbox.ts';

const root = path.resolve(import.meta.dirname, '../../..');
/** Lines that succeed. POLICY_REALITY=5000 for a longer run. */
const LINES = Number(process.env.POLICY_REALITY ?? 500);

test(`${LINES} allowed lines have no effect that the program table does not state`, { timeout: 600_000 }, async () => {
  const size = { alone: 1, pairs: 1, others: 4 };
  const { reports } = await runInSandboxes({
    root,
    seed: 20261118,
    count: LINES,
    size,
    mutants: 0,
    kind: 'all',
    only: ['!npm', '!npx'],
    jobs: 2,
  });
  const succeeded = reports.filter(({ hasSucceeded }) => hasSucceeded);
  const commands = new Set(succeeded.map(({ command }) => command));
  process.stdout.write(`policy reality: ${succeeded.length} of ${reports.length} allowed lines succeeded, of ${commands.size} commands\n`);
  const wrong = reports.filter(({ unpredicted, forbidden }) => unpredicted.length + forbidden.length > 0);
  expect(wrong.map(({ line, unpredicted, forbidden }) => ({ line, unpredicted, forbidden }))).toEqual([]);
  expect(succeeded.length).toBeGreaterThanOrEqual(LINES);
  expect(commands.size).toBeGreaterThan(60);
});

test('of wrong tables for cat, sort and tee, at least 80 % are noticed', { timeout: 300_000 }, async () => {
  const size = { alone: 0, pairs: 0, others: 0 };
  const { measured } = await runInSandboxes({
    root,
    seed: 1,
    count: 0,
    size,
    mutants: 0.5,
    kind: 'all',
    only: ['cat', 'sort', 'tee'],
    jobs: 2,
  });
  const missed = measured.filter(({ found }) => found === 'no').map(({ mutant }) => mutant);
  process.stdout.write(`policy reality: ${measured.length - missed.length} of ${measured.length} wrong tables noticed\n`);
  expect(measured.length).toBeGreaterThan(15);
  expect(missed.length / measured.length, missed.join('\n')).toBeLessThanOrEqual(0.2);
});
