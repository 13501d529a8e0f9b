// The tests that mutation testing runs, from `scripts/mutate.mjs`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: (process.env.MUTATE_TESTS ?? '').split(';').filter((glob) => glob !== ''),
    // A mutant that drops an answer makes its test wait. No test of these waits this long on a busy machine.
    testTimeout: 8_000,
    isolate: false, // the proxy is loaded once for all files of a run
  },
});
