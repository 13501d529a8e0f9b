// Hostile and benign command lines, decided by a permissive policy.
import { describe, expect, test } from 'vitest';
import { commandAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { corpus, fileText, PLACE, policyFile } from './support.ts';

const policy = combine([{ name: 'user', policy: policyFile(fileText('test/policy/corpus/permissive.yaml'), 'permissive.yaml') }]);
const HOSTILE = corpus('hostile.txt');
const BENIGN = corpus('benign.txt').map((line) => {
  const [verdict = '', ...command] = line.split(' ');
  return [command.join(' '), verdict] as const;
});
/** The rest of the corpus is denied by a rule. */
const DENIED = HOSTILE.slice(HOSTILE.indexOf('sudo rm x'));

test(`the corpus is large enough: ${HOSTILE.length} hostile, ${BENIGN.length} benign`, () => {
  process.stdout.write(`policy corpus: ${HOSTILE.length} hostile (${DENIED.length} of them denied by name), ${BENIGN.length} benign\n`);
  expect(new Set(HOSTILE).size).toBe(HOSTILE.length);
  expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(300);
  expect(new Set(BENIGN.map(([command]) => command)).size).toBeGreaterThanOrEqual(100);
});

describe('no hostile command is allowed', () => {
  test.each(HOSTILE)('%j', (command) => {
    const { verdict, why } = decide(policy, commandAction(PLACE, command));
    expect(verdict, why).not.toBe('allow');
  });
});

describe('a denied command is denied in every form', () => {
  test.each(DENIED)('%j', (command) => {
    const { verdict, why } = decide(policy, commandAction(PLACE, command));
    expect(verdict, why).toBe('deny');
  });
});

describe('a benign command gets the expected verdict and is never denied', () => {
  test.each(BENIGN)('%j: %s', (command, expected) => {
    const { verdict, why } = decide(policy, commandAction(PLACE, command));
    expect(verdict, why).toBe(expected);
  });
});
