// Programs whose first operand is a script in a small language: sed, awk, jq, yq.
import type { Operands, Options, Program, Subcommand } from '../program.ts';
import { flags, HELP } from './option-list.ts';

const SCRIPT_FILE = 'unclear:runs a script from a file';

const YQ_OPTIONS: Options = {
  ...flags('-r --raw-output --unwrapScalar, -n --null-input, -e --exit-status, -C --colors --color-output, -M --no-colors, -N --no-doc'),
  ...flags('-P --prettyPrint, -j --tojson, -c --compact-output, -S --sort-keys, -y --yaml-output --yml-output'),
  ...flags('-Y --yaml-roundtrip --yml-roundtrip, --indentless-lists --indentless, -i --in-place --inplace, -h --help, -V --version'),
  '-I --indent=': 'number',
  '-w --width=': 'number',
  '--yaml-output-grammar-version --yml-out-ver=': 'one:1.1,1.2',
  '-o --output-format=': 'one:auto,a,yaml,y,json,j,props,p,csv,c,tsv,t,xml,x,base64,uri,toml,shell,s,lua,l',
  '-p --input-format=': 'one:auto,a,yaml,y,json,j,props,p,csv,c,tsv,t,xml,x,base64,uri,toml,lua,l',
  '-s --split-exp=': 'unclear:writes files named by an expression',
  '-f --from-file=': SCRIPT_FILE,
  '--expression=': 'script:jq',
};
/** yq 4 takes its first operand for a file if there is one of that name, so `.env` would be a filter here and a file there. */
const NOT_A_HIDDEN_FILE = '^(?!\\.[\\w./-]+$)';
const YQ_OPERANDS: readonly Operands[] = [
  { if: ['--expression'], rest: 'read' },
  { first: ['script:jq'], rest: 'read', match: NOT_A_HIDDEN_FILE },
];
const YQ_EVAL: Subcommand = { options: {}, operands: YQ_OPERANDS, turns: { '-i': { read: 'modify' } }, stdin: 'data' };

export const SCRIPT_PROGRAMS: readonly Program[] = [
  {
    name: 'sed',
    manual: 'sed(1), GNU sed 4.9',
    parse: 'gnu',
    options: {
      ...flags('-n --quiet --silent, --debug, --follow-symlinks, --posix, -E -r --regexp-extended, -s --separate, --sandbox'),
      ...flags('-u --unbuffered, -z --null-data'),
      '-e --expression=': 'script:sed',
      '-f --file=': SCRIPT_FILE,
      // A suffix with `*` or `/` is a path of its own.
      '-i[=] --in-place[=]': 'one:.bak,.orig,.old,.tmp,~',
      '-l --line-length=': 'number',
      ...HELP,
    },
    operands: [
      { if: ['-e', '-f'], rest: 'read' },
      { first: ['script:sed'], rest: 'read', min: 1 },
    ],
    turns: { '-i': { read: 'modify' } },
    ambient: ['POSIXLY_CORRECT'],
    stdin: 'data',
  },
  ...['awk', 'mawk', 'nawk'].map(
    (name): Program => ({
      name,
      manual: 'awk(1), mawk 1.3.4 and gawk 5.2: what both understand',
      parse: 'posix',
      options: {
        '-F=': 'text',
        '-v=': 'text',
        '-f=': SCRIPT_FILE,
        '-W=': 'unclear:an option of one implementation',
        '--version': 'none',
      },
      operands: [
        { if: ['-f'], rest: 'read' },
        { first: ['script:awk'], rest: 'read', min: 1 },
      ],
      ambient: ['AWKPATH', 'AWKLIBPATH', 'POSIXLY_CORRECT'],
      stdin: 'data',
    }),
  ),
  {
    name: 'gawk',
    manual: 'gawk(1), GNU awk 5.2',
    parse: 'posix',
    options: {
      ...flags('-b --characters-as-bytes, -c --traditional, -C --copyright, -g --gen-pot, -h --help, -I --trace, -M --bignum'),
      ...flags('-N --use-lc-numeric, -n --non-decimal-data, -O --optimize, -P --posix, -r --re-interval, -s --no-optimize'),
      ...flags('-S --sandbox, -t --lint-old, -V --version'),
      '-F --field-separator=': 'text',
      '-v --assign=': 'text',
      '-e --source=': 'script:awk',
      '-L[=] --lint[=]': 'one:fatal,invalid,no-ext',
      '-f --file=': SCRIPT_FILE,
      '-E --exec=': SCRIPT_FILE,
      '-i --include=': SCRIPT_FILE,
      '-l --load=': 'run',
      '-d[=] --dump-variables[=]': 'unclear:writes a file',
      '-o[=] --pretty-print[=]': 'unclear:writes a file',
      '-p[=] --profile[=]': 'unclear:writes a file',
      '-D[=] --debug[=]': 'unclear:starts a debugger',
    },
    operands: [
      { if: ['-e', '-f'], rest: 'read' },
      { first: ['script:awk'], rest: 'read', min: 1 },
    ],
    ambient: ['AWKPATH', 'AWKLIBPATH', 'POSIXLY_CORRECT', 'GAWK_PERSIST_FILE'],
    stdin: 'data',
  },
  {
    name: 'jq',
    manual: 'jq(1), jq 1.6',
    parse: 'exact',
    options: {
      ...flags('-V --version, -h --help, --seq, --stream, -s --slurp, -R --raw-input, -n --null-input, -c --compact-output, --tab'),
      ...flags('-C --color-output, -M --monochrome-output, -a --ascii-output, --unbuffered, -S --sort-keys, -r --raw-output'),
      ...flags('-j --join-output, -e --exit-status, --args, --jsonargs'),
      '--indent=': 'number',
      '--arg=': ['text', 'text'],
      '--argjson=': ['text', 'text'],
      '--slurpfile=': ['text', 'read'],
      '--rawfile=': ['text', 'read'],
      '--argfile=': ['text', 'read'],
      // A flag: the first operand is then the file.
      '-f --from-file': SCRIPT_FILE,
      '-L=': 'unclear:runs modules from a directory',
      '--run-tests': 'unclear:runs a test file',
    },
    // Words after --args are strings, but words in front of it are files.
    operands: [{ first: ['script:jq'], rest: 'read' }],
    unasked: [{ kind: 'read', path: '~/.jq' }],
    ambient: ['JQ_LIBRARY_PATH', 'ORIGIN_DIR'],
    stdin: 'data',
  },
  {
    name: 'yq',
    // Two programs have this name. An option of only one of them makes the other fail before it does anything but read.
    manual: 'yq(1), yq 3.1 (a wrapper of jq); yq 4 by mikefarah, from its documentation',
    parse: 'exact',
    options: YQ_OPTIONS,
    commands: { eval: { ...YQ_EVAL, aliases: ['e'] }, 'eval-all': { ...YQ_EVAL, aliases: ['ea'] } },
    operands: YQ_OPERANDS,
    turns: { '-i': { read: 'modify' } },
    unasked: [
      { kind: 'run', program: 'jq' },
      { kind: 'read', path: '~/.jq' },
    ],
    stdin: 'data',
  },
];
