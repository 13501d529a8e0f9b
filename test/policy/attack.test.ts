// Hostile command lines on a real directory: what every preset, a list that a user would write and a block list make of them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Place } from '../../src/policy/actions/action.ts';
import { commandAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { canonicalPath } from '../../src/workspace/canonical.ts';
import { findBelow } from '../../src/workspace/find-below.ts';
import { corpus, fileText, policyFile } from './support.ts';

const FILES = `
  .env a b x in package package.json Makefile src/a.ts src/index.ts scripts/a.js scripts/build.js docs/a deploy/server.pem
  sub/.env sub/package.json sub/Makefile sub/.npmrc sub/.vscode/x sub/.github/x sub/.husky/x other/.env vault/keys/a
  .git/config .git/HEAD .git/hooks/x ../home/.ssh/id_rsa ../home/.netrc ../x`;

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'policy-attack-')));
const cwd = path.join(root, 'project');
const place: Place = { agent: 'agent', cwd, home: path.join(root, 'home'), canonical: canonicalPath, findBelow };

beforeAll(() => {
  for (const file of FILES.trim().split(/\s+/)) {
    mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
    writeFileSync(path.join(cwd, file), 'x\n');
  }
  symlinkSync(root, path.join(cwd, 'link'));
});
afterAll(() => rmSync(root, { recursive: true }));

const LINES = corpus('attack/lines.txt');
const ON_DISK = corpus('attack/links.txt');
const BLOCKED = corpus('attack/block.txt');

/** The lines that the policy allows. */
function allowed(file: string, lines: readonly string[]): readonly string[] {
  const policy = combine([{ name: 'user', policy: policyFile(fileText(file), file) }]);
  return lines.filter((line) => decide(policy, commandAction(place, line)).verdict === 'allow');
}

test(`the corpus has ${LINES.length + ON_DISK.length} hostile lines for lists, ${BLOCKED.length} for a block list, each once`, () => {
  for (const lines of [[...LINES, ...ON_DISK], BLOCKED]) expect(new Set(lines).size).toBe(lines.length);
  expect(LINES.length).toBeGreaterThan(1000);
  expect(BLOCKED.length).toBeGreaterThan(400);
});

describe('no hostile line is allowed', () => {
  test.each(['standard', 'careful', 'ci', 'readonly'])('by the preset %s', (name) => {
    expect(allowed(`config/policies/${name}.yaml`, [...LINES, ...ON_DISK])).toEqual([]);
  });

  test('by a list that a user would write', () => {
    expect(allowed('test/policy/corpus/attack/list.yaml', [...LINES, ...ON_DISK])).toEqual([]);
  });

  test('by a block list that denies what the line does', () => {
    expect(allowed('test/policy/corpus/attack/block.yaml', BLOCKED)).toEqual([]);
  });
});

test('where there is no repository, git diff compares directories, so denied files below them are asked about', () => {
  const bare = path.join(root, 'bare');
  for (const file of ['sub/.env', 'other/.env', 'src/a.ts', 'docs/a']) {
    mkdirSync(path.dirname(path.join(bare, file)), { recursive: true });
    writeFileSync(path.join(bare, file), 'x\n');
  }
  const policy = combine([{ name: 'user', policy: policyFile(fileText('config/policies/standard.yaml'), 'standard') }]);
  const verdicts = (where: string, lines: readonly string[]) =>
    lines.map((line) => decide(policy, commandAction({ ...place, cwd: where }, line)).verdict);
  const lines = ['git diff sub other', 'git diff -- docs sub', 'git diff --stat . other', 'git diff src docs', 'git diff main src/a.ts'];
  expect(verdicts(bare, lines)).toEqual(['ask', 'ask', 'ask', 'allow', 'allow']);
  // In a repository these words are revisions and paths that git tracks.
  expect(verdicts(cwd, lines)).toEqual(['allow', 'allow', 'allow', 'allow', 'allow']);
});

test('the same policies allow ordinary lines, so that the corpus measures something', () => {
  const ordinary = ['cat a', 'rg KEY src', 'git log -3', 'ls -la src', 'rg -t ts KEY src', "rg -g '*.{ts,tsx}' KEY src"];
  for (const name of ['standard', 'careful', 'ci', 'readonly'])
    expect(allowed(`config/policies/${name}.yaml`, ordinary), name).toEqual(ordinary);
  const list = [
    ...ordinary,
    'cp a b',
    'mv a src/c',
    'mkdir -p lib',
    'npm test',
    'npx tsc --noEmit',
    'cargo test',
    'docker build .',
    'make test',
  ];
  const here = list.filter((line) => line !== 'docker build .'); // it reads .env here
  expect(allowed('test/policy/corpus/attack/list.yaml', list)).toEqual(here);
  const open = [
    'cat a',
    'cp a b',
    'mv a src/c',
    'rm a',
    'npm test',
    'make test',
    'git commit -m x',
    'git status',
    'curl https://a.example',
    'rm -r src',
  ];
  expect(allowed('test/policy/corpus/attack/block.yaml', open)).toEqual(open);
});
