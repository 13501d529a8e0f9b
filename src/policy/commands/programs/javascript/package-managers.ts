// pnpm, yarn and bun: as npm, but words after the name of a script go to the script without a `--`.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { CHECKER_PROGRAMS } from './checkers.ts';
import { INSTALLS, LOADS_CODE, OTHER_PACKAGE, RUNS_SCRIPT, SCRIPT_WORDS, TOOLS } from './shared.ts';
import { TEST_RUNNER_PROGRAMS } from './test-runners.ts';

/** Names that projects give their scripts. Any other needs `run`. */
const SCRIPT_NAMES = ['test', 'lint', 'build', 'typecheck', 'check', 'format', 'dev', 'start', 'coverage', 'e2e'];
const PACKAGES = '^(@[\\w.-]+/)?[\\w][\\w.-]*(@[\\w.^~<>=*-]+)?$';

const script: Subcommand = { options: SCRIPT_WORDS, operands: [{ rest: 'names' }], passes: 'script', unasked: RUNS_SCRIPT };
const scripts: Readonly<Record<string, Subcommand>> = Object.fromEntries(SCRIPT_NAMES.map((name) => [name, script]));
const run: Subcommand = {
  options: { ...SCRIPT_WORDS, '--if-present': 'none' },
  // `yarn run env` shows the environment.
  operands: [{ first: ['project:script'], rest: 'names', min: 1, match: '^(?!env$)' }],
  passes: 'script',
  unasked: RUNS_SCRIPT,
};
const install = (lockfile: string, options: Options): Subcommand => ({
  options,
  operands: [{ rest: 'text', match: PACKAGES }],
  unasked: [...INSTALLS, { kind: 'modify', path: './package.json' }, { kind: 'modify', path: `./${lockfile}` }],
  isWriter: true,
});
const exec: Subcommand = { parse: 'posix', operands: [{ first: ['command'], min: 1 }], starts: TOOLS };
const list: Subcommand = {
  options: optionList({
    none: '--json, --long, --parseable, -P --prod, -D --dev, --only-projects',
    number: '--depth=',
    pattern: '--pattern=',
  }),
  operands: [{ rest: 'text' }],
  unasked: [
    { kind: 'read', path: './package.json' },
    { kind: 'names', path: './node_modules' },
  ],
};
const connecting: Subcommand = { options: { '--json': 'none' }, operands: [{ rest: 'text' }], unasked: [{ kind: 'connect' }] };

/** Programs of node_modules/.bin are subcommands of pnpm and yarn. */
const INSTALLED: Readonly<Record<string, Subcommand>> = Object.fromEntries(
  [...CHECKER_PROGRAMS, ...TEST_RUNNER_PROGRAMS].map(({ name, manual: _manual, before: _before, ...program }) => [name, program]),
);

const PNPM_INSTALL = optionList({
  none: `
    --frozen-lockfile, --no-frozen-lockfile, --prefer-frozen-lockfile, -D --dev --save-dev, -P --prod --save-prod, -O --save-optional,
    -E --save-exact, --save-peer, --offline, --prefer-offline, --ignore-scripts, --lockfile-only, --no-optional, --no-lockfile,
    --fix-lockfile, --force, --workspace, --shamefully-hoist, --strict-peer-dependencies`,
  number: '--child-concurrency=, --network-concurrency=',
  [LOADS_CODE]: '--ignore-pnpmfile, --pnpmfile=, --config=',
  [OTHER_PACKAGE]: '-g --global, --global-dir=, --lockfile-dir=, --modules-dir=, --store-dir=, --virtual-store-dir=, --registry=',
});
const YARN_INSTALL = optionList({
  none: `
    --frozen-lockfile, --immutable, --production, -D --dev, -P --peer, -O --optional, -E --exact, --ignore-scripts, --offline,
    --check-files, --non-interactive, --pure-lockfile, --prefer-offline, --no-progress, --force, -W --ignore-workspace-root-check`,
  [OTHER_PACKAGE]: '--registry=, --cache-folder=, --modules-folder=, --use-yarnrc=, --global-folder=',
});

