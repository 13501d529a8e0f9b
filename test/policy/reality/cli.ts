// `npm run policy:reality`: the whole check, or with --mutate its strength.
import os from 'node:os';
import { parseArgs } from 'node:util';
import { installPackages } from '../../groups.ts';
import type { Measured } from './measure.ts';
import { runInSandboxes } from './sandbox.ts';
import type { Report } from './worker.ts';

const PACKAGES = [
  ...[
    'bubblewrap',
    'strace',
    'ripgrep',
    'fd-find',
    'jq',
    'yq',
    'tree',
    'file',
    'zip',
    'unzip',
    'zstd',
    'bzip2',
    'xz-utils',
    'xxd',
    'patch',
  ],
  ...['gawk', 'mawk', 'curl', 'wget', 'rsync', 'less', 'bsdextrautils', 'lsof', 'make', 'plocate'],
];

const print = (text: string): void => void process.stdout.write(`${text}\n`);

export async function main(root: string): Promise<void> {
  const { values } = parseArgs({
    options: {
      lines: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(Math.max(2, os.availableParallelism())) },
      only: { type: 'string', default: '' },
      mutate: { type: 'boolean', default: false },
      types: { type: 'boolean', default: false },
      share: { type: 'string', default: '1' },
      verbose: { type: 'boolean', default: false },
    },
  });
  installPackages(PACKAGES);
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  const count = Number(values.lines);
  const scale = Math.max(1, Math.round(count / 2500));
  let ran = 0;
  const { reports, measured, missing } = await runInSandboxes(
    {
      root,
      seed: Number(values.seed),
      count,
      size: { alone: 1 + scale, pairs: 1 + scale, others: 6 * scale },
      mutants: values.mutate ? Number(values.share) : 0,
      kind: values.types ? 'type' : 'all',
      only: values.only === '' ? [] : values.only.split(','),
      jobs: Number(values.jobs),
    },
    () => {
      if (++ran % 1000 === 0) print(`${ran} lines run, ${seconds()} s`);
    },
  );
  if (values.mutate) summariseMutants(measured, values.verbose);
  else summarise(reports, missing, count, values.verbose);
  print(`${seconds()} s`);
}

function summarise(reports: readonly Report[], missing: readonly string[], count: number, isVerbose: boolean): void {
  const succeeded = reports.filter(({ hasSucceeded }) => hasSucceeded);
  const wrong = reports.filter(({ unpredicted, forbidden }) => unpredicted.length + forbidden.length > 0);
  for (const { line, hasSucceeded, unpredicted, forbidden } of wrong.slice(0, isVerbose ? wrong.length : 20)) {
    print(`${hasSucceeded ? '' : '(failed) '}${line}`);
    for (const effect of unpredicted.slice(0, 5)) print(`    not predicted: ${effect}`);
    for (const effect of forbidden.slice(0, 5)) print(`    forbidden: ${effect}`);
  }
  print(`not checked here: ${missing.join(' ')}`);
  print(
    `policy:reality: ${succeeded.length} allowed lines of ${new Set(succeeded.map(({ command }) => command)).size} commands succeeded (${reports.length} run), ${wrong.length} with an effect that the program table does not state`,
  );
  if (wrong.length > 0 || succeeded.length < count) process.exitCode = 1;
}

const GOAL = 0.8;

function summariseMutants(all: readonly Measured[], isVerbose: boolean): void {
  const score = (list: readonly Measured[], of: string): number => {
    const found = list.filter((one) => one.found !== 'no').length;
    const byEffect = list.filter((one) => one.found === 'effect').length;
    const share = list.length === 0 ? 1 : found / list.length;
    print(`${of}: ${found} of ${list.length} mutants found (${(100 * share).toFixed(1)} %), ${byEffect} of them by an effect`);
    return share;
  };
  const isEquivalent = (one: Measured): boolean => one.found === 'no' && ((one.isEquivalent && one.isComparable) || !one.isUnderstood);
  const isOpaque = (one: Measured): boolean => one.found === 'no' && !one.isComparable && one.runsProject;
  const measured = all.filter((one) => !isEquivalent(one) && !isOpaque(one));
  const missed = measured.filter(({ found }) => found === 'no');
  const reasons: readonly [string, readonly Measured[]][] = [
    ['left out, equivalent: the wrong table states all that the right one does, or understands nothing', all.filter(isEquivalent)],
    ["left out: every line with it runs the project's code", all.filter(isOpaque)],
    ['not found: no line with it succeeds here', missed.filter(({ lines }) => lines === 0)],
    ['not found: nothing happened in the lines that were run', missed.filter(({ lines }) => lines > 0)],
  ];
  for (const [reason, these] of reasons) {
    print(`${these.length} ${reason}`);
    if (isVerbose) for (const { mutant } of these) print(`    ${mutant}`);
  }
  const scores = [
    score(
      measured.filter(({ kind }) => kind === 'type'),
      'types',
    ),
    score(
      measured.filter(({ kind }) => kind !== 'type'),
      'arity',
    ),
    score(measured, 'all'),
  ];
  if (scores.some((share) => share < GOAL)) process.exitCode = 1;
}
