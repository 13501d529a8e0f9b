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
/** From here on the corpus holds what a deny rule names. */
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

describe('what a rule denies is denied, however it is put', () => {
  test.each(DENIED)('%j', (command) => {
    const { verdict, why } = decide(policy, commandAction(PLACE, command));
    expect(verdict, why).toBe('deny');
  });
});

describe('a benign command gets the verdict it should, and is never refused', () => {
  test.each(BENIGN)('%j: %s', (command, expected) => {
    const { verdict, why } = decide(policy, commandAction(PLACE, command));
    expect(verdict, why).toBe(expected);
  });
});
