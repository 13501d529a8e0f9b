// Which rules are looked at for a program: all that could apply to it, in their order.
import { expect, test } from 'vitest';
import { indexOf } from '../../../src/policy/rules/rule-index.ts';
import { policyOf } from '../support.ts';

/** The ids of deny rules, in their order. */
function rules(...commands: readonly (string | undefined)[]) {
  const lines = commands.map((command, n) =>
    command === undefined ? `{ id: r${n}, action: fetch }` : `{ id: r${n}, action: execute, command: ${JSON.stringify(command)} }`,
  );
  return policyOf(`deny: [ ${lines.join(', ')} ]`).strict.filter(({ layer }) => layer === 'user');
}
const ids = (found: readonly { readonly rule: { readonly id: string } }[]) => found.map(({ rule }) => rule.id);

test('rules that name another program are left out, and the rest keeps its order', () => {
  const index = indexOf(rules('git push ...', undefined, 'rm ...', 'git commit ...', '* --force'));
  expect(ids(index.naming(['git']))).toEqual(['r0', 'r1', 'r3', 'r4']);
  expect(ids(index.naming(['rm']))).toEqual(['r1', 'r2', 'r4']);
  expect(ids(index.naming(['ls']))).toEqual(['r1', 'r4']);
  expect(ids(index.naming([]))).toEqual(['r1', 'r4']);
});

test('for several programs, each rule is there once, in its place', () => {
  const index = indexOf(rules('rm ...', 'git push ...', undefined));
  expect(ids(index.naming(['git', 'rm', 'git']))).toEqual(['r0', 'r1', 'r2']);
});

test('a rule that names several programs is found by each', () => {
  const index = indexOf(rules('npm|pnpm install ...', 'ls'));
  for (const program of ['npm', 'pnpm']) expect(ids(index.naming([program]))).toEqual(['r0']);
});

test('a rule names a program without its directory and in any case', () => {
  const index = indexOf(rules('/usr/bin/Git push ...'));
  expect(ids(index.naming(['git']))).toEqual(['r0']);
});

test('rules without a command are those that apply to files, hosts and tools', () => {
  expect(ids(indexOf(rules('git push', undefined, '* x')).others)).toEqual(['r1']);
});

test('the index of a list is made once', () => {
  const list = rules('git push');
  expect(indexOf(list)).toBe(indexOf(list));
  expect(indexOf(rules('git push'))).not.toBe(indexOf(list));
});
