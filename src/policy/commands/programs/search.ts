// Programs that search in files: grep and ripgrep.
import type { Operands, Options, Program } from '../program.ts';
import { flags, READS_IGNORE_FILES } from './option-list.ts';

const WALKS_HERE = [{ kind: 'walk', path: '.' }] as const;

/** What grep and zgrep share. */
const GREP_OPTIONS: Options = {
  ...flags('-E --extended-regexp, -F --fixed-strings, -G --basic-regexp, -P --perl-regexp, -i -y --ignore-case, --no-ignore-case'),
  ...flags('-w --word-regexp, -x --line-regexp, -s --no-messages, -v --invert-match, -V --version, --help, -b --byte-offset'),
  ...flags('-n --line-number, --line-buffered, -H --with-filename, -h --no-filename, -o --only-matching, -q --quiet --silent'),
  ...flags('-a --text, -I, -L --files-without-match, -l --files-with-matches, -c --count, -T --initial-tab, --no-group-separator'),
  ...flags('-U --binary'),
  '-e --regexp=': 'pattern',
  '-f --file=': 'read',
  '-m --max-count=': 'number',
  '--label=': 'text',
  '--binary-files=': 'one:binary,text,without-match',
  '-D --devices=': 'one:read,skip',
  '-B --before-context=': 'number',
  '-A --after-context=': 'number',
  '-C --context=': 'number',
  '--group-separator=': 'text',
  '--color[=] --colour[=]': 'one:never,always,auto',
};

/** The script does not know that some long options take the next word: it takes that word for the pattern or a file. */
const ZGREP_OPTIONS: Options = {
  ...Object.fromEntries(Object.entries(GREP_OPTIONS).filter(([key]) => !/context=|group-separator=|devices=/.test(key))),
  '-D=': 'one:read,skip',
  '-B=': 'number',
  '-A=': 'number',
  '-C=': 'number',
  '--devices[=] --before-context[=] --after-context[=] --context[=] --group-separator[=]': 'unclear:the script misreads its value',
};

/** The pattern is an operand only without -e and -f; below directories it searches only with -r or -R. */
const GREP_OPERANDS: readonly Operands[] = [
  { if: ['-r', '-R'], unless: ['-e', '-f'], first: ['pattern'], rest: 'walk', min: 1, none: WALKS_HERE },
  { if: ['-r', '-R'], rest: 'walk', none: WALKS_HERE },
  { if: ['-e', '-f'], rest: 'read' },
  { first: ['pattern'], rest: 'read' },
];

/** `rg --type-list`: the common ones. Any other may be of any file. */
const FILE_TYPES = {
  c: ['*.[chH]', '*.in', '*.cats'],
  cpp: ['*.[ChH]', '*.in', '*pp', '*xx', '*.cc', '*.hh', '*.inl'],
  cs: ['*.cs'],
  css: ['*.css', '*.scss'],
  go: ['*.go'],
  html: ['*.ejs', '*.htm', '*.html'],
  java: ['*.java', '*.jsp', '*.jspx', '*.properties'],
  js: ['*.js', '*.jsx', '*.vue', '*.cjs', '*.mjs'],
  json: ['*.json', 'composer.lock', '*.sarif'],
  kotlin: ['*.kt', '*.kts'],
  lua: ['*.lua'],
  markdown: ['*.markdown', '*.md', '*.mdown', '*.mdwn', '*.mkd', '*.mkdn', '*.mdx'],
  md: ['*.markdown', '*.md', '*.mdown', '*.mdwn', '*.mkd', '*.mkdn', '*.mdx'],
  php: ['*.php*', '*.phtml'],
  py: ['*.py', '*.pyi'],
  python: ['*.py', '*.pyi'],
  rust: ['*.rs'],
  sql: ['*.psql', '*.sql'],
  swift: ['*.swift'],
  toml: ['*.toml', 'Cargo.lock'],
  ts: ['*.ts', '*.tsx', '*.cts', '*.mts'],
  typescript: ['*.ts', '*.tsx', '*.cts', '*.mts'],
  yaml: ['*.yaml', '*.yml'],
} as const;

const IGNORES = `
  --no-ignore, --no-ignore-dot, --no-ignore-exclude, --no-ignore-files, --no-ignore-global, --no-ignore-parent, --no-ignore-vcs`;

