// The bench: node bench/run.mjs [--gate | --report] [--no-write] [NAME...]. bench/README.md explains what is measured and why.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { evaluate } from './goals.mjs';
import { chart } from './lib/chart.mjs';
import { collect } from './lib/collect.mjs';
import { startCollectors } from './lib/collectors.mjs';
import { machine } from './lib/machine.mjs';
import { loadProgram } from './lib/program.mjs';
import { goalsLine, goalsTable, table, workloadTable } from './lib/report.mjs';
import { createVariants, hasSetting } from './lib/variants.mjs';
import { allWorkloads } from './lib/workloads.mjs';

const USAGE = `node bench/run.mjs [options] [NAME...]
  (none)        everything, best of many; 20 to 30 minutes. Writes bench/RESULTS.md and docs/performance.svg
  --gate        a short form, 100 seconds and up to 50 more for what was missed; exit code 1 if a goal is missed twice in a row
  --report      the short form, for reading: never fails
  --within S    in about so many seconds: fewer repetitions, and what does not fit is left out; 100 with --gate
  NAME          only workloads whose name begins so; --only NAME is the same
  --no-write    leaves bench/RESULTS.md and docs/performance.svg as they are
  --list        the names of the workloads
BENCH_PEERS="name=command;…" measures other proxies as well; the agent's command replaces {agent}, or is appended.
BENCH_LOAD=node uses the load program in Node, as where there is no C compiler.`;

const bench = path.dirname(fileURLToPath(import.meta.url));
const { values: flags, positionals } = readArguments();
if (positionals.length > 0) flags.only = [...(flags.only ?? []), ...positionals];
const all = await allWorkloads();
const workloads = all.filter(({ name }) => flags.only === undefined || flags.only.some((only) => name.startsWith(only)));
const listed = all.map(({ name, title }) => `${name}: ${title}`).join('\n');
if (flags.help || flags.list) {
  console.log(flags.list ? listed : USAGE);
  process.exit(0);
}
const unknown = flags.only?.find((only) => !all.some(({ name }) => name.startsWith(only)));
if (unknown !== undefined) misused(`no workload has a name that begins with "${unknown}". There are:\n${listed}`);
if (process.platform !== 'linux')
  console.error('bench: only Linux accounts for CPU time per process as needed here; CPU figures are left out');

