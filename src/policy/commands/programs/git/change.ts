// git subcommands that change the working tree, the index or the history.
import type { Options, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import {
  CHANGES_FILES,
  COMPARES_FILES,
  DIFF_OPTIONS,
  LOG_OPTIONS,
  MAKES_COMMITS,
  PAGER,
  PATHSPEC_FILE,
  READS_REPOSITORY,
  READS_UNTRACKED,
  RUNS_GIT,
  RUNS_HOOKS,
  SHOWS_DIFFS,
  WRITES_OBJECTS,
  WRITES_REFERENCES,
} from './shared.ts';

const CLEANUP = 'one:strip,whitespace,verbatim,scissors,default' as const;
const CONFLICT = 'one:merge,diff3,zdiff3' as const;
const CHANGES_ALL = [
  ...RUNS_GIT,
  ...READS_REPOSITORY,
  ...COMPARES_FILES,
  ...CHANGES_FILES,
  ...WRITES_OBJECTS,
  ...WRITES_REFERENCES,
  ...RUNS_HOOKS,
];
const COMMITS_AND_CHANGES = [...READS_REPOSITORY, ...COMPARES_FILES, ...CHANGES_FILES, ...MAKES_COMMITS];
const INTERACTIVE = 'unclear:asks on the terminal' as const;
const SIGNS: Options = { '-S --gpg-sign[=]': 'text', '--no-gpg-sign': 'none' };
/** `--strategy=NAME` runs git-merge-NAME; resolve and octopus are shell scripts. */
const STRATEGY = 'one:ort,recursive,ours,subtree' as const;

/** What checkout, switch and restore share. */
const CHECKOUT_OPTIONS: Options = optionList({
  none: '-q --quiet, --progress, --no-progress, -m --merge, --recurse-submodules, --no-recurse-submodules, --overwrite-ignore, --no-overwrite-ignore',
  [CONFLICT]: '--conflict=',
});
const BRANCH_OPTIONS: Options = optionList({
  none: '--guess, --no-guess, -d --detach, -f --force, --ignore-other-worktrees, --no-track, -l',
  'one:direct,inherit': '-t --track[=]',
  revision: '--orphan=',
});
const SEQUENCER_OPTIONS: Options = {
  ...SIGNS,
  ...optionList({
    none: `
      --quit, --continue, --abort, --skip, -n --no-commit, -e --edit, --no-edit, -s --signoff, --rerere-autoupdate,
      --no-rerere-autoupdate, --ff, --allow-empty, --allow-empty-message, --keep-redundant-commits, --reference, -x`,
    number: '-m --mainline=',
    text: '-X --strategy-option=',
    [STRATEGY]: '--strategy=',
    [CLEANUP]: '--cleanup=',
  }),
};

const STASH_OPTIONS: Options = {
  ...optionList({
    none: '-q --quiet, -k --keep-index, --no-keep-index, -S --staged',
    'unclear:takes files that git does not track': '-u --include-untracked, -a --all',
    text: '-m --message=',
    [INTERACTIVE]: '-p --patch',
  }),
  ...PATHSPEC_FILE,
};
const QUIET: Options = { '-q --quiet': 'none' };

export const GIT_CHANGE: Readonly<Record<string, Subcommand>> = {
  add: {
    aliases: ['stage'],
    options: {
      ...PATHSPEC_FILE,
      ...optionList({
        none: `
          -n --dry-run, -v --verbose, -u --update, --renormalize, -N --intent-to-add, -A --all --no-ignore-removal,
          --ignore-removal --no-all, --refresh, --ignore-errors, --ignore-missing, --sparse`,
        'one:+x,-x': '--chmod=',
        'unclear:adds ignored files': '-f --force',
        [INTERACTIVE]: '-i --interactive, -p --patch, -e --edit',
      }),
    },
    operands: [
      { if: ['-u', '--renormalize', '--refresh'], rest: 'pathspec' },
      { if: ['-A'], rest: 'untracked-pathspec', none: [{ kind: 'walk', path: '$repository/.', isUntracked: true }] },
      { rest: 'untracked-pathspec' },
    ],
    walks: ['hidden'],
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...WRITES_OBJECTS],
    isTracked: true,
    isWriter: true,
  },
  commit: {
    options: {
      ...SIGNS,
      ...PATHSPEC_FILE,
      ...optionList({
        none: `
          -q --quiet, -v --verbose, --reset-author, -s --signoff, --no-signoff, -e --edit, --no-edit, --status, --no-status, -a --all,
          -i --include, -o --only, -n --no-verify, --verify, --dry-run, --short, --branch, --porcelain, --long, -z --null, --amend,
          --no-post-rewrite, --allow-empty, --allow-empty-message`,
        text: '--author=, -m --message=, --trailer=',
        date: '--date=',
        revision: '-c --reedit-message=, -C --reuse-message=, --fixup=, --squash=',
        read: '-F --file=, -t --template=',
        'one:no,normal,all': '-u --untracked-files[=]',
        [CLEANUP]: '--cleanup=',
        [INTERACTIVE]: '--interactive, -p --patch',
      }),
    },
    operands: [{ rest: 'pathspec' }],
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...MAKES_COMMITS],
    isTracked: true,
    isWriter: true,
  },
  rm: {
    options: {
      ...PATHSPEC_FILE,
      ...optionList({ none: '-n --dry-run, -q --quiet, --cached, -f --force, -r, --ignore-unmatch, --sparse' }),
    },
    // Wildcards are git's own here; a rule for deletions needs the names.
    operands: [{ rest: 'delete', min: 1, match: '^[^*?[:]+$' }],
    turns: { '--cached': { delete: 'names' } },
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...WRITES_OBJECTS],
    isTracked: true,
    isWriter: true,
  },
  mv: {
    options: optionList({ none: '-v --verbose, -n --dry-run, -f --force, -k, --sparse' }),
    operands: [{ last: ['write'], rest: 'move', min: 2 }],
    keepsNames: true,
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...WRITES_OBJECTS],
    isTracked: true,
    isWriter: true,
  },
  restore: {
    options: {
      ...CHECKOUT_OPTIONS,
      ...PATHSPEC_FILE,
      ...optionList({
        none: `
          -S --staged, -W --worktree, --ignore-unmerged, --overlay, --no-overlay, -2 --ours, -3 --theirs, --ignore-skip-worktree-bits`,
        revision: '-s --source=',
        [INTERACTIVE]: '-p --patch',
      }),
    },
    operands: [{ rest: 'pathspec', min: 1 }],
    changesPathspecs: true,
    unasked: [...READS_REPOSITORY, ...COMPARES_FILES, ...CHANGES_FILES, { kind: 'write', path: '$repository/.git/index' }],
    isTracked: true,
    isWriter: true,
  },
  checkout: {
    options: {
      ...CHECKOUT_OPTIONS,
      ...BRANCH_OPTIONS,
      ...PATHSPEC_FILE,
      ...optionList({
        none: '--overlay, --no-overlay, -2 --ours, -3 --theirs, --ignore-skip-worktree-bits',
        revision: '-b=, -B=',
        [INTERACTIVE]: '-p --patch',
      }),
    },
    operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
    changesPathspecs: true,
    unasked: CHANGES_ALL,
    isTracked: true,
    isWriter: true,
  },
  switch: {
    options: {
      ...CHECKOUT_OPTIONS,
      ...BRANCH_OPTIONS,
      ...optionList({ none: '--discard-changes', revision: '-c --create=, -C --force-create=' }),
    },
    operands: [{ rest: 'revision', max: 2 }],
    unasked: CHANGES_ALL,
    isTracked: true,
    isWriter: true,
  },
  reset: {
    options: {
      ...PATHSPEC_FILE,
      ...optionList({
        none: '-q --quiet, --refresh, --no-refresh, --mixed, --soft, --hard, --merge, --keep, -N --intent-to-add, --no-recurse-submodules',
        [INTERACTIVE]: '-p --patch',
        'unclear:also resets submodules': '--recurse-submodules[=]',
      }),
    },
    operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
    unasked: CHANGES_ALL,
    isTracked: true,
    isWriter: true,
  },
  merge: {
    options: {
      ...SIGNS,
      ...optionList({
        none: `
          -n --no-stat, --stat, --summary, --squash, --no-squash, --commit, --no-commit, -e --edit, --no-edit, --ff, --no-ff, --ff-only,
          --rerere-autoupdate, --no-rerere-autoupdate, -v --verbose, -q --quiet, --abort, --quit, --continue, --allow-unrelated-histories,
          --progress, --no-progress, --autostash, --no-autostash, --overwrite-ignore, --no-overwrite-ignore, --signoff, --no-signoff,
          --no-verify, --verify, --no-verify-signatures`,
        number: '--log[=]',
        text: '-m --message=, --into-name=, -X --strategy-option=',
        read: '-F --file=',
        [STRATEGY]: '-s --strategy=',
        [CLEANUP]: '--cleanup=',
        'unclear:runs the signature program of the configuration': '--verify-signatures',
      }),
    },
    operands: [{ rest: 'revision' }],
    unasked: COMMITS_AND_CHANGES,
    isTracked: true,
    isWriter: true,
  },
  rebase: {
    options: {
      ...SIGNS,
      ...optionList({
        none: `
          --keep-base, --no-verify, --verify, -q --quiet, -v --verbose, -n --no-stat, --stat, --signoff, --committer-date-is-author-date,
          --reset-author-date --ignore-date, --ignore-whitespace, -f --force-rebase --no-ff, --continue, --skip, --abort, --quit,
          --show-current-patch, --apply, -m --merge, --rerere-autoupdate, --no-rerere-autoupdate, --autosquash, --no-autosquash,
          --update-refs, --no-update-refs, --autostash, --no-autostash, --fork-point, --no-fork-point, --root, --reschedule-failed-exec,
          --no-reschedule-failed-exec, --reapply-cherry-picks, --no-reapply-cherry-picks, --no-rebase-merges`,
        number: '-C=',
        revision: '--onto=',
        text: '-X --strategy-option=',
        [STRATEGY]: '-s --strategy=',
        'one:drop,keep,ask': '--empty=',
        'one:nowarn,warn,fix,error,error-all': '--whitespace=',
        'one:rebase-cousins,no-rebase-cousins': '-r --rebase-merges[=]',
        'script:shell': '-x --exec=',
        'unclear:opens an editor on a list of commands': '-i --interactive, --edit-todo',
      }),
    },
    operands: [{ rest: 'revision', max: 2 }],
    unasked: COMMITS_AND_CHANGES,
    isTracked: true,
    isWriter: true,
  },
  'cherry-pick': {
    options: SEQUENCER_OPTIONS,
    operands: [{ rest: 'revision' }],
    unasked: COMMITS_AND_CHANGES,
    isTracked: true,
    isWriter: true,
  },
  revert: { options: SEQUENCER_OPTIONS, operands: [{ rest: 'revision' }], unasked: COMMITS_AND_CHANGES, isTracked: true, isWriter: true },
  clean: {
    options: optionList({
      none: '-q --quiet, -n --dry-run, -d, -x, -X',
      pattern: '-e --exclude=',
      'unclear:deletes files that git does not track': '-f --force',
      [INTERACTIVE]: '-i --interactive',
    }),
    operands: [{ rest: 'pathspec' }],
    // Without -f nothing is deleted, unless the configuration says `clean.requireForce = false`.
    needs: [['-n', '-f', '-i']],
    unasked: [...READS_REPOSITORY, ...READS_UNTRACKED, { kind: 'names', path: '.' }],
    walks: ['hidden', 'ignored'],
  },
  stash: {
    // What follows a bare `git stash` are the options of `git stash push`.
    options: STASH_OPTIONS,
    commands: {
      list: {
        options: LOG_OPTIONS,
        operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
        unasked: [...RUNS_GIT, ...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS],
        isTracked: true,
      },
      show: {
        options: { ...DIFF_OPTIONS, '-u --include-untracked': 'none', '--no-include-untracked': 'none', '--only-untracked': 'none' },
        operands: [{ rest: 'revision', max: 1 }],
        unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS],
        isTracked: true,
      },
      push: {
        options: STASH_OPTIONS,
        operands: [{ rest: 'pathspec' }],
        changesPathspecs: true,
        unasked: CHANGES_ALL,
        isTracked: true,
        isWriter: true,
      },
      save: { options: STASH_OPTIONS, operands: [{ rest: 'text' }], unasked: CHANGES_ALL, isTracked: true, isWriter: true },
      pop: {
        options: { ...QUIET, '--index': 'none' },
        operands: [{ rest: 'revision', max: 1 }],
        unasked: CHANGES_ALL,
        isTracked: true,
        isWriter: true,
      },
      apply: {
        options: { ...QUIET, '--index': 'none' },
        operands: [{ rest: 'revision', max: 1 }],
        unasked: CHANGES_ALL,
        isTracked: true,
        isWriter: true,
      },
      branch: { operands: [{ rest: 'revision', max: 2 }], unasked: CHANGES_ALL, isTracked: true, isWriter: true },
      drop: { options: QUIET, operands: [{ rest: 'revision', max: 1 }], unasked: [...READS_REPOSITORY, ...WRITES_REFERENCES] },
      clear: { operands: [{ max: 0 }], unasked: [...READS_REPOSITORY, ...WRITES_REFERENCES] },
    },
    // Not `unasked`, which would hold for `git stash list` too.
    operands: [{ max: 0, none: CHANGES_ALL }],
    isTracked: true,
    isWriter: true,
  },
};
