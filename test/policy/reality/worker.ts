// Inside the sandbox: makes the template, runs its share of the lines and prints one JSON value per result.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import { type Facts, forbidden, unpredicted } from './compare.ts';
import type { Leaf } from './generate.ts';
import { evaluated, type Line, linesOf, permissive, programs, standardPolicy } from './lines.ts';
import { measure } from './measure.ts';
import { predictionsOf } from './predict.ts';
import { type Ran, runLine } from './run-line.ts';
import { ENVIRONMENT_CANARY, LINKS, makeTemplate, PROJECT, ROOT, restoreFiles } from './template.ts';
import type { Observed } from './trace.ts';
import { createRandom } from './values.ts';

export type Order = {
  readonly seed: number;
  readonly share: number;
  readonly shares: number;
  /** Stop when so many lines of this share have succeeded. */
  readonly count: number;
  readonly size: { readonly alone: number; readonly pairs: number; readonly others: number };
  /** Measure the check instead: this share of all mutants. */
  readonly mutants: number;
  readonly kind: 'type' | 'all';
  /** Only programs of these names. */
  readonly only: readonly string[];
};

export type Report = {
  readonly line: string;
  readonly command: string;
  readonly option: string | undefined;
  readonly hasSucceeded: boolean;
  readonly status: number | undefined;
  readonly ms: number;
  readonly output: string;
  readonly unpredicted: readonly string[];
  readonly forbidden: readonly string[];
};

const order = JSON.parse(readFileSync('/harness/order.json', 'utf8')) as Order;
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** grep and diff end with 1 when they found nothing, or a difference. */
const FINE_WITH_1 = /^(?:[ez]?f?grep|zgrep|rg|diff|cmp|zdiff|zcmp|diff3|git|fd|fdfind|jq|test|which|type|pgrep|ps|lsof|fuser)$/;
export const hasSucceeded = ({ status, output }: Ran, program: string): boolean =>
  status === 0 ||
  (status === 1 && FINE_WITH_1.test(program) && !/error|usage|invalid|unrecognized|unknown|fatal|cannot|denied|No such/i.test(output));

function factsFor(program: string, addsFiles: boolean, tracked: ReadonlySet<string>): Facts {
  return {
    program,
    tracked,
    addsFiles,
    isDirectory: (file) => isDirectory(file) || isDirectory(templated(file)),
    hosts: new Map([
      ['127.0.0.1', 'a.test'],
      ['127.0.0.2', 'b.test'],
    ]),
    existed: (file) => existsSync(templated(file)),
    exists: (file) => existsSync(file),
    links: LINKS,
  };
}

function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

const templated = (file: string): string => file.replace(/^\/sandbox/, '/template');
const shown = ({ kind, path, argv, call }: Observed): string => `${kind} ${path}${argv ? ` ${JSON.stringify(argv)}` : ''} (${call})`;

async function serve(): Promise<void> {
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const server = http.createServer((_, response) => response.end('alpha\n'));
    await new Promise<void>((resolve) => server.listen(8080, address, resolve)).catch(() => undefined);
    server.unref();
  }
}

async function main(): Promise<void> {
  mkdirSync('/harness-tmp', { recursive: true });
  makeTemplate();
  await serve();
  const tracked = new Set(
    spawnSync('git', ['-c', 'core.fsmonitor=false', 'ls-files', '-z'], { cwd: PROJECT, encoding: 'utf8' })
      .stdout.split('\0')
      .filter((name) => name !== '')
      .map((name) => `${PROJECT}/${name}`),
  );
  const { leaves, missing } = programs();
  const wanted =
    order.only.length === 0
      ? leaves
      : leaves.filter(
          ({ path }) =>
            order.only.includes(path[0] as string) ||
            order.only.includes(path.join(' ')) ||
            (order.only[0]?.startsWith('!') === true && !order.only.includes(`!${path[0]}`)),
        );
  if (order.mutants > 0) return measureAll(wanted, tracked);
  const policies = [standardPolicy(readFileSync('/harness/standard.yaml', 'utf8')), permissive(leaves)];
  const lines = linesOf(wanted, order.seed, order.size).filter((_, index) => index % order.shares === order.share);
  print({ missing, generated: lines.length });
  const random = createRandom(order.seed + order.share);
  let succeeded = 0;
  for (const one of lines) {
    if (succeeded >= order.count) break;
    const line = evaluated(one, policies);
    if (!line.isAllowed || runsProject(line)) continue;
    const report = await check(line, tracked, random.chance(0.1), random.chance(0.2));
    if (report.hasSucceeded) succeeded++;
    print(report);
  }
  print({ done: true });
}

async function measureAll(leaves: readonly Leaf[], tracked: ReadonlySet<string>): Promise<void> {
  print({ missing: [], generated: 0 });
  const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).map((file) => `${ROOT}/${file}`);
  const known = files.filter((file) => !/\/\.git\/|\/remote\.git\//.test(file));
  for (const [index, leaf] of leaves.entries()) {
    if (index % order.shares !== order.share) continue;
    const measured = await measure(leaf, createRandom(order.seed + index), order.mutants, order.kind, {
      run: (argv, isTerminal) => runLine(argv, { stdin: undefined, isTerminal }),
      facts: (argv) => factsFor(argv[0] as string, /^git (?:stash|commit)/.test(leaf.path.join(' ')), tracked),
      hasSucceeded,
      files: known,
      restore,
    });
    for (const one of measured) print(one);
  }
  print({ done: true });
}

const restore = (observed: readonly Observed[]): void =>
  restoreFiles(observed.flatMap(({ kind, path, from = path }) => (kind === 'write' || kind === 'delete' ? [path, from] : [])));

/** A rule that names such a command trusts the project's code: there is nothing to compare. */
const runsProject = ({ action }: Line): boolean =>
  action.commands.some(({ meaning }) => meaning.isUnderstood && meaning.effects.some(({ kind }) => kind === 'project'));

async function check(line: Line, tracked: ReadonlySet<string>, isTerminal: boolean, hasInput: boolean): Promise<Report> {
  const [command] = line.action.commands;
  if (command === undefined || !command.meaning.isUnderstood) throw new Error(`allowed, but not understood: ${line.text}`);
  const predicted = predictionsOf(command.meaning, PROJECT);
  const program = line.argv[0] as string;
  const startedMs = performance.now();
  const ran = await runLine(line.argv, { stdin: hasInput ? 'alpha\nbeta\n' : undefined, isTerminal });
  const found = unpredicted(ran.observed, predicted, factsFor(program, /^git (?:stash|commit)/.test(line.command), tracked)).map(shown);
  if (ran.output.includes(ENVIRONMENT_CANARY) && !predicted.some(({ kind }) => kind === 'environment' || kind === 'project'))
    found.push('environment');
  restore(ran.observed);
  const isOpaque = predicted.some(({ kind }) => kind === 'project' || kind === 'run');
  return {
    line: line.text,
    command: line.command,
    option: line.option,
    hasSucceeded: hasSucceeded(ran, program),
    status: ran.status,
    ms: Math.round(performance.now() - startedMs),
    output: ran.output.slice(0, 200),
    unpredicted: found,
    forbidden: isOpaque ? [] : forbidden(ran.observed, predicted).map(shown),
  };
}

await main();
process.exit(0);
