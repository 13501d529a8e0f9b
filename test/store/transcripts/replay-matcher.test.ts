// A replay is known by its content, in the order of the transcript.
import { describe, expect, test } from 'vitest';
import { ReplayMatcher } from '../../../src/store/transcripts/replay-matcher.ts';

const message = (role: 'user' | 'agent' | 'thought', text: string) => {
  const sessionUpdate = { user: 'user_message_chunk', agent: 'agent_message_chunk', thought: 'agent_thought_chunk' }[role];
  return { sessionUpdate, content: { type: 'text', text } };
};
const call = (toolCallId: string) => ({ sessionUpdate: 'tool_call', toolCallId, title: 'x' });
const HISTORY = [
  message('user', 'go'),
  message('agent', 'step 1. '),
  call('a'),
  message('agent', 'all done'),
  message('user', 'again'),
  message('agent', 'ok'),
];

const matched = (...updates: readonly object[]): readonly boolean[] => {
  const matcher = new ReplayMatcher(HISTORY, (text) => text);
  return updates.map((update) => matcher.isReplay(update));
};

describe('an update', () => {
  test('is a replay after a message of the user, in order, whatever the agent has trimmed, split or added', () => {
    const whole = [
      message('user', '<context>'),
      message('user', 'go'),
      message('agent', 'step 1.'),
      call('a'),
      message('user', '[result]'),
    ];
    expect(matched(...whole, message('agent', 'all'), message('agent', ' done'), message('user', 'again'), message('agent', 'ok'))).toEqual(
      Array(9).fill(true),
    );
  });

  test('is none before a message of the user, even if the transcript has the same', () => {
    expect(matched(message('agent', 'step 1.'), call('a'), message('agent', 'ok'))).toEqual([false, false, false]);
  });

  test('is none after the end of the history, even if the transcript has the same', () => {
    expect(matched(message('user', 'again'), message('agent', 'ok'), message('agent', 'ok'), message('agent', 'all '), call('a'))).toEqual([
      ...[true, true, false, false, false],
    ]);
  });

  test('is none if the transcript does not have it', () => {
    expect(matched(message('user', 'go'), message('agent', 'something new'), call('b'), call('a'))).toEqual([true, false, false, false]);
    expect(matched(message('user', 'go'), call('b'), call('a'))).toEqual([true, false, true]);
  });

  test('is none without a history', () => {
    expect(new ReplayMatcher([], (text) => text).isReplay(message('user', 'go'))).toBe(false);
  });
});

test('an echo of the prompt of the turn is no replay, nor is what follows it; the same prompt in the history is one', () => {
  const updates = [message('user', 'go on'), message('agent', 'step 1. '), message('user', 'go'), message('agent', 'step 1. ')];
  const isReplay = (prompt: string) => {
    const matcher = new ReplayMatcher(
      HISTORY,
      (text) => text,
      () => prompt,
    );
    return updates.map((update) => matcher.isReplay(update));
  };
  expect(isReplay('go on')).toEqual([false, false, false, false]);
  expect(isReplay('again')).toEqual([true, true, true, false]);
});

test('texts are compared as the transcript has them, redacted', () => {
  const matcher = new ReplayMatcher([message('user', 'key [redacted]')], (text) => text.replace('SECRET', '[redacted]'));
  expect(matcher.isReplay(message('user', 'key SECRET'))).toBe(true);
});
