// Values for the words of a generated line, by their type in the program table. Paths go to every text as well.
import type { WordType } from '../../../src/policy/commands/program.ts';
import { CANARIES, HOME } from './template.ts';

/** Numbers from a seed (mulberry32): the same lines for the same seed, on every machine. */
export type Random = { below(limit: number): number; pick<T>(items: readonly T[]): T; chance(share: number): boolean };

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: (items) => items[below(items.length)] as never, chance: (share) => next() < share };
}

const TEXT_FILES = ['src/a.txt', 'src/b.txt', 'README.md', 'words.txt', 'src/d.js', '1', 'src/deep/h.txt', 'link-in', './sorted.txt'];
const DIRECTORIES = ['src', '.', 'src/deep', 'target'];
const REVISIONS = ['HEAD', 'main', 'HEAD~1', 'v1', 'other', 'v2'];
/** Behind links, hidden, ignored, denied, elsewhere. */
const FAR_FILES = [
  'link-out',
  'src/dir-out/secret.txt',
  '.env',
  '.hidden/j.txt',
  'ignored/k.txt',
  'server.pem',
  `${HOME}/outside/secret.txt`,
  '../home/outside/secret.txt',
  'nested/n.txt',
  '.git/config',
];
const NEW_FILES = ['out.txt', 'src/new.txt', 'target/out.txt'];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  number: ['1', '2', '3', '0', '10', '80'],
  date: ['2020-01-01', 'yesterday', '2001-02-03 04:05:06', '@0'],
  pattern: ['alpha', 'a', '.', '*.txt', 'TODO', '^b', ...TEXT_FILES.slice(0, 2)],
  glob: ['*.txt', '!*.md', '*.sh', 'src/**', '.e*', '*'],
  revision: REVISIONS,
  read: TEXT_FILES,
  names: [...TEXT_FILES, ...DIRECTORIES],
  walk: [...DIRECTORIES, ...DIRECTORIES, 'src/a.txt', 'src/b.txt', 'nested'],
  write: [...NEW_FILES, ...NEW_FILES, 'src/b.txt', 'target', 'target/b.txt', 'dangling'],
  modify: ['src/a.txt', 'src/b.txt', 'pack.txt', 'link-in', 'untracked/l.txt'],
  append: ['src/a.txt', 'out.txt'],
  delete: ['src/a.txt', 'untracked/l.txt', 'link-in', 'empty', 'src/deep/h.txt'],
  unpack: ['target', 'out', '.'],
  enter: ['src', 'target', '.', 'nested'],
  run: [`${CANARIES}/program`, 'cat', 'true'],
  url: ['http://a.test:8080/', 'http://a.test:8080/file.txt', 'http://b.test:8080/x'],
  host: ['a.test', 'b.test'],
  env: ['CANARY=1', 'HOME', 'CANARY'],
  'revision-or-path': [...REVISIONS, 'src/a.txt', 'src', 'HEAD:src/a.txt', 'v1..main', 'main...other', 'HEAD:src', ':src/b.txt'],
  'untracked-pathspec': ['src', 'src/a.txt', '.', '*.txt', ':!src/b.txt', ':(top)src', 'untracked', 'untracked/l.txt', '.env', '.hidden'],
  pathspec: ['src', 'src/a.txt', '.', '*.txt', ':!src/b.txt', ':(top)src', 'src/deep', ':/README.md', 'untracked', 'untracked/l.txt'],
  'line-range': ['1,2:src/a.txt', '1,+1:src/b.txt', ':alpha:src/a.txt'],
  data: ['x=1', '@src/a.txt', 'name=@src/b.txt'],
  'script:sed': ['p', 's/a/b/', '1,2p', '$d', '/a/,/b/p', '1q', 'y/ab/cd/', '2r src/b.txt', 'w out.txt', '$!N;P;D'],
  'script:jq': ['.', '.name', '.list[]', 'keys', '.deep | .x', 'length', 'env', '$ENV.CANARY', 'type'],
  'script:awk': ['{print $1}', '/a/', 'NR==1', '{s+=$1} END {print s}', 'BEGIN {print 1}', '{printf "%s\\n", $2}', '{print > "out.txt"}'],
  'script:shell': ['cat src/a.txt', 'ls src', 'echo a > out.txt'],
};

/** A text has no effect, whatever it says, so files are among the texts. */
const TEXTS = ['alpha', 'x', '%s', ',', 'a', '1', 'src/a.txt', '.env', 'link-out', `${HOME}/outside/secret.txt`];

export function randomValue(type: WordType, random: Random): string {
  if (type.startsWith('one:')) return random.pick(type.slice(4).split(','));
  if (type.startsWith('project:')) return random.pick(['test', 'build', 'src/d.js']);
  if (type === 'text' || type.startsWith('unclear:')) return random.pick(TEXTS);
  // Some lines go for files that no policy allows: they show what a wrong table would let through.
  if ((type === 'read' || type === 'names' || type === 'walk') && random.chance(0.12)) return random.pick(FAR_FILES);
  return random.pick(VALUES[type] ?? TEXTS);
}
