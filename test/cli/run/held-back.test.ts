// Messages about agents are held back while a turn may still fail with the same text.
import { expect, test } from 'vitest';
import { createHeldBack } from '../../../src/cli/run/held-back.ts';

function heldBack() {
  const shown: string[] = [];
  return { shown, ...createHeldBack((text) => void shown.push(text)) };
}

test('a message about an agent is dropped if the failure contains it; all other messages are printed', () => {
  const { shown, say, releaseAttached } = heldBack();
  say('records are not kept');
  say('Agent "a" exited (code 1)');
  say('Agent "b" exited (code 2)');
  expect(shown).toEqual(['records are not kept']);
  releaseAttached('Agent "a" is not available. Agent "a" exited (code 1)');
  expect(shown).toEqual(['records are not kept', 'Agent "b" exited (code 2)']);
});

test('messages are printed once when the turn continues', () => {
  const { shown, say, release } = heldBack();
  say('Agent "a" exited (code 1)');
  say('Agent "a" exited (code 1)');
  release();
  release();
  expect(shown).toEqual(['Agent "a" exited (code 1)']);
});