export const SEARCH_PROGRAMS: readonly Program[] = [
  ...['grep', 'egrep', 'fgrep'].map(
    (name): Program => ({
      name,
      manual: `${name}(1), GNU grep 3.8`,
      parse: 'gnu',
      options: {
        ...GREP_OPTIONS,
        ...flags('-r --recursive, -z --null-data, -Z --null'),
        '-R --dereference-recursive': 'sets:follows',
        // `recurse` would be -r.
        '-d --directories=': 'one:read,skip',
        '--include=': 'pattern',
        '--exclude=': 'pattern',
        '--exclude-dir=': 'pattern',
        '--exclude-from=': 'read',
      },
      digits: true,
      operands: GREP_OPERANDS,
      walks: ['hidden', 'ignored'],
      ...(name !== 'grep' && { unasked: [{ kind: 'run', program: 'grep' }] as const }),
      ambient: ['GREP_OPTIONS'],
      stdin: 'data',
    }),
  ),
  ...['zgrep', 'zegrep', 'zfgrep'].map(
    (name): Program => ({
      name,
      manual: `${name}(1), gzip 1.12`,
      // A shell script that looks at the words up to the pattern and hands the options on to grep.
      parse: 'posix',
      options: ZGREP_OPTIONS,
      digits: true,
      operands: [
        { if: ['-e', '-f'], rest: 'read' },
        { first: ['pattern'], rest: 'read' },
      ],
      unasked: [
        { kind: 'run', program: 'gzip' },
        { kind: 'run', program: 'grep' },
        { kind: 'run', program: 'sed' },
        { kind: 'run', program: 'expr' },
        { kind: 'run', program: 'zgrep' },
      ],
      ambient: ['GREP', 'GREP_OPTIONS'],
      stdin: 'data',
    }),
  ),
  {
    name: 'rg',
    manual: 'rg(1), ripgrep 13.0',
    parse: 'exact',
    options: {
      ...flags('--auto-hybrid-regex, --no-auto-hybrid-regex, --binary, --no-binary, --block-buffered, --no-block-buffered'),
      ...flags('-b --byte-offset, -s --case-sensitive, --column, --no-column, -c --count, --count-matches, --crlf, --no-crlf, --debug'),
      ...flags('--trace, --files, -l --files-with-matches, --files-without-match, -F --fixed-strings, --no-fixed-strings'),
      ...flags('--no-follow, --glob-case-insensitive, --no-glob-case-insensitive, -h --help, --heading, --no-heading, --no-hidden'),
      ...flags('-i --ignore-case, --ignore-file-case-insensitive, --no-ignore-file-case-insensitive, --include-zero'),
      ...flags('-v --invert-match, --json, --no-json, --line-buffered, --no-line-buffered, -n --line-number, -x --line-regexp'),
      ...flags('--max-columns-preview, --no-max-columns-preview, --mmap, --no-mmap, -U --multiline, --no-multiline'),
      ...flags('--multiline-dotall, --no-multiline-dotall, --no-config, -I --no-filename, --ignore, --ignore-dot, --ignore-exclude'),
      ...flags('--ignore-files, --ignore-global, --ignore-messages, --no-ignore-messages, --ignore-parent, --ignore-vcs'),
      ...flags('-N --no-line-number, --messages, --no-messages, --pcre2-unicode, --no-pcre2-unicode, --require-git'),
      ...flags('--unicode, --no-unicode, -0 --null, --null-data, --one-file-system, --no-one-file-system, -o --only-matching'),
      ...flags('--passthru, -P --pcre2, --no-pcre2, --pcre2-version, --no-pre, -p --pretty, -q --quiet, --no-search-zip'),
      ...flags('-S --smart-case, --stats, --no-stats, -a --text, --no-text, --trim, --no-trim, --type-list, -V --version, --vimgrep'),
      ...flags('-H --with-filename, -w --word-regexp, --no-context-separator, --no-encoding'),
      ...Object.fromEntries(IGNORES.split(',').map((option) => [option.trim(), 'sets:ignored'] as const)),
      '--no-require-git': 'sets:ignored',
      '-A --after-context=': 'number',
      '-B --before-context=': 'number',
      '-C --context=': 'number',
      '--color=': 'one:never,auto,always,ansi',
      '--colors=': 'text',
      '--context-separator=': 'text',
      '--dfa-size-limit=': 'number',
      '-E --encoding=': 'text',
      '--engine=': 'one:default,pcre2,auto',
      '--field-context-separator=': 'text',
      '--field-match-separator=': 'text',
      '-f --file=': 'read',
      '-L --follow': 'sets:follows',
      '-g --glob=': 'glob',
      '--iglob=': 'glob',
      '-. --hidden': 'sets:hidden',
      '--ignore-file=': 'read',
      '-M --max-columns=': 'number',
      '-m --max-count=': 'number',
      '--max-depth --maxdepth=': 'number',
      '--max-filesize=': 'number',
      '--path-separator=': 'text',
      '--pre=': 'run',
      '--pre-glob=': 'pattern',
      '--hostname-bin=': 'run', // since 14.0
      '--regex-size-limit=': 'number',
      '-e --regexp=': 'pattern',
      '-r --replace=': 'text',
      '-z --search-zip': 'unclear:runs decompression programs',
      '--sort=': 'one:none,path,modified,accessed,created',
      '--sortr=': 'one:none,path,modified,accessed,created',
      '-j --threads=': 'number',
      '-t --type=': 'text',
      '--type-add=': 'unclear:defines a type of files',
      '--type-clear=': 'text',
      '-T --type-not=': 'text',
      // Counted: once means ignored files, twice hidden ones too.
      '-u --unrestricted': 'sets:hidden',
    },
    types: FILE_TYPES,
    // A type is a list of what to search, like a glob, so it finds hidden files.
    widens: { '-t': ['hidden'], '-u': ['ignored'] },
    operands: [
      { if: ['--type-list', '--pcre2-version'] },
      { if: ['--files'], rest: 'names', none: [{ kind: 'names', path: '.' }] },
      { if: ['-e', '-f'], rest: 'walk', none: WALKS_HERE },
      { first: ['pattern'], rest: 'walk', min: 1, none: WALKS_HERE },
    ],
    unasked: [...READS_IGNORE_FILES, { kind: 'read', path: 'any:.rgignore' }],
    ambient: ['RIPGREP_CONFIG_PATH'],
    stdin: 'data',
  },
];
