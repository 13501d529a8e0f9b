// Names the tests that passed only when they were tried again, and why: each of them is a race or a starved machine, and worth a look. Files with
// a test that failed each time are written to FAILED_FILES, for whoever wants to run them alone.
import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

const MOST_WORDS = 1000;

export function secondTries(): Reporter {
  const names: string[] = [];
  return {
    onTestCaseResult(test) {
      if (!test.diagnostic()?.flaky) return;
      const [first] = test.result().errors ?? [];
      names.push(`${test.module.relativeModuleId}: ${test.fullName}\n  ${first?.message.slice(0, MOST_WORDS) ?? 'no error was kept'}`);
    },
    onTestRunEnd(modules, errors) {
      for (const name of names) process.stdout.write(`second try: ${name}\n`);
      const failed = modules.filter((module) => !module.ok()).map((module) => module.relativeModuleId);
      // An error that belongs to no test would not come again by running some of them.
      if (process.env.FAILED_FILES && errors.length === 0) writeFileSync(process.env.FAILED_FILES, failed.join('\n'));
    },
  };
}
