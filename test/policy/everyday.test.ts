// Everyday commands stay quiet under the preset `standard`, and none of the lines below does.
import { describe, expect, test } from 'vitest';
import { commandAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { corpus, fileText, PLACE, policyFile } from './support.ts';

const standard = combine([{ name: 'user', policy: policyFile(fileText('config/policies/standard.yaml'), 'standard.yaml') }]);
const EVERYDAY = corpus('everyday.txt');
const MOST = 0.03;

test(`at most ${MOST * 100} % of ${EVERYDAY.length} everyday commands are asked about`, () => {
  const asked = EVERYDAY.filter((line) => decide(standard, commandAction(PLACE, line)).verdict !== 'allow');
  process.stdout.write(`everyday commands: ${asked.length} of ${EVERYDAY.length} asked about\n`);
  expect(EVERYDAY.length).toBeGreaterThanOrEqual(200);
  expect(asked.length / EVERYDAY.length, asked.join('\n')).toBeLessThanOrEqual(MOST);
});

describe('nothing that reaches further is allowed', () => {
  test.each(corpus('reaching.txt'))('%j', (line) => {
    const { verdict, why } = decide(standard, commandAction(PLACE, line));
    expect(verdict, why).not.toBe('allow');
  });
});
