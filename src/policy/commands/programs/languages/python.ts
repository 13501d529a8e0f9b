// Python and its tools. `python -m NAME` is read as the program NAME.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';

const LOADS_CODE = 'unclear:loads other code' as const;
const WALKS_PROJECT = [{ kind: 'walk', path: '.' }] as const;
const connects = { kind: 'connect' } as const;
const AMBIENT = ['PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONHOME', 'PYTHONINSPECT', 'PYTEST_ADDOPTS', 'PYTEST_PLUGINS'];

const PYTEST_OPTIONS: Options = optionList({
  none: `
    --markers, -x --exitfirst, --strict-config, --strict-markers, --strict, --fixtures --funcargs, --fixtures-per-test, -s, --runxfail,
    --lf --last-failed, --ff --failed-first, --nf --new-first, --cache-clear, --sw --stepwise, --sw-skip --stepwise-skip,
    --sw-reset --stepwise-reset, -v --verbose, --no-header, --no-summary, --no-fold-skipped, --force-short-summary, -q --quiet,
    --disable-warnings --disable-pytest-warnings, -l --showlocals, --no-showlocals, --xfail-tb, --full-trace, --collect-only --co,
    --noconftest, --keep-duplicates, --collect-in-virtualenv, --continue-on-collection-errors, --doctest-modules,
    --doctest-ignore-import-errors, --doctest-continue-on-failure, -V --version, -h --help, --trace-config, --setup-only, --setup-show,
    --setup-plan, --no-cov, --no-cov-on-fail, --cov-append, --cov-branch, --cov-reset`,
  number: '--maxfail=, --durations=, --durations-min=, --verbosity=, --cov-fail-under=, --timeout=, --reruns=, --max-warnings=',
  pattern: '-k=, -m=, --ignore-glob=, --doctest-glob=, --deselect=',
  text: '-r --report-chars=, --junit-prefix=, --log-format=, --log-date-format=, --log-cli-format=, --log-disable=',
  names: '--ignore=, --confcutdir=, --cov[=]',
  'one:auto,logical,0,1,2,3,4,6,8,12,16': '-n --numprocesses=',
  'one:load,loadscope,loadfile,loadgroup,worksteal,each,no': '--dist=',
  'one:auto,long,short,line,native,no': '--tb=',
  'one:fd,sys,no,tee-sys': '--capture=',
  'one:no,stdout,stderr,log,all': '--show-capture=',
  'one:yes,no,auto': '--color=, --code-highlight=',
  'one:all,none': '--lfnf --last-failed-no-failures=',
  'one:prepend,append,importlib': '--import-mode=',
  'one:plain,rewrite': '--assert=',
  'one:auto,strict': '--asyncio-mode=',
  'one:DEBUG,INFO,WARNING,ERROR,CRITICAL,debug,info,warning,error': '--log-level=, --log-cli-level=, --log-file-level=',
  'one:term,term-missing,term:skip-covered,term-missing:skip-covered,html,xml,json,lcov,annotate': '--cov-report=',
  'one:none,cdiff,ndiff,udiff,only_first_failure': '--doctest-report=',
  write: '--junit-xml --junitxml=, --log-file=, --debug[=], --basetemp=',
  // It can name plugins.
  'one:.coveragerc,pyproject.toml,setup.cfg,tox.ini': '--cov-config=',
  [LOADS_CODE]: '-p=, -c --config-file=, -o --override-ini=, --rootdir=, --pdbcls=, -W --pythonwarnings=, --pyargs',
  'unclear:asks on the terminal': '--pdb, --trace',
  'unclear:uploads the output': '--pastebin=',
});

const PIP_OPTIONS: Options = optionList({
  none: `
    -h --help, -V --version, -v --verbose, -q --quiet, --no-input, --no-color, --no-cache-dir, --disable-pip-version-check, --isolated,
    --require-virtualenv`,
  number: '--timeout=, --retries=',
  [LOADS_CODE]: '--python=, --proxy=, --cert=, --client-cert=, --trusted-host=, --log=, --cache-dir=, --use-feature=',
});
/** A name with a version. Folders, archives, addresses and repositories are not understood. */
const REQUIREMENT = '^[A-Za-z0-9][\\w.-]*(\\[[\\w,.-]+\\])?([<>=!~]=?[\\w.*,<>=!~]+)?$';
const PIP_COMMANDS: Readonly<Record<string, Subcommand>> = {
  install: {
    options: optionList({
      none: '-U --upgrade, --no-deps, --pre, --user, --force-reinstall, --dry-run, --break-system-packages, --no-build-isolation',
      text: '--only-binary=, --no-binary=',
      read: '-r --requirement=, -c --constraint=',
      walk: '-e --editable=',
      'unclear:installs somewhere else': '-t --target=, --prefix=, --root=, --src=',
      'unclear:another package index': '-i --index-url=, --extra-index-url=, -f --find-links=, --no-index',
    }),
    operands: [{ rest: 'text', match: REQUIREMENT }],
    opensAddresses: true,
    unasked: [connects, { kind: 'project', name: 'install scripts of packages' }, { kind: 'unpack', path: '~/.local' }],
    isWriter: true,
  },
  uninstall: {
    options: optionList({ none: '-y --yes', read: '-r --requirement=' }),
    operands: [{ rest: 'text', match: REQUIREMENT }],
    unasked: [{ kind: 'delete', path: '~/.local' }],
  },
  list: {
    options: optionList({
      none: '-o --outdated, -u --uptodate, -e --editable, -l --local, --user, --not-required',
      'one:columns,freeze,json': '--format=',
    }),
    operands: [{ max: 0 }],
  },
  show: { options: { '-f --files': 'none' }, operands: [{ rest: 'text' }] },
  freeze: { options: optionList({ none: '-l --local, --user, --all, --exclude-editable' }), operands: [{ max: 0 }] },
  check: { operands: [{ max: 0 }] },
  index: {
    commands: { versions: { options: { '--pre': 'none' }, operands: [{ rest: 'text', match: REQUIREMENT }], unasked: [connects] } },
  },
};

