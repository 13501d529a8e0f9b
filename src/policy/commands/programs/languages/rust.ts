// cargo, rustc and rustup. Builds run build scripts and procedural macros, tests run the tests: all code of the project.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';

const CARGO_OPTIONS: Options = optionList({
  none: '-q --quiet, -v --verbose -vv, --locked, --offline, --frozen, -h --help, -V --version, --list',
  'one:auto,always,never': '--color=',
  'unclear:configuration can name programs to run': '--config=',
  'unclear:unstable options': '-Z=',
  'unclear:works on another directory': '-C=',
});
const TARGETS =
  'one:x86_64-unknown-linux-gnu,x86_64-unknown-linux-musl,aarch64-unknown-linux-gnu,aarch64-unknown-linux-musl,x86_64-apple-darwin,aarch64-apple-darwin,x86_64-pc-windows-msvc,x86_64-pc-windows-gnu,wasm32-unknown-unknown,wasm32-wasip1,wasm32-wasip2' as const;
const PACKAGE_OPTIONS: Options = optionList({
  none: `
    --workspace, --all, --lib, --bins, --examples, --tests, --benches, --all-targets, --all-features, --no-default-features, -r --release,
    --keep-going, --ignore-rust-version, --future-incompat-report, --no-deps`,
  text: '-p --package=, --exclude=, --bin=, --example=, --test=, --bench=, -F --features=, --profile=, --timings[=]',
  number: '-j --jobs=',
  'one:human,short,json,json-diagnostic-short,json-diagnostic-rendered-ansi,json-render-diagnostics': '--message-format=',
  // A file describes a target of its own, and can name a linker.
  [TARGETS]: '--target=',
  'project:manifest': '--manifest-path=',
  write: '--target-dir=, --artifact-dir --out-dir=',
});
const connects = { kind: 'connect' } as const;
/** Dependencies that are not there yet are fetched. */
const BUILDS = [
  connects,
  { kind: 'project', name: 'build scripts and macros' },
  { kind: 'unpack', path: './target' },
  { kind: 'unpack', path: '~/.cargo' },
] as const;
/** After `--`, to the test harness: `--logfile` would write a file. */
const TEST_WORDS =
  'one:--nocapture,--no-capture,--show-output,--ignored,--include-ignored,--exact,--list,-q,--quiet,--test-threads=1,--test-threads=2,--test-threads=4,--test-threads=8' as const;
/** After `--`, to the compiler: only levels of lints. */
const LINTS =
  'one:-D,-W,-A,-F,--deny,--warn,--allow,warnings,-Dwarnings,-Wwarnings,unused,dead_code,clippy::all,clippy::pedantic,clippy::nursery,clippy::cargo,clippy::unwrap_used,clippy::expect_used,-Dclippy::all,-Wclippy::all,-Wclippy::pedantic,-Aclippy::too_many_arguments' as const;
const build = (options: Options = {}): Subcommand => ({
  options: { ...PACKAGE_OPTIONS, ...options },
  operands: [{ max: 0 }],
  unasked: BUILDS,
  isWriter: true,
});
const CHANGES_MANIFEST = [
  { kind: 'modify', path: './Cargo.toml' },
  { kind: 'modify', path: './Cargo.lock' },
] as const;

