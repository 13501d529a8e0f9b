// Compilers, linters and formatters of JavaScript projects. Their configuration files are code of the project.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';
import { LOADS_CODE, SWITCH } from './shared.ts';

/** tsc takes `true`, `false` and `null` after a flag for its value, and `@file` for more options. */
const NO_TSC_VALUE = '^(?!(?:true|false|null)$)(?!@)';
const WALKS_PROJECT = [{ kind: 'walk', path: '.' }] as const;

const BIOME_OPTIONS: Options = optionList({
  none: `
    --verbose, --skip-parse-errors, --no-errors-on-unmatched, --error-on-warnings, --staged, --changed, --profile-rules, -h --help, --unsafe`,
  [SWITCH]: `
    --formatter-enabled=, --linter-enabled=, --assist-enabled=, --enforce-assist=, --format-with-errors=, --vcs-enabled=,
    --vcs-use-ignore-file=, --files-ignore-unknown=, --json-parse-allow-comments=, --json-parse-allow-trailing-commas=, --use-editorconfig=,
    --bracket-spacing=, --bracket-same-line=`,
  number: '--indent-width=, --line-width=, --files-max-size=, --threads=',
  text: '--max-diagnostics=, --only=, --skip=',
  revision: '--since=, --vcs-default-branch=',
  read: '--config-path=',
  names: '--stdin-file-path=, --vcs-root=',
  write: '--reporter-file=, --log-file=, --log-path=',
  'one:off,force': '--colors=',
  'one:info,warn,error': '--diagnostic-level=',
  'one:none,tracing,debug,info,warn,error': '--log-level=',
  'one:pretty,compact,json': '--log-kind=',
  'one:tab,space': '--indent-style=',
  'one:lf,crlf,cr,auto': '--line-ending=',
  'one:double,single': '--javascript-formatter-quote-style=, --jsx-quote-style=',
  'one:default,json,json-pretty,github,junit,summary,gitlab,checkstyle,rdjson,sarif': '--reporter=',
  'unclear:works through a background server': '--use-server, --watch',
});
const biome = (options: Options): Subcommand => ({
  options: { ...BIOME_OPTIONS, ...options },
  operands: [{ rest: 'walk', none: WALKS_PROJECT }],
  turns: { '--write': { walk: 'modify' } },
  unasked: [{ kind: 'read', path: './biome.json' }],
  stdin: 'data',
  isWriter: true,
});

