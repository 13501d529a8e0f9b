// `npm run agents -- claude codex`: drives real agents through the built switchboard, with a scripted model instead of a network, and writes the
// table of docs/agents.md. Not part of `npm test`: it installs up to 2.5 GB into the user's cache.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { contained } from './checks/contained.mjs';
import { flow, together } from './checks/flow.mjs';
import { accused, obeys, probe } from './checks/policy.mjs';
import { crash, load } from './checks/return.mjs';
import { tools } from './checks/tools.mjs';
import { defaultCache } from './install.mjs';
import { RECIPES } from './recipes.mjs';
import { writeReport } from './report.mjs';
import { createWorkbench } from './workbench.mjs';

const CHECKS = { flow, together, obeys, probe, tools, crash, load, accused, contained };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cache: { type: 'string', default: process.env.SWITCHBOARD_AGENTS_CACHE ?? defaultCache() },
    checks: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const agents = positionals.length > 0 ? positionals : Object.keys(RECIPES);
const checks = values.checks?.split(',') ?? Object.keys(CHECKS);
const unknown = [...agents.filter((name) => !(name in RECIPES)), ...checks.filter((name) => !(name in CHECKS))];
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`unknown: ${unknown.join(', ')}`);
  console.error(`npm run agents -- [AGENT…] [--checks CHECK,…] [--cache DIR] [--keep]
  agents  ${Object.keys(RECIPES).join(' ')}
  checks  ${Object.keys(CHECKS).join(' ')}
  A run of all checks writes docs/agents.md. --keep leaves the directories of each check.`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const rows = [];
for (const name of agents) {
  const results = {};
  let version;
  for (const check of checks) {
    const bench = await createWorkbench(name, { cache: path.resolve(values.cache), keep: values.keep });
    ({ version } = bench);
    const from = performance.now();
    try {
      results[check] = await CHECKS[check](bench);
    } catch (error) {
      results[check] = { ok: false, cell: 'failed', notes: [error.message] };
    }
    await bench.end();
    const { ok, cell, notes = [] } = results[check];
    console.log(
      `${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(9)} ${check.padEnd(9)} ${cell} (${Math.round((performance.now() - from) / 1000)} s)`,
    );
    for (const note of notes) console.log(`       ${note}`);
  }
  rows.push({ name, version, results });
}
if (values.checks === undefined) writeReport(rows);
process.exitCode = rows.every(({ results }) => Object.values(results).every(({ ok }) => ok)) ? 0 : 1;
