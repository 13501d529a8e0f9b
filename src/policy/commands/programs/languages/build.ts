// make, cmake, ctest and ninja: recipes are code of the project. A variable on the command line can be one too.
import type { Program } from '../../program.ts';
import { optionList } from '../option-list.ts';

const OTHER_RULES = 'unclear:other rules or variables' as const;

export const BUILD_PROGRAMS: readonly Program[] = [
  {
    name: 'make',
    aliases: ['gmake'],
    manual: 'make(1), GNU Make 4.3',
    // `VAR=value` is a setting that the table does not have, so it is not understood.
    parse: 'keys',
    options: optionList({
      none: `
        -b, -m, -B --always-make, -d, -h --help, -i --ignore-errors, -k --keep-going, -L --check-symlink-times,
        -n --just-print --dry-run --recon, -p --print-data-base, -q --question, -r --no-builtin-rules, -R --no-builtin-variables,
        -s --silent --quiet, --no-silent, -S --no-keep-going --stop, -t --touch, --trace, -v --version, -w --print-directory,
        --no-print-directory, --warn-undefined-variables`,
      number: '-j --jobs[=], -l --load-average --max-load[=]',
      text: '--debug[=], -O --output-sync[=]',
      names: '-o --old-file --assume-old=, -W --what-if --new-file --assume-new=',
      enter: '-C --directory=',
      [OTHER_RULES]: '-f --file --makefile=, -E --eval=, -e --environment-overrides, -I --include-dir=',
    }),
    operands: [
      { if: ['-v', '-h'], max: 0 },
      { rest: 'project:target', match: '^[^=]*$', none: [{ kind: 'project', name: 'default target' }] },
    ],
    unasked: [{ kind: 'project', name: 'Makefile' }],
    ambient: ['MAKEFLAGS', 'MAKEFILES', 'GNUMAKEFLAGS', 'SHELL', 'CC', 'CFLAGS'],
  },
  {
    name: 'cmake',
    manual: 'cmake(1), cmake 3.25',
    parse: 'exact',
    options: optionList({
      none: '--version, --help, --fresh, -v --verbose, --clean-first, -Wno-dev, -Wdev, --list-presets',
      number: '-j --parallel[=]',
      walk: '-S=, --build=',
      unpack: '-B=, --install=',
      text: '-t --target=, --config=, --preset=, --component=',
      'one:Ninja,Unix Makefiles,Ninja Multi-Config': '-G=',
      'one:ERROR,WARNING,NOTICE,STATUS,VERBOSE,DEBUG,TRACE': '--log-level=',
      // Other settings can name compilers, launchers and toolchain files.
      'one:CMAKE_BUILD_TYPE=Release,CMAKE_BUILD_TYPE=Debug,CMAKE_BUILD_TYPE=RelWithDebInfo,CMAKE_EXPORT_COMPILE_COMMANDS=ON,BUILD_TESTING=ON,BUILD_SHARED_LIBS=ON':
        '-D=',
      [OTHER_RULES]: '-C=, -P=, -E=, --toolchain=, -U=, --prefix=',
    }),
    operands: [
      { if: ['--version', '--help'], max: 0 },
      { if: ['--build', '-S', '--preset', '--install'], max: 0 },
      { if: ['-B'], rest: 'walk', max: 1 },
      { rest: 'walk', max: 1, min: 1 },
    ],
    unasked: [
      { kind: 'project', name: 'CMakeLists.txt' },
      { kind: 'unpack', path: '.' },
    ],
    ambient: ['CC', 'CXX', 'CMAKE_TOOLCHAIN_FILE', 'CMAKE_GENERATOR'],
    isWriter: true,
  },
  {
    name: 'ctest',
    manual: 'ctest(1), cmake 3.25',
    parse: 'exact',
    options: optionList({
      none: '-V --verbose, -VV --extra-verbose, -N --show-only, --output-on-failure, --rerun-failed, -Q --quiet, --stop-on-failure, --progress',
      number: '-j --parallel=, --timeout=',
      pattern: '-R --tests-regex=, -E --exclude-regex=, -L --label-regex=, -LE --label-exclude=',
      text: '-C --build-config=, --preset=',
      enter: '--test-dir=',
      write: '-O --output-log=, --output-junit=',
      [OTHER_RULES]: '-S --script=, -D --dashboard=, -T --test-action=',
    }),
    operands: [{ max: 0 }],
    unasked: [{ kind: 'project', name: 'tests' }],
  },
  {
    name: 'ninja',
    manual: 'ninja(1), ninja 1.11',
    parse: 'exact',
    options: optionList({
      none: '--version, -v --verbose, --quiet, -n, -h --help',
      number: '-j=, -k=, -l=',
      'one:stats,explain,keepdepfile,keeprsp': '-d=',
      enter: '-C=',
      [OTHER_RULES]: '-f=, -t=, -w=',
    }),
    operands: [{ if: ['--version', '-h'], max: 0 }, { rest: 'project:target' }],
    unasked: [{ kind: 'project', name: 'build.ninja' }],
    ambient: ['NINJA_STATUS'],
  },
];
