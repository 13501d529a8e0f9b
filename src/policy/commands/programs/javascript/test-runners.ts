// Test runners of JavaScript projects: they run the tests and the configuration, which are code of the project.
import type { Options, Program } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { LOADS_CODE, SWITCH } from './shared.ts';

const RUNS_TESTS = [{ kind: 'project', name: 'tests' }] as const;
const LISTENS = 'unclear:opens a server' as const;
const COVERAGE_REPORTERS = 'one:text,text-summary,json,json-summary,html,lcov,lcovonly,clover,cobertura,none,teamcity' as const;
/** jest takes JSON for a configuration too, so only the usual names are understood. */
const JEST_CONFIGS =
  'one:jest.config.js,jest.config.ts,jest.config.mjs,jest.config.cjs,jest.config.json,jest.unit.config.js,jest.integration.config.js,jest.e2e.config.js,test/jest-e2e.json' as const;

const VITEST_OPTIONS: Options = optionList({
  none: `
    -v --version, -h --help, --no-color, --no-coverage, --no-watch, --no-isolate, --no-file-parallelism, --no-fileParallelism, --no-cache,
    --no-threads, --clearCache`,
  // The value of an optional one may also follow as a word of its own: it is then taken for a filter, which is stricter.
  text: '-u --update[=], --silent[=], --listTags[=], --maxWorkers=, --minWorkers=, --vmMemoryLimit=, --mode=',
  [SWITCH]: `
    -w --watch[=], --run[=], --coverage[=], --coverage.enabled[=], --coverage.clean[=], --coverage.reportOnFailure[=],
    --coverage.skipFull[=], --hideSkippedTests[=], --isolate[=], --globals[=], --dom[=], --fileParallelism[=], --passWithNoTests[=],
    --logHeapUsage[=], --allowOnly[=], --dangerouslyIgnoreUnhandledErrors[=], --sequence.shuffle[=], --sequence.concurrent[=],
    --expandSnapshotDiff[=], --disableConsoleIntercept[=], --typecheck[=], --typecheck.enabled[=], --typecheck.only[=], --cache[=],
    --printConsoleTrace[=], --clearScreen[=], --standalone[=], --strictTags[=], --detectAsyncLeaks[=]`,
  number: `
    --testTimeout=, --hookTimeout=, --teardownTimeout=, --bail=, --retry=, --sequence.seed=, --maxConcurrency=, --slowTestThreshold=,
    --coverage.thresholds.lines=, --coverage.thresholds.functions=, --coverage.thresholds.branches=, --coverage.thresholds.statements=`,
  // It becomes a word of `git diff`.
  revision: '--changed[=]',
  pattern: '-t --testNamePattern=, --exclude=, --coverage.include=, --coverage.exclude=, --project=, --tagsFilter=, --shard=',
  'project:configuration': '-c --config=',
  enter: '-r --root=',
  names: '--dir=',
  'one:default,basic,verbose,dot,json,blob,tap,tap-flat,junit,hanging-process,github-actions,tree,agent,minimal': '--reporter=',
  [COVERAGE_REPORTERS]: '--coverage.reporter=',
  'one:v8,istanbul': '--coverage.provider=',
  'one:threads,forks,vmThreads,vmForks': '--pool=',
  'one:node,jsdom,happy-dom,edge-runtime': '--environment=',
  'one:stack,list,parallel': '--sequence.hooks=',
  write: '--outputFile --output-file=, --coverage.reportsDirectory=, --attachmentsDir=',
  [LISTENS]: '--ui[=], --open[=], --api[=], --inspect[=], --inspectBrk[=], --inspect-brk[=], --browser[=]',
  [LOADS_CODE]: '--globalSetup=, --runner=, --execArgv=, --configLoader=, --coverage.customProviderModule=, --diff=, --workspace=',
});

const JEST_OPTIONS: Options = optionList({
  none: '-h --help, --version, --no-coverage, --no-cache, --no-watchman, --no-color, --no-colors, --clearCache',
  [SWITCH]: `
    --all[=], -b --bail[=], --cache[=], --ci[=], --clearMocks[=], --coverage --collectCoverage[=], --color --colors[=],
    --detectOpenHandles[=], --detectLeaks[=], --errorOnDeprecated[=], -e --expand[=], --findRelatedTests[=], --forceExit[=], --json[=],
    --lastCommit[=], --listTests[=], --collectTests[=], --logHeapUsage[=], --noStackTrace[=], -o --onlyChanged[=], -f --onlyFailures[=],
    --passWithNoTests[=], --randomize[=], --resetMocks[=], --resetModules[=], --restoreMocks[=], -i --runInBand --run-in-band[=],
    --runTestsByPath[=], --showConfig[=], --showSeed[=], --silent[=], --testLocationInResults[=], -u --updateSnapshot[=], --useStderr[=],
    --verbose[=], --watch[=], --watchAll[=], --watchman[=], --workerThreads[=], --debug[=], --changedFilesWithAncestor[=],
    --skipFilter[=], --automock[=], --injectGlobals[=]`,
  number: '--maxConcurrency=, --seed=, --testTimeout --test-timeout=, --testFailureExitCode=, --openHandlesTimeout=',
  text: '-w --maxWorkers --max-workers=, --shard=, --coverageThreshold=',
  revision: '--changedSince=',
  pattern: `
    -t --testNamePattern --test-name-pattern=, --testPathPattern --testPathPatterns --test-path-pattern=, --testPathIgnorePatterns=,
    --collectCoverageFrom=, --coveragePathIgnorePatterns=, --testMatch=, --testRegex=, --selectProjects=, --ignoreProjects=,
    --modulePathIgnorePatterns=, --transformIgnorePatterns=, --watchPathIgnorePatterns=`,
  [JEST_CONFIGS]: '-c --config=',
  [COVERAGE_REPORTERS]: '--coverageReporters=',
  'one:babel,v8': '--coverageProvider=',
  'one:node,jsdom': '--env --testEnvironment=',
  'one:default,verbose,summary,github-actions,agent': '--reporters=',
  write: '--outputFile=, --coverageDirectory=, --cacheDirectory=',
  names: '--rootDir=, --roots=, --projects=',
  [LOADS_CODE]: `
    --globalSetup=, --globalTeardown=, --runner=, --testRunner=, --transform=, --setupFiles=, --setupFilesAfterEnv=, --resolver=,
    --testSequencer=, --filter=, --preset=, --prettierPath=, --snapshotSerializers=, --haste=, --moduleNameMapper=, --modulePaths=,
    --moduleDirectories=, --testResultsProcessor=, --globals=, --testEnvironmentOptions=`,
});

