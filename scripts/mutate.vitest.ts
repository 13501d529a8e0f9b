// The tests that mutation testing runs: those that import the mutated sources. Tests of the built command would not notice a mutant.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/router/**/*.test.ts', 'test/policy/**/*.test.ts', 'test/proxy/**/*.test.ts'],
    exclude: ['test/policy/commands/shell-differential*'],
    testTimeout: 20_000,
  },
});