const isShort = flags.gate === true || flags.report === true;
const workDir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-bench-run-'));
process.on('exit', () => rmSync(workDir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const load = loadProgram();
const variants = createVariants(load, workDir, await startCollectors());
const features = hasSetting('log') ? ['frame log'] : [];
const startedAt = new Date();
const loadBefore = os.loadavg();
const progress = process.stderr.isTTY ? (text) => process.stderr.write(`\r\x1b[K${text}`) : () => {};

if (!isShort && flags.only === undefined) console.log('Everything, best of many: this takes 20 to 30 minutes.');

const GATE_SECONDS = 100;
const GATE_AGAIN_SECONDS = 50;
const within = flags.within === undefined ? (flags.gate ? GATE_SECONDS : Number.POSITIVE_INFINITY) : Number(flags.within);
const results = await measure(workloads, within);
let evaluated = evaluate(results, features).filter(({ needs }) => flags.only === undefined || needs.some((name) => name in results));
console.log(`\n${goalsTable(evaluated)}\n\n${goalsLine(evaluated)}`);
const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
console.log(
  `${isShort ? 'Short form: fewer and smaller runs than the titles say. ' : ''}${seconds} s, load average ${showLoad(loadBefore)} before, ${showLoad(os.loadavg())} after`,
);
if (!isShort && flags.only === undefined && !flags['no-write']) write();
if (flags.gate) process.exitCode = await gate();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        gate: { type: 'boolean' },
        report: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        within: { type: 'string' },
        'no-write': { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    return misused(`${error.message.split('. ')[0]}\n\n${USAGE}`);
  }
}

function misused(why) {
  console.error(`bench: ${why}`);
  process.exit(2);
}

/** Every workload gets an equal part of the remaining time and is repeated as often as that allows, up to its own number of cycles. */
async function measure(which, seconds) {
  const measured = {};
  const end = performance.now() + seconds * 1000;
  const leftOut = [];
  for (const [first, together] of families(which)) {
    const now = performance.now();
    if (now >= end) {
      leftOut.push(...together.map(({ name }) => name));
      continue;
    }
    const turnEnds = now + ((end - now) / (which.length - first)) * together.length;
    const figures = await collect(together, {
      load,
      variants,
      workDir,
      isShort,
      isTimeUp: () => performance.now() >= turnEnds,
      onRun: ({ name: workload }, name, cycle, cycles) => progress(`${workload}: ${name} ${cycle + 1}/${cycles}`),
    });
    Object.assign(measured, figures);
    progress('');
    for (const workload of together)
      if (Object.keys(figures[workload.name]).length > 0) console.log(`\n${workloadTable(workload, figures[workload.name], variants)}`);
  }
  if (leftOut.length > 0) console.log(`\nLeft out, no time: ${leftOut.join(' ')}`);
  return measured;
}

/** Groups neighbours of one family, with the index of the first. */
function families(which) {
  const found = [];
  for (const [index, workload] of which.entries()) {
    const last = found.at(-1)?.[1];
    if (last && workload.family !== undefined && last[0].family === workload.family) last.push(workload);
    else found.push([index, [workload]]);
  }
  return found;
}

/** A busy machine can cause one miss. Only a goal that is missed twice in a row fails the gate. */
async function gate() {
  const isMissed = ({ status, isHeld }) => status === 'missed' && !isHeld;
  const held = evaluated.filter(({ isHeld }) => isHeld);
  if (held.length > 0) console.log(`\nMissed, but within the known distance: ${held.map(({ id }) => id).join(' ')}`);
  const missed = evaluated.filter(isMissed);
  if (missed.length === 0) return 0;
  const again = new Set(missed.flatMap(({ needs }) => needs));
  console.log(`\nMissed: ${missed.map(({ id }) => id).join(' ')}. Measuring these again.`);
  const second = await measure(
    workloads.filter(({ name }) => again.has(name)),
    GATE_AGAIN_SECONDS,
  );
  const ids = missed.map(({ id }) => id);
  evaluated = evaluate({ ...results, ...second }, features).filter(({ id }) => ids.includes(id));
  console.log(`\n${goalsTable(evaluated)}`);
  const twice = evaluated.filter(isMissed).map(({ id }) => id);
  console.log(twice.length === 0 ? '\nNone was missed twice.' : `\nMissed twice: ${twice.join(' ')}`);
  return twice.length === 0 ? 0 : 1;
}

function showLoad(averages) {
  return averages.map((average) => average.toFixed(1)).join(' ');
}

function write() {
  const facts = [
    ['date', startedAt.toISOString().slice(0, 16).replace('T', ' ')],
    ...machine(load),
    ['load average', `${showLoad(loadBefore)} before, ${showLoad(os.loadavg())} after`],
    ['took', `${seconds} s`],
  ];
  const parts = [
    '# Results of the bench',
    'Written by `npm run bench`; `bench/README.md` explains what is measured and how to read it. Best value, median in brackets.',
    'To repeat: `npm run bench` on a machine with `cc`. Absolute values are of this machine; compare ratios.',
    table(['what', 'value'], facts).replaceAll(/-+:/g, (rule) => '-'.repeat(rule.length)),
    '## Goals',
    goalsTable(evaluated),
    goalsLine(evaluated),
    '## Figures',
    ...workloads.filter(({ name }) => name in results).map((workload) => workloadTable(workload, results[workload.name], variants)),
  ];
  writeFileSync(path.join(bench, 'RESULTS.md'), `${parts.join('\n\n')}\n`);
  const svg = chart(
    results.burst,
    `best of ${results.burst?.ours?.cpuUs?.n ?? 0} rounds, Node ${process.versions.node}, ${startedAt.toISOString().slice(0, 10)}`,
  );
  if (svg !== undefined) writeFileSync(path.join(path.dirname(bench), 'docs', 'performance.svg'), svg);
  console.log('Written: bench/RESULTS.md, docs/performance.svg');
}
