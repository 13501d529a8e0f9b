import { availableParallelism, devNull } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { unmetGroups } from './test/groups.ts';
import { reportNotRun } from './test/report-not-run.ts';

// Some tests have git work in a repository of their own. Whoever runs them may have another one in the environment, as inside a hook, and settings.
for (const name of Object.keys(process.env)) if (name.startsWith('GIT_')) delete process.env[name];
Object.assign(process.env, { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' });

const unmet = unmetGroups({ install: process.env.TEST_PACKAGES === 'install' });

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...unmet.flatMap(({ name }) => [`test/**/*.${name}.test.ts`, `test/**/*.${name}.*.test.ts`])],
    // End-to-end tests start real processes on what may be a busy two-core machine.
    // Their time goes into waiting for each other: more of them at once than there are cores.
    maxWorkers: Math.max(4, availableParallelism()),
    reporters: ['default', reportNotRun(unmet)],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
