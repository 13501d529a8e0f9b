// Which tests may be left out of a run: groups by file name, and single tests by platform. Nothing else is skipped.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { GROUPS } from './groups.ts';

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(import.meta.dirname, file), 'utf8') }));

test('only the platform decides whether a single test runs', () => {
  const conditions = files.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:^|\n)\s*(?:test|describe)?\s*\.(skip|todo|only|fails|skipIf|runIf)\b(\(.{0,40})?/g)].map(
      ([, method, condition = '']) => ({ file, method, condition }),
    ),
  );
  expect(conditions.length).toBeGreaterThan(10); // the pattern finds them
  const isPlatform = (condition: string) => /^\((?:process\.platform [!=]== '\w+'|!?HAS_TERMINAL)\)/.test(condition);
  expect(conditions.filter(({ condition }) => !isPlatform(condition))).toEqual([]);
});

test('every group in a file name exists', () => {
  const named = files.flatMap(({ file }) => /((?:\.[a-z]+)+)\.test\.ts$/.exec(file)?.[1]?.slice(1).split('.') ?? []);
  expect([...new Set(named)].sort()).toEqual(GROUPS.map(({ name }) => name).sort());
});
