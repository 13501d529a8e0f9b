// The fast path at start-up: the command lines that clients use are recognised without loading the parser.
import { describe, expect, test } from 'vitest';
import { plainAcp } from '../../src/cli/entry.ts';

describe('the fast path recognises the command lines of clients', () => {
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
  ])('every other command line goes to the parser: %j', (words) => {
    expect(plainAcp(words, false)).toBeUndefined();
  });

  test('on a terminal, no arguments mean help', () => {
    expect(plainAcp([], true)).toBeUndefined();
    expect(plainAcp(['acp'], true)).toEqual({});
  });
});
