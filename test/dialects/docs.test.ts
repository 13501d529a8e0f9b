// src/dialects/README.md names the result and the test of every row; this checks that it is right.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { DIALECT_NAMES } from '../../src/dialects/select-dialect.ts';

const root = path.resolve(import.meta.dirname, '../..');
const table = readFileSync(path.join(root, 'src/dialects/README.md'), 'utf8');
const rows = [...table.matchAll(/^\| (\d+) \| ([A-E]|A, D|E, B\(opt\)|all) \| (.+) \| (✓|–) ([^|]+) \|$/gm)].map(
  ([, row, , , state, by = '']) => ({
    row: Number(row),
    isHeld: state === '✓',
    files: [...by.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
  }),
);
const golden = path.join(root, 'test/dialects/golden');
const goldenRows = new Map(
  readdirSync(golden).map((file): [string, Set<number>] => {
    const cases: { rows: number[] }[] = JSON.parse(readFileSync(path.join(golden, file), 'utf8'));
    return [`test/dialects/golden/${file}`, new Set(cases.flatMap((one) => one.rows))];
  }),
);

test('every row is in the table, in order', () => {
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 63 }, (_, k) => k + 1));
});

test('every row with a tick names existing tests, and a named golden file has the row', () => {
  for (const { row, isHeld, files } of rows) {
    expect(files.length > 0, `row ${row}`).toBe(isHeld);
    for (const file of files) {
      expect(existsSync(path.join(root, file)), `row ${row}: ${file}`).toBe(true);
      expect(goldenRows.get(file)?.has(row) ?? true, `row ${row} in ${file}`).toBe(true);
    }
  }
});

test('every row of a golden file has its tick', () => {
  for (const [file, shown] of goldenRows) for (const row of shown) expect(rows[row - 1]?.files, `row ${row}`).toContain(file);
});

test('every dialect is on the page for users', () => {
  const page = readFileSync(path.join(root, 'docs/dialects.md'), 'utf8');
  for (const name of DIALECT_NAMES) expect(page).toContain(`| \`${name}\``);
});