const PLAYWRIGHT_OPTIONS: Options = optionList({
  none: `
    --fail-on-flaky-tests, --forbid-only, --fully-parallel, --headed, --ignore-snapshots, --last-failed, --list, --no-deps,
    --pass-with-no-tests, --quiet, -x, -h --help`,
  pattern: '-g --grep=, -G --grep-invert=, --shard=',
  number: '--global-timeout=, --max-failures=, --repeat-each=, --retries=, --timeout=',
  text: '--project=, -j --workers=, --only-changed[=], --shuffle[=], -u --update-snapshots[=]',
  read: '--tsconfig=',
  'project:configuration': '-c --config=',
  write: '--output=',
  'one:list,line,dot,json,junit,null,github,html,blob': '--reporter=',
  'one:on,off,on-first-retry,on-all-retries,retain-on-failure,retain-on-first-failure': '--trace=',
  'one:all,chromium,firefox,webkit': '--browser=',
  [LISTENS]: '--ui, --ui-host=, --ui-port=, --debug[=]',
});

export const TEST_RUNNER_PROGRAMS: readonly Program[] = [
  {
    name: 'vitest',
    manual: 'vitest --help --expand-help, Vitest 4.1',
    parse: 'exact',
    options: VITEST_OPTIONS,
    operands: [{ rest: 'names' }],
    commands: {
      run: { operands: [{ rest: 'names' }] },
      watch: { aliases: ['dev'], operands: [{ rest: 'names' }] },
      related: { operands: [{ rest: 'read' }] },
      list: { options: { '--filesOnly[=]': SWITCH, '--json[=]': 'write' }, operands: [{ rest: 'names' }] },
      bench: { operands: [{ rest: 'names' }] },
      init: { parse: 'words', operands: [{ rest: 'unclear:installs packages', min: 1 }] },
    },
    unasked: RUNS_TESTS,
    ambient: ['NODE_OPTIONS', 'VITEST_CONFIG'],
  },
  {
    name: 'jest',
    manual: 'jest --help, Jest 30.5',
    parse: 'exact',
    options: JEST_OPTIONS,
    operands: [{ rest: 'names' }],
    unasked: RUNS_TESTS,
    ambient: ['NODE_OPTIONS'],
  },
  {
    name: 'mocha',
    manual: 'mocha --help, Mocha 12.0',
    parse: 'exact',
    options: optionList({
      none: `
        --allow-uncaught, -A --async-only, -b --bail, --check-leaks, -c --color --colors, -C --no-colors, --no-color, --diff, --no-diff,
        --dry-run, --exit, --no-exit, --fail-zero, --forbid-only, --forbid-pending, --full-trace, --inline-diffs, -i --invert,
        --list-interfaces, --list-reporters, -p --parallel, --recursive, -S --sort, -w --watch, -h --help, -V --version,
        --pass-on-failing-test-suite, --posix-exit-codes`,
      number: '--retries=, -j --jobs=, -s --slow=, -t --timeout --timeouts=',
      pattern: '-f --fgrep=, -g --grep=, --ignore --exclude=, --extension=, --watch-files=, --watch-ignore=',
      'one:dot,doc,tap,json,html,list,min,spec,nyan,xunit,markdown,progress,landing,json-stream': '-R --reporter=',
      'one:bdd,tdd,qunit,exports': '-u --ui=',
      read: '--package=',
      'project:configuration': '--config=',
      [LOADS_CODE]: '-r --require=, --import=, --loader=, --file=, -n --node-option=',
      'unclear:an option of the reporter can name a file to write': '-O --reporter-option --reporter-options=',
    }),
    operands: [{ rest: 'project:tests' }],
    unasked: RUNS_TESTS,
    ambient: ['NODE_OPTIONS', 'MOCHA_OPTIONS'],
  },
  {
    name: 'playwright',
    manual: 'playwright test --help, Playwright 1.65',
    parse: 'exact',
    before: optionList({ none: '-V --version, -h --help' }),
    operands: [{ max: 0 }],
    commands: {
      test: {
        options: PLAYWRIGHT_OPTIONS,
        operands: [{ rest: 'names' }],
        unasked: [...RUNS_TESTS, { kind: 'unpack', path: './test-results' }],
      },
      'show-report': { parse: 'words', operands: [{ rest: LISTENS, min: 1 }] },
      install: { parse: 'words', operands: [{ rest: 'unclear:downloads browsers', min: 1 }] },
    },
    ambient: ['NODE_OPTIONS', 'PLAYWRIGHT_BROWSERS_PATH'],
  },
];
