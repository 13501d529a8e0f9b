// Runs the black-box suites against the built proxy, one after the other: node test/blackbox/run.mjs [SUITE…]. See README.md.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const SUITES = ['transparency', 'multiplex', 'faults'];
const names = process.argv.length > 2 ? process.argv.slice(2) : SUITES;
const unknown = names.filter((name) => !SUITES.includes(name));
if (unknown.length > 0) {
  console.error(`unknown suite: ${unknown.join(', ')}. There are ${SUITES.join(', ')}.`);
  process.exit(2);
}
const statuses = names.map((name) => {
  const options = { cwd: path.join(here, '../..'), stdio: 'inherit' };
  return spawnSync(process.execPath, [path.join(here, `${name}.mjs`)], options).status ?? 1;
});
process.exit(statuses.every((status) => status === 0) ? 0 : 1);
