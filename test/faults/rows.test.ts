// Which rows of the fault matrix have a test, by the names of the tests: a count to compare over time.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROWS } from './rows.ts';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.test.ts') && file !== path.basename(import.meta.filename))
  .flatMap((file) => [...readFileSync(path.join(import.meta.dirname, file), 'utf8').matchAll(/['"`]row (\d+)\b/g)])
  .map(([, row]) => Number(row));
const covered = new Set(names);

test('every row of the fault matrix has a test, and every test a row', () => {
  expect([...covered].toSorted((a, b) => a - b)).toEqual(Object.keys(ROWS).map(Number));
});

afterAll(() => {
  process.stdout.write(`fault matrix: ${covered.size} of ${Object.keys(ROWS).length} rows, named by ${names.length} tests\n`);
});
