// go and gofmt. Tests and programs are code of the project; so are its `//go:generate` lines.
import type { Options, Program } from '../../program.ts';
import { optionList } from '../option-list.ts';

const BUILD_OPTIONS: Options = optionList({
  none: '-a, -n, -race, -msan, -asan, -v, -work, -x, -linkshared, -modcacherw, -trimpath, -cover',
  number: '-p=',
  text: '-tags=, -buildmode=, -installsuffix=, -covermode=',
  'one:true,false,auto': '-buildvcs[=]',
  // `mod` changes go.mod and fetches what the words name.
  'one:readonly,vendor': '-mod=',
  'one:gc,gccgo': '-compiler=',
  pattern: '-coverpkg=',
  enter: '-C=',
  run: '-toolexec=',
  'unclear:options of the compiler or linker can name programs': '-ldflags=, -gcflags=, -asmflags=, -gccgoflags=',
  'unclear:replaces files of the build': '-overlay=, -modfile=, -pkgdir=, -pgo=',
});
const connects = { kind: 'connect' } as const;
/** Compiling runs cgo's compiler if packages ask for it. Modules that are not there yet are fetched. */
const BUILDS = [connects, { kind: 'unpack', path: '~/.cache/go-build' }, { kind: 'unpack', path: '~/go/pkg/mod' }] as const;
const PACKAGES = [{ rest: 'names' }] as const;
const CHANGES_MANIFEST = [
  { kind: 'modify', path: './go.mod' },
  { kind: 'modify', path: './go.sum' },
] as const;

export const GO_PROGRAMS: readonly Program[] = [
  {
    name: 'go',
    manual: 'go help, go 1.19',
    parse: 'goflag',
    operands: [{ max: 0 }],
    commands: {
      test: {
        // go takes flags behind the packages too.
        parse: 'cobra',
        options: {
          ...BUILD_OPTIONS,
          ...optionList({
            none: '-c, -json, -short, -failfast, -benchmem, -i, -fullpath',
            number:
              '-count=, -parallel=, -timeout=, -fuzztime=, -benchtime=, -fuzzminimizetime=, -blockprofilerate=, -memprofilerate=, -mutexprofilefraction=',
            pattern: '-run=, -bench=, -list=, -fuzz=, -skip=',
            text: '-cpu=, -shuffle=, -vet=',
            write: '-o=, -coverprofile=, -cpuprofile=, -memprofile=, -blockprofile=, -mutexprofile=, -trace=, -outputdir=',
            run: '-exec=',
            'unclear:words for the tests': '-args',
          }),
        },
        operands: PACKAGES,
        unasked: [...BUILDS, { kind: 'project', name: 'tests' }],
      },
      build: {
        options: { ...BUILD_OPTIONS, '-o=': 'write' },
        operands: PACKAGES,
        unasked: [...BUILDS, { kind: 'unpack', path: '.' }],
        isWriter: true,
      },
      vet: { options: { ...BUILD_OPTIONS, '-json': 'none', '-vettool=': 'run' }, operands: PACKAGES, unasked: BUILDS },
      run: {
        options: { ...BUILD_OPTIONS, '-exec=': 'run' },
        // `pkg@version` would be fetched.
        operands: [{ first: ['project:program'], rest: 'argument', min: 1, match: '^[^@]*$' }],
        unasked: BUILDS,
      },
      install: {
        options: BUILD_OPTIONS,
        operands: [{ rest: 'names', match: '^[^@]*$' }],
        unasked: [...BUILDS, { kind: 'unpack', path: '~/go/bin' }],
      },
      generate: {
        options: optionList({ none: '-n, -v, -x', pattern: '-run=, -skip=' }),
        operands: PACKAGES,
        unasked: [{ kind: 'project', name: 'go:generate lines' }],
      },
      fmt: {
        options: optionList({ none: '-n, -x' }),
        operands: [{ rest: 'modify', none: [{ kind: 'modify', path: '.' }] }],
        isWriter: true,
      },
      list: {
        options: {
          ...BUILD_OPTIONS,
          ...optionList({ none: '-deps, -e, -export, -find, -m, -u, -versions, -retracted, -test, -compiled', text: '-f=, -json[=]' }),
        },
        operands: PACKAGES,
        unasked: BUILDS,
      },
      env: {
        options: optionList({ none: '-json, -changed', 'unclear:changes settings of go, which can name programs': '-w, -u' }),
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'environment' }],
      },
      version: { options: optionList({ none: '-m, -v' }), operands: [{ rest: 'walk' }] },
      doc: { options: optionList({ none: '-all, -c, -cmd, -short, -src, -u' }), operands: [{ rest: 'text' }] },
      get: {
        options: { ...BUILD_OPTIONS, '-u': 'none', '-t': 'none', '-d': 'none' },
        operands: [{ rest: 'text' }],
        unasked: [connects, ...BUILDS, ...CHANGES_MANIFEST],
        isWriter: true,
      },
      mod: {
        commands: {
          tidy: {
            options: optionList({ none: '-v, -e, -x', text: '-go=, -compat=' }),
            operands: [{ max: 0 }],
            unasked: [connects, ...BUILDS, ...CHANGES_MANIFEST],
            isWriter: true,
          },
          download: { options: optionList({ none: '-json, -x' }), operands: [{ rest: 'text' }], unasked: [connects, ...BUILDS] },
          verify: { operands: [{ max: 0 }] },
          graph: { options: { '-go=': 'text' }, operands: [{ max: 0 }] },
          why: { options: optionList({ none: '-m, -vendor' }), operands: [{ rest: 'text' }] },
          vendor: {
            options: optionList({ none: '-v, -e' }),
            operands: [{ max: 0 }],
            unasked: [connects, { kind: 'unpack', path: './vendor' }],
            isWriter: true,
          },
          init: { operands: [{ rest: 'text', max: 1 }], unasked: [{ kind: 'write', path: './go.mod' }], isWriter: true },
        },
      },
      clean: {
        options: optionList({ none: '-i, -n, -r, -x, -cache, -testcache, -modcache, -fuzzcache' }),
        operands: [{ rest: 'names' }],
        unasked: [{ kind: 'delete', path: '~/.cache/go-build' }],
      },
      help: { operands: [{ rest: 'text' }] },
    },
    ambient: ['GOFLAGS', 'GOENV', 'GOPATH', 'GOROOT', 'GOTOOLCHAIN', 'CC', 'CXX', 'CGO_CFLAGS', 'CGO_LDFLAGS', 'GOPROXY', 'GOWORK'],
  },
  {
    name: 'gofmt',
    manual: 'gofmt -h, go 1.19',
    parse: 'goflag',
    options: optionList({ none: '-d, -e, -l, -s, -w', pattern: '-r=', write: '-cpuprofile=' }),
    operands: [{ if: ['-w'], rest: 'modify' }, { rest: 'walk' }],
    stdin: 'data',
    isWriter: true,
  },
];
