import { expect, test } from 'vitest';
import { createHeldBack } from '../../../src/cli/run/run.ts';

function heldBack() {
  const said: string[] = [];
  return { said, ...createHeldBack((text) => void said.push(text)) };
}

test('what is said of an agent is left to a failure that has the same words; all else is said', () => {
  const { said, say, releaseAttached } = heldBack();
  say('records are not kept');
  say('Agent "a" exited (code 1)');
  say('Agent "b" exited (code 2)');
  expect(said).toEqual(['records are not kept']);
  releaseAttached('Agent "a" is not available. Agent "a" exited (code 1)');
  expect(said).toEqual(['records are not kept', 'Agent "b" exited (code 2)']);
});

test('when the turn goes on it is said, once', () => {
  const { said, say, release } = heldBack();
  say('Agent "a" exited (code 1)');
  say('Agent "a" exited (code 1)');
  release();
  release();
  expect(said).toEqual(['Agent "a" exited (code 1)']);
});
