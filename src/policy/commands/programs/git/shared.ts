// What several git subcommands share: options of diffs and of revision walks, and what git reads, writes and runs without being told.
import type { Options, StatedEffect } from '../../program.ts';
import { optionList } from '../option-list.ts';

/** git(1) and its subcommands: checked with `git X -h` and the manual pages. */
export const GIT_VERSION = 'git 2.39';

/**
 * Every subcommand that finds a repository reads its database and the configuration of the user and the system. One that reads the index
 * (for `:path`, too) runs the fsmonitor hook and looks at the files.
 */
export const READS_REPOSITORY: readonly StatedEffect[] = [
  { kind: 'walk', path: '$repository/.git' },
  { kind: 'names', path: '$repository' },
  { kind: 'read', path: 'any:.gitattributes' },
  { kind: 'run', program: 'git:fsmonitor' },
  { kind: 'read', path: '~/.gitconfig' },
  { kind: 'walk', path: '~/.config/git' },
  { kind: 'read', path: '/etc/gitconfig' },
];
/** On a terminal the output goes through a pager, and `less` keeps a history. */
export const PAGER: readonly StatedEffect[] = [
  { kind: 'run', program: 'git:pager' },
  { kind: 'write', path: '~/.lesshst' },
];
/** git looks for repositories and ignore files in directories that it does not track. */
export const READS_UNTRACKED: readonly StatedEffect[] = [
  { kind: 'read', path: 'any:.gitignore' },
  { kind: 'read', path: 'any:.git/HEAD' },
];
/** Subcommands that start other subcommands. */
export const RUNS_GIT: readonly StatedEffect[] = [{ kind: 'run', program: 'git' }];
/** Subcommands that are shell scripts. */
export const SHELL_SCRIPT: readonly StatedEffect[] = [
  ...RUNS_GIT,
  ...[
    'git-submodule',
    'git-bisect',
    'basename',
    'sed',
    'gettext',
    'uname',
    'envsubst',
    'git-sh-i18n--envsubst',
    'cat',
    'sh',
    'grep',
    'expr',
    'rm',
  ].map((program) => ({ kind: 'run', program }) as const),
];
/** A stale index makes git compare every tracked file, through clean filters and the fsmonitor hook, and write the index again. */
export const COMPARES_FILES: readonly StatedEffect[] = [
  { kind: 'walk', path: '$repository' },
  { kind: 'write', path: '$repository/.git/index' },
  { kind: 'run', program: 'git:filters' },
  { kind: 'run', program: 'git:submodules' },
  // post-index-change
  { kind: 'run', program: 'git:hooks' },
  ...READS_UNTRACKED,
];
/** `diff=NAME` in .gitattributes names a converter, `%G?` in a format asks the signature program. */
export const SHOWS_DIFFS: readonly StatedEffect[] = [
  { kind: 'run', program: 'git:textconv' },
  { kind: 'run', program: 'git:signature-check' },
  // A file of the working tree that has not changed is read instead of the database.
  { kind: 'walk', path: '$repository' },
];
export const WRITES_OBJECTS: readonly StatedEffect[] = [
  { kind: 'unpack', path: '$repository/.git/objects' },
  { kind: 'write', path: '$repository/.git/index' },
];
export const WRITES_REFERENCES: readonly StatedEffect[] = [
  { kind: 'unpack', path: '$repository/.git/refs' },
  { kind: 'unpack', path: '$repository/.git/logs' },
  { kind: 'write', path: '$repository/.git/packed-refs' },
  { kind: 'write', path: '$repository/.git/HEAD' },
  { kind: 'write', path: '$repository/.git/ORIG_HEAD' },
  // reference-transaction
  { kind: 'run', program: 'git:hooks' },
];
export const RUNS_HOOKS: readonly StatedEffect[] = [{ kind: 'run', program: 'git:hooks' }];
/** Commits made without `-m` open an editor; `commit.gpgSign` signs them; a commit may start the maintenance of the database. */
export const MAKES_COMMITS: readonly StatedEffect[] = [
  ...WRITES_OBJECTS,
  ...WRITES_REFERENCES,
  ...RUNS_HOOKS,
  { kind: 'write', path: '$repository/.git/COMMIT_EDITMSG' },
  { kind: 'run', program: 'git:editor' },
  { kind: 'run', program: 'git:signing' },
  { kind: 'run', program: 'git:maintenance' },
  ...RUNS_GIT,
];
/** Which files change depends on the revision. Smudge filters and merge drivers come from the configuration. */
export const CHANGES_FILES: readonly StatedEffect[] = [
  { kind: 'unpack', path: '$repository' },
  { kind: 'run', program: 'git:filters' },
  { kind: 'run', program: 'git:merge-drivers' },
];
/** The address of a remote comes from the configuration, and with it `ssh`, remote helpers and credential helpers. */
export const CONNECTS: readonly StatedEffect[] = [{ kind: 'connect' }, { kind: 'run', program: 'git:transport' }];
export const FETCHES: readonly StatedEffect[] = [
  ...READS_REPOSITORY,
  ...CONNECTS,
  ...WRITES_OBJECTS,
  ...WRITES_REFERENCES,
  ...RUNS_HOOKS,
  { kind: 'write', path: '$repository/.git/FETCH_HEAD' },
  { kind: 'write', path: '$repository/.git/shallow' },
  { kind: 'run', program: 'git:maintenance' },
];

const WHEN = 'one:always,never,auto' as const;
export const COLOR: Options = { '--color[=]': WHEN, '--no-color': 'none' };

