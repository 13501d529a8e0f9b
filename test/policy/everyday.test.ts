// Everyday commands stay quiet under the preset `standard`, and none of the lines below does.
import { describe, expect, test } from 'vitest';
import { commandAction, startAction } from '../../src/policy/actions/surfaces.ts';
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

/** Once asked about for their looks. */
const NAMED = [
  ...['jest --coverage', 'git diff -C', 'git log -c', 'git grep -c', 'git blame -C', 'git --no-pager log', 'vitest --reporter=verbose'],
  ...["sed -n '/a/,/^}/p'", '-name package.json', "rg 'a;b' src"],
];

test.each(NAMED)('%s is among them, and quiet', (part) => {
  const lines = EVERYDAY.filter((line) => line.includes(part));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(decide(standard, commandAction(PLACE, line)).verdict, line).toBe('allow');
});

test('a search for text that looks like two commands is quiet as an argv, too', () => {
  expect(decide(standard, startAction(PLACE, ['rg', 'a;b', 'src'], 'search')).verdict).toBe('allow');
});

describe('nothing that reaches further is allowed', () => {
  test.each(corpus('reaching.txt'))('%j', (line) => {
    const { verdict, why } = decide(standard, commandAction(PLACE, line));
    expect(verdict, why).not.toBe('allow');
  });
});
