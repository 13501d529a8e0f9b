// git: its own options, and its subcommands by what they are for.
import type { Program } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { GIT_CHANGE } from './change.ts';
import { GIT_EXCHANGE } from './exchange.ts';
import { GIT_LOOK } from './look.ts';
import { GIT_REFERENCES } from './references.ts';
import { GIT_VERSION } from './shared.ts';

export const GIT_PROGRAMS: readonly Program[] = [
  {
    name: 'git',
    manual: `git(1) and the pages of its subcommands, ${GIT_VERSION}`,
    parse: 'git',
    before: optionList({
      none: `
        -P --no-pager, --no-replace-objects, --literal-pathspecs, --glob-pathspecs, --noglob-pathspecs, --icase-pathspecs,
        --no-optional-locks, -v --version, --html-path, --man-path, --info-path`,
      'unclear:opens the manual': '-h --help',
      enter: '-C=',
      'unclear:configuration can name programs to run': '-c=, --config-env=',
      'unclear:works on another repository': '--git-dir=, --work-tree=, --namespace=, --super-prefix=',
      'unclear:runs the programs of another directory': '--exec-path[=]',
      'unclear:forces the pager of the configuration': '-p --paginate',
      'unclear:not modelled': '--list-cmds=, --attr-source=',
    }),
    commands: { ...GIT_LOOK, ...GIT_REFERENCES, ...GIT_CHANGE, ...GIT_EXCHANGE },
    // An alias of the configuration looks like a subcommand that the table does not have, and is not understood.
    ambient: [
      ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_COMMON_DIR'],
      ...['GIT_CONFIG_COUNT', 'GIT_CONFIG_PARAMETERS', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_EXEC_PATH', 'GIT_TEMPLATE_DIR'],
      ...['GIT_PAGER', 'PAGER', 'LESS', 'LESSOPEN', 'GIT_EDITOR', 'EDITOR', 'VISUAL', 'GIT_SEQUENCE_EDITOR', 'GIT_EXTERNAL_DIFF'],
      ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_PROXY_COMMAND', 'GIT_TRACE', 'GIT_TRACE2', 'GIT_TRACE2_EVENT'],
    ],
  },
];
