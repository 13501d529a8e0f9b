// Builtins of shells, the shells themselves, and programs that start another command.
import type { Program } from '../program.ts';
import { flags, HELP } from './option-list.ts';

const STARTUP_FILES = 'unclear:reads start-up files';
const SHELL_OPTIONS =
  'one:errexit,nounset,pipefail,xtrace,verbose,noglob,noclobber,noexec,posix,errtrace,functrace,monitor,notify,physical,ignoreeof';
/** zsh takes the numbers of printf for arithmetic, mksh those of test: a subscript there can hold a command, `path[$(id)]`. */
const NO_SUBSCRIPT = '^(?![^]*\\[[^]*[$`])';
const STATE = 'unclear:changes what later commands of the line mean';

export const BUILTINS: readonly Program[] = [
  {
    name: 'cd',
    manual: 'cd, bash 5.2 builtin; dash 0.5.12',
    parse: 'posix',
    options: flags('-L, -P, -e, -@'),
    // `cd -` depends on where the shell was before, `cd` alone on HOME.
    operands: [{ first: ['enter'], min: 1, max: 1, match: '^(?!-$)' }],
    ambient: ['CDPATH', 'HOME'],
  },
  {
    name: 'echo',
    manual: 'echo(1), coreutils 9.1; bash 5.2 builtin',
    parse: 'words',
    operands: [{ rest: 'text' }],
  },
  {
    name: 'printf',
    manual: 'printf(1), coreutils 9.1; bash 5.2 builtin',
    parse: 'posix',
    options: { '-v=': 'unclear:sets a variable', ...HELP },
    operands: [{ first: ['format'], rest: 'text', match: NO_SUBSCRIPT }],
  },
  { name: 'true', manual: 'true(1), coreutils 9.1', parse: 'words', aliases: [':'], operands: [{ rest: 'text' }] },
  { name: 'false', manual: 'false(1), coreutils 9.1', parse: 'words', operands: [{ rest: 'text' }] },
  {
    name: 'test',
    manual: 'test(1), coreutils 9.1; bash 5.2 builtin',
    parse: 'words',
    // `-v` and `-R` evaluate an array subscript, which can hold a command.
    operands: [{ rest: 'names', match: `^(?!-[vR]$)${NO_SUBSCRIPT.slice(1)}` }],
  },
  {
    name: '[',
    manual: '[(1), coreutils 9.1; bash 5.2 builtin',
    parse: 'words',
    operands: [{ last: ['one:]'], rest: 'names', match: `^(?!-[vR]$)${NO_SUBSCRIPT.slice(1)}`, min: 1 }],
  },
  { name: 'expr', manual: 'expr(1), coreutils 9.1', parse: 'words', operands: [{ rest: 'text' }] },
  {
    name: 'seq',
    manual: 'seq(1), coreutils 9.1',
    parse: 'posix',
    options: { '-f --format=': 'text', '-s --separator=': 'text', '-w --equal-width': 'none', ...HELP },
    digits: true,
    operands: [{ first: ['number', 'number', 'number'], max: 3 }],
  },
  { name: 'yes', manual: 'yes(1), coreutils 9.1', parse: 'words', operands: [{ rest: 'text' }] },
  {
    name: 'type',
    manual: 'type, bash 5.2 builtin',
    parse: 'posix',
    options: flags('-a, -f, -p, -t, -P'),
    operands: [{ rest: 'text' }],
  },
  {
    name: 'set',
    manual: 'set, bash 5.2 builtin',
    parse: 'posix',
    options: {
      ...flags('-b, -e, -f, -h, -m, -n, -u, -v, -x, -C, -E, -P, -T'),
      '-o=': SHELL_OPTIONS,
      '-a': STATE,
      '-k': STATE,
      '-p': STATE,
    },
    operands: [{ if: ['-e'] }, { if: ['-u'] }, { if: ['-x'] }, { if: ['-o'] }, { rest: STATE, none: [{ kind: 'environment' }] }],
  },
  {
    name: 'export',
    manual: 'export, bash 5.2 builtin',
    parse: 'posix',
    options: { '-f': STATE, '-n': STATE, '-p': 'env' },
    operands: [{ rest: STATE, none: [{ kind: 'environment' }] }],
  },
  { name: 'unset', manual: 'unset, bash 5.2 builtin', parse: 'words', operands: [{ rest: STATE }] },
  ...['alias', 'unalias', 'shopt', 'enable', 'hash'].map(
    (name): Program => ({ name, manual: `${name}, bash 5.2 builtin`, parse: 'words', operands: [{ rest: STATE }] }),
  ),
  { name: 'umask', manual: 'umask, bash 5.2 builtin', parse: 'posix', options: flags('-p, -S'), operands: [{ rest: STATE }] },
  {
    name: 'source',
    manual: 'source, bash 5.2 builtin',
    parse: 'words',
    aliases: ['.'],
    operands: [{ rest: 'unclear:runs a file in this shell' }],
  },
  { name: 'eval', manual: 'eval, bash 5.2 builtin', parse: 'words', operands: [{ rest: 'unclear:runs its words as a command line' }] },
  ...['exit', 'return'].map(
    (name): Program => ({ name, manual: `${name}, bash 5.2 builtin`, parse: 'words', operands: [{ first: ['number'], max: 1 }] }),
  ),
  { name: 'wait', manual: 'wait, bash 5.2 builtin', parse: 'words', operands: [{ rest: 'number' }] },
];

