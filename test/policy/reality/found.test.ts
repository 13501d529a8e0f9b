// What the comparison with reality has found, held without a sandbox.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Place } from '../../../src/policy/actions/action.ts';
import { commandAction } from '../../../src/policy/actions/surfaces.ts';
import { meaningOf } from '../../../src/policy/commands/effects.ts';
import { decide } from '../../../src/policy/decide.ts';
import { canonicalPath } from '../../../src/workspace/canonical.ts';
import { findBelow } from '../../../src/workspace/find-below.ts';
import { policyOf } from '../support.ts';

let root: string;
let place: Place;
beforeAll(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-found-')));
  for (const folder of ['project/src/deep', 'project/target/deep', 'project/plain', 'project/node_modules', 'outside'])
    mkdirSync(path.join(root, folder), { recursive: true });
  for (const file of ['project/b.txt', 'project/src/b.txt', 'project/src/deep/c.txt', 'project/plain/.env.sh', 'outside/x'])
    writeFileSync(path.join(root, file), 'x');
  symlinkSync(path.join(root, 'outside/x'), path.join(root, 'project/target/b.txt'));
  symlinkSync(path.join(root, 'outside/x'), path.join(root, 'project/target/deep/c.txt'));
  place = { agent: 'agent', cwd: path.join(root, 'project'), home: path.join(root, 'home'), canonical: canonicalPath, findBelow };
});
afterAll(() => rmSync(root, { recursive: true }));

const policy = policyOf(`
deny: [ { path: ["**/.env", "**/.env.*"] } ]
allow: [ "read($cwd/**)", "execute(cp|mv|ln|install|diff|rg|xz|bzip2|git ...)", "execute(git stash show ...)" ]`);

const adding = policyOf(`
deny: [ { path: ["**/.env", "**/.env.*"] } ]
allow: [ "read($cwd/**)", "execute(git add|stage|stash ...)" ]`);

describe('a file that is put into a directory', () => {
  test.each([
    ['cp b.txt plain', 'allow'],
    ['cp b.txt new.txt', 'allow'],
    ['cp b.txt target', 'ask'],
    ['cp -t target b.txt', 'ask'],
    ['cp ./b.txt target/', 'ask'],
    ['mv src/b.txt target', 'ask'],
    ['install b.txt target', 'ask'],
    ['cp -r src/deep plain', 'allow'],
    // It goes into target/deep, where a name leads out of the project.
    ['cp -r src/deep target', 'ask'],
  ])('%s: %s', (line, verdict) => {
    const { verdict: given, why } = decide(policy, commandAction(place, line));
    expect(given, why).toBe(verdict);
  });
});

test.each(['--exclude-tag=/etc/passwd', '--exclude-tag-all=x', '--exclude-tag-under=x', '--atime-preserve', '--atime-preserve=system'])(
  'tar %s is asked about',
  (option) => {
    const tar = policyOf('allow: [ "read($cwd/**)", "execute(tar ...)" ]');
    expect(decide(tar, commandAction(place, 'tar -tf new.tar')).verdict).toBe('allow');
    expect(decide(tar, commandAction(place, `tar -tf new.tar ${option}`)).verdict).toBe('ask');
  },
);

test.each([
  ['npm view zod', 'allow'],
  ['npm view @types/node@^20 version dist.tarball', 'allow'],
  ['npm view src/a.txt', 'ask'],
  ['npm view github:owner/name', 'ask'],
  ['npm view .', 'ask'],
])('npm runs git for a name that is a repository: %s: %s', (line, verdict) => {
  const npm = policyOf('allow: [ "read($cwd/**)", "execute(npm view ...)", "fetch" ]');
  expect(decide(npm, commandAction(place, line)).verdict).toBe(verdict);
});

describe('git add reads files that git does not track yet', () => {
  test.each([
    ['git add b.txt', 'allow'],
    ['git add src', 'allow'],
    ['git add -u', 'allow'],
    ['git add -u plain', 'allow'],
    ['git add plain', 'ask'],
    ['git add .', 'ask'],
    ['git add -A', 'ask'],
    ['git add --all src', 'allow'],
    ['git stage :/', 'ask'],
    ["git add '*.sh'", 'ask'],
    ["git add '*.txt'", 'allow'],
    ["git add '.e*'", 'ask'],
    ['git stash -u', 'ask'],
    ['git stash push --include-untracked', 'ask'],
    ['git stash push -a', 'ask'],
  ])('%s: %s', (line, verdict) => {
    const { verdict: given, why } = decide(adding, commandAction(place, line));
    expect(given, why).toBe(verdict);
  });

  test('and says so', () => {
    expect(decide(adding, commandAction(place, 'git add -A')).why).toMatch(/it reads .*\/plain\/\.env\.sh/);
  });
});

test('tar --verify reads the files that the archive names, so it is asked about', () => {
  expect(meaningOf(['tar', '-W', '-cf', 'a.tar', 'b.txt'])).toMatchObject({ isUnderstood: false, word: '-W' });
});

