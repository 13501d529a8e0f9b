// Names the tests that passed only when they were tried again: each of them is a race or a starved machine, and worth a look.
import type { Reporter } from 'vitest/node';

export function secondTries(): Reporter {
  const names: string[] = [];
  return {
    onTestCaseResult(test) {
      if (test.diagnostic()?.flaky) names.push(`${test.module.relativeModuleId}: ${test.fullName}`);
    },
    onTestRunEnd() {
      for (const name of names) process.stdout.write(`second try: ${name}\n`);
    },
  };
}
