// git subcommands that look at the repository: files, commits, search.
import type { Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import {
  COLOR,
  COMPARES_FILES,
  DIFF_OPTIONS,
  LOG_OPTIONS,
  PAGER,
  READS_REPOSITORY,
  READS_UNTRACKED,
  REVISION_OPTIONS,
  SHOWS_DIFFS,
} from './shared.ts';

const REVISIONS_AND_PATHS = [{ rest: 'revision-or-path', dashed: 'pathspec' }] as const;
const COLUMNS = { '--column[=]': 'text', '--no-column': 'none' } as const;

export const GIT_LOOK: Readonly<Record<string, Subcommand>> = {
  status: {
    options: {
      ...COLUMNS,
      ...optionList({
        none: `
          -v --verbose, -s --short, -b --branch, --no-branch, --show-stash, --no-show-stash, --ahead-behind, --no-ahead-behind, --long,
          -z --null, --no-renames, --renames`,
        text: '-M --find-renames[=]',
        'one:v1,v2,1,2': '--porcelain[=]',
        'one:no,normal,all': '-u --untracked-files[=]',
        'one:traditional,no,matching': '--ignored[=]',
        'one:none,untracked,dirty,all': '--ignore-submodules[=]',
      }),
    },
    operands: [{ rest: 'pathspec' }],
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, { kind: 'names', path: '$repository' }],
    isTracked: true,
  },
  diff: {
    options: {
      ...DIFF_OPTIONS,
      ...optionList({
        none: '--cached --staged, --merge-base, -1 --base, -2 --ours, -3 --theirs, -0, -q',
        'unclear:compares files outside the repository': '--no-index',
      }),
    },
    operands: REVISIONS_AND_PATHS,
    unasked: [...READS_REPOSITORY, ...PAGER, ...COMPARES_FILES, ...SHOWS_DIFFS, { kind: 'run', program: 'git:external-diff' }],
    isTracked: true,
    comparesPaths: true,
  },
  log: { options: LOG_OPTIONS, operands: REVISIONS_AND_PATHS, unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS], isTracked: true },
  show: { options: LOG_OPTIONS, operands: REVISIONS_AND_PATHS, unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS], isTracked: true },
  whatchanged: {
    options: LOG_OPTIONS,
    operands: REVISIONS_AND_PATHS,
    unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS],
    isTracked: true,
  },
  shortlog: {
    options: {
      ...REVISION_OPTIONS,
      ...optionList({
        none: '-c --committer, -n --numbered, -s --summary, -e --email',
        text: '-w[=], --group=',
      }),
    },
    // Without a revision and off a terminal it summarises a log from standard input.
    operands: REVISIONS_AND_PATHS,
    stdin: 'data',
    unasked: [...READS_REPOSITORY, ...PAGER],
    isTracked: true,
  },
  blame: {
    aliases: ['annotate'],
    options: optionList({
      none: `
        --incremental, -b, --root, --show-stats, --progress, --no-progress, --score-debug, -f --show-name, -n --show-number,
        -p --porcelain, --line-porcelain, -c, -t, -l, -s, -e --show-email, -w, --color-lines, --color-by-age, --minimal, --first-parent`,
      number: '-C[=], -M[=], --abbrev[=]',
      pattern: '-L=',
      text: '--date=, --encoding=',
      date: '--since=',
      revision: '--ignore-rev=, --reverse[=]',
      read: '--ignore-revs-file=, -S=, --contents=',
    }),
    operands: REVISIONS_AND_PATHS,
    unasked: [...READS_REPOSITORY, ...PAGER, ...COMPARES_FILES, { kind: 'run', program: 'git:textconv' }],
    isTracked: true,
  },
  grep: {
    options: {
      ...COLOR,
      ...optionList({
        none: `
          --cached, --recurse-submodules, -v --invert-match, -i --ignore-case, -w --word-regexp, -a --text, -I, --textconv, --no-textconv,
          -r --recursive, --no-recursive, -E --extended-regexp, -G --basic-regexp, -F --fixed-strings, -P --perl-regexp, -n --line-number,
          --column, -h, -H, --full-name, -l --files-with-matches --name-only, -L --files-without-match, -z --null, -o --only-matching,
          -c --count, --break, --heading, -p --show-function, -W --function-context, --and, --or, --not, -q --quiet, --all-match,
          --exclude-standard`,
        number: '--max-depth=, -C --context=, -B --before-context=, -A --after-context=, --threads=, -m --max-count=',
        pattern: '-e=',
        read: '-f=',
        'sets:ignored': '--no-exclude-standard',
        run: '-O --open-files-in-pager[=]',
        'unclear:searches files that git does not track': '--untracked',
        'unclear:searches files outside the repository': '--no-index',
        'unclear:runs an external grep': '--ext-grep',
      }),
    },
    operands: [
      { if: ['-e', '-f'], rest: 'revision-or-path', dashed: 'pathspec', none: [{ kind: 'walk', path: '.' }] },
      { first: ['pattern'], rest: 'revision-or-path', dashed: 'pathspec', none: [{ kind: 'walk', path: '.' }] },
    ],
    // `git grep -- x` and a pathspec that only excludes search everything.
    unasked: [...READS_REPOSITORY, ...PAGER, { kind: 'walk', path: '$repository' }, { kind: 'run', program: 'git:textconv' }],
    isTracked: true,
  },
  'ls-files': {
    options: optionList({
      none: `
        -z, -t, -v, -f, -c --cached, -d --deleted, -m --modified, -o --others, -i --ignored, -s --stage, -k --killed, --directory, --eol,
        --empty-directory, --no-empty-directory, -u --unmerged, --resolve-undo, --exclude-standard, --full-name, --recurse-submodules,
        --error-unmatch, --debug, --deduplicate, --sparse`,
      number: '--abbrev[=]',
      pattern: '-x --exclude=',
      text: '--format=',
      revision: '--with-tree=',
      read: '-X --exclude-from=',
      'unclear:reads a file of that name in every directory': '--exclude-per-directory=',
    }),
    operands: [{ rest: 'pathspec' }],
    // `-m` and `--eol` read the content of tracked files.
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, { kind: 'names', path: '.' }],
    isTracked: true,
  },
  'ls-tree': {
    options: optionList({
      none: '-d, -r, -t, -z, -l --long, --name-only --name-status, --object-only, --full-name, --full-tree',
      number: '--abbrev[=]',
      text: '--format=',
    }),
    operands: [{ first: ['revision-or-path'], rest: 'pathspec', min: 1 }],
    unasked: READS_REPOSITORY,
    isTracked: true,
  },
  'cat-file': {
    options: optionList({
      none: '-e, -p, -t, -s, --allow-unknown-type, --use-mailmap --mailmap, --no-mailmap, --buffer, --unordered, --textconv, --filters',
      'revision-or-path': '--path=',
      'unclear:the objects come from standard input': '--batch[=], --batch-check[=], --batch-command[=], --batch-all-objects',
      'unclear:follows links that are in the repository': '--follow-symlinks',
    }),
    operands: [
      { if: ['-p', '-t', '-s', '-e', '--textconv', '--filters'], rest: 'revision-or-path', max: 1 },
      { first: ['one:blob,tree,commit,tag', 'revision-or-path'], min: 2, max: 2 },
    ],
    unasked: [...READS_REPOSITORY, { kind: 'run', program: 'git:textconv' }, { kind: 'run', program: 'git:filters' }],
    isTracked: true,
  },
  'diff-tree': {
    options: {
      ...LOG_OPTIONS,
      '--root': 'none',
      '--no-commit-id': 'none',
      '-v': 'none',
      '--merge-base': 'none',
      '--always': 'none',
    },
    operands: REVISIONS_AND_PATHS,
    unasked: [...READS_REPOSITORY, ...SHOWS_DIFFS],
    isTracked: true,
  },
  'diff-index': {
    options: { ...DIFF_OPTIONS, '--cached': 'none', '--merge-base': 'none' },
    operands: REVISIONS_AND_PATHS,
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...SHOWS_DIFFS],
    isTracked: true,
  },
  'diff-files': {
    options: { ...DIFF_OPTIONS, '-q': 'none', '-0': 'none', '-1': 'none', '-2': 'none', '-3': 'none' },
    operands: [{ rest: 'pathspec' }],
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...SHOWS_DIFFS],
    isTracked: true,
  },
  'check-ignore': {
    options: optionList({
      none: '-q --quiet, -v --verbose, -z, -n --non-matching, --no-index',
      'unclear:the names come from standard input': '--stdin',
    }),
    operands: [{ rest: 'names' }],
    unasked: [...READS_REPOSITORY, ...READS_UNTRACKED],
  },
};
