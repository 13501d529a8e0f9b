// gh: looking at GitHub is understood, with a connection; writing there too, for rules that name it. Every subcommand can run git. Requests and
// repositories can be named by an address, of another host too.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';

const BROWSER = 'unclear:opens a browser' as const;
const connects = { kind: 'connect', host: 'api.github.com' } as const;
const GLOBAL: Options = optionList({ none: '-h --help', repository: '-R --repo=' });
const JSON_OPTIONS: Options = { '--json=': 'text', '-q --jq=': 'script:jq', '-t --template=': 'text', '-w --web': BROWSER };

const view: Subcommand = {
  options: { ...GLOBAL, ...JSON_OPTIONS, '-c --comments': 'none' },
  operands: [{ rest: 'address-or-name', max: 1 }],
  unasked: [connects],
};
const list: Subcommand = {
  options: {
    ...GLOBAL,
    ...JSON_OPTIONS,
    ...optionList({
      none: '-d --draft',
      text: '--app=, -a --assignee=, -A --author=, -B --base=, -H --head=, -l --label=, -S --search=, --mention=, -m --milestone=',
      number: '-L --limit=',
      'one:open,closed,merged,all': '-s --state=',
    }),
  },
  operands: [{ max: 0 }],
  unasked: [connects],
};
const create: Subcommand = {
  options: {
    ...GLOBAL,
    ...optionList({
      none: '-d --draft, -f --fill, --fill-first, --no-maintainer-edit, --dry-run',
      text: '-a --assignee=, -B --base=, -b --body=, -H --head=, -l --label=, -m --milestone=, -p --project=, -r --reviewer=, -t --title=',
      read: '-F --body-file=, --recover=, -T --template=',
      [BROWSER]: '-w --web',
    }),
  },
  operands: [{ max: 0 }],
  unasked: [connects, { kind: 'run', program: 'git' }],
};
const edit: Subcommand = {
  options: {
    ...GLOBAL,
    ...optionList({
      text: '-b --body=, -t --title=, --add-label=, --remove-label=, --add-assignee=, --add-reviewer=, -B --base=',
      read: '-F --body-file=',
    }),
  },
  operands: [{ rest: 'address-or-name' }],
  unasked: [connects],
};
const comment: Subcommand = {
  options: {
    ...GLOBAL,
    ...optionList({ none: '--edit-last', text: '-b --body=', read: '-F --body-file=', [BROWSER]: '-w --web, -e --editor' }),
  },
  operands: [{ rest: 'address-or-name', max: 1 }],
  unasked: [connects],
};
const plain: Subcommand = { options: GLOBAL, operands: [{ rest: 'address-or-name', max: 1 }], unasked: [connects] };

