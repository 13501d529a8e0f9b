// A replay is known by its content, in the order of the transcript.
import { describe, expect, test } from 'vitest';
import { ReplayMatcher } from '../../../src/store/transcripts/replay-matcher.ts';

const said = (role: 'user' | 'agent' | 'thought', text: string) => {
  const sessionUpdate = { user: 'user_message_chunk', agent: 'agent_message_chunk', thought: 'agent_thought_chunk' }[role];
  return { sessionUpdate, content: { type: 'text', text } };
};
const call = (toolCallId: string) => ({ sessionUpdate: 'tool_call', toolCallId, title: 'x' });
const HISTORY = [
  said('user', 'go'),
  said('agent', 'step 1. '),
  call('a'),
  said('agent', 'all done'),
  said('user', 'again'),
  said('agent', 'ok'),
];

const matched = (...updates: readonly object[]): readonly boolean[] => {
  const matcher = new ReplayMatcher(HISTORY, (text) => text);
  return updates.map((update) => matcher.isReplay(update));
};

describe('an update', () => {
  test('is a replay after a message of the user, in order, whatever the agent has trimmed, split or added', () => {
    const whole = [said('user', '<context>'), said('user', 'go'), said('agent', 'step 1.'), call('a'), said('user', '[result]')];
    expect(matched(...whole, said('agent', 'all'), said('agent', ' done'), said('user', 'again'), said('agent', 'ok'))).toEqual(
      Array(9).fill(true),
    );
  });

  test('is none before a message of the user, even if the transcript has the same', () => {
    expect(matched(said('agent', 'step 1.'), call('a'), said('agent', 'ok'))).toEqual([false, false, false]);
  });

  test('is none after the end of the history, even if the transcript has the same', () => {
    expect(matched(said('user', 'again'), said('agent', 'ok'), said('agent', 'ok'), said('agent', 'all '), call('a'))).toEqual([
      ...[true, true, false, false, false],
    ]);
  });

  test('is none if the transcript does not have it', () => {
    expect(matched(said('user', 'go'), said('agent', 'something new'), call('b'), call('a'))).toEqual([true, false, false, false]);
    expect(matched(said('user', 'go'), call('b'), call('a'))).toEqual([true, false, true]);
  });

  test('is none without a history', () => {
    expect(new ReplayMatcher([], (text) => text).isReplay(said('user', 'go'))).toBe(false);
  });
});

test('texts are compared as the transcript has them, redacted', () => {
  const matcher = new ReplayMatcher([said('user', 'key [redacted]')], (text) => text.replace('SECRET', '[redacted]'));
  expect(matcher.isReplay(said('user', 'key SECRET'))).toBe(true);
});
