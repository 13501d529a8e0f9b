// git subcommands that exchange commits with other repositories or files, create repositories and working trees, and maintain them.
import type { Options, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import {
  CHANGES_FILES,
  COMPARES_FILES,
  CONNECTS,
  FETCHES,
  MAKES_COMMITS,
  PAGER,
  READS_REPOSITORY,
  RUNS_GIT,
  RUNS_HOOKS,
  SHELL_SCRIPT,
  WRITES_OBJECTS,
  WRITES_REFERENCES,
} from './shared.ts';

/** A remote can be a name, an address, a directory, or `ext::COMMAND`. */
const REMOTE = 'host' as const;
const SUBMODULES = 'one:yes,on-demand,no,check,only' as const;

const FETCH_OPTIONS: Options = optionList({
  none: `
    -v --verbose, -q --quiet, --progress, --no-progress, --all, -a --append, -f --force, -t --tags, --no-tags, -p --prune, --no-prune,
    --dry-run, -k --keep, --unshallow, --update-shallow, -4 --ipv4, -6 --ipv6, --show-forced-updates, --no-show-forced-updates,
    --set-upstream, --no-recurse-submodules`,
  number: '--depth=, --deepen=',
  date: '--shallow-since=',
  revision: '--shallow-exclude=, --negotiation-tip=',
  text: '-o --server-option=, --refmap=',
  [SUBMODULES]: '--recurse-submodules[=]',
  run: '--upload-pack=',
});
const PATCH_OPTIONS: Options = optionList({
  none: '-3 --3way, --reject, --ignore-space-change, --ignore-whitespace, -q --quiet',
  number: '-p=, -C=',
  pattern: '--exclude=, --include=',
  'one:nowarn,warn,fix,error,error-all': '--whitespace=',
  'unclear:patches files below another directory': '--directory=',
});

export const GIT_EXCHANGE: Readonly<Record<string, Subcommand>> = {
  fetch: {
    options: {
      ...FETCH_OPTIONS,
      ...optionList({
        none: `
          --atomic, -n, --prefetch, -P --prune-tags, --write-fetch-head, --no-write-fetch-head, -u --update-head-ok,
          --refetch, --negotiate-only, --auto-maintenance --auto-gc, --no-auto-maintenance --no-auto-gc, --write-commit-graph,
          --no-write-commit-graph`,
        number: '-j --jobs=',
        text: '--filter=',
        'unclear:the references come from standard input': '--stdin',
        'unclear:it fetches from several repositories': '-m --multiple',
      }),
    },
    operands: [{ first: [REMOTE], rest: 'revision' }],
    unasked: FETCHES,
  },
  pull: {
    options: {
      ...FETCH_OPTIONS,
      ...optionList({
        none: `
          -n --no-stat, --stat, --squash, --no-squash, --commit, --no-commit, --edit -e, --no-edit, --ff, --no-ff, --ff-only, --verify,
          --no-verify, --autostash, --no-autostash, --allow-unrelated-histories, --no-rebase, --no-verify-signatures, --signoff`,
        number: '--log[=], -j --jobs[=]',
        text: '-X --strategy-option=, -S --gpg-sign[=]',
        'one:false,true,merges': '-r --rebase[=]',
        'one:ort,recursive,ours,subtree': '-s --strategy=',
        'one:strip,whitespace,verbatim,scissors,default': '--cleanup=',
        'unclear:runs the signature program of the configuration': '--verify-signatures',
      }),
    },
    operands: [{ first: [REMOTE], rest: 'revision' }],
    unasked: [...RUNS_GIT, ...FETCHES, ...COMPARES_FILES, ...CHANGES_FILES, ...MAKES_COMMITS],
    isTracked: true,
    isWriter: true,
  },
  push: {
    options: optionList({
      none: `
        -v --verbose, -q --quiet, --all --branches, --mirror, -d --delete, --tags, -n --dry-run, --porcelain, -f --force,
        --force-if-includes, --no-force-if-includes, --no-force-with-lease, --thin, --no-thin, -u --set-upstream, --progress,
        --no-progress, --prune, --no-verify, --verify, --follow-tags, --no-follow-tags, --atomic, -4 --ipv4, -6 --ipv6, --no-signed,
        --no-recurse-submodules`,
      text: '--force-with-lease[=], -o --push-option=',
      'one:yes,no,if-asked,true,false': '--signed[=]',
      'one:check,on-demand,only,no': '--recurse-submodules=',
      [REMOTE]: '--repo=',
      run: '--receive-pack --exec=',
    }),
    operands: [{ first: [REMOTE], rest: 'revision' }],
    unasked: [...READS_REPOSITORY, ...CONNECTS, ...RUNS_HOOKS, ...WRITES_REFERENCES, { kind: 'modify', path: '$repository/.git/config' }],
  },
  clone: {
    options: optionList({
      none: `
        -v --verbose, -q --quiet, --progress, --no-progress, --reject-shallow, -n --no-checkout, --bare, --mirror, -l --local,
        --no-hardlinks, --dissociate, --single-branch, --no-single-branch, --tags, --no-tags, -4 --ipv4, -6 --ipv6, --sparse`,
      number: '-j --jobs=, --depth=',
      date: '--shallow-since=',
      revision: '-b --branch=, --shallow-exclude=',
      text: '-o --origin=, --server-option=, --filter=',
      run: '-u --upload-pack=',
      write: '--separate-git-dir=',
      walk: '-s --shared, --reference=, --reference-if-able=',
      'unclear:sets configuration, which can name programs to run': '-c --config=',
      'unclear:copies a template, which can hold hooks': '--template=',
      'unclear:also clones what the repository names': `
        --recurse-submodules[=], --recursive[=], --shallow-submodules, --remote-submodules, --also-filter-submodules, --bundle-uri=`,
    }),
    operands: [{ first: ['url', 'unpack'], min: 2, max: 2 }],
    unasked: [
      { kind: 'run', program: 'git:transport' },
      { kind: 'run', program: 'git:filters' },
      { kind: 'read', path: '~/.gitconfig' },
    ],
    isWriter: true,
  },
  init: {
    options: optionList({
      none: '--bare, -q --quiet',
      revision: '-b --initial-branch=',
      'one:sha1,sha256': '--object-format=',
      text: '--shared[=]',
      write: '--separate-git-dir=',
      'unclear:copies a template, which can hold hooks': '--template=',
    }),
    operands: [{ rest: 'unpack', max: 1, none: [{ kind: 'unpack', path: './.git' }] }],
    unasked: [
      { kind: 'walk', path: '/usr/share/git-core/templates' },
      { kind: 'read', path: '~/.gitconfig' },
    ],
    isWriter: true,
  },
  apply: {
    options: {
      ...PATCH_OPTIONS,
      ...optionList({
        none: `
          --no-add, --stat, --numstat, --summary, --check, --index, -N --intent-to-add, --cached, --apply, -z, -R --reverse,
          --unidiff-zero, --allow-overlap, -v --verbose, --inaccurate-eof, --recount, --allow-empty`,
        write: '--build-fake-ancestor=',
        'unclear:patches files outside the directory': '--unsafe-paths',
      }),
    },
    operands: [{ rest: 'read' }],
    // The patch names the files, never outside the directory.
    unasked: [
      ...READS_REPOSITORY,
      { kind: 'unpack', path: '.' },
      ...WRITES_OBJECTS,
      // post-index-change
      ...RUNS_HOOKS,
      { kind: 'run', program: 'git:merge-drivers' },
    ],
    stdin: 'data',
    isWriter: true,
  },
  am: {
    options: {
      ...PATCH_OPTIONS,
      ...optionList({
        none: `
          -s --signoff, -u --utf8, --no-utf8, -k --keep, --keep-non-patch, -m --message-id, --no-message-id, --keep-cr, --no-keep-cr,
          -c --scissors, --no-scissors, --continue -r --resolved, --skip, --abort, --quit, --allow-empty,
          --committer-date-is-author-date, --ignore-date, --rerere-autoupdate, --no-gpg-sign`,
        text: '--resolvemsg=, -S --gpg-sign[=]',
        'one:mbox,mboxrd,stgit,stgit-series,hg': '--patch-format=',
        'one:nowarn,warn,strip': '--quoted-cr=',
        'one:stop,drop,keep': '--empty=',
        'one:diff,raw': '--show-current-patch[=]',
        'unclear:asks on the terminal': '-i --interactive',
      }),
    },
    operands: [{ rest: 'walk' }],
    unasked: [
      ...READS_REPOSITORY,
      ...COMPARES_FILES,
      ...CHANGES_FILES,
      ...MAKES_COMMITS,
      { kind: 'unpack', path: '$repository/.git/rebase-apply' },
    ],
    stdin: 'data',
    isWriter: true,
  },
  worktree: {
    commands: {
      list: {
        options: optionList({ none: '-v --verbose, --porcelain, -z', date: '--expire=' }),
        operands: [{ max: 0 }],
        unasked: READS_REPOSITORY,
      },
      add: {
        options: optionList({
          none: '-f --force, -d --detach, --checkout, --no-checkout, --lock, -q --quiet, --track, --no-track, --guess-remote, --no-guess-remote',
          revision: '-b=, -B=',
          text: '--reason=',
        }),
        operands: [{ first: ['unpack', 'revision'], min: 1, max: 2 }],
        unasked: [
          ...READS_REPOSITORY,
          ...WRITES_REFERENCES,
          ...RUNS_HOOKS,
          { kind: 'unpack', path: '$repository/.git/worktrees' },
          { kind: 'run', program: 'git:filters' },
        ],
        isWriter: true,
      },
      remove: {
        options: { '-f --force': 'none' },
        operands: [{ rest: 'delete', max: 1 }],
        unasked: [...READS_REPOSITORY, { kind: 'delete', path: '$repository/.git/worktrees' }],
        isWriter: true,
      },
      prune: {
        options: optionList({ none: '-n --dry-run, -v --verbose', date: '--expire=' }),
        operands: [{ max: 0 }],
        unasked: [...READS_REPOSITORY, { kind: 'delete', path: '$repository/.git/worktrees' }],
      },
    },
  },
  bisect: {
    commands: {
      log: { operands: [{ max: 0 }], unasked: [...SHELL_SCRIPT, ...READS_REPOSITORY] },
      ...Object.fromEntries(
        ['good', 'bad', 'old', 'new', 'skip', 'reset'].map((name) => [
          name,
          {
            operands: [{ rest: 'revision' as const }],
            unasked: [...SHELL_SCRIPT, ...READS_REPOSITORY, ...CHANGES_FILES, ...WRITES_REFERENCES],
            isWriter: true as const,
          },
        ]),
      ),
      start: {
        options: optionList({ none: '--no-checkout, --first-parent', text: '--term-new --term-bad=, --term-old --term-good=' }),
        operands: [{ rest: 'revision', dashed: 'pathspec' }],
        unasked: [...SHELL_SCRIPT, ...READS_REPOSITORY, ...CHANGES_FILES, ...WRITES_REFERENCES],
        isWriter: true,
      },
      run: { parse: 'words', operands: [{ first: ['run'], rest: 'unclear:runs a command for each revision' }] },
    },
  },
  submodule: {
    options: { '-q --quiet': 'none' },
    operands: [{ max: 0 }],
    unasked: [...SHELL_SCRIPT, ...READS_REPOSITORY, { kind: 'run', program: 'git:submodules' }],
    commands: {
      status: {
        options: optionList({ none: '--cached, --recursive' }),
        operands: [{ rest: 'pathspec' }],
        unasked: READS_REPOSITORY,
      },
      summary: {
        options: optionList({ none: '--cached, --files', number: '-n --summary-limit=' }),
        operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
        unasked: READS_REPOSITORY,
      },
      init: {
        operands: [{ rest: 'pathspec' }],
        unasked: [...SHELL_SCRIPT, ...READS_REPOSITORY, { kind: 'modify', path: '$repository/.git/config' }],
      },
      update: {
        options: optionList({
          none: '--init, --recursive, --remote, -N --no-fetch, -f --force, --checkout, --progress, --single-branch',
          number: '--depth=, -j --jobs=',
          'unclear:merges or rebases in submodules': '--merge, --rebase, --reference=, --filter=',
        }),
        operands: [{ rest: 'pathspec' }],
        unasked: [
          ...SHELL_SCRIPT,
          ...FETCHES,
          ...CHANGES_FILES,
          { kind: 'unpack', path: '$repository/.git/modules' },
          { kind: 'modify', path: '$repository/.git/config' },
          { kind: 'run', program: 'git:submodules' },
        ],
        isWriter: true,
      },
    },
  },
  notes: {
    options: { '--ref=': 'revision' },
    commands: {
      list: { operands: [{ rest: 'revision', max: 1 }], unasked: READS_REPOSITORY },
      show: { operands: [{ rest: 'revision', max: 1 }], unasked: [...RUNS_GIT, ...READS_REPOSITORY, ...PAGER] },
      add: {
        options: optionList({
          none: '-f --force, --allow-empty',
          text: '-m --message=',
          read: '-F --file=',
          revision: '-C --reuse-message=, -c --reedit-message=',
        }),
        operands: [{ rest: 'revision', max: 1 }],
        unasked: [...READS_REPOSITORY, ...WRITES_OBJECTS, ...RUNS_GIT, ...WRITES_REFERENCES, { kind: 'run', program: 'git:editor' }],
        isWriter: true,
      },
      append: {
        options: optionList({
          none: '--allow-empty',
          text: '-m --message=',
          read: '-F --file=',
          revision: '-C --reuse-message=, -c --reedit-message=',
        }),
        operands: [{ rest: 'revision', max: 1 }],
        unasked: [...READS_REPOSITORY, ...WRITES_OBJECTS, ...RUNS_GIT, ...WRITES_REFERENCES, { kind: 'run', program: 'git:editor' }],
        isWriter: true,
      },
      remove: {
        options: { '--ignore-missing': 'none' },
        operands: [{ rest: 'revision' }],
        unasked: [...READS_REPOSITORY, ...WRITES_OBJECTS, ...RUNS_GIT, ...WRITES_REFERENCES],
        isWriter: true,
      },
    },
    operands: [{ max: 0 }],
    unasked: READS_REPOSITORY,
  },
  gc: {
    options: optionList({
      none: '-q --quiet, --no-prune, --cruft, --no-cruft, --aggressive, --auto, --force, --keep-largest-pack',
      date: '--prune[=]',
    }),
    operands: [{ max: 0 }],
    unasked: [
      ...READS_REPOSITORY,
      ...WRITES_OBJECTS,
      ...WRITES_REFERENCES,
      { kind: 'unpack', path: '$repository/.git' },
      ...RUNS_GIT,
      ...RUNS_HOOKS,
    ],
    isWriter: true,
  },
};
