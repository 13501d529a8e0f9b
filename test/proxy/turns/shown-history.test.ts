// What a process without transcripts remembers of a session, to know it when its agent replays it.
import { expect, test } from 'vitest';
import { ShownHistory } from '../../../src/proxy/turns/shown-history.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';

const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } });
const frameOf = (method: string, params: object): Frame =>
  new Scanner().scan(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`), 0) as Frame;
const shown = (history: ShownHistory, ...updates: readonly object[]) => {
  for (const update of updates) history.update(frameOf('session/update', { sessionId: 's', update }));
};

test('a replay is known by the prompts, the chunks as one message, and the tool calls', () => {
  const history = new ShownHistory();
  history.prompt(frameOf('session/prompt', { sessionId: 's', prompt: [{ type: 'text', text: 'list it' }] }));
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'ls' };
  shown(history, chunk('agent_message_chunk', 'I lo'), chunk('agent_message_chunk', 'ok. '), call, chunk('agent_message_chunk', 'Done.'));
  const matcher = history.matcher();
  const replay = [
    chunk('user_message_chunk', 'list it'),
    chunk('agent_message_chunk', 'I look.'),
    call,
    chunk('agent_message_chunk', 'Done.'),
  ];
  expect(replay.map((update) => matcher.isReplay(update))).toEqual([true, true, true, true]);
  expect(matcher.isReplay(chunk('agent_message_chunk', 'Something new'))).toBe(false);
});

test('it keeps a million characters, and of more the last', () => {
  const history = new ShownHistory();
  for (let n = 0; n < 30; n++)
    shown(history, chunk('agent_message_chunk', `${n}:${'x'.repeat(100_000)}`), { sessionUpdate: 'tool_call', toolCallId: `c${n}` });
  const matcher = history.matcher();
  matcher.isReplay(chunk('user_message_chunk', 'begins'));
  expect(matcher.isReplay({ sessionUpdate: 'tool_call', toolCallId: 'c0' })).toBe(false);
  expect(matcher.isReplay({ sessionUpdate: 'tool_call', toolCallId: 'c29' })).toBe(true);
  expect(matcher.isReplay(chunk('agent_message_chunk', `29:${'x'.repeat(100_000)}`))).toBe(true);
  expect(matcher.isReplay(chunk('agent_message_chunk', `0:${'x'.repeat(100_000)}`))).toBe(false);
});