export const CHECKER_PROGRAMS: readonly Program[] = [
  {
    name: 'tsc',
    manual: 'tsc --all, TypeScript 5.9',
    parse: 'exact',
    options: optionList({
      none: `
        --noEmit, -v --version, -h --help, --all, --showConfig, --listFiles, --listFilesOnly, --listEmittedFiles, --explainFiles,
        --diagnostics, --extendedDiagnostics, --traceResolution, --noErrorTruncation, --strict, --skipLibCheck, --skipDefaultLibCheck,
        --allowJs, --checkJs, --esModuleInterop, --allowSyntheticDefaultImports, --resolveJsonModule, --isolatedModules,
        --isolatedDeclarations, --erasableSyntaxOnly, --verbatimModuleSyntax, --noImplicitAny, --noImplicitReturns, --noImplicitThis,
        --noImplicitOverride, --noUnusedLocals, --noUnusedParameters, --noUncheckedIndexedAccess, --noFallthroughCasesInSwitch,
        --noPropertyAccessFromIndexSignature, --exactOptionalPropertyTypes, --strictNullChecks, --strictFunctionTypes,
        --strictBindCallApply, --strictPropertyInitialization, --useUnknownInCatchVariables, --forceConsistentCasingInFileNames,
        --allowImportingTsExtensions, --rewriteRelativeImportExtensions, --experimentalDecorators, --emitDecoratorMetadata, --noResolve,
        --noCheck, --preserveWatchOutput, --downlevelIteration, -i --incremental, -d --declaration, --declarationMap,
        --emitDeclarationOnly, --sourceMap, --inlineSourceMap, --removeComments, --noEmitOnError, --composite, -w --watch,
        -b --build, --dry, -f --force, --clean, --verbose`,
      read: '-p --project=',
      names: '--rootDir=, --baseUrl=, --typeRoots=',
      text: '--lib=, --types=, --jsxImportSource=, --jsxFactory=, --customConditions=',
      write: '--outDir=, --outFile=, --declarationDir=, --tsBuildInfoFile=, --generateTrace=, --generateCpuProfile=',
      // Agents write `--pretty false`.
      [SWITCH]: '--pretty=',
      'one:es5,es6,es2015,es2016,es2017,es2018,es2019,es2020,es2021,es2022,es2023,es2024,esnext,ES2020,ES2022,ESNext': '-t --target=',
      'one:none,commonjs,es6,es2015,es2020,es2022,esnext,node16,node18,node20,nodenext,preserve,NodeNext,ESNext,CommonJS': '-m --module=',
      'one:classic,node,node10,node16,nodenext,bundler,Bundler,NodeNext': '--moduleResolution=',
      'one:preserve,react,react-native,react-jsx,react-jsxdev': '--jsx=',
      'one:auto,legacy,force': '--moduleDetection=',
      'unclear:writes tsconfig.json': '--init',
    }),
    operands: [
      { if: ['-b'], rest: 'unclear:writes what the projects name', max: 0, none: [{ kind: 'unpack', path: '.' }] },
      { if: ['--noEmit', '--showConfig', '--listFilesOnly', '-v', '-h'], rest: 'read', match: NO_TSC_VALUE },
      { rest: 'unclear:writes JavaScript next to the file', none: [{ kind: 'unpack', path: '.' }] },
    ],
    unasked: [
      { kind: 'read', path: './tsconfig.json' },
      { kind: 'write', path: './tsconfig.tsbuildinfo' },
    ],
    isWriter: true,
  },
  {
    name: 'eslint',
    manual: 'eslint --help, ESLint 10.15',
    parse: 'exact',
    options: {
      ...optionList({
        none: `
          --fix-dry-run, --no-ignore, --stdin, --quiet, --color, --no-color, --no-inline-config,
          --report-unused-disable-directives, --cache, --no-cache, --env-info, --no-error-on-unmatched-pattern, --exit-on-fatal-error,
          --no-warn-ignored, --pass-on-no-patterns, --debug, -h --help, -v --version, --stats, --no-config-lookup, --no-eslintrc,
          --suppress-all, --prune-suppressions, --pass-on-unpruned-suppressions, --fix`,
        number: '--max-warnings=',
        text: '--ext=, --global=, --env=, --rule=, --suppress-rule=, --flag=',
        pattern: '--ignore-pattern=',
        read: '--ignore-path=, --print-config=',
        'project:configuration': '-c --config=',
        names: '--stdin-filename=',
        write: '-o --output-file=, --cache-file=, --cache-location=, --suppressions-location=',
        'one:stylish,json,json-with-metadata,html,compact,unix,junit,checkstyle,tap,visualstudio': '-f --format=',
        'one:directive,problem,suggestion,layout': '--fix-type=',
        'one:off,warn,error': '--report-unused-disable-directives-severity=, --report-unused-inline-configs=',
        'one:metadata,content': '--cache-strategy=',
        'one:off,auto,1,2,4,8': '--concurrency=',
        [LOADS_CODE]: '--parser=, --parser-options=, --plugin=, --rulesdir=, --resolve-plugins-relative-to=',
        'unclear:starts another program': '--init, --inspect-config, --mcp',
      }),
    },
    operands: [{ rest: 'walk', none: WALKS_PROJECT }],
    turns: { '--fix': { walk: 'modify' } },
    unasked: [{ kind: 'project', name: 'configuration of eslint' }],
    stdin: 'data',
    isWriter: true,
  },
  {
    name: 'prettier',
    manual: 'prettier --help, Prettier 3.10',
    parse: 'exact',
    options: optionList({
      none: `
        -c --check, -l --list-different, -w --write, --bracket-same-line, --no-bracket-spacing, --no-semi, --single-quote,
        --jsx-single-quote, --use-tabs, --no-config, --no-editorconfig, --with-node-modules, --cache, --no-cache, --no-color, --color,
        --no-error-on-unmatched-pattern, -h --help, -u --ignore-unknown, --insert-pragma, --require-pragma, --check-ignore-pragma,
        --support-info, -v --version, --single-attribute-per-line, --vue-indent-script-and-style, --experimental-ternaries`,
      number: '--print-width=, --tab-width=, --cursor-offset=, --range-end=, --range-start=',
      read: '--ignore-path=',
      'project:configuration': '--config=',
      names: '--find-config-path=, --file-info=, --stdin-filepath=',
      write: '--cache-location=',
      'one:always,avoid': '--arrow-parens=',
      'one:auto,off': '--embedded-language-formatting=',
      'one:lf,crlf,cr,auto': '--end-of-line=',
      'one:css,strict,ignore': '--html-whitespace-sensitivity=',
      'one:preserve,collapse': '--object-wrap=',
      'one:always,never,preserve': '--prose-wrap=',
      'one:as-needed,consistent,preserve': '--quote-props=',
      'one:all,es5,none': '--trailing-comma=',
      'one:cli-override,file-override,prefer-file': '--config-precedence=',
      'one:metadata,content': '--cache-strategy=',
      'one:silent,error,warn,log,debug': '--log-level=',
      'one:flow,babel,babel-flow,babel-ts,typescript,acorn,espree,meriyah,css,less,scss,json,json5,jsonc,json-stringify,graphql,markdown,mdx,vue,yaml,html,angular':
        '--parser=',
      [LOADS_CODE]: '--plugin=',
    }),
    operands: [{ rest: 'walk' }],
    turns: { '-w': { walk: 'modify' } },
    unasked: [{ kind: 'project', name: 'configuration of prettier' }],
    stdin: 'data',
    isWriter: true,
  },
  {
    name: 'biome',
    manual: 'biome --help, Biome 2.6',
    parse: 'exact',
    before: optionList({ none: '-V --version, -h --help' }),
    operands: [{ max: 0 }],
    commands: {
      check: biome({ '--write --fix': 'none' }),
      lint: biome({ '--write --fix': 'none', '--suppress': 'unclear:edits files', '--reason=': 'text' }),
      format: biome({ '--write --fix': 'none' }),
      ci: { ...biome({}), turns: {} },
      version: { operands: [{ max: 0 }] },
      explain: { operands: [{ rest: 'text' }] },
    },
    ambient: ['BIOME_CONFIG_PATH', 'BIOME_BINARY'],
  },
];
