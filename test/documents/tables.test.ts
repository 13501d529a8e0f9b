// The tables that pages have from the code match it.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { configJsonSchema } from '../../src/config/schema.ts';
import { FAILURE_KEYS } from '../../src/errors.ts';
import { root } from './pages.ts';
import { commandTables } from './tables/commands.ts';
import { errorTable, meanings } from './tables/errors.ts';
import { keyTable, type Schema } from './tables/keys.ts';
import { metricTable } from './tables/metrics.ts';

/** What stands between `<!-- made from: WHAT -->` and `<!-- end -->`. */
const MAKERS: Readonly<Record<string, (what: string) => string>> = {
  keys: (where) => keyTable(configJsonSchema() as Schema, where),
  errors: errorTable,
  commands: commandTables,
  metrics: metricTable,
};
const MARKED = /(<!-- made from: (\w+) ?(\S*) -->\n).*?(<!-- end -->)/gs;
const STALE = 'stale; run: UPDATE_DOCS=1 npx vitest run test/documents/tables.test.ts';

test.each([
  ['docs/configuration.md', 15],
  ['docs/errors.md', 1],
  ['docs/commands.md', 1],
  ['docs/telemetry.md', 1],
])('the tables of %s match the code', (page, least) => {
  const file = path.join(root, page);
  const now = readFileSync(file, 'utf8');
  expect([...now.matchAll(MARKED)].length).toBeGreaterThanOrEqual(least);
  const wanted = now.replaceAll(MARKED, (_, begin: string, maker: string, what: string, end: string) => {
    const make = MAKERS[maker];
    if (!make) throw new Error(`${page}: nothing makes "${maker}"`);
    return `${begin}\n${make(what)}\n\n${end}`;
  });
  if (process.env.UPDATE_DOCS === '1') writeFileSync(file, wanted);
  expect(readFileSync(file, 'utf8'), STALE).toBe(wanted);
});

test('every failure says when it happens', () => {
  expect([...meanings().keys()]).toEqual(FAILURE_KEYS);
});
