// The text output of `run`, update by update.
import { expect, test } from 'vitest';
import { createPaint } from '../../../src/cli/run/paint.ts';
import { createSimpleOutput, createTextOutput } from '../../../src/cli/run/text-output.ts';

const chunk = (text: string, kind = 'agent_message_chunk') => ({ sessionUpdate: kind, content: { type: 'text', text } });

function shown(updates: readonly unknown[], { simple = false, terminal = false } = {}): string {
  let all = '';
  const make = simple ? createSimpleOutput : createTextOutput;
  const output = make(
    (text) => {
      all += text;
    },
    createPaint(terminal, { NO_COLOR: '1' }),
  );
  for (const update of updates) output.update(update);
  output.end();
  return all;
}

const TURN = [
  {
    sessionUpdate: 'available_commands_update',
    availableCommands: [
      { name: 'plan', description: '' },
      { name: 'test', description: '' },
    ],
  },
  chunk('Let me ', 'agent_thought_chunk'),
  chunk('think.', 'agent_thought_chunk'),
  chunk('Hello, '),
  chunk('world.'),
  {
    sessionUpdate: 'plan',
    entries: [
      { content: 'read', status: 'completed' },
      { content: 'write', status: 'in_progress' },
      { content: 'rest', status: 'pending' },
    ],
  },
  { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Edit a.txt', kind: 'edit', status: 'pending' },
  {
    sessionUpdate: 'tool_call_update',
    toolCallId: 't',
    status: 'completed',
    content: [{ type: 'diff', path: '/w/a.txt', oldText: 'one\n', newText: 'two\n' }],
  },
  {
    sessionUpdate: 'tool_call_update',
    toolCallId: 't',
    status: 'completed',
    content: [{ type: 'diff', path: '/w/a.txt', oldText: 'one\n', newText: 'two\n' }],
  },
  { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
  { sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } },
  { sessionUpdate: 'notice', severity: 'warning', title: 'Careful', description: 'It is late' },
  { sessionUpdate: 'something_new', content: { type: 'text', text: 'never mind' } },
  chunk('Done.\n'),
];

test('a whole turn is formatted for a pipe', () => {
  expect(shown(TURN)).toBe(`[commands] /plan /test
[thought] Let me think.
Hello, world.
[plan]
  [x] read
  [~] write
  [ ] rest
[tool] Edit a.txt (edit, pending)
[tool] Edit a.txt (completed)
[diff] /w/a.txt
@@ -1 +1 @@
-one
+two
[mode] plan
[usage] 10 of 100 tokens, 0.5 USD
[notice] Careful. It is late
Done.
`);
});

test("simple output is the assistant's text and nothing else", () => {
  expect(shown(TURN, { simple: true })).toBe('Hello, world.Done.\n');
});

test('on a terminal, an agent cannot move the cursor, change colours or reverse the text direction', () => {
  const words = '\u001b[2Jgone\rover\u202eback\u0007 tab\t\n';
  expect(shown([chunk(words)], { terminal: true })).toBe('\ufffd[2Jgone\ufffdover\ufffdback\ufffd tab\t\n');
  expect(shown([chunk(words)])).toBe(words);
});

test.each([
  [undefined],
  [null],
  [5],
  [{ sessionUpdate: 'tool_call' }],
  [{ sessionUpdate: 'plan', entries: 'x' }],
  [chunk(undefined as never)],
])('an update with an unexpected shape is harmless: %j', (update) => {
  expect(() => shown([update])).not.toThrow();
});
