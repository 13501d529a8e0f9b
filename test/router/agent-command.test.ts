// The `/agent` command in a prompt.
import { describe, expect, test } from 'vitest';
import { agentCommand, readAgentCommand } from '../../src/router/config-options.ts';

test('the command is called agent and its hint lists the names', () => {
  expect(agentCommand(['claude', 'codex'])).toMatchObject({ name: 'agent', input: { hint: 'claude | codex' } });
});

describe('a prompt that is the command', () => {
  test.each([
    ['/agent codex', 'codex'],
    ['  /agent   codex \n', 'codex'],
    ['/agent\tcodex', 'codex'],
    ['/agent', ''],
    ['/agent  ', ''],
    ['/agent no/such.agent-1', 'no/such.agent-1'],
  ])('%j names %j', (text, expected) => {
    expect(readAgentCommand([{ type: 'text', text }])).toBe(expected);
  });
});

describe('a prompt that is not the command goes to the agent:', () => {
  test.each([
    ['a sentence behind it', [{ type: 'text', text: '/agent codex please fix this' }]],
    ['a word before it', [{ type: 'text', text: 'use /agent codex' }]],
    ['another command that begins like it', [{ type: 'text', text: '/agents' }]],
    ['no slash', [{ type: 'text', text: 'agent codex' }]],
    ['capitals', [{ type: 'text', text: '/Agent codex' }]],
    [
      'two blocks',
      [
        { type: 'text', text: '/agent codex' },
        { type: 'text', text: '' },
      ],
    ],
    ['a block of another kind', [{ type: 'resource_link', text: '/agent codex' }]],
    ['text that is no text', [{ type: 'text', text: 1 }]],
    ['no block', []],
    ['a null block', [null]],
    ['plain text', '/agent codex'],
    ['nothing', undefined],
  ])('%s', (_, prompt) => {
    expect(readAgentCommand(prompt)).toBeUndefined();
  });
});