/** git-diff(1), "OPTIONS": those that every command that prints a diff understands. */
export const DIFF_OPTIONS: Options = {
  ...COLOR,
  ...optionList({
    none: `
      -p -u --patch, -s --no-patch, --raw, --patch-with-raw, --patch-with-stat, --numstat, --shortstat, --cumulative, --check, --summary,
      --name-only, --name-status, --compact-summary, --no-compact-summary, --no-stat, --binary, --full-index, --no-full-index, -z,
      --no-prefix, --default-prefix, --find-copies-harder, --no-renames, --rename-empty, --no-rename-empty, --follow, --no-follow,
      --minimal, -w --ignore-all-space, -b --ignore-space-change, --ignore-space-at-eol, --ignore-cr-at-eol, --ignore-blank-lines,
      --indent-heuristic, --no-indent-heuristic, --patience, --histogram, --no-color-moved, --no-color-moved-ws, --no-relative, -a --text,
      -R, --exit-code, --quiet, --no-ext-diff, --no-textconv, --ita-invisible-in-index, --ita-visible-in-index, --pickaxe-all,
      --pickaxe-regex, -W --function-context, --no-function-context, -D --irreversible-delete, -c, --cc, --combined-all-paths, -m, -r, -t,
      --no-abbrev`,
    number: `
      -U --unified[=], --stat-width=, --stat-name-width=, --stat-graph-width=, --stat-count=, --abbrev[=], --inter-hunk-context=, -l=`,
    // A percentage or a pair of numbers, always attached.
    text: `
      --stat[=], -X --dirstat[=], --dirstat-by-file[=], -B --break-rewrites[=], -M --find-renames[=], -C --find-copies[=], --src-prefix=,
      --dst-prefix=, --line-prefix=, --output-indicator-new=, --output-indicator-old=, --output-indicator-context=, --relative[=],
      --ws-error-highlight=`,
    pattern: `
      -S=, -G=, -I --ignore-matching-lines=, --anchored=, --word-diff-regex=, --color-words[=], --rotate-to=, --skip-to=, --diff-filter=`,
    revision: '--find-object=',
    read: '-O=',
    write: '--output=',
    'one:color,plain,porcelain,none': '--word-diff[=]',
    'one:myers,default,minimal,patience,histogram': '--diff-algorithm=',
    'one:no,default,plain,zebra,dimmed-zebra,dimmed_zebra,blocks': '--color-moved[=]',
    'one:no,ignore-space-at-eol,ignore-space-change,ignore-all-space,allow-indentation-change': '--color-moved-ws=',
    'one:none,untracked,dirty,all': '--ignore-submodules[=]',
    'one:short,log,diff': '--submodule[=]',
    'unclear:runs the diff programs of the configuration': '--ext-diff, --textconv',
  }),
};

/** git-rev-list(1): options that choose, order and mark commits. */
export const REVISION_OPTIONS: Options = optionList({
  none: `
    --all-match, --invert-grep, -i --regexp-ignore-case, --basic-regexp, -E --extended-regexp, -F --fixed-strings, -P --perl-regexp,
    --remove-empty, --merges, --no-merges, --no-min-parents, --no-max-parents, --first-parent, --exclude-first-parent-only, --not, --all,
    --reflog, --alternate-refs, --single-worktree, --ignore-missing, --bisect, --cherry-mark, --cherry-pick, --left-only, --right-only,
    --cherry, -g --walk-reflogs, --merge, --boundary, --simplify-by-decoration, --show-pulls, --full-history, --dense, --sparse,
    --simplify-merges, --date-order, --author-date-order, --topo-order, --reverse, --do-walk, --parents, --children, --left-right,
    --abbrev-commit, --no-abbrev-commit, --oneline, --graph, --no-graph, --relative-date, --no-expand-tabs, --no-notes, --standard-notes,
    --no-standard-notes`,
  number: '-n --max-count=, --skip=, --min-parents[=], --max-parents[=], --expand-tabs[=], --max-age=, --min-age=',
  date: '--since --after=, --since-as-filter=, --until --before=',
  pattern: `
    --author=, --committer=, --grep-reflog=, --grep=, --branches[=], --tags[=], --remotes[=], --glob=, --exclude=`,
  text: '--pretty[=], --format[=], --encoding=, --notes[=], --show-notes[=], --show-linear-break[=], --date=',
  revision: '--ancestry-path[=]',
  'one:sorted,unsorted': '--no-walk[=]',
  'one:receive,uploadpack,fetch': '--exclude-hidden=',
  'unclear:revisions and paths come from standard input': '--stdin',
});

/** git-log(1) and git-show(1), besides the above. */
export const LOG_OPTIONS: Options = {
  ...DIFF_OPTIONS,
  ...REVISION_OPTIONS,
  ...optionList({
    none: '--no-decorate, --clear-decorations, --source, --mailmap --use-mailmap, --no-mailmap, --no-use-mailmap, --log-size, --no-diff-merges, -q',
    pattern: '--decorate-refs=, --decorate-refs-exclude=',
    'one:short,full,auto,no': '--decorate[=]',
    'one:off,none,on,m,first-parent,1,separate,combined,c,dense-combined,cc': '--diff-merges=',
    'line-range': '-L=',
    'unclear:runs the signature program of the configuration': '--show-signature',
  }),
};

/** Commands that take pathspecs can also read them from a file; the file's lines are not looked at. */
export const PATHSPEC_FILE: Options = {
  '--pathspec-from-file=': 'unclear:the names of the files come from another file',
  '--pathspec-file-nul': 'none',
};
