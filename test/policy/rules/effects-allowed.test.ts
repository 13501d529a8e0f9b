// Who allows an effect: the rule that names the command, its own paths, or rules about files and hosts. And who denies it.
import { describe, expect, test } from 'vitest';
import type { Place } from '../../../src/policy/actions/action.ts';
import { commandAction } from '../../../src/policy/actions/surfaces.ts';
import { decide } from '../../../src/policy/decide.ts';
import { loadPolicy } from '../../../src/policy/format/load.ts';
import { PLACE, policyOf } from '../support.ts';

const verdictOf = (policy: string, line: string): string => decide(policyOf(policy), commandAction(PLACE, line)).verdict;
const why = (policy: string, line: string): string => decide(policyOf(policy), commandAction(PLACE, line)).why;

describe('patterns are compared by meaning', () => {
  test.each([
    ['git log ...', 'git --no-pager log -3', 'allow'],
    ['git log ...', 'git log', 'allow'],
    ['git log ...', 'git show', 'ask'],
    ['tar -tf ...', 'tar tf a.tar', 'allow'],
    ['tar -tf ...', 'tar --list --file=a.tar', 'allow'],
    ['tar -tf ...', 'tar -tvf a.tar', 'allow'],
    ['tar -tf ...', 'tar -xf a.tar', 'ask'],
    ['sed -n ...', 'sed --quiet 1p a', 'allow'],
    ['sed -n ...', 'sed 1p a', 'ask'],
    ['npx vitest ...', 'npx vitest run test', 'allow'],
    ['npx vitest ...', 'npx evil', 'ask'],
    ['timeout 60 npm test ...', 'timeout 60 npm test -- --coverage', 'allow'],
    ['timeout 60 npm test ...', 'timeout 60 npm run deploy', 'ask'],
    ['npm test ...', 'timeout 60 npm test', 'ask'],
    ['ls', 'ls -l', 'ask'],
    ['ls -l', 'ls --color -l', 'ask'],
    ['node scripts/build.mjs ...', 'node scripts/build.mjs --any thing', 'allow'],
    ['node scripts/*.mjs', 'node scripts/a.mjs', 'allow'],
    ['node ...', 'node scripts/a.mjs', 'ask'],
  ])('%s, %s: %s', (pattern, line, expected) => {
    expect(verdictOf(`allow: [ "execute(${pattern})" ]`, line)).toBe(expected);
  });
});