const PYTHON_FILES = [{ rest: 'walk', none: WALKS_PROJECT }] as const;
const RUFF_OPTIONS: Options = optionList({
  none: `
    --diff, --preview, --no-preview, -n --no-cache, --respect-gitignore, --no-respect-gitignore, --force-exclude, -v --verbose, -q --quiet,
    -s --silent, --isolated, -h --help`,
  text: '--target-version=, --extension=',
  pattern: '--exclude=, --extend-exclude=',
  names: '--stdin-filename=',
  write: '--cache-dir=',
  'one:auto,always,never': '--color=',
  // Either a file or a setting.
  'unclear:another configuration': '--config=',
  'one:concise,full,json,json-lines,junit,grouped,github,gitlab,pylint,rdjson,azure,sarif': '--output-format=',
});

export const PYTHON_PROGRAMS: readonly Program[] = [
  {
    name: 'python',
    aliases: ['python3'],
    manual: 'python(1), Python 3.11',
    parse: 'first',
    options: optionList({
      none: '-b, -B, -d, -E, -h --help, -I, -O, -OO, -P, -q, -s, -S, -u, -v, -V --version, -VV, -x',
      command: '-m=',
      'one:dev,utf8,utf8=1,importtime,faulthandler': '-X=',
      'one:always,default,never': '--check-hash-based-pycs=',
      'unclear:evaluates code': '-c=, -i',
      [LOADS_CODE]: '-W=',
    }),
    operands: [
      { if: ['-V', '-VV', '-h', '-m'], max: 0 },
      { first: ['project:script'], rest: 'argument', min: 1 },
    ],
    starts: ['pytest', 'unittest', 'pip', 'mypy', 'black', 'ruff'],
    ambient: AMBIENT,
  },
  {
    name: 'pytest',
    aliases: ['py.test'],
    manual: 'pytest --help, pytest 9.1 with pytest-cov and pytest-xdist',
    parse: 'gnu',
    options: PYTEST_OPTIONS,
    // `tests/test_a.py::test_b` is a file and a test in it. `@file` holds more arguments.
    operands: [{ rest: 'names', match: '^[^@]' }],
    unasked: [
      { kind: 'project', name: 'tests' },
      { kind: 'unpack', path: './.pytest_cache' },
    ],
    ambient: AMBIENT,
  },
  {
    name: 'unittest',
    manual: 'python -m unittest --help, Python 3.11',
    parse: 'gnu',
    options: optionList({
      none: '-v --verbose, -q --quiet, -f --failfast, -b --buffer, -c --catch, --locals',
      pattern: '-k=, -p --pattern=',
      names: '-s --start-directory=, -t --top-level-directory=',
    }),
    operands: [{ rest: 'names' }],
    unasked: [{ kind: 'project', name: 'tests' }],
    ambient: AMBIENT,
  },
  {
    name: 'pip',
    aliases: ['pip3'],
    manual: 'pip help, pip 23.2',
    parse: 'gnu',
    options: PIP_OPTIONS,
    operands: [{ max: 0 }],
    commands: PIP_COMMANDS,
    ambient: ['PIP_INDEX_URL', 'PIP_CONFIG_FILE', 'PIP_TARGET', 'PYTHONPATH'],
  },
  {
    name: 'uv',
    manual: 'uv help, uv 0.5 (not checked against the program)',
    parse: 'exact',
    options: optionList({ none: '-q --quiet, -v --verbose, --offline, --no-progress, -V --version, -h --help, --no-cache -n' }),
    operands: [{ max: 0 }],
    commands: {
      run: {
        parse: 'posix',
        options: optionList({
          none: '--frozen, --locked, --no-sync, --all-extras, --dev, --no-dev, --isolated',
          text: '--extra=, --group=, -p --python=',
          'unclear:installs another package': '--with=',
        }),
        operands: [{ first: ['command'], min: 1 }],
        starts: ['python', 'python3', 'pytest', 'mypy', 'black', 'ruff', 'pip'],
        unasked: [{ kind: 'unpack', path: './.venv' }, connects],
      },
      sync: {
        options: optionList({ none: '--frozen, --locked, --all-extras, --dev, --no-dev, --all-packages', text: '--extra=, --group=' }),
        operands: [{ max: 0 }],
        unasked: [connects, { kind: 'unpack', path: './.venv' }, { kind: 'modify', path: './uv.lock' }],
        isWriter: true,
      },
      lock: {
        options: optionList({ none: '--check, -U --upgrade' }),
        operands: [{ max: 0 }],
        unasked: [connects, { kind: 'modify', path: './uv.lock' }],
        isWriter: true,
      },
      pip: { commands: PIP_COMMANDS },
      tree: { options: { '--depth=': 'number' }, operands: [{ max: 0 }], unasked: [{ kind: 'read', path: './uv.lock' }] },
    },
    ambient: ['UV_INDEX_URL', 'UV_CONFIG_FILE', 'UV_PYTHON', 'VIRTUAL_ENV'],
  },
  {
    name: 'ruff',
    manual: 'ruff --help, ruff 0.16',
    parse: 'exact',
    options: optionList({ none: '-V --version' }),
    operands: [{ max: 0 }],
    commands: {
      check: {
        options: {
          ...RUFF_OPTIONS,
          ...optionList({
            none: '--fix, --unsafe-fixes, --no-unsafe-fixes, --no-fix, --show-fixes, --fix-only, --ignore-noqa, --statistics, --show-files, --show-settings, -e --exit-zero, --exit-non-zero-on-fix, -w --watch',
            text: '--select=, --ignore=, --extend-select=, --extend-ignore=, --per-file-ignores=, --fixable=, --unfixable=',
            write: '-o --output-file=',
            'unclear:edits files': '--add-noqa[=], --add-ignore[=]',
          }),
        },
        operands: PYTHON_FILES,
        turns: { '--fix': { walk: 'modify' }, '--fix-only': { walk: 'modify' } },
        unasked: [
          { kind: 'read', path: './pyproject.toml' },
          { kind: 'unpack', path: './.ruff_cache' },
        ],
        isWriter: true,
      },
      format: {
        options: {
          ...RUFF_OPTIONS,
          ...optionList({ none: '--check, --exit-non-zero-on-format', number: '--line-length=', text: '--range=' }),
        },
        operands: [
          { if: ['--check', '--diff'], ...PYTHON_FILES[0] },
          { rest: 'modify', none: [{ kind: 'modify', path: '.' }] },
        ],
        unasked: [
          { kind: 'read', path: './pyproject.toml' },
          { kind: 'unpack', path: './.ruff_cache' },
        ],
        isWriter: true,
      },
      rule: { options: optionList({ none: '--all', 'one:text,json': '--output-format=' }), operands: [{ rest: 'text' }] },
      version: { operands: [{ max: 0 }] },
    },
  },
  {
    name: 'mypy',
    manual: 'mypy --help, mypy 2.4',
    parse: 'gnu',
    options: optionList({
      none: `
        -h --help, -v --verbose, -V --version, --strict, --ignore-missing-imports, --no-error-summary, --show-error-codes, --pretty,
        --no-incremental, --check-untyped-defs, --disallow-untyped-defs, --warn-unused-ignores, --warn-return-any, --no-color-output,
        --explicit-package-bases, --namespace-packages, --show-column-numbers, --show-error-context, --skip-cache-mtime-checks`,
      pattern: '--exclude=',
      text: '--python-version=, --platform=, --disable-error-code=, --enable-error-code=, -p --package=, -m --module=',
      'one:normal,silent,skip,error': '--follow-imports=',
      write: '--cache-dir=, --junit-xml=, --html-report=, --txt-report=, --xml-report=',
      [LOADS_CODE]: '--config-file=, --python-executable=, --custom-typeshed-dir=, --install-types, --non-interactive',
      'unclear:evaluates code': '-c --command=',
    }),
    operands: [{ rest: 'walk', match: '^[^@]' }],
    unasked: [
      { kind: 'project', name: 'plugins of mypy' },
      { kind: 'unpack', path: './.mypy_cache' },
    ],
    ambient: ['MYPYPATH', 'MYPY_CACHE_DIR'],
  },
  {
    name: 'black',
    manual: 'black --help, black 26.5',
    parse: 'gnu',
    options: optionList({
      none: '--check, --diff, --color, --no-color, --fast, --safe, --pyi, --ipynb, -S --skip-string-normalization, -C --skip-magic-trailing-comma, --preview, --unstable, -q --quiet, -v --verbose, --version, --no-cache, -h --help',
      number: '-l --line-length=, -W --workers=',
      text: '-t --target-version=, --required-version=, --line-ranges=',
      pattern: '--exclude=, --extend-exclude=, --force-exclude=, --include=',
      names: '--stdin-filename=',
      read: '--config=',
      'unclear:formats a text': '-c --code=',
    }),
    operands: [{ if: ['--check', '--diff', '--version', '-h'], rest: 'walk' }, { rest: 'modify' }],
    unasked: [
      { kind: 'read', path: './pyproject.toml' },
      { kind: 'unpack', path: '~/.cache/black' },
    ],
    isWriter: true,
  },
];
