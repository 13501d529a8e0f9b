// node, tsx, ts-node and deno: the first operand is code of the project, and the words after it are that code's.
import type { Options, Program } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { LOADS_CODE } from './shared.ts';

const EVALUATES = 'unclear:evaluates code' as const;
const DEBUGS = 'unclear:opens a debugger port' as const;

const NODE_OPTIONS: Options = optionList({
  none: `
    -v --version, -h --help, --test, --test-only, --test-force-exit, --experimental-test-coverage, --experimental-test-module-mocks,
    --enable-source-maps, --no-warnings, --no-deprecation, --trace-warnings, --trace-deprecation, --trace-uncaught, --trace-exit,
    --throw-deprecation, --pending-deprecation, --expose-gc, --watch, --watch-preserve-output, --experimental-vm-modules,
    --experimental-strip-types, --experimental-transform-types, --no-experimental-strip-types, --preserve-symlinks, --v8-options`,
  number: `
    --test-concurrency=, --test-timeout=, --max-old-space-size=, --max_old_space_size=, --stack-size=, --max-http-header-size=,
    --stack-trace-limit=, --v8-pool-size=`,
  pattern: '--test-name-pattern=, --test-skip-pattern=, --disable-warning=',
  text: '--test-shard=, -C --conditions=, --title=',
  'one:spec,tap,dot,junit,lcov': '--test-reporter=',
  'one:stdout,stderr': '--test-reporter-destination=',
  'one:strict,warn,none,throw,warn-with-error-codes': '--unhandled-rejections=',
  // A loader for TypeScript that the project has installed.
  'one:tsx,tsx/esm': '--import=',
  names: '--watch-path=',
  [EVALUATES]: '-e --eval=, -p --print, -pe, -i --interactive, --input-type=',
  [LOADS_CODE]: `
    -r --require=, --loader --experimental-loader=, --env-file=, --env-file-if-exists=, --experimental-config-file=,
    --snapshot-blob=, --build-snapshot, --openssl-config=, --icu-data-dir=, --experimental-sea-config=, --run=`,
  [DEBUGS]: '--inspect[=], --inspect-brk[=], --inspect-wait[=], --inspect-port --debug-port=',
  write: `
    --cpu-prof-dir=, --heap-prof-dir=, --diagnostic-dir=, --redirect-warnings=, --report-dir --report-directory=, --tls-keylog=,
    --trace-event-file-pattern=`,
  'unclear:writes profiles or reports': '--cpu-prof, --heap-prof, --prof, --report-on-fatalerror, --report-uncaught-exception',
});
const SCRIPT = { first: ['project:script'], rest: 'argument', min: 1 } as const;

export const RUNTIME_PROGRAMS: readonly Program[] = [
  {
    name: 'node',
    aliases: ['nodejs'],
    manual: 'node(1), Node 20.20',
    parse: 'first',
    options: {
      ...NODE_OPTIONS,
      ...optionList({ none: '-c --check' }),
    },
    operands: [
      { if: ['-v', '-h', '--v8-options'], max: 0 },
      { if: ['-c'], rest: 'read', min: 1 },
      { if: ['--test'], rest: 'project:tests', none: [{ kind: 'project', name: 'tests' }] },
      SCRIPT,
    ],
    // Whether a file is a module.
    unasked: [{ kind: 'read', path: 'any:package.json' }],
    ambient: ['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'NODE_V8_COVERAGE', 'NODE_EXTRA_CA_CERTS'],
  },
  {
    name: 'tsx',
    manual: 'tsx --help, tsx 4',
    parse: 'first',
    options: { ...NODE_OPTIONS, ...optionList({ none: '--no-cache', read: '--tsconfig=' }) },
    operands: [{ if: ['-v', '-h'], max: 0 }, { if: ['--test'], rest: 'project:tests', none: [{ kind: 'project', name: 'tests' }] }, SCRIPT],
    ambient: ['NODE_OPTIONS', 'NODE_PATH', 'TSX_TSCONFIG_PATH'],
  },
  {
    name: 'ts-node',
    manual: 'ts-node --help, ts-node 10.9',
    parse: 'first',
    options: optionList({
      none: '-v --version, -h --help, -T --transpileOnly --transpile-only, --swc, --esm, --files, -s --script-mode, --typeCheck, --pretty',
      read: '-P --project=',
      enter: '--cwd=',
      [EVALUATES]: '-e --eval=, -p --print, -i --interactive',
      [LOADS_CODE]: '-r --require=, -C --compiler=, -O --compilerOptions=, --transpiler=',
    }),
    operands: [{ if: ['-v', '-h'], max: 0 }, SCRIPT],
    ambient: ['NODE_OPTIONS', 'TS_NODE_PROJECT', 'TS_NODE_COMPILER'],
  },
  {
    name: 'deno',
    manual: 'deno help, deno 2.9',
    parse: 'exact',
    before: optionList({ none: '-V --version, -h --help, -q --quiet' }),
    operands: [{ max: 0 }],
    commands: {
      run: {
        parse: 'first',
        options: optionList({
          none: '--no-check, --check, --no-remote, --no-npm, --no-lock, --no-prompt, --cached-only, --frozen, --no-config, -A --allow-all',
          number: '--seed=',
          text: '-R --allow-read[=], -W --allow-write[=], -N --allow-net[=], -E --allow-env[=], --allow-run[=], -S --allow-sys[=]',
          read: '-c --config=, --import-map=',
          [LOADS_CODE]: '--preload=, --require=, --env-file[=], --cert=, -r --reload[=], --allow-ffi[=]',
          [DEBUGS]: '--inspect[=], --inspect-brk[=], --inspect-wait[=]',
        }),
        operands: [{ ...SCRIPT, match: '^(?!(https?|npm|jsr|data|file):)' }],
      },
      test: {
        options: optionList({
          none: '--no-check, --no-run, --doc, --parallel, --trace-leaks, --quiet, -A --allow-all, --fail-fast, --no-lock',
          text: '-R --allow-read[=], -W --allow-write[=], -N --allow-net[=], -E --allow-env[=], --allow-run[=]',
          pattern: '--filter=, --ignore=',
          'one:pretty,dot,junit,tap': '--reporter=',
          write: '--coverage[=], --junit-path=',
          read: '-c --config=',
        }),
        operands: [{ rest: 'names' }],
        unasked: [{ kind: 'project', name: 'tests' }],
      },
      check: {
        options: { '--all': 'none', '--doc': 'none' },
        operands: [{ rest: 'read' }],
        unasked: [{ kind: 'read', path: './deno.json' }],
      },
      lint: {
        options: optionList({
          none: '--json, --compact, --rules',
          'unclear:edits files': '--fix',
          read: '-c --config=',
          text: '--rules-include=',
        }),
        operands: [{ rest: 'walk', none: [{ kind: 'walk', path: '.' }] }],
      },
      fmt: {
        options: optionList({ none: '--check', read: '-c --config=', number: '--line-width=, --indent-width=' }),
        operands: [
          { if: ['--check'], rest: 'walk', none: [{ kind: 'walk', path: '.' }] },
          { rest: 'modify', none: [{ kind: 'modify', path: '.' }] },
        ],
        isWriter: true,
      },
      task: { operands: [{ first: ['project:task'], rest: 'argument' }], unasked: [{ kind: 'read', path: './deno.json' }] },
      eval: { parse: 'words', operands: [{ rest: EVALUATES }] },
    },
    opensAddresses: true,
    ambient: ['DENO_DIR', 'DENO_CERT', 'NODE_OPTIONS'],
  },
];
