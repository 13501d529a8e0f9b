// Suggestions for mistyped names.
import { expect, test } from 'vitest';
import { didYouMean, nearestOf } from '../../../src/policy/format/nearest.ts';

const KEYS = ['agent_servers', 'default_agent', 'routes', 'limits', 'args', 'env', 'x'];

test.each([
  ['defualt_agent', 'default_agent'],
  ['defaultAgent', 'default_agent'],
  ['agentServers', 'agent_servers'],
  ['agent_server', 'agent_servers'],
  ['argz', 'args'],
  ['Routes', 'routes'],
  ['evn', 'env'],
  ['default', 'default_agent'],
])('%s is taken for %s', (word, meant) => {
  expect(didYouMean(word, KEYS)).toBe(`did you mean "${meant}"?`);
});

test.each(['y', 'policy', 'something_else', 'ag', ''])('%j is near nothing', (word) => {
  expect(didYouMean(word, KEYS)).toBeUndefined();
});

test('half of a short word is not a typo of another', () => {
  expect(nearestOf('nope', ['ask', 'code'], 'modes')).toBe('modes: ask, code');
});

test('the suggestion is followed by the whole list', () => {
  expect(nearestOf('raed', ['read', 'write'], 'modes')).toBe('did you mean "read"? modes: read, write');
  expect(nearestOf('xyz', ['read', 'write'], 'modes')).toBe('modes: read, write');
  expect(nearestOf('xyz', [], 'modes')).toBe('modes: none');
});
