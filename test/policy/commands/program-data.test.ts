// The program table's data: what the compiler cannot see in it.
import { describe, expect, test } from 'vitest';
import type { Program, Subcommand } from '../../../src/policy/commands/program.ts';
import { GIT_PROGRAMS } from '../../../src/policy/commands/programs/git/git.ts';
import { CHECKER_PROGRAMS } from '../../../src/policy/commands/programs/javascript/checkers.ts';
import { NPM_PROGRAMS } from '../../../src/policy/commands/programs/javascript/npm.ts';
import { PACKAGE_MANAGER_PROGRAMS } from '../../../src/policy/commands/programs/javascript/package-managers.ts';
import { RUNTIME_PROGRAMS } from '../../../src/policy/commands/programs/javascript/runtimes.ts';
import { TEST_RUNNER_PROGRAMS } from '../../../src/policy/commands/programs/javascript/test-runners.ts';
import { BUILD_PROGRAMS } from '../../../src/policy/commands/programs/languages/build.ts';
import { GO_PROGRAMS } from '../../../src/policy/commands/programs/languages/go.ts';
import { OTHER_LANGUAGE_PROGRAMS } from '../../../src/policy/commands/programs/languages/others.ts';
import { PYTHON_PROGRAMS } from '../../../src/policy/commands/programs/languages/python.ts';
import { RUST_PROGRAMS } from '../../../src/policy/commands/programs/languages/rust.ts';
import { optionList } from '../../../src/policy/commands/programs/option-list.ts';
import { CONTAINER_PROGRAMS } from '../../../src/policy/commands/programs/services/containers.ts';
import { GH_PROGRAMS } from '../../../src/policy/commands/programs/services/gh.ts';
import { TRANSFER_PROGRAMS } from '../../../src/policy/commands/programs/services/transfer.ts';

const PROGRAMS: readonly Program[] = [
  ...[...GIT_PROGRAMS, ...GH_PROGRAMS, ...NPM_PROGRAMS, ...PACKAGE_MANAGER_PROGRAMS, ...RUNTIME_PROGRAMS, ...CHECKER_PROGRAMS],
  ...[...TEST_RUNNER_PROGRAMS, ...PYTHON_PROGRAMS, ...RUST_PROGRAMS, ...GO_PROGRAMS, ...BUILD_PROGRAMS, ...OTHER_LANGUAGE_PROGRAMS],
  ...[...CONTAINER_PROGRAMS, ...TRANSFER_PROGRAMS],
];

type Level = {
  readonly path: string;
  readonly data: Program | Subcommand;
  readonly firsts: ReadonlySet<string>;
  readonly keys: readonly string[];
};

/** Every program and subcommand, with the first spellings of the options it understands: its own and those of its parents. */
function levelsOf(path: string, data: Program | Subcommand, inherited: ReadonlySet<string>): Level[] {
  const keys = [...Object.keys(data.options ?? {}), ...('before' in data ? Object.keys(data.before ?? {}) : [])];
  const firsts = new Set([...inherited, ...keys.map((key) => (key.split(' ')[0] ?? '').replace(/(\[=\]|=)$/, ''))]);
  const below = Object.entries(data.commands ?? {}).flatMap(([name, command]) => levelsOf(`${path} ${name}`, command, firsts));
  return [{ path, data, firsts, keys }, ...below];
}
const LEVELS = PROGRAMS.flatMap((program) => levelsOf(program.name, program, new Set()));

test('a list of options becomes one entry for each', () => {
  expect(optionList({ none: '-a --all,\n  -q', number: '-n --lines=' })).toEqual({
    '-a --all': 'none',
    '-q': 'none',
    '-n --lines=': 'number',
  });
});

test('no program has two entries, and each names its manual', () => {
  const names = PROGRAMS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
  expect(PROGRAMS.filter(({ manual }) => !/\d/.test(manual)).map(({ name }) => name)).toEqual([]);
});

describe('in every program and subcommand', () => {
  test('options are spelled as in a manual', () => {
    const wrong = LEVELS.flatMap(({ path, keys }) =>
      keys.filter((key) => !key.split(' ').every((word) => /^--?[\w#.-]+(\[=\]|=)?$/.test(word))).map((key) => `${path}: "${key}"`),
    );
    expect(wrong).toEqual([]);
  });

  test('conditions name the first spelling of an option', () => {
    const wrong = LEVELS.flatMap(({ path, data, firsts }) =>
      [
        ...(data.operands ?? []).flatMap((form) => [...(form.if ?? []), ...(form.unless ?? [])]),
        ...Object.keys(data.turns ?? {}),
        ...(data.needs ?? []).flat(),
      ]
        .filter((name) => !firsts.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('operands are described, or there are subcommands', () => {
    const wrong = LEVELS.filter(({ data }) => data.operands === undefined && data.commands === undefined);
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});
