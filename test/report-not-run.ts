// The last lines of a run: the groups and tests that did not run, by name. With CI set, a skipped test fails the run.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, Vitest } from 'vitest/node';
import type { Group } from './groups.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

export function reportNotRun(unmet: readonly Group[]): Reporter {
  let vitest: Vitest;
  return {
    onInit(started) {
      vitest = started;
    },
    onTestRunEnd(modules) {
      const folders = new Set(modules.map(({ relativeModuleId }) => path.dirname(relativeModuleId)));
      for (const { name, needs } of unmet) {
        const files = filesOf(name).filter((file) => folders.has(path.dirname(file)));
        if (files.length > 0) write(`Not run: group "${name}" needs ${needs}\n${files.map((file) => `  ${file}\n`).join('')}`);
      }
      if (vitest.config.testNamePattern !== undefined) return; // the tests it leaves out count as skipped
      const skipped = modules.flatMap((module) =>
        [...module.children.allTests('skipped')].map((test) => `${module.relativeModuleId}: ${test.fullName}`),
      );
      if (skipped.length === 0) return;
      write(`Skipped on ${process.platform}:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
      if (!process.env.CI) return;
      write('CI allows no skipped test.\n');
      process.exitCode = 1;
    },
  };
}

const write = (text: string): void => void process.stdout.write(text);

const filesOf = (group: string): readonly string[] =>
  readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && file.includes(`.${group}.`))
    .map((file) => path.join('test', file))
    .sort();
