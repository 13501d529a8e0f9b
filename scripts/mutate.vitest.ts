// The tests that mutation testing runs, from `scripts/mutate.mjs`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: (process.env.MUTATE_TESTS ?? '').split(';').filter((glob) => glob !== ''),
    testTimeout: Number(process.env.MUTATE_TEST_TIMEOUT_MS),
    isolate: false, // the proxy is loaded once for all files of a run
  },
});