describe('who allows an effect', () => {
  test.each([
    // Reads inside the session's directory need no rule of their own.
    ['allow: [ "execute(cat ...)" ]', 'cat src/a', 'allow'],
    ['allow: [ "execute(cat ...)" ]', 'cat /usr/include/x.h', 'ask'],
    ['allow: [ "execute(cat ...)", "read(/usr/include/**)" ]', 'cat /usr/include/x.h', 'allow'],
    ['allow: [ { command: "cat ...", path: "$cwd/src/**" }, "read(/usr/include/**)" ]', 'cat /usr/include/x.h', 'ask'],
    ['allow: [ "execute(cat /etc/hosts)" ]', 'cat /etc/hosts', 'allow'],
    // A program that is for writing writes its operands; others need an edit rule, and options a rule that names them.
    ['allow: [ "execute(touch ...)" ]', 'touch src/a', 'allow'],
    ['allow: [ "execute(touch ...)" ]', 'touch ../a', 'ask'],
    ['allow: [ "execute(touch ...)" ]', 'touch package.json', 'ask'],
    ['allow: [ "execute(sed ...)" ]', 'sed -i s/a/b/ src/a', 'ask'],
    ['allow: [ "execute(sed ...)", "edit($cwd/src/**)" ]', 'sed -i s/a/b/ src/a', 'allow'],
    ['allow: [ "execute(sed ...)", "edit($cwd/src/**)" ]', 'sed -i s/a/b/ test/a', 'ask'],
    ['allow: [ "execute(sort ...)", "edit($cwd/**)" ]', 'sort -o out in', 'ask'],
    ['allow: [ "execute(sort -o ...)", "edit($cwd/**)" ]', 'sort --output=out in', 'allow'],
    ['allow: [ "execute(sort -o ...)", "edit($cwd/**)" ]', 'sort -o ../out in', 'ask'],
    ['allow: [ "execute(sort -u ...)" ]', 'sort -u in', 'allow'],
    ['allow: [ "execute(sort -u ...)" ]', 'sort -uoout in', 'ask'],
    ['allow: [ "execute(sort -u ...)" ]', 'sort -uo../out in', 'ask'],
    ['allow: [ "execute(tar -t ...)" ]', 'tar -tf/etc/x.tar', 'ask'],
    ['allow: [ "execute(tar -t ...)" ]', 'tar tf /etc/x.tar', 'ask'],
    ['allow: [ "execute(date -u ...)" ]', 'date -uf/etc/passwd', 'ask'],
    // Redirections.
    ['allow: [ "execute(echo ...)" ]', 'echo a > src/a', 'ask'],
    ['allow: [ "execute(echo ...)", "edit($cwd/src/**)" ]', 'echo a > src/a', 'allow'],
    ['allow: [ "execute(echo ...)", "edit($cwd/**)" ]', 'echo a > package.json', 'ask'],
    ['allow: [ "execute(echo ...)", "edit($executable-config)" ]', 'echo a > package.json', 'allow'],
    ['allow: [ "execute(echo ...)", "edit($cwd/package.json)" ]', 'echo a > package.json', 'allow'],
    // Connections and the environment.
    ['allow: [ "execute(curl ...)" ]', 'curl https://example.com/a', 'ask'],
    ['allow: [ "execute(curl ...)", "fetch(example.com)" ]', 'curl https://example.com/a', 'allow'],
    ['allow: [ "execute(curl ...)", "fetch(example.com)" ]', 'curl https://example.com.evil.org/a', 'ask'],
    ['allow: [ "execute(jq ...)" ]', "jq -n '$ENV'", 'ask'],
    ['allow: [ "execute(env)" ]', 'env', 'allow'],
    ['allow: [ "execute(env ...)" ]', 'env', 'ask'],
    // Programs that are not in the table.
    ['allow: [ "execute(frob ...)" ]', 'frob a', 'ask'],
    ['allow: [ "execute(frob a)" ]', 'frob a', 'allow'],
    ['allow: [ "execute!(frob ...)" ]', 'frob --any -thing', 'allow'],
    ['allow: [ { command: "frob ...", trust: true } ]', 'frob --any -thing', 'allow'],
    ['allow: [ "execute!(frob ...)" ]\ndeny: [ { path: "**/.env" } ]', 'frob .env', 'deny'],
    ['allow: [ "execute!(frob ...)" ]', 'frob $(id)', 'ask'],
  ])('%s, %s: %s', (policy, line, expected) => {
    expect(verdictOf(policy, line), why(policy, line)).toBe(expected);
  });

  test('the reason names the word', () => {
    expect(why('allow: [ "execute(git log ...)" ]', 'git log --outpu=x')).toMatch(/not understood: "--outpu=x" .*--output.*git/);
    expect(why('allow: [ "execute(frob ...)" ]', 'frob a')).toContain('execute!(frob ...)');
  });
});

describe('walks and patterns do not reach what is denied', () => {
  const policy = 'allow: [ "execute(rg ...)", "execute(git log ...)" ]\ndeny: [ { path: ["**/.env", "$cwd/secrets/**"] } ]';
  test.each([
    ['rg KEY src', 'allow'],
    ['rg KEY', 'ask'],
    ['rg KEY secrets', 'deny'],
    ["rg -g '*.ts' KEY src", 'allow'],
    ["rg -g '.e*' KEY src", 'ask'],
    ['rg --hidden KEY src', 'ask'],
    ["git log -p -- '*.ts'", 'allow'],
    ["git log -p -- '.e*'", 'ask'],
    ['git log -p -- .env', 'deny'],
  ])('%s: %s', (line, expected) => {
    expect(verdictOf(policy, line), why(policy, line)).toBe(expected);
  });
});

