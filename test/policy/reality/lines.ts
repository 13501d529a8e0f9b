// The lines of a run: generated from the table, evaluated by two policies, in an order that a seed decides. Runs inside the sandbox.
import { accessSync, constants } from 'node:fs';
import type { Action, Place } from '../../../src/policy/actions/action.ts';
import { commandAction } from '../../../src/policy/actions/surfaces.ts';
import { PROGRAM_TABLE } from '../../../src/policy/commands/programs/index.ts';
import { decide } from '../../../src/policy/decide.ts';
import { loadPolicy } from '../../../src/policy/format/load.ts';
import { renderProblem } from '../../../src/policy/format/problem.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { combine } from '../../../src/policy/rules/layers.ts';
import { canonicalPath } from '../../../src/workspace/canonical.ts';
import { findBelow } from '../../../src/workspace/find-below.ts';
import { type Generated, generate, isEffectful, type Leaf, leavesOf } from './generate.ts';
import { quoted } from './run-line.ts';
import { HOME, PROJECT } from './template.ts';
import { createRandom, type Random } from './values.ts';

export const PLACE: Place = { agent: 'agent', cwd: PROJECT, home: HOME, canonical: canonicalPath, findBelow };

/** Installed or not, nothing of them can succeed in a sandbox without a network, a daemon or a registry. */
const NOT_CHECKED: ReadonlySet<string> = new Set([
  'docker',
  'docker-compose',
  'podman',
  'kubectl',
  'helm',
  'mvn',
  'gradle',
  'pip',
  'pip3',
  'ssh',
  'scp',
  'gh',
]);
const BUILTINS = new Set(['cd', 'pwd', 'echo', 'printf', 'test', '[', 'true', 'false', 'kill', 'time']);
const isInstalled = (name: string): boolean => ['/usr/local/bin', '/usr/bin', '/bin'].some((folder) => isExecutable(`${folder}/${name}`));

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Programs of the table by whether they are in the sandbox. Another name of a program counts where that is the one installed. */
export function programs(): { readonly leaves: readonly Leaf[]; readonly missing: readonly string[] } {
  const leaves: Leaf[] = [];
  const missing: string[] = [];
  const seen = new Set<unknown>();
  for (const name of PROGRAM_TABLE.names) {
    const entry = PROGRAM_TABLE.find(name);
    if (entry === undefined || seen.has(entry)) continue;
    const names = [entry.name, ...(entry.data.aliases ?? [])];
    const there = NOT_CHECKED.has(entry.name) ? undefined : names.find(isInstalled);
    if (there === undefined) {
      if (!BUILTINS.has(entry.name)) missing.push(entry.name);
    } else leaves.push(...leavesOf(entry).map((leaf) => ({ ...leaf, path: [there, ...leaf.path.slice(1)] })));
    seen.add(entry);
  }
  return { leaves, missing: [...new Set(missing)] };
}

function policyFrom(file: string, text: string): Policy {
  const { policy, problems } = loadPolicy(file, text);
  if (policy === undefined) throw new Error(problems.map(renderProblem).join('\n'));
  return combine([{ name: 'user', policy }]);
}

/** Allows every program of the table, every subcommand by name, and every option that writes by name. */
export function permissive(leaves: readonly Leaf[]): Policy {
  const rules = leaves.flatMap(({ path, options }) => {
    const writes = options.filter((option) => isEffectful(option) && option.types.some((type) => /^(?:write|append|modify)$/.test(type)));
    return [`${path.join(' ')} ...`, ...writes.map(({ first }) => `${path.join(' ')} ${first} ...`)];
  });
  const lines = [...new Set(rules)].map((rule) => `  - ${JSON.stringify(`execute(${rule})`)}`);
  return policyFrom(
    'permissive.yaml',
    `version: 1\ndeny:\n  - { path: ["**/.env", "**/.env.*", "**/*.pem", "**/id_rsa", "**/.netrc"] }\nallow:\n  - read($cwd/**)\n  - edit($cwd/**)\n  - delete($cwd/**)\n  - fetch(*.test)\n${lines.join('\n')}\n`,
  );
}

export type Line = Generated & { readonly text: string; readonly action: Action; readonly isAllowed: boolean };

export function evaluated(generated: Generated, policies: readonly Policy[]): Line {
  const text = generated.argv.map(quoted).join(' ');
  const action = commandAction(PLACE, text);
  return { ...generated, text, action, isAllowed: policies.some((policy) => decide(policy, action).verdict === 'allow') };
}

/** Half a second for each line. */
const SLOW: ReadonlySet<string> = new Set(['npm', 'npx']);
const LITTLE = { alone: 0, pairs: 0, others: 2 } as const;

/** Each line once, shuffled. */
export function linesOf(leaves: readonly Leaf[], seed: number, size: { alone: number; pairs: number; others: number }): Generated[] {
  const seen = new Set<string>();
  const lines: Generated[] = [];
  for (const [index, leaf] of leaves.entries())
    for (const one of generate(leaf, createRandom(seed + index * 7919), SLOW.has(leaf.path[0] as string) ? LITTLE : size)) {
      const key = one.argv.join('\0');
      if (!seen.has(key)) lines.push(one);
      seen.add(key);
    }
  return shuffled(lines, createRandom(seed));
}

function shuffled<T>(items: T[], random: Random): T[] {
  for (let index = items.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [items[index], items[other]] = [items[other] as T, items[index] as T];
  }
  return items;
}

export const standardPolicy = (text: string): Policy => policyFrom('standard.yaml', text);
