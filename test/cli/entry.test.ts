import { describe, expect, test } from 'vitest';
import { plainAcp } from '../../src/cli/entry.ts';

describe('how an editor starts us is read by hand', () => {
  test.each<[string[], object]>([
    [['acp'], {}],
    [[], {}],
    [['acp', '--config', 'c.jsonc'], { config: 'c.jsonc' }],
    [['--agent', 'claude'], { agent: 'claude' }],
    [['acp', '--agent', 'claude', '--config', '/x y/c.json'], { agent: 'claude', config: '/x y/c.json' }],
  ])('%j', (words, options) => {
    expect(plainAcp(words, false)).toEqual(options);
  });

  test.each([
    [['acp', '--help']],
    [['acp', '--config']],
    [['acp', '--config', '']],
    [['acp', '--config', '--agent']],
    [['acp', '--config=c.jsonc']],
    [['acp', '--policy', 'careful']],
    [['acp', '--', 'x']],
    [['acp', 'x']],
    [['demo']],
    [['--version']],
    [['--config', 'c', 'acp']],
  ])('and everything else is left to the parser: %j', (words) => {
    expect(plainAcp(words, false)).toBeUndefined();
  });

  test('in a terminal, no words mean help', () => {
    expect(plainAcp([], true)).toBeUndefined();
    expect(plainAcp(['acp'], true)).toEqual({});
  });
});