export const GH_PROGRAMS: readonly Program[] = [
  {
    name: 'gh',
    manual: 'gh help, gh 2.23',
    parse: 'cobra',
    before: optionList({ none: '--version, --help' }),
    operands: [{ max: 0 }],
    commands: {
      pr: {
        commands: {
          view,
          list: { ...list, aliases: ['ls'] },
          status: { options: { ...GLOBAL, ...JSON_OPTIONS, '-c --conflict-status': 'none' }, operands: [{ max: 0 }], unasked: [connects] },
          diff: {
            options: {
              ...GLOBAL,
              ...optionList({ none: '--name-only, --patch', 'one:always,never,auto': '--color=', [BROWSER]: '-w --web' }),
            },
            operands: [{ rest: 'address-or-name', max: 1 }],
            unasked: [connects],
          },
          checks: {
            options: { ...GLOBAL, ...JSON_OPTIONS, ...optionList({ none: '--required, --watch, --fail-fast', number: '-i --interval=' }) },
            operands: [{ rest: 'address-or-name', max: 1 }],
            unasked: [connects],
          },
          create: { ...create, aliases: ['new'] },
          edit,
          comment,
          ready: plain,
          close: plain,
          reopen: plain,
          checkout: {
            aliases: ['co'],
            options: { ...GLOBAL, ...optionList({ none: '-f --force, --detach, --recurse-submodules', revision: '-b --branch=' }) },
            operands: [{ rest: 'address-or-name', max: 1 }],
            unasked: [connects, { kind: 'run', program: 'git' }, { kind: 'unpack', path: '$repository' }],
            isWriter: true,
          },
          merge: {
            options: {
              ...GLOBAL,
              ...optionList({
                none: '-m --merge, -r --rebase, -s --squash, -d --delete-branch, --auto, --disable-auto, --admin',
                text: '-b --body=, -t --subject=, --match-head-commit=',
              }),
            },
            operands: [{ rest: 'address-or-name', max: 1 }],
            unasked: [connects, { kind: 'run', program: 'git' }],
          },
          review: {
            options: {
              ...GLOBAL,
              ...optionList({ none: '-a --approve, -c --comment, -r --request-changes', text: '-b --body=', read: '-F --body-file=' }),
            },
            operands: [{ rest: 'address-or-name', max: 1 }],
            unasked: [connects],
          },
        },
      },
      issue: {
        commands: {
          view,
          list: { ...list, aliases: ['ls'] },
          status: list,
          create: { ...create, aliases: ['new'] },
          edit,
          comment,
          close: plain,
          reopen: plain,
        },
      },
      run: {
        commands: {
          list: {
            aliases: ['ls'],
            options: {
              ...GLOBAL,
              ...JSON_OPTIONS,
              ...optionList({
                text: '-b --branch=, -u --user=, -w --workflow=, -c --commit=, -e --event=, -s --status=',
                number: '-L --limit=',
              }),
            },
            operands: [{ max: 0 }],
            unasked: [connects],
          },
          view: {
            options: {
              ...GLOBAL,
              ...JSON_OPTIONS,
              ...optionList({ none: '--exit-status, --log, --log-failed, -v --verbose', text: '-j --job=', number: '-a --attempt=' }),
            },
            operands: [{ rest: 'text', max: 1 }],
            // Logs are kept in a cache.
            unasked: [connects, { kind: 'unpack', path: '~/.cache/gh' }],
          },
          watch: {
            options: { ...GLOBAL, ...optionList({ none: '--exit-status, --compact', number: '-i --interval=' }) },
            operands: [{ rest: 'text', max: 1 }],
            unasked: [connects],
          },
          rerun: {
            options: { ...GLOBAL, ...optionList({ none: '--failed, -d --debug', text: '-j --job=' }) },
            operands: [{ rest: 'text', max: 1 }],
            unasked: [connects],
          },
        },
      },
      workflow: {
        commands: {
          list: { options: { ...GLOBAL, '-a --all': 'none', '-L --limit=': 'number' }, operands: [{ max: 0 }], unasked: [connects] },
          view: { options: { ...GLOBAL, '-y --yaml': 'none' }, operands: [{ rest: 'text', max: 1 }], unasked: [connects] },
        },
      },
      release: { commands: { list: { ...list, aliases: ['ls'] }, view } },
      repo: {
        commands: {
          view: { options: { ...JSON_OPTIONS, '-b --branch=': 'text' }, operands: [{ rest: 'repository', max: 1 }], unasked: [connects] },
          list,
        },
      },
      label: { commands: { list } },
      search: {
        commands: Object.fromEntries(
          ['issues', 'prs', 'repos', 'commits', 'code'].map((name) => [
            name,
            { ...list, options: { ...list.options, '--owner=': 'text', '--language=': 'text' }, operands: [{ rest: 'text' as const }] },
          ]),
        ),
      },
      api: {
        options: optionList({
          none: '-i --include, --paginate, --silent, --slurp',
          'one:GET': '-X --method=',
          text: '-H --header=, -p --preview=, --cache=, -t --template=',
          'script:jq': '-q --jq=',
          'unclear:sends data, which makes the request a change': '-F --field=, -f --raw-field=, --input=',
          'unclear:another account': '--hostname=',
        }),
        operands: [{ rest: 'text', max: 1, match: '^(?!\\w*:)/?[\\w./{}?&=:%+-]+$' }],
        unasked: [connects],
      },
      auth: { commands: { status: { options: { '-h --hostname=': 'text' }, operands: [{ max: 0 }], unasked: [connects] } } },
      status: { operands: [{ max: 0 }], unasked: [connects] },
    },
    ambient: ['GH_HOST', 'GH_REPO', 'GH_EDITOR', 'GH_BROWSER', 'GH_PAGER', 'GH_CONFIG_DIR', 'PAGER', 'GIT_EDITOR'],
  },
];
