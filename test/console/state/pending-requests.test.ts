// What a pending permission request shows: also what the agent said of the tool call before, when the request has only its id.
import { expect, test } from 'vitest';
import { createFeed } from '../../../src/console/state/feed.ts';
import { createState } from '../../../src/console/state/state.ts';

const redact = (text: string) => text.replaceAll('sesame', '[redacted]');

function begin() {
  const about = { version: '0', cwd: '/w', servers: [], stored: () => [], now: () => 0 };
  const state = createState({ feed: createFeed(), redact, ...about });
  state.opened('s', { cwd: '/w', agent: 'a', accepts: { image: false, audio: false, embeddedContext: false } }, {});
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
  const asks = (toolCall: object) => {
    void state.ask('s', { sessionId: 's', toolCall, options }, AbortSignal.timeout(60_000));
    return state.snapshot().requests.at(-1);
  };
  const tells = (update: object) => state.update('s', { sessionUpdate: 'tool_call', ...update });
  return { asks, tells };
}

const diff = { type: 'diff', path: '/w/a', oldText: 'a', newText: 'open sesame' };
const call = {
  toolCallId: 't',
  title: 'Tidy',
  kind: 'execute',
  rawInput: { command: 'rm a' },
  content: [diff],
  locations: [{ path: '/w/a' }],
};

test('a request that names only the call has its command, changes, files and kind', () => {
  const { asks, tells } = begin();
  tells(call);
  const shown = { command: 'rm a', toolKind: 'execute', locations: ['/w/a'], content: [{ type: 'diff', newText: 'open [redacted]' }] };
  expect(asks({ toolCallId: 't' })).toMatchObject({ ...shown, title: 'Tidy' });
  expect(asks({ toolCallId: 't', title: 'Run rm a', content: [], locations: null })).toMatchObject({ ...shown, title: 'Run rm a' });
});

test('what the request says itself counts, and updates add to each other', () => {
  const { asks, tells } = begin();
  tells(call);
  tells({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'in_progress', rawInput: { command: 'rm b' } });
  expect(asks({ toolCallId: 't' })).toMatchObject({ command: 'rm b', content: [{ path: '/w/a' }] });
  expect(asks({ toolCallId: 't', rawInput: { command: 'rm c' } })).toMatchObject({ command: 'rm c' });
});

test('another call, a finished one, and one without an id say nothing about the request', () => {
  const { asks, tells } = begin();
  tells(call);
  tells({ ...call, toolCallId: undefined });
  for (const toolCall of [{ toolCallId: 'other' }, {}, { toolCallId: 7 }])
    expect(asks(toolCall)).toMatchObject({ command: undefined, content: [], locations: [] });
  tells({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' });
  expect(asks({ toolCallId: 't' })).toMatchObject({ command: undefined, content: [] });
});

test('an agent that never ends its calls fills bounded memory: the oldest are forgotten', () => {
  const { asks, tells } = begin();
  for (let n = 0; n < 100; n++) tells({ ...call, toolCallId: `t${n}` });
  expect(asks({ toolCallId: 't0' })).toMatchObject({ command: undefined });
  expect(asks({ toolCallId: 't99' })).toMatchObject({ command: 'rm a' });
});
