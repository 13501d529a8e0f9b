// Effects that no word spells out: files named after others, hosts inside names, and words for the project's own code.
import { describe, expect, test } from 'vitest';
import { meaningOf } from '../../../src/policy/commands/effects.ts';

/** What a command does by its words: `read a`, `connect h`; undefined if it is not understood. */
function effectsOf(line: string): string[] | undefined {
  const meaning = meaningOf(line.split(' '));
  if (!meaning.isUnderstood) return undefined;
  return meaning.effects.flatMap((effect) => {
    if (effect.by === 'unasked') return [];
    if ('path' in effect) return [`${effect.kind} ${effect.path}`];
    if (effect.kind === 'connect') return [`connect ${effect.host}`];
    return effect.kind === 'environment' ? ['environment'] : [];
  });
}

describe('a compressor writes a file named after the one it replaces', () => {
  test.each([
    ['gzip a', ['modify a', 'write a.gz']],
    ['gzip -d package.json.gz', ['modify package.json.gz', 'write package.json', 'write package.json.gz.gz']],
    ['gzip -S .json package', ['modify package', 'write package.json']],
    ['gunzip A.GZ', ['modify A.GZ', 'write A', 'write A.GZ.gz']],
    ['bzip2 a', ['modify a', 'write a.bz2']],
    ['unxz .npmrc.xz', ['modify .npmrc.xz', 'write .npmrc', 'write .npmrc.xz.xz']],
    ['zstd -d src/.env.zst', ['modify src/.env.zst', 'write src/.env', 'write src/.env.zst.zst']],
    ['gzip -c a', ['read a']],
    ['zcat a.gz', ['read a.gz']],
  ])('%s', (line, expected) => expect(effectsOf(line)).toEqual(expected));
});

describe('gh connects to the host that an address or a repository names', () => {
  test.each([
    ['gh pr view 12', []],
    ['gh pr view feature/a/b', []],
    ['gh pr view https://github.com/o/r/pull/1', []],
    ['gh pr view https://git.example/o/r/pull/1', ['connect git.example']],
    ['gh pr list -R o/r', []],
    ['gh pr list -R git.example/o/r', ['connect git.example']],
    ['gh issue list --repo https://Git.Example/o/r', ['connect git.example']],
    ['gh repo view git.example/o/r', ['connect git.example']],
    ['gh api repos/o/r/compare/a...b:c', []],
    ['gh api https://git.example/x', undefined],
    ['gh pr list -R git@git.example:o/r', undefined],
  ])('%s', (line, expected) => expect(effectsOf(line)).toEqual(expected));
});

describe("a word for the project's code can name a file", () => {
  test.each([
    ['node x.js prod --minify', ['read x.js', 'read prod']],
    ['node x.js --config=.env -o../out', ['read x.js', 'read .env', 'read ../out']],
    ['node x.js https://a.example --port=80', ['read x.js', 'read 80']],
    ['python3 x.py ../secret', ['read x.py', 'read ../secret']],
    ['cargo run -- .env', ['read .env']],
    ['ruby x.rb -v', ['read x.rb']],
  ])('%s', (line, expected) => expect(effectsOf(line)).toEqual(expected));
});

test.each([
  ['docker build --build-arg A=1 .', ['walk .']],
  ['docker build --build-arg A .', ['environment', 'walk .']],
  ['docker build --build-arg=A .', ['environment', 'walk .']],
])('%s shows a variable only without a value', (line, expected) => expect(effectsOf(line)).toEqual(expected));

describe('what is understood no more', () => {
  test.each(['tree -R -H x -L 1', 'tar -M -tf a', 'tar -tf a --tape-length=10', 'go build -mod=mod', 'docker build --cache-from a .'])(
    '%s',
    (line) => expect(effectsOf(line)).toBeUndefined(),
  );
  test.each(['tree -L 1 src', 'tar -tf a', 'go build -mod=readonly ./...', 'docker build -t a .'])('but %s is', (line) =>
    expect(effectsOf(line)).toBeDefined(),
  );
});