export const PACKAGE_MANAGER_PROGRAMS: readonly Program[] = [
  {
    name: 'pnpm',
    manual: 'pnpm help, pnpm 9.15',
    parse: 'exact',
    before: optionList({
      none: `
        -s --silent, -r --recursive, --parallel, --stream, --sequential, -w --workspace-root, --aggregate-output, --no-bail, --color,
        --no-color, --if-present, --fail-if-no-match, -v --version, -h --help, --reporter-hide-prefix, --use-stderr`,
      pattern: '-F --filter=, --filter-prod=, --test-pattern=, --changed-files-ignore-pattern=',
      number: '--workspace-concurrency=',
      'one:default,append-only,ndjson,silent': '--reporter=',
      'one:debug,info,warn,error,silent': '--loglevel=',
      enter: '-C --dir=',
      [LOADS_CODE]: '--script-shell=, --shell-emulator, --node-options=, --shell-mode -c',
    }),
    operands: [{ max: 0 }],
    commands: {
      ...INSTALLED,
      ...scripts,
      run: { ...run, aliases: ['run-script'] },
      install: { ...install('pnpm-lock.yaml', PNPM_INSTALL), aliases: ['i'] },
      add: install('pnpm-lock.yaml', PNPM_INSTALL),
      remove: { ...install('pnpm-lock.yaml', PNPM_INSTALL), aliases: ['rm', 'un', 'uninstall'] },
      update: { ...install('pnpm-lock.yaml', PNPM_INSTALL), aliases: ['up', 'upgrade'] },
      exec,
      list: { ...list, aliases: ['ls'] },
      why: list,
      outdated: connecting,
      audit: connecting,
    },
    ambient: ['NODE_OPTIONS', 'npm_config_script_shell', 'npm_config_node_options'],
  },
  {
    name: 'yarn',
    manual: 'yarn help, yarn 1.22',
    parse: 'exact',
    before: optionList({
      none: '-s --silent, --verbose, --offline, --json, --no-progress, --non-interactive, -v --version, -h --help, --prod --production',
      enter: '--cwd=',
      [LOADS_CODE]: '--script-shell=, --use-yarnrc=',
    }),
    // A bare `yarn` installs.
    operands: [
      { if: ['-v', '-h'], max: 0 },
      { max: 0, none: [...INSTALLS, { kind: 'modify', path: './yarn.lock' }] },
    ],
    commands: {
      ...scripts,
      run,
      install: install('yarn.lock', YARN_INSTALL),
      add: install('yarn.lock', YARN_INSTALL),
      remove: install('yarn.lock', YARN_INSTALL),
      upgrade: install('yarn.lock', YARN_INSTALL),
      exec,
      list,
      why: list,
      info: connecting,
      outdated: connecting,
      audit: connecting,
      ...INSTALLED,
      workspace: { parse: 'words', operands: [{ rest: 'unclear:runs a command in another package' }] },
      workspaces: { parse: 'words', operands: [{ rest: 'unclear:runs a command in other packages' }] },
    },
    ambient: ['NODE_OPTIONS', 'YARN_RC_FILENAME'],
  },
  {
    name: 'bun',
    manual: 'bun --help, bun 1.4',
    parse: 'exact',
    before: optionList({
      none: '--silent, --smol, -b --bun, -v --version, -h --help, --revision',
      'unclear:evaluates code': '-e --eval=, -p --print=',
      [LOADS_CODE]: '-r --preload --require --import=, -c --config[=], --env-file=, --inspect[=], --inspect-brk[=]',
      enter: '--cwd=',
    }),
    operands: [{ max: 0 }],
    commands: {
      test: {
        options: optionList({
          none: `
            -u --update-snapshots, --todo, --only, --pass-with-no-tests, --concurrent, --randomize, --coverage, --dots, --only-failures,
            --isolate, --no-isolate, --watch`,
          number: '--timeout=, --rerun-each=, --retry=, --seed=, --bail[=], --max-concurrency=',
          pattern: '-t --test-name-pattern=, --path-ignore-patterns=',
          'one:text,lcov': '--coverage-reporter=',
          'one:dots,junit': '--reporter=',
          write: '--coverage-dir=, --reporter-outfile=',
        }),
        operands: [{ rest: 'names' }],
        unasked: [{ kind: 'project', name: 'tests' }],
      },
      run: { ...run, operands: [{ first: ['project:script'], rest: 'argument', min: 1 }], parse: 'first' },
      install: { ...install('bun.lock', YARN_INSTALL), aliases: ['i'] },
      add: { ...install('bun.lock', YARN_INSTALL), aliases: ['a'] },
      remove: { ...install('bun.lock', YARN_INSTALL), aliases: ['rm'] },
      x: exec,
      pm: {
        commands: { ls: { options: { '--all': 'none' }, operands: [{ max: 0 }], unasked: [{ kind: 'names', path: './node_modules' }] } },
      },
    },
    ambient: ['NODE_OPTIONS', 'BUN_OPTIONS'],
  },
];
