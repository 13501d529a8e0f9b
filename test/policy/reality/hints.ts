// What a program wants beyond the type of a word: an archive, JSON, a format. Without it most lines would end in an error.
import type { Random } from './values.ts';

export type Hints = {
  /** Values that the program accepts, by the first spelling of the option. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  readonly operands?: readonly ((random: Random) => readonly string[])[];
  /** Words without which an option does nothing, by its first spelling; `''` for lines without options, `*` for every line. */
  readonly also?: Readonly<Record<string, readonly string[]>>;
};

const files = (...names: readonly string[]) => [(random: Random) => [random.pick(names)]];

const HINTS: Readonly<Record<string, Hints>> = {
  jq: {
    operands: [(random) => [random.pick(['.', '.name', 'keys', '.list[]']), random.pick(['data.json', 'package.json'])]],
    values: { '--argjson': ['1', '{}'] },
  },
  tar: {
    values: {
      ...{ '-f': ['a.tar', 'out.tar', 'a.tar.gz'], '-C': ['src'], '-T': ['names.txt'], '-X': ['names.txt'], '-g': ['out.snar'] },
      ...{ '-N': ['./README.md'], '--newer-mtime': ['./README.md'] },
    },
    also: {
      '-C': ['-c', '-f', 'out.tar', '--', 'a.txt'],
      '-T': ['-c', '-f', 'out.tar'],
      ...Object.fromEntries(['-X', '-g', '-h', '-N', '--newer-mtime'].map((option) => [option, ['-c', '-f', 'out.tar', '--', 'src']])),
    },
  },
  unzip: { operands: files('a.zip'), values: { '-d': ['out', 'target'] } },
  gzip: { operands: files('pack.txt', 'src/a.txt', 'pack.txt.gz') },
  gunzip: { operands: files('pack.txt.gz') },
  zcat: { operands: files('pack.txt.gz') },
  bunzip2: { operands: files('pack.txt.bz2') },
  bzcat: { operands: files('pack.txt.bz2') },
  unxz: { operands: files('pack.txt.xz') },
  xzcat: { operands: files('pack.txt.xz') },
  unzstd: { operands: files('pack.txt.zst') },
  zstdcat: { operands: files('pack.txt.zst') },
  cp: { values: { '-t': ['target', 'src/deep'] }, also: { '-L': ['-r', '--', 'src', 'out'] } },
  cut: { also: { '': ['-c', '1-3'] } },
  mktemp: { operands: [() => ['target/tXXXXXX']], values: { '-p': ['target'], '--tmpdir': ['target'] } },
  test: { operands: [() => ['-f', 'src/a.txt'], () => ['-d', 'src']] },
  '[': { operands: [() => ['-f', 'src/a.txt', ']']] },
  mv: { values: { '-t': ['target', 'src/deep'] } },
  ln: { values: { '-t': ['target', 'src/deep'] } },
  install: { values: { '-t': ['target', 'src/deep'] } },
  patch: {
    operands: [() => []],
    values: { '-i': ['old.patch'], '-d': ['.'], '-o': ['out.txt'], '-r': ['out.txt'] },
    also: {
      '*': ['-f', '-R', '-p1'],
      ...{ '': ['-i', 'old.patch'], '-o': ['-i', 'old.patch'], '-d': ['-i', 'old.patch'], '-r': ['-i', 'change.patch'] },
    },
  },
  csplit: { operands: [() => ['src/b.txt', '2']] },
  split: { operands: [() => ['src/b.txt'], () => ['src/b.txt', 'target/part']] },
  truncate: { also: { '': ['-s', '5'] } },
  date: { operands: [() => [], () => ['+%s']], values: { '-f': ['dates.txt'] } },
  sort: { also: { '--random-source': ['-R'] }, values: { '--files0-from': ['names0.txt'] } },
  wc: { values: { '--files0-from': ['names0.txt'] } },
  du: { values: { '--files0-from': ['names0.txt'] } },
  awk: { values: { '-f': ['prog.awk'] } },
  gawk: { values: { '-f': ['prog.awk'] } },
  mawk: { values: { '-f': ['prog.awk'] } },
  nawk: { values: { '-f': ['prog.awk'] } },
  sed: { values: { '-f': ['prog.sed'] } },
  rsync: { also: { '-L': ['-r'], '-k': ['-r'] } },
  'git blame': { values: { '--ignore-revs-file': ['empty.txt'] } },
  'git grep': { also: { '--no-exclude-standard': ['--untracked'] } },
  'git config': { values: { '-f': ['.git/config', 'settings.ini'] }, also: { '-f': ['--list'] } },
  'git remote set-url': { operands: [() => ['origin', 'http://a.test:8080/x']] },
  'git apply': { operands: files('change.patch'), also: { '*': ['-R'] } },
  wget: { also: { '--body-file': ['--method=POST'] } },
  'git bisect run': { operands: [() => ['true']] },
  node: { operands: files('src/d.js') },
};

const NONE: Hints = {};

export const hintsFor = (path: readonly string[]): Hints => HINTS[path.join(' ')] ?? NONE;