test('node --check looks for the package of the file', () => {
  expect(meaningOf(['node', '-c', 'b.js'])).toMatchObject({
    effects: expect.arrayContaining([expect.objectContaining({ kind: 'read', path: 'any:package.json', by: 'unasked' })]),
  });
});

describe('a comparison of directories opens links', () => {
  test.each([
    ['diff b.txt src/b.txt', 'allow'],
    ['diff src src/deep', 'allow'],
    ['diff src target', 'ask'],
    ['diff target/deep src', 'ask'],
    ['diff . src', 'ask'],
  ])('%s: %s', (line, verdict) => {
    const { verdict: given, why } = decide(policy, commandAction(place, line));
    expect(given, why).toBe(verdict);
  });
});

describe('a type and a glob find hidden files', () => {
  test.each([
    ['rg x plain', 'allow'],
    ["rg -g '!*.md' x plain", 'allow'],
    ["rg -g '*.sh' x plain", 'ask'],
    ["rg --iglob '*.SH' x plain", 'ask'],
    ['rg -t sh x plain', 'ask'],
    ["rg -g '*.sh' x src", 'allow'],
  ])('%s: %s', (line, verdict) => {
    const { verdict: given, why } = decide(policy, commandAction(place, line));
    expect(given, why).toBe(verdict);
  });
});

test('-m of git stash show is a flag: the word behind it is not its message', () => {
  expect(decide(policy, commandAction(place, 'git stash show -m --output=x')).verdict).toBe('ask');
  expect(decide(policy, commandAction(place, 'git stash show -m')).verdict).toBe('allow');
  expect(meaningOf(['git', 'stash', 'push', '-m', 'text']).isUnderstood).toBe(true);
});

/** Effects as `kind path`, those of a directory as `kind directory path`. */
const effectsOf = (line: string): readonly string[] => {
  const meaning = meaningOf(line.split(' '));
  if (!meaning.isUnderstood) return [`? ${meaning.word}`];
  return meaning.effects.map((effect) =>
    'path' in effect
      ? [effect.kind, ...effect.entered, effect.path].join(' ')
      : effect.kind === 'run'
        ? `run ${effect.program}`
        : effect.kind,
  );
};

describe('an effect that the table did not state', () => {
  test.each([
    ['xz -t -z a', 'modify a'],
    ['bzip2 -t -d a.bz2', 'modify a.bz2'],
    ['xz -t a.xz', 'read a.xz'],
    // The archive is not in the directory of -C.
    ['tar -C src --delete -f a.tar x', 'write a.tar'],
    ['tar -C src -d -f a.tar', 'walk src .'],
    ['sync a', 'read a'],
    ['df a', 'read a'],
    ['find . -samefile a', 'read a'],
    ['egrep a b', 'run grep'],
    ['zgrep -fa b', 'run expr'],
    ['rg a', 'read ~/.gitconfig'],
    ['rg a', 'read any:.gitignore'],
    ['curl http://a.test/', 'read ~/.curlrc'],
    ['wget --spider http://a.test/', 'read ~/.netrc'],
    ['npm ls', 'connect'],
    ['npm version', 'connect'],
    ['less a', 'write ~/.lesshsQ'],
    ['npm ls', 'write ~/.npm'],
    ['git status', 'run git:hooks'],
    ['git show :a', 'run git:fsmonitor'],
    ['git rev-parse :a', 'run git:fsmonitor'],
    ['git notes remove', 'run git:hooks'],
    ['git stash list', 'run git'],
    ['git log', 'read any:.gitattributes'],
    ['ls -L a', 'names a'],
    ['git tag --column', 'run git'],
    ['less a -P .env', 'read .env'],
    ['less a --wheel-lines 1', 'read 1'],
    ['wget -O a http://a.test/', 'write wget-log'],
    ['git diff-tree --check HEAD', 'walk $repository'],
  ])('%s: %s', (line, effect) => {
    expect(effectsOf(line)).toContain(effect);
  });
});

describe('what was taken for nothing is asked about', () => {
  test.each([
    'git --help log',
    'git -h log',
    'curl -n http://a.test/',
    'cp -b -S rc a .bash',
    'mv --backup --suffix=e a Makefil',
    'unzip -x a -l b.zip',
    'which /etc/passwd',
    'tree --gitfile a',
    'git log --diff-merges=remerge',
    'git remote prune ../x',
    'git rev-parse --show-superproject-working-tree',
    'git reflog exists --output=x HEAD',
    // The script takes `x` for the pattern, or a file.
    'zgrep --group-separator x .env',
    'zgrep --context x .env',
    'zegrep --after-context 1 --file=a b',
    'git add -A --force --dry-run',
    'git fetch --multiple',
    'zstd --force a a',
    'npm run -- test',
    'ps -t /etc/passwd',
    'zip --logfile-path a.txt b.zip c',
  ])('%s', (line) => {
    expect(effectsOf(line)[0]).toMatch(/^\? /);
  });
});
