// Events applied to the state of a conversation.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apply, MAX_ITEMS, MAX_SIZE } from '../../../src/console/protocol/apply-event.ts';
import { createConversation, type Event, type Item } from '../../../src/console/protocol/conversation.ts';

const conversationOf = (events: readonly Event[]) => {
  const conversation = createConversation('s');
  for (const event of events) apply(conversation, event);
  return conversation;
};
const kinds = (events: readonly Event[]) => conversationOf(events).items.map(({ kind }) => kind);

describe('a conversation', () => {
  test('chunks of one message form one message; another role, another id or a tool call starts a new one', () => {
    const { items } = conversationOf([
      { e: 'text', role: 'agent', text: 'One ' },
      { e: 'text', role: 'agent', text: 'two' },
      { e: 'text', role: 'thought', text: 'Hm.' },
      { e: 'text', role: 'agent', text: 'Three' },
      { e: 'tool', toolCallId: 't', title: 'Read' },
      { e: 'text', role: 'agent', text: 'Four' },
      { e: 'text', role: 'agent', messageId: 'm', text: 'Five' },
    ]);
    expect(items.map((item) => (item.kind === 'message' ? item.text : item.kind))).toEqual([
      'One two',
      'Hm.',
      'Three',
      'tool',
      'Four',
      'Five',
    ]);
  });

  test('a text can remove its end', () => {
    const { items } = conversationOf([
      { e: 'text', role: 'agent', text: 'the key is abc' },
      { e: 'text', role: 'agent', text: '[redacted]', drop: 3 },
    ]);
    expect(items).toMatchObject([{ text: 'the key is [redacted]', size: 21 }]);
  });

  test('an update of a tool call changes the fields it names and keeps the rest', () => {
    const { items } = conversationOf([
      { e: 'tool', toolCallId: 't', title: 'Edit', toolKind: 'edit', status: 'pending' },
      { e: 'tool', toolCallId: 'u', title: 'Other' },
      { e: 'tool', toolCallId: 't', status: 'completed', content: [{ type: 'terminal', terminalId: 'x' }] },
    ]);
    expect(items).toMatchObject([
      { title: 'Edit', toolKind: 'edit', status: 'completed', content: [{ terminalId: 'x' }] },
      { title: 'Other' },
    ]);
  });

  test('the end of an unknown call adds no entry', () => {
    expect(kinds([{ e: 'tool', toolCallId: 'asked-only', status: 'failed' }])).toEqual([]);
    expect(kinds([{ e: 'tool', toolCallId: 't', status: 'in_progress' }])).toEqual(['tool']);
    expect(kinds([{ e: 'tool', toolCallId: 't', status: 'completed', title: 'Read' }])).toEqual(['tool']);
  });

  test('a turn has one plan, and the next turn another', () => {
    const plan = (content: string): Event => ({ e: 'plan', entries: [{ content, status: 'pending' }] });
    const prompt: Event = { e: 'prompt', text: 'do', blocks: [] };
    expect(kinds([prompt, plan('a'), plan('b'), { e: 'end', stopReason: 'end_turn' }, prompt, plan('c')])).toEqual([
      ...['message', 'plan', 'end'],
      ...['message', 'plan'],
    ]);
  });

  test('a plan with an id is updated in place, also in a later turn, and can be removed', () => {
    const plan = (planId: string, content: string): Event => ({ e: 'plan', planId, entries: [{ content, status: 'pending' }] });
    const prompt: Event = { e: 'prompt', text: 'do', blocks: [] };
    const { items } = conversationOf([prompt, plan('p', 'a'), plan('q', 'b'), prompt, plan('p', 'c'), { e: 'unplan', planId: 'q' }]);
    expect(items.map((item) => (item.kind === 'plan' ? item.entries.map(({ content }) => content) : item.kind))).toEqual([
      ...['message', ['c'], []],
      'message',
    ]);
  });

  test('a compaction is one entry: its summary grows, can remove its end, and stays when only the status changes', () => {
    const { items } = conversationOf([
      { e: 'compaction', compactionId: 'c', summary: 'the key abc', isMore: true },
      { e: 'note', text: 'meanwhile' },
      { e: 'compaction', compactionId: 'c', summary: '[redacted] is', isMore: true, drop: 3 },
      { e: 'compaction', compactionId: 'c', status: 'failed', error: 'full' },
      { e: 'compaction', compactionId: 'd', status: 'completed', summary: 'x' },
      { e: 'compaction', compactionId: 'd', summary: null },
    ]);
    expect(items).toMatchObject([
      { kind: 'compaction', status: 'failed', summary: 'the key [redacted] is', error: 'full' },
      { kind: 'note' },
      { kind: 'compaction', status: 'completed', summary: null },
    ]);
  });

  test('a subagent is one entry, however many updates it gets; so are consecutive unknown updates', () => {
    const { items } = conversationOf([
      { e: 'subagent', childId: 's', title: 'Helper', state: 'running' },
      { e: 'subagent', childId: 's', state: 'idle: end_turn' },
      { e: 'unknown', name: '_x', text: '1' },
      { e: 'unknown', name: '_x', text: '2' },
      { e: 'unknown', name: '_y', text: '3' },
    ]);
    expect(items).toMatchObject([
      { kind: 'subagent', title: 'Helper', state: 'idle: end_turn' },
      { name: '_x', count: 2, text: '2' },
      { name: '_y', count: 1, text: '3' },
    ]);
  });

  test('a mode that the agent changes by itself becomes the current one', () => {
    const mode: Event = { e: 'options', options: [{ type: 'select', id: '$mode', name: 'Mode', value: 'ask', choices: [] }] };
    expect(conversationOf([mode, { e: 'option', id: '$mode', value: 'code' }]).options).toMatchObject([{ value: 'code' }]);
  });

  test('the oldest items are dropped when there are too many or they are too large', () => {
    const many = conversationOf(Array.from({ length: MAX_ITEMS + 10 }, (_, n): Event => ({ e: 'note', text: String(n) })));
    expect(many.items).toHaveLength(MAX_ITEMS);
    expect(many).toMatchObject({ dropped: 10, items: expect.arrayContaining([expect.objectContaining({ id: 10 })]) });
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(MAX_SIZE / 4 - 100) };
    const large = conversationOf(Array.from({ length: 9 }, (): Event => ({ e: 'prompt', text: '', blocks: [image] })));
    expect(large.items).toHaveLength(4);
    expect(large.size).toBeLessThanOrEqual(MAX_SIZE);
  });

  const long = 'x'.repeat(MAX_SIZE / 4);
  test.each<[string, Event]>([
    ['titles of tools', { e: 'tool', toolCallId: 't', title: long }],
    ['places of tools', { e: 'tool', toolCallId: 't', locations: [long] }],
    ['notices', { e: 'note', text: long }],
    ['decisions', { e: 'decision', title: long, outcome: '', by: '' }],
    ['failures', { e: 'end', error: long }],
    ['plans', { e: 'plan', entries: [{ content: long, status: '' }] }],
    ['links', { e: 'block', role: 'agent', block: { type: 'resource_link', uri: long } }],
    ['agents of agents', { e: 'subagent', childId: 'c', title: '', description: long }],
  ])('%s are limited too, however an agent sends them', (_, event) => {
    const own = (n: number): object =>
      'toolCallId' in event
        ? { toolCallId: `t${n}` }
        : 'childId' in event
          ? { childId: `c${n}` }
          : 'entries' in event
            ? { planId: `p${n}` }
            : {};
    const between: Event = { e: 'note', text: '' };
    const all = conversationOf(Array.from({ length: 9 }, (_, n): Event[] => [{ ...event, ...own(n) }, between]).flat());
    expect(JSON.stringify(all).length).toBeLessThan(1.1 * MAX_SIZE);
    expect(all.size).toBeLessThanOrEqual(MAX_SIZE);
  });

  test('an endless message keeps its end', () => {
    const { items, size } = conversationOf(Array.from({ length: 9 }, (_, n): Event => ({ e: 'text', role: 'agent', text: `${n}${long}` })));
    const message = items[0] as Extract<Item, { kind: 'message' }>;
    expect(message.text.length).toBeLessThanOrEqual(MAX_SIZE);
    expect(message.text.endsWith(`8${long}`)).toBe(true);
    expect([message.size, size]).toEqual([message.text.length, message.text.length]);
  });

  test('a snapshot plus later events equals all events', () => {
    const event: fc.Arbitrary<Event> = fc.oneof(
      fc.record({ e: fc.constant('text' as const), role: fc.constantFrom('agent' as const, 'thought' as const), text: fc.string() }),
      fc.record({
        e: fc.constant('tool' as const),
        toolCallId: fc.constantFrom('a', 'b'),
        status: fc.constantFrom('pending', 'completed'),
      }),
      fc.record({ e: fc.constant('prompt' as const), text: fc.string(), blocks: fc.constant([]) }),
      fc.record({ e: fc.constant('note' as const), text: fc.string() }),
      fc.record({ e: fc.constant('plan' as const), entries: fc.constant([]) }),
      fc.record({ e: fc.constant('end' as const), stopReason: fc.constant('end_turn') }),
      fc.record({
        e: fc.constant('output' as const),
        terminalId: fc.constant('x'),
        output: fc.constant({ text: 'y', isTruncated: false }),
      }),
      fc.record({ e: fc.constant('plan' as const), planId: fc.constantFrom('p', 'q'), entries: fc.constant([]), text: fc.string() }),
      fc.record({
        e: fc.constant('compaction' as const),
        compactionId: fc.constantFrom('c', 'd'),
        summary: fc.string(),
        isMore: fc.boolean(),
      }),
      fc.record({ e: fc.constant('unknown' as const), name: fc.constantFrom('_x', '_y'), text: fc.string() }),
      fc.constant({ e: 'reset' as const }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), fc.nat(40), (events, cut) => {
        const joined = JSON.parse(JSON.stringify(conversationOf(events.slice(0, cut))));
        for (const one of events.slice(cut)) apply(joined, one);
        expect(JSON.parse(JSON.stringify(joined))).toEqual(JSON.parse(JSON.stringify(conversationOf(events))));
      }),
    );
  });
});
