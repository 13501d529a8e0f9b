// The everyday part of Java, Ruby, PHP and .NET tools. All of them run code of the project.
import type { Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';

const LOADS_CODE = 'unclear:loads other code' as const;
const EVALUATES = 'unclear:evaluates code' as const;
const connects = { kind: 'connect' } as const;
const SCRIPT = { first: ['project:script'], rest: 'argument', min: 1 } as const;

const bundleInstall: Subcommand = {
  options: optionList({ none: '--local, --quiet, --no-cache', number: '--jobs=, --retry=' }),
  operands: [{ max: 0 }],
  unasked: [connects, { kind: 'project', name: 'Gemfile' }, { kind: 'modify', path: './Gemfile.lock' }],
  isWriter: true,
};
const composerInstall: Subcommand = {
  options: optionList({
    none: '--no-dev, --dry-run, -o --optimize-autoloader, --prefer-dist, --no-scripts, --no-plugins, --no-progress, --dev',
  }),
  operands: [{ rest: 'text' }],
  unasked: [
    connects,
    { kind: 'unpack', path: './vendor' },
    { kind: 'project', name: 'scripts of composer.json' },
    { kind: 'modify', path: './composer.json' },
  ],
  isWriter: true,
};
const dotnet = (name: string, options: Parameters<typeof optionList>[0] = {}): Subcommand => ({
  options: optionList({
    none: '--no-restore, --no-build, --nologo, --force, --no-dependencies, -h --help',
    text: '-c --configuration=, -f --framework=, -r --runtime=',
    'one:q,quiet,m,minimal,n,normal,d,detailed,diag': '-v --verbosity=',
    'unclear:settings of the build can name programs': '-p --property=, --logger -l=',
    write: '-o --output=, --results-directory=',
    ...options,
  }),
  operands: [{ rest: 'read', max: 1 }],
  unasked: [
    { kind: 'project', name },
    { kind: 'unpack', path: '.' },
  ],
  isWriter: true,
});

export const OTHER_LANGUAGE_PROGRAMS: readonly Program[] = [
  {
    name: 'mvn',
    manual: 'mvn --help, Maven 3.8',
    parse: 'exact',
    options: optionList({
      none: `
        -v --version, -h --help, -q --quiet, -X --debug, -e --errors, -o --offline, -B --batch-mode, -U --update-snapshots, -N --non-recursive,
        -ntp --no-transfer-progress, -ff --fail-fast, -fae --fail-at-end, -fn --fail-never, -am --also-make, -amd --also-make-dependents`,
      text: '-pl --projects=, -rf --resume-from=, -T --threads=, -P --activate-profiles=',
      'one:skipTests,skipTests=true,maven.test.skip=true,skipITs,skipITs=true': '-D --define=',
      write: '-l --log-file=',
      [LOADS_CODE]: '-f --file=, -s --settings=, -gs --global-settings=, -t --toolchains=',
    }),
    operands: [
      { if: ['-v', '-h'], max: 0 },
      { rest: 'one:clean,validate,compile,test-compile,test,package,verify,install,dependency:tree,help:effective-pom,site', min: 1 },
    ],
    unasked: [
      { kind: 'project', name: 'pom.xml' },
      { kind: 'unpack', path: './target' },
      { kind: 'unpack', path: '~/.m2' },
    ],
    ambient: ['MAVEN_OPTS', 'JAVA_HOME', 'MAVEN_ARGS'],
    isWriter: true,
  },
  {
    name: 'gradle',
    manual: 'gradle --help, Gradle 4.4',
    parse: 'exact',
    options: optionList({
      none: `
        -v --version, -h --help, -q --quiet, -i --info, -d --debug, -s --stacktrace, -S --full-stacktrace, -w --warn, --continue,
        --offline, -m --dry-run, --parallel, --no-daemon, --daemon, --rerun-tasks, --build-cache, --no-build-cache`,
      pattern: '--tests=',
      text: '-x --exclude-task=',
      number: '--max-workers=',
      'one:plain,auto,rich,verbose': '--console=',
      [LOADS_CODE]:
        '-I --init-script=, -b --build-file=, -c --settings-file=, -D --system-prop=, -P --project-prop=, --include-build=, -g --gradle-user-home=, -p --project-dir=',
    }),
    operands: [{ if: ['-v', '-h'], max: 0 }, { rest: 'project:task' }],
    unasked: [
      { kind: 'project', name: 'build.gradle' },
      { kind: 'unpack', path: '~/.gradle' },
    ],
    ambient: ['GRADLE_OPTS', 'JAVA_HOME', 'JAVA_OPTS'],
  },
  {
    name: 'ruby',
    manual: 'ruby(1), Ruby 3.1',
    parse: 'first',
    options: optionList({ none: '-v --version, -w, -c, -h --help', [EVALUATES]: '-e=, -n, -p, -i', [LOADS_CODE]: '-r=, -I=, -C=, -S, -x' }),
    operands: [{ if: ['-h'], max: 0 }, { if: ['-c'], rest: 'read', min: 1 }, { if: ['-v'], max: 0 }, SCRIPT],
    ambient: ['RUBYOPT', 'RUBYLIB', 'GEM_HOME', 'BUNDLE_GEMFILE'],
  },
  {
    name: 'bundle',
    aliases: ['bundler'],
    manual: 'bundle(1), Bundler 2.3',
    parse: 'exact',
    options: optionList({ none: '--version, --help, --no-color, --verbose' }),
    operands: [{ max: 0 }],
    commands: {
      exec: {
        parse: 'posix',
        operands: [{ first: ['command'], min: 1 }],
        starts: ['ruby', 'rake', 'rspec', 'rubocop'],
        unasked: [{ kind: 'project', name: 'Gemfile' }],
      },
      install: bundleInstall,
      update: { ...bundleInstall, operands: [{ rest: 'text' }] },
      check: { operands: [{ max: 0 }], unasked: [{ kind: 'project', name: 'Gemfile' }] },
      list: { operands: [{ max: 0 }], unasked: [{ kind: 'project', name: 'Gemfile' }] },
      outdated: { operands: [{ rest: 'text' }], unasked: [connects, { kind: 'project', name: 'Gemfile' }] },
    },
    ambient: ['BUNDLE_GEMFILE', 'RUBYOPT'],
  },
  {
    name: 'rake',
    manual: 'rake --help, Rake 13',
    parse: 'exact',
    options: optionList({
      none: '-T --tasks, -n --dry-run, -q --quiet, -s --silent, -v --verbose, -V --version, -t --trace, -P --prereqs, -A --all',
      [EVALUATES]: '-e --execute=, -p --execute-print=, -E --execute-continue=',
      [LOADS_CODE]: '-r --require=, -I --libdir=, -f --rakefile=, -R --rakelibdir=',
    }),
    operands: [{ rest: 'project:task', match: '^[\\w:.-]+$' }],
    unasked: [{ kind: 'project', name: 'Rakefile' }],
    ambient: ['RUBYOPT'],
  },
  {
    name: 'rspec',
    manual: 'rspec --help, RSpec 3.12',
    parse: 'exact',
    options: optionList({
      none: '-b --backtrace, -c --color, --no-color, --force-color, --fail-fast, --only-failures, -n --next-failure, --dry-run, -w --warnings, -v --version, -h --help',
      pattern: '-e --example=, -E --example-matches=, -t --tag=, -P --pattern=, --exclude-pattern=',
      text: '--order=, --seed=',
      'one:progress,p,documentation,d,html,h,json,j,failures,f': '-f --format=',
      write: '-o --out=',
      [LOADS_CODE]: '-r --require=, -I=, -O --options=',
    }),
    operands: [{ rest: 'names' }],
    unasked: [{ kind: 'project', name: 'specs' }],
    ambient: ['RUBYOPT', 'SPEC_OPTS'],
  },
  {
    name: 'php',
    manual: 'php(1), PHP 8.2',
    parse: 'first',
    options: optionList({
      none: '-v --version, -m --modules, -i --info, -h --help, -n --no-php-ini, --ini, -l --syntax-check',
      [EVALUATES]: '-r --run=, -B --process-begin=, -R --process-code=, -E --process-end=, -a --interactive',
      [LOADS_CODE]: '-c --php-ini=, -d --define=, -z --zend-extension=, -F --process-file=',
      'unclear:opens a server': '-S --server=, -t --docroot=',
    }),
    operands: [{ if: ['-v', '-m', '-i', '-h', '--ini'], max: 0 }, { if: ['-l'], rest: 'read', min: 1 }, SCRIPT],
    ambient: ['PHPRC', 'PHP_INI_SCAN_DIR'],
  },
  {
    name: 'composer',
    manual: 'composer list, Composer 2.5',
    parse: 'exact',
    options: optionList({
      none: '-q --quiet, -V --version, -n --no-interaction, -v --verbose, -h --help, --no-ansi',
      'unclear:works on another project': '-d --working-dir=',
    }),
    operands: [{ max: 0 }],
    commands: {
      install: { ...composerInstall, operands: [{ max: 0 }] },
      update: composerInstall,
      require: composerInstall,
      remove: composerInstall,
      show: {
        options: optionList({ none: '-t --tree, -i --installed, -D --direct, -o --outdated' }),
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'project', name: 'plugins of composer' }],
      },
      validate: { options: { '--strict': 'none' }, operands: [{ max: 0 }], unasked: [{ kind: 'project', name: 'plugins of composer' }] },
      'dump-autoload': {
        options: { '-o --optimize': 'none' },
        operands: [{ max: 0 }],
        unasked: [
          { kind: 'unpack', path: './vendor' },
          { kind: 'project', name: 'plugins of composer' },
        ],
      },
      test: { operands: [{ max: 0 }], unasked: [{ kind: 'project', name: 'script of composer.json' }] },
      'run-script': { aliases: ['run'], operands: [{ first: ['project:script'], max: 1 }] },
    },
    ambient: ['COMPOSER', 'COMPOSER_HOME', 'COMPOSER_VENDOR_DIR'],
  },
  {
    name: 'dotnet',
    manual: 'dotnet help, .NET 8 (not checked against the program)',
    parse: 'exact',
    options: optionList({ none: '--info, --version, --list-sdks, --list-runtimes, -h --help' }),
    operands: [{ max: 0 }],
    commands: {
      build: dotnet('build'),
      test: dotnet('tests', { pattern: '--filter=', none: '--no-restore, --no-build, --nologo, --blame, -t --list-tests, -h --help' }),
      restore: { ...dotnet('restore'), unasked: [connects, { kind: 'project', name: 'restore' }, { kind: 'unpack', path: '~/.nuget' }] },
      clean: {
        ...dotnet('clean'),
        unasked: [
          { kind: 'project', name: 'clean' },
          { kind: 'delete', path: './bin' },
          { kind: 'delete', path: './obj' },
        ],
      },
      format: {
        options: optionList({ none: '--verify-no-changes, --no-restore' }),
        operands: [{ rest: 'modify', max: 1, none: [{ kind: 'modify', path: '.' }] }],
        isWriter: true,
      },
      list: { operands: [{ rest: 'one:package,reference', max: 1 }], unasked: [{ kind: 'project', name: 'list' }] },
    },
    ambient: ['MSBUILD_EXE_PATH', 'DOTNET_STARTUP_HOOKS'],
  },
];