describe('a recursive search is asked about if a denied file lies below', () => {
  const policy = policyOf('allow: [ "execute(rg|grep ...)" ]\ndeny: [ { path: ["**/.env", "**/*.pem"] } ]');
  const FILES = ['/work/project/.env', '/work/project/src/a.ts', '/work/project/certs/server.pem'];
  const findBelow: Place['findBelow'] = (root, seesHidden, isWanted) => {
    const file = FILES.find((one) => one.startsWith(`${root}/`) && (seesHidden || !one.includes('/.')) && isWanted(one, 'file'));
    return root.endsWith('/huge') ? 'too many' : file === undefined ? undefined : { file };
  };
  test.each([
    ['grep -rn KEY .', 'ask'],
    ['grep -rn KEY src', 'allow'],
    ['grep -rn KEY . --include=*.ts', 'allow'],
    ['grep -rn KEY . --include=*.pem', 'ask'],
    ['grep -n KEY src/a.ts', 'allow'],
    ['rg KEY', 'ask'],
    ['rg KEY src', 'allow'],
    ["rg -g '*.ts' KEY", 'allow'],
    ['rg KEY certs', 'ask'],
    ['rg KEY huge', 'ask'],
  ])('%s: %s', (line, expected) => {
    const { verdict, why: reason } = decide(policy, commandAction({ ...PLACE, findBelow }, line));
    expect(verdict, reason).toBe(expected);
  });
});

describe('a deny is met by meaning', () => {
  const policy = 'default: allow\ndeny: [ "execute(rm -rf ...)", "execute(git push --force ...)", { path: "**/.env" } ]';
  test.each([
    ...['rm -rf a', 'rm -Rf a', 'rm -r -f a', 'rm -fr a', 'rm --recursive --force a', 'rm --recursive --forc a', 'rm a -rf', 'rm -rfv a'],
    ...['timeout 5 rm -r -f a', 'env rm -Rf a', 'find . -exec rm -Rf {} +', 'sh -c "rm --rec --fo a"', 'echo $(rm -Rf a)'],
    ...['git push origin main --force', 'git -C x push --force', 'git --no-pager push --forc', 'git push origin --force main'],
    ...['cat .env', 'cat ./x/../.env', 'sort -o .env a', 'git show HEAD:.env', 'head -n5 .env', 'cp a .env', 'echo > .env'],
  ])('%s', (line) => {
    expect(verdictOf(policy, line)).toBe('deny');
  });

  test.each([
    ['rm -r a', 'allow'],
    ['ls -la', 'allow'],
    ['frob a', 'ask'],
    ['ls --frob', 'ask'],
    ['timeout 5 frob', 'ask'],
    ['timeout 5 ls', 'allow'],
    ['cd src && ls', 'allow'],
    ['rg --pre ./x y', 'ask'],
    ['rg --hidden KEY', 'ask'],
    ["rg -g '.e*' KEY", 'ask'],
    ["sed 's/a/id/e' b", 'ask'],
    ["find . -exec sh -c 'x' \\;", 'ask'],
    ['git commit -m .env', 'allow'],
    ['echo $HOME', 'ask'],
  ])('%s: %s', (line, expected) => {
    expect(verdictOf(policy, line), why(policy, line)).toBe(expected);
  });

  test('without a deny, the default allows what is not understood', () => {
    expect(verdictOf('default: allow', 'frob a')).toBe('allow');
  });
});

test('policy check warns of programs that are not in the table, and of trust', () => {
  const warnings = (rule: string) =>
    loadPolicy('a.yaml', `version: 1\nallow: [ "${rule}" ]`).warnings.map(({ message, hint }) => `${message}; ${hint}`);
  expect(warnings('execute(frob ...)')).toEqual([expect.stringMatching(/not in the program table.*execute!\(frob \.\.\.\)/)]);
  expect(warnings('execute(frob a)')).toEqual([]);
  expect(warnings('execute!(frob ...)')).toEqual([expect.stringContaining('trusted with any arguments')]);
  expect(warnings('execute(git status ...)')).toEqual([]);
});
