// npm and npx. npm turns any unknown `--key` into configuration of scripts and of itself, so only the listed keys are understood.
import type { Options, Program, StatedEffect, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { INSTALLS, OTHER_PACKAGE, RUNS_SCRIPT, TOOLS } from './shared.ts';

const RUNS_PROGRAM = 'unclear:names a program or code to run' as const;

const NPM_OPTIONS: Options = optionList({
  none: `
    -s --silent, -d --verbose, -q --quiet, -v --version, -h --help, --color, --no-color, --progress, --no-progress, --no-audit, --no-fund,
    --no-update-notifier, -ws --workspaces, -iwr --include-workspace-root, --if-present, --ignore-scripts, --foreground-scripts, --offline,
    --prefer-offline, --prefer-online, --json, --no-workspaces`,
  text: '-w --workspace=',
  'one:silent,error,warn,notice,http,info,verbose,silly': '--loglevel=',
  [RUNS_PROGRAM]: '--script-shell=, --shell=, --node-options=, --onload-script=, --init-module=, --git=, --browser=, --editor=, --viewer=',
  [OTHER_PACKAGE]: `
    -C --prefix=, --userconfig=, --globalconfig=, --cache=, -reg --registry=, -g --global, -L --location=, --proxy=, --https-proxy=,
    --noproxy=, --cafile=, --ca=`,
});
const INSTALL_OPTIONS: Options = optionList({
  none: `
    -S --save, --no-save, -P --save-prod, -D --save-dev, -O --save-optional, --save-peer, -B --save-bundle, -E --save-exact, -f --force,
    --strict-peer-deps, --legacy-peer-deps, --prefer-dedupe, --no-package-lock, --package-lock-only, --dry-run, --no-bin-links,
    --no-optional, --install-links, -y --yes`,
  'one:dev,optional,peer': '--omit=',
  'one:prod,dev,optional,peer': '--include=',
  'one:hoisted,nested,shallow,linked': '--install-strategy=',
  date: '--before=',
});
/** A name with a version from the registry. Folders, archives, addresses and repositories are not understood. */
const PACKAGES = '^(@[\\w.-]+/)?[\\w][\\w.-]*(@[\\w.^~<>=*-]+)?$';
const CHANGES_MANIFEST = [
  { kind: 'modify', path: './package.json' },
  { kind: 'modify', path: './package-lock.json' },
] as const;

/** A script of `env node`, which looks for the root of the project, reads settings, and keeps a cache with logs. */
const NPM_ITSELF: readonly StatedEffect[] = [
  { kind: 'run', program: 'node' },
  { kind: 'read', path: './package.json' },
  { kind: 'read', path: './package-lock.json' },
  { kind: 'walk', path: './node_modules' },
  { kind: 'read', path: './.npmrc' },
  { kind: 'read', path: '~/.npmrc' },
  { kind: 'write', path: '~/.npm' },
  { kind: 'run', program: 'git' },
  { kind: 'read', path: '~/.gitconfig' },
];
const script: Subcommand = { operands: [{ max: 0 }], passes: 'script', unasked: RUNS_SCRIPT };
/** For packages, or to see whether there is a newer npm. */
const connects = { kind: 'connect' } as const;

export const NPM_PROGRAMS: readonly Program[] = [
  {
    name: 'npm',
    manual: 'npm(1) and npm-config(7), npm 11.19',
    parse: 'exact',
    before: NPM_OPTIONS,
    operands: [{ if: ['-v', '-h'], max: 0 }, { max: 0 }],
    unasked: NPM_ITSELF,
    commands: {
      test: { ...script, aliases: ['t', 'tst'] },
      start: script,
      stop: script,
      restart: script,
      run: {
        aliases: ['run-script', 'rum', 'urn'],
        // `npm run env` shows the environment.
        operands: [{ first: ['project:script'], max: 1, match: '^(?!env$)[\\w:.@/-]+$' }],
        passes: 'script',
        unasked: [{ kind: 'read', path: './package.json' }],
      },
      install: {
        aliases: ['i', 'in', 'ins', 'inst', 'insta', 'instal', 'isnt', 'isnta', 'isntal', 'isntall', 'add'],
        options: INSTALL_OPTIONS,
        operands: [{ rest: 'text', match: PACKAGES }],
        unasked: [...INSTALLS, ...CHANGES_MANIFEST],
        isWriter: true,
      },
      ci: {
        aliases: ['clean-install', 'ic', 'install-clean', 'isntall-clean'],
        options: INSTALL_OPTIONS,
        operands: [{ max: 0 }],
        unasked: [...INSTALLS, { kind: 'delete', path: './node_modules' }],
        isWriter: true,
      },
      'install-test': {
        aliases: ['it'],
        options: INSTALL_OPTIONS,
        operands: [{ max: 0 }],
        unasked: [...INSTALLS, ...RUNS_SCRIPT],
        isWriter: true,
      },
      uninstall: {
        aliases: ['rm', 'r', 'un', 'unlink', 'remove'],
        options: INSTALL_OPTIONS,
        operands: [{ rest: 'text', match: PACKAGES }],
        unasked: [...INSTALLS, ...CHANGES_MANIFEST, { kind: 'delete', path: './node_modules' }],
        isWriter: true,
      },
      update: {
        aliases: ['up', 'upgrade', 'udpate'],
        options: INSTALL_OPTIONS,
        operands: [{ rest: 'text', match: PACKAGES }],
        unasked: [...INSTALLS, ...CHANGES_MANIFEST],
        isWriter: true,
      },
      ls: {
        aliases: ['list', 'la', 'll'],
        options: optionList({
          none: '-a --all, -l --long, -p --parseable, --link, --package-lock-only, --no-unicode, --prod --production, --dev',
          number: '--depth=',
          'one:dev,optional,peer': '--omit=',
          'one:prod,dev,optional,peer': '--include=',
        }),
        operands: [{ rest: 'text' }],
        unasked: [
          connects,
          { kind: 'read', path: './package.json' },
          { kind: 'read', path: './package-lock.json' },
          { kind: 'names', path: './node_modules' },
        ],
      },
      explain: { aliases: ['why'], operands: [{ rest: 'text' }], unasked: [connects, { kind: 'names', path: './node_modules' }] },
      outdated: { options: optionList({ none: '-a --all, -l --long, -p --parseable' }), operands: [{ rest: 'text' }], unasked: [connects] },
      view: {
        aliases: ['info', 'show', 'v'],
        // A name with a version, or a field. `owner/name` would be a repository, for which npm runs git.
        operands: [{ rest: 'text', match: '^(?:@[\\w.-]+/)?[\\w^~<>=*[\\]-][\\w.^~<>=*[\\]-]*(?:@[\\w.^~<>=*-]+)?$' }],
        unasked: [connects],
      },
      search: { aliases: ['s', 'se', 'find'], options: { '-l --long': 'none' }, operands: [{ rest: 'text' }], unasked: [connects] },
      audit: {
        options: optionList({
          none: '--package-lock-only, --production, --dry-run',
          'one:info,low,moderate,high,critical,none': '--audit-level=',
          'one:dev,optional,peer': '--omit=',
        }),
        operands: [{ rest: 'unclear:changes installed packages', max: 1 }],
        unasked: [connects, { kind: 'read', path: './package-lock.json' }],
      },
      pack: {
        options: optionList({ none: '--dry-run', write: '--pack-destination=' }),
        operands: [{ max: 0 }],
        unasked: [...RUNS_SCRIPT, { kind: 'unpack', path: '.' }],
        isWriter: true,
      },
      version: {
        options: optionList({ none: '--no-git-tag-version, --allow-same-version', text: '-m --message=, --preid=' }),
        operands: [{ max: 0 }, { rest: 'text' }],
        unasked: [connects, { kind: 'read', path: './package.json' }],
      },
      publish: {
        options: optionList({ none: '--dry-run, --provenance', text: '--tag=, --otp=', 'one:public,restricted': '--access=' }),
        operands: [{ max: 0 }],
        unasked: [connects, ...RUNS_SCRIPT],
      },
      exec: {
        aliases: ['x'],
        parse: 'posix',
        options: optionList({
          none: '-y --yes, --no -n, --no-install',
          [RUNS_PROGRAM]: '-c --call=',
          'unclear:runs a package that may not be installed': '-p --package=',
        }),
        operands: [{ first: ['command'], min: 1 }],
        starts: TOOLS,
      },
      root: { operands: [{ max: 0 }], unasked: [connects] },
      prefix: { operands: [{ max: 0 }], unasked: [connects] },
      bin: { operands: [{ max: 0 }], unasked: [connects] },
      fund: { operands: [{ max: 0 }], unasked: [connects] },
      ping: { operands: [{ max: 0 }], unasked: [connects] },
      whoami: { operands: [{ max: 0 }], unasked: [connects, { kind: 'read', path: '~/.npmrc' }] },
      pkg: {
        unasked: [connects],
        commands: { get: { operands: [{ rest: 'text' }], unasked: [{ kind: 'read', path: './package.json' }] } },
      },
      config: {
        unasked: [connects],
        aliases: ['c'],
        commands: {
          get: {
            operands: [{ rest: 'text', min: 1 }],
            unasked: [
              { kind: 'read', path: '~/.npmrc' },
              { kind: 'read', path: './.npmrc' },
            ],
          },
        },
      },
      help: { operands: [{ rest: 'text' }], unasked: [connects, { kind: 'run', program: 'man' }] },
    },
    ambient: ['NODE_OPTIONS', 'npm_config_script_shell', 'npm_config_node_options', 'npm_config_prefix', 'npm_config_userconfig'],
  },
  {
    // A package that the project does not have is fetched and run: rules should name the program.
    name: 'npx',
    manual: 'npx(1), npm 11.19',
    parse: 'posix',
    options: optionList({
      none: '-y --yes, --no -n --no-install, -q --quiet, -s --silent, --prefer-offline, --offline, --version -v, --help -h',
      text: '-w --workspace=',
      [RUNS_PROGRAM]: '-c --call=, --script-shell=, --shell=, --node-options=, --shell-auto-fallback=',
      'unclear:runs a package that may not be installed': '-p --package=',
    }),
    operands: [
      { if: ['--version', '--help'], max: 0 },
      { first: ['command'], min: 1 },
    ],
    starts: TOOLS,
    // A tool that the project does not have is fetched.
    unasked: [...NPM_ITSELF, connects],
    ambient: ['NODE_OPTIONS', 'npm_config_script_shell', 'npm_config_node_options'],
  },
];
