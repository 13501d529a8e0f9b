// What the tools of a JavaScript project share.
import type { Options, StatedEffect } from '../../program.ts';
import { optionList } from '../option-list.ts';

export const SWITCH = 'one:true,false' as const;
export const LOADS_CODE = 'unclear:loads other code' as const;
export const OTHER_PACKAGE = 'unclear:works on another package, registry or configuration' as const;

/** What npx and its like start by these names is the tool of the table. */
export const TOOLS = ['tsc', 'eslint', 'prettier', 'biome', 'vitest', 'jest', 'mocha', 'playwright', 'tsx', 'ts-node'] as const;

/** A script of package.json, or the configuration of a tool, is code of the project. */
export const RUNS_SCRIPT: readonly StatedEffect[] = [
  { kind: 'project', name: 'script of package.json' },
  { kind: 'read', path: './package.json' },
];
/** Packages come from the registry, and their install scripts run. */
export const INSTALLS: readonly StatedEffect[] = [
  { kind: 'connect' },
  { kind: 'unpack', path: './node_modules' },
  { kind: 'project', name: 'install scripts of packages' },
];

/** What test runners and linters agree on, for package managers that hand all words after a script's name to the script. */
export const SCRIPT_WORDS: Options = optionList({
  none: `
    --verbose, --silent, --coverage, --no-coverage, --run, --ci, --bail, --fix, --check, --quiet, --runInBand, -i, --passWithNoTests,
    --noEmit, --no-watch, -u, --updateSnapshot, --update, --color, --no-color`,
  pattern: '-t --testNamePattern=, --grep=',
  number: '--max-warnings=, --maxWorkers=, --testTimeout=, --retry=',
  [SWITCH]: '--watch[=], --watchAll[=]',
  'one:default,verbose,dot,json,tap,basic,junit': '--reporter=',
});