export const WRAPPER_PROGRAMS: readonly Program[] = [
  {
    name: 'env',
    manual: 'env(1), coreutils 9.1',
    parse: 'posix',
    options: {
      ...flags('-i --ignore-environment, -0 --null, -v --debug, --list-signal-handling'),
      '-u --unset=': 'text',
      '-C --chdir=': 'unclear:changes the directory of the command',
      '-S --split-string=': 'unclear:splits a text into a command',
      '--block-signal[=]': 'text',
      '--default-signal[=]': 'text',
      '--ignore-signal[=]': 'text',
      ...HELP,
    },
    operands: [{ first: ['command'], none: [{ kind: 'environment' }] }],
  },
  {
    name: 'timeout',
    manual: 'timeout(1), coreutils 9.1',
    parse: 'posix',
    aliases: ['gtimeout'],
    options: {
      ...flags('--preserve-status, --foreground, -v --verbose'),
      '-k --kill-after=': 'number',
      '-s --signal=': 'text',
      ...HELP,
    },
    operands: [{ first: ['number', 'command'], min: 2 }],
  },
  {
    name: 'nice',
    manual: 'nice(1), coreutils 9.1',
    parse: 'posix',
    options: { '-n --adjustment=': 'number', ...HELP },
    digits: true,
    operands: [{ first: ['command'] }],
  },
  {
    name: 'nohup',
    manual: 'nohup(1), coreutils 9.1',
    parse: 'posix',
    options: HELP,
    operands: [{ first: ['command'], min: 1 }],
    unasked: [
      { kind: 'append', path: 'nohup.out' },
      { kind: 'append', path: '~/nohup.out' },
    ],
  },
  {
    name: 'time',
    manual: 'time(1), GNU time 1.9; bash 5.2 keyword',
    parse: 'posix',
    options: {
      ...flags('-a --append, -p --portability, -q --quiet, -v --verbose, -h --help, -V --version'),
      '-f --format=': 'text',
      '-o --output=': 'write',
    },
    operands: [{ first: ['command'] }],
  },
  {
    name: 'command',
    manual: 'command, bash 5.2 builtin; dash 0.5.12',
    parse: 'posix',
    options: flags('-p, -v, -V'),
    operands: [{ if: ['-v'], rest: 'text' }, { if: ['-V'], rest: 'text' }, { first: ['command'] }],
  },
  {
    name: 'builtin',
    manual: 'builtin, bash 5.2 builtin',
    parse: 'posix',
    operands: [{ first: ['command'] }],
  },
  {
    name: 'xargs',
    manual: 'xargs(1), findutils 4.9',
    parse: 'posix',
    options: {
      ...flags('-0 --null, -o --open-tty, -r --no-run-if-empty, --show-limits, -t --verbose, -x --exit'),
      '-a --arg-file=': 'unclear:takes words of a command from a file',
      '-d --delimiter=': 'text',
      '-E=': 'text',
      '-e[=] --eof[=]': 'text',
      '-I=': 'text',
      '-i[=] --replace[=]': 'text',
      '-L=': 'number',
      '-l[=] --max-lines[=]': 'number',
      '-n --max-args=': 'number',
      '-P --max-procs=': 'number',
      '-p --interactive': 'none',
      '--process-slot-var=': 'unclear:sets a variable',
      '-s --max-chars=': 'number',
      ...HELP,
    },
    operands: [{ first: ['command'] }],
    stdin: 'names',
  },
];

export const SHELLS: readonly Program[] = [
  ...['bash', 'sh', 'dash'].map(
    (name): Program => ({
      name,
      manual: `${name}(1), bash 5.2 and dash 0.5.12`,
      parse: 'first',
      options: {
        ...flags('-c, -a, -b, -e, -f, -h, -k, -m, -n, -u, -v, -x, -B, -C, -E, -H, -P, -T'),
        ...flags(
          '--help, --version, --norc, --noprofile, --posix, --noediting, --verbose, -r, --restricted, -D, --dump-strings, -l --login',
        ),
        '-o=': SHELL_OPTIONS,
        '-O=': 'text',
        '-i': STARTUP_FILES,
        '-p': 'unclear:keeps privileges',
        '-s': 'unclear:runs its standard input',
        '--init-file= --rcfile=': STARTUP_FILES,
        '--debugger': STARTUP_FILES,
      },
      operands: [
        { if: ['-c'], first: ['script:shell'], rest: 'text', min: 1 },
        { first: ['run'], rest: 'text', min: 1 },
      ],
      ambient: ['BASH_ENV', 'ENV', 'SHELLOPTS', 'BASHOPTS', 'BASH_XTRACEFD', 'PS4'],
      stdin: 'code',
    }),
  ),
  {
    name: 'zsh',
    manual: 'zsh(1), zsh 5.9',
    parse: 'first',
    options: { ...flags('-c, -f, -e, -u, -x, -l --login'), '-i': STARTUP_FILES, '-s': 'unclear:runs its standard input' },
    operands: [
      { if: ['-c'], first: ['script:shell'], rest: 'text', min: 1 },
      { first: ['run'], rest: 'text', min: 1 },
    ],
    unasked: [{ kind: 'read', path: '~/.zshenv' }],
    ambient: ['ZDOTDIR', 'ENV'],
    stdin: 'code',
  },
];
