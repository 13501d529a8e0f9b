// git subcommands about names: revisions, branches, tags, remotes, configuration. Some forms look, others write.
import type { Options, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import {
  COLOR,
  COMPARES_FILES,
  CONNECTS,
  LOG_OPTIONS,
  PAGER,
  READS_REPOSITORY,
  REVISION_OPTIONS,
  RUNS_GIT,
  SHOWS_DIFFS,
  WRITES_REFERENCES,
} from './shared.ts';

const LISTS_REFERENCES: Options = {
  ...COLOR,
  ...optionList({
    none: '-i --ignore-case, --no-column, --omit-empty',
    text: '--column[=], --sort=, --format=',
    revision: '--points-at=',
  }),
};
/** With one of these, words are patterns; otherwise they name what is created. */
const LISTING = ['-l', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at'];
const REVISIONS = [{ rest: 'revision-or-path' }] as const;
const CHANGES_CONFIGURATION = [{ kind: 'modify', path: '$repository/.git/config' }] as const;

export const GIT_REFERENCES: Readonly<Record<string, Subcommand>> = {
  'rev-parse': {
    options: optionList({
      none: `
        --show-toplevel, --git-dir, --absolute-git-dir, --git-common-dir, --is-inside-work-tree, --is-inside-git-dir,
        --is-bare-repository, --is-shallow-repository, --show-prefix, --show-cdup, --show-object-format,
        --local-env-vars, --verify, -q --quiet, --symbolic, --symbolic-full-name, --revs-only, --no-revs, --flags, --no-flags, --not, --all,
        --sq, --shared-index-path`,
      number: '--short[=]',
      pattern: '--branches[=], --tags[=], --remotes[=], --glob[=], --exclude[=], --disambiguate[=]',
      date: '--since[=], --until[=]',
      'one:strict,loose': '--abbrev-ref[=]',
      'one:absolute,relative': '--path-format[=]',
      'unclear:resolves a path inside the git directory': '--git-path=, --resolve-git-dir=, --prefix=, --default=',
      'unclear:reads option definitions': '--parseopt, --sq-quote',
      'unclear:looks at the repository above': '--show-superproject-working-tree',
    }),
    operands: REVISIONS,
    unasked: READS_REPOSITORY,
  },
  'rev-list': {
    options: {
      ...REVISION_OPTIONS,
      ...optionList({
        none: `
          --count, --quiet, --objects, --objects-edge, --unpacked, --header, --object-names, --no-object-names, --no-abbrev, --timestamp,
          --bisect-vars, --bisect-all, --in-commit-order, --no-commit-header, --commit-header`,
        number: '--abbrev[=]',
        'one:human': '--disk-usage[=]',
      }),
    },
    operands: [{ rest: 'revision-or-path', dashed: 'pathspec', min: 0 }],
    unasked: READS_REPOSITORY,
    isTracked: true,
  },
  describe: {
    options: optionList({
      none: '--contains, --debug, --all, --tags, --long, --first-parent, --exact-match, --always',
      number: '--abbrev[=], --candidates=',
      pattern: '--match=, --exclude=',
      text: '--dirty[=], --broken[=]',
    }),
    operands: REVISIONS,
    unasked: [...RUNS_GIT, ...READS_REPOSITORY, ...COMPARES_FILES],
    isTracked: true,
  },
  'merge-base': {
    options: optionList({ none: '-a --all, --octopus, --independent, --is-ancestor, --fork-point' }),
    operands: REVISIONS,
    unasked: READS_REPOSITORY,
  },
  'name-rev': {
    options: optionList({
      none: '--name-only, --tags, --all, --undefined, --no-undefined, --always',
      pattern: '--refs=, --exclude=',
      'unclear:rewrites standard input': '--stdin, --annotate-stdin',
    }),
    operands: REVISIONS,
    unasked: READS_REPOSITORY,
  },
  'show-ref': {
    options: optionList({
      none: '--tags, --heads, --verify, --head, -d --dereference, -q --quiet',
      number: '-s --hash[=], --abbrev[=]',
      'unclear:reads references from standard input': '--exclude-existing[=]',
    }),
    operands: [{ rest: 'pattern' }],
    unasked: READS_REPOSITORY,
  },
  'for-each-ref': {
    options: {
      ...LISTS_REFERENCES,
      ...optionList({
        none: '-s --shell, -p --perl, --python, --tcl',
        number: '--count=',
        revision: '--merged[=], --no-merged[=], --contains[=], --no-contains[=]',
      }),
    },
    operands: [{ rest: 'pattern' }],
    unasked: [...READS_REPOSITORY, { kind: 'run', program: 'git:signature-check' }],
  },
  'symbolic-ref': {
    options: optionList({
      none: '-q --quiet, --short, --recurse, --no-recurse',
      text: '-m=',
      'unclear:deletes a reference': '-d --delete',
    }),
    operands: [{ first: ['revision', 'unclear:points a reference somewhere else'], max: 2 }],
    unasked: READS_REPOSITORY,
  },
  reflog: {
    options: LOG_OPTIONS,
    commands: {
      show: {
        options: LOG_OPTIONS,
        operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
        unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS],
        isTracked: true,
      },
      expire: { parse: 'words', operands: [{ rest: 'unclear:deletes entries of the reflog', min: 1 }] },
      delete: { parse: 'words', operands: [{ rest: 'unclear:deletes entries of the reflog', min: 1 }] },
      exists: { operands: [{ rest: 'revision', max: 1 }], unasked: READS_REPOSITORY },
    },
    operands: [{ rest: 'revision-or-path', dashed: 'pathspec' }],
    unasked: [...READS_REPOSITORY, ...PAGER, ...SHOWS_DIFFS],
    isTracked: true,
  },
  branch: {
    options: {
      ...LISTS_REFERENCES,
      ...optionList({
        none: '-v --verbose -vv, -q --quiet, -r --remotes, -a --all, -l --list, --show-current, --no-abbrev',
        number: '--abbrev[=]',
        revision: '--contains[=], --no-contains[=], --merged[=], --no-merged[=]',
        'unclear:changes branches': `
          -d --delete, -D, -m --move, -M, -c --copy, -C, -f --force, -t --track[=], --no-track, -u --set-upstream-to=, --unset-upstream,
          --create-reflog, --recurse-submodules`,
        'unclear:opens an editor': '--edit-description',
      }),
    },
    operands: [{ if: LISTING, rest: 'pattern' }, { rest: 'unclear:creates a branch' }],
    unasked: [...READS_REPOSITORY, ...PAGER],
  },
  tag: {
    options: {
      ...LISTS_REFERENCES,
      ...optionList({
        none: '-l --list',
        number: '-n[=]',
        revision: '--contains[=], --no-contains[=], --merged[=], --no-merged[=]',
        'unclear:runs the signature program of the configuration': '-v --verify, -s --sign, -u --local-user=',
        'unclear:changes tags': '-d --delete, -a --annotate, -m --message=, -f --force, --create-reflog, --cleanup=, --no-sign',
        'unclear:changes tags with a message from a file or an editor': '-F --file=, -e --edit',
      }),
    },
    operands: [{ if: ['-n', ...LISTING], rest: 'pattern' }, { rest: 'unclear:creates a tag' }],
    // `git column`, also if only the configuration asks for columns.
    unasked: [...RUNS_GIT, ...READS_REPOSITORY, ...PAGER],
  },
  remote: {
    options: { '-v --verbose': 'none' },
    commands: {
      'get-url': { options: optionList({ none: '--push, --all' }), operands: [{ rest: 'text', max: 1 }], unasked: READS_REPOSITORY },
      show: { options: { '-n': 'none' }, operands: [{ rest: 'host' }], unasked: [...READS_REPOSITORY, ...CONNECTS] },
      prune: {
        options: { '-n --dry-run': 'none' },
        operands: [{ rest: 'host' }],
        unasked: [...READS_REPOSITORY, ...CONNECTS, ...WRITES_REFERENCES],
      },
      add: {
        options: optionList({
          none: '--tags, --no-tags',
          text: '-t=, -m=',
          'unclear:also fetches': '-f',
          'unclear:mirrors': '--mirror[=]',
        }),
        operands: [{ first: ['text', 'url'], min: 2, max: 2 }],
        unasked: [...READS_REPOSITORY, ...CHANGES_CONFIGURATION, ...WRITES_REFERENCES],
      },
      remove: {
        aliases: ['rm'],
        operands: [{ rest: 'text', max: 1 }],
        unasked: [...READS_REPOSITORY, ...CHANGES_CONFIGURATION, ...WRITES_REFERENCES],
      },
      rename: {
        options: optionList({ none: '--progress, --no-progress' }),
        operands: [{ rest: 'text', max: 2 }],
        unasked: [...READS_REPOSITORY, ...CHANGES_CONFIGURATION, ...WRITES_REFERENCES],
      },
      'set-url': {
        options: optionList({ none: '--push', 'unclear:adds or deletes an address': '--add, --delete' }),
        operands: [{ first: ['text', 'url', 'pattern'], min: 2, max: 3 }],
        unasked: [...READS_REPOSITORY, ...CHANGES_CONFIGURATION],
      },
    },
    operands: [{ max: 0 }],
    unasked: READS_REPOSITORY,
  },
  'ls-remote': {
    options: optionList({
      none: '-q --quiet, -t --tags, -h --heads, --refs, --get-url, --exit-code, --symref',
      text: '--sort=, -o --server-option=',
      run: '--upload-pack --exec=',
    }),
    operands: [{ first: ['host'], rest: 'pattern' }],
    unasked: [...READS_REPOSITORY, ...CONNECTS],
  },
  config: {
    options: optionList({
      none: `
        --local, --global, --system, --worktree, --get, --get-all, --get-regexp, -l --list, -z --null, --name-only, --includes,
        --no-includes, --show-origin, --show-scope, --bool, --int, --bool-or-int, --bool-or-str, --path, --expiry-date, --fixed-value`,
      'one:bool,int,bool-or-int,bool-or-str,path,expiry-date,color': '-t --type=',
      text: '--default=',
      url: '--get-urlmatch',
      read: '-f --file=',
      'revision-or-path': '--blob=',
      'unclear:changes the configuration of git, which names programs to run': `
        --add, --replace-all, --unset, --unset-all, --rename-section, --remove-section, -e --edit`,
      'unclear:not modelled': '--get-color, --get-colorbool',
    }),
    operands: [
      { if: ['--get', '--get-all'], first: ['text', 'pattern'], max: 2 },
      { if: ['--get-regexp'], first: ['pattern', 'pattern'], max: 2 },
      { if: ['-l'], max: 0 },
      { first: ['text', 'unclear:changes the configuration of git, which names programs to run'] },
    ],
    unasked: [...READS_REPOSITORY, ...PAGER],
  },
  var: {
    options: { '-l': 'none' },
    operands: [{ rest: 'one:GIT_AUTHOR_IDENT,GIT_COMMITTER_IDENT,GIT_EDITOR,GIT_PAGER,GIT_DEFAULT_BRANCH', max: 1 }],
    unasked: [...READS_REPOSITORY, { kind: 'environment' }],
  },
  version: { options: { '--build-options': 'none' }, operands: [{ max: 0 }], unasked: READS_REPOSITORY },
  help: {
    options: optionList({
      none: '-a --all, -g --guides, -c --config, --no-verbose, --verbose, --no-aliases, --no-external-commands, -m --man',
      'unclear:opens a browser or an info reader': '-w --web, -i --info',
    }),
    operands: [{ rest: 'text', max: 1 }],
    unasked: [...READS_REPOSITORY, { kind: 'run', program: 'man' }, ...PAGER],
  },
};