export const RUST_PROGRAMS: readonly Program[] = [
  {
    name: 'cargo',
    manual: 'cargo(1) and the pages of its subcommands, cargo 1.95',
    parse: 'exact',
    before: CARGO_OPTIONS,
    operands: [{ max: 0 }],
    commands: {
      build: { ...build(), aliases: ['b'] },
      check: { ...build(), aliases: ['c'] },
      doc: { ...build(optionList({ none: '--document-private-items', 'unclear:opens a browser': '--open' })), aliases: ['d'] },
      clippy: {
        ...build(optionList({ none: '--no-deps', 'unclear:edits files': '--fix, --allow-dirty, --allow-staged, --allow-no-vcs' })),
        operands: [{ dashed: LINTS }],
      },
      test: {
        ...build(optionList({ none: '--no-run, --no-fail-fast, --doc' })),
        aliases: ['t'],
        operands: [{ rest: 'pattern', dashed: TEST_WORDS }],
        unasked: [...BUILDS, { kind: 'project', name: 'tests' }],
      },
      nextest: {
        commands: {
          run: {
            ...build(
              optionList({
                none: '--no-run, --no-fail-fast, --no-capture --nocapture',
                number: '--retries=, --test-threads=',
                pattern: '-E --filter-expr --filterset=',
              }),
            ),
            operands: [{ rest: 'pattern' }],
            unasked: [...BUILDS, { kind: 'project', name: 'tests' }],
          },
        },
      },
      bench: {
        ...build(optionList({ none: '--no-run, --no-fail-fast' })),
        operands: [{ rest: 'pattern' }],
        unasked: [...BUILDS, { kind: 'project', name: 'benchmarks' }],
      },
      run: { ...build(), aliases: ['r'], operands: [{ rest: 'argument' }], unasked: [...BUILDS, { kind: 'project', name: 'program' }] },
      fmt: {
        options: optionList({
          none: '--all, --check',
          text: '-p --package=',
          read: '--manifest-path=',
          'one:human,json,short': '--message-format=',
        }),
        operands: [{ dashed: 'one:--check,--emit=stdout' }],
        unasked: [{ kind: 'modify', path: '.' }],
        isWriter: true,
      },
      fix: {
        ...build(optionList({ none: '--allow-dirty, --allow-staged, --allow-no-vcs, --edition, --broken-code' })),
        unasked: [...BUILDS, { kind: 'modify', path: '.' }],
      },
      clean: {
        options: optionList({ none: '-r --release, --doc, -n --dry-run', text: '-p --package=, --profile=' }),
        operands: [{ max: 0 }],
        unasked: [{ kind: 'delete', path: './target' }],
        isWriter: true,
      },
      metadata: {
        options: optionList({
          none: '--no-deps, --all-features, --no-default-features',
          number: '--format-version=',
          text: '-F --features=, --filter-platform=',
          read: '--manifest-path=',
        }),
        operands: [{ max: 0 }],
        unasked: [{ kind: 'read', path: './Cargo.toml' }],
      },
      tree: {
        options: optionList({
          none: '--workspace, --all, -d --duplicates, --all-features, --no-default-features, --no-dedupe',
          text: '-p --package=, -i --invert[=], -e --edges=, -F --features=, --depth=, --prune=, -f --format=, --target=, --prefix=',
        }),
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'read', path: './Cargo.toml' }],
      },
      add: {
        options: optionList({
          none: '--dev, --build, --optional, --no-optional, --no-default-features, --dry-run -n',
          text: '-F --features=, -p --package=, --rename=',
          walk: '--path=',
          'unclear:another source': '--git=, --registry=',
        }),
        operands: [{ rest: 'text', match: '^[\\w-]+(@[\\w.^~<>=*-]+)?$' }],
        unasked: [connects, ...CHANGES_MANIFEST],
        isWriter: true,
      },
      remove: {
        options: optionList({ none: '--dev, --build, --dry-run -n', text: '-p --package=' }),
        aliases: ['rm'],
        operands: [{ rest: 'text' }],
        unasked: CHANGES_MANIFEST,
        isWriter: true,
      },
      update: {
        options: optionList({ none: '--recursive, -w --workspace, --dry-run -n', text: '--precise=, -p --package=' }),
        operands: [{ rest: 'text' }],
        unasked: [connects, { kind: 'modify', path: './Cargo.lock' }],
        isWriter: true,
      },
      fetch: { options: { '--target=': TARGETS }, operands: [{ max: 0 }], unasked: [connects, { kind: 'unpack', path: '~/.cargo' }] },
      search: { options: { '--limit=': 'number' }, operands: [{ rest: 'text' }], unasked: [connects] },
      info: { operands: [{ rest: 'text' }], unasked: [connects] },
      'locate-project': { options: { '--workspace': 'none', '--message-format=': 'one:json,plain' }, operands: [{ max: 0 }] },
      pkgid: { operands: [{ rest: 'text' }] },
      version: { operands: [{ max: 0 }] },
    },
    ambient: ['RUSTC', 'RUSTC_WRAPPER', 'RUSTFLAGS', 'CARGO_HOME', 'CARGO_TARGET_DIR', 'RUSTC_WORKSPACE_WRAPPER', 'RUSTUP_TOOLCHAIN'],
  },
  {
    name: 'rustc',
    manual: 'rustc(1), rustc 1.95',
    parse: 'exact',
    options: optionList({
      none: '-V --version, -v --verbose, -h --help',
      text: '--explain=',
      'one:sysroot,cfg,target-list,host-tuple': '--print=',
    }),
    operands: [{ max: 0 }],
  },
  {
    name: 'rustup',
    manual: 'rustup help, rustup 1.29',
    parse: 'exact',
    options: optionList({ none: '-V --version, -v --verbose, -q --quiet, -h --help' }),
    operands: [{ max: 0 }],
    commands: {
      show: { operands: [{ rest: 'one:active-toolchain,home,profile', max: 1 }] },
      toolchain: { commands: { list: { options: { '-v --verbose': 'none' }, operands: [{ max: 0 }] } } },
      target: { commands: { list: { options: { '--installed': 'none' }, operands: [{ max: 0 }] } } },
      component: { commands: { list: { options: { '--installed': 'none' }, operands: [{ max: 0 }] } } },
      which: { operands: [{ rest: 'text', max: 1 }] },
      update: { operands: [{ rest: 'text' }], unasked: [connects, { kind: 'unpack', path: '~/.rustup' }] },
    },
  },
];
