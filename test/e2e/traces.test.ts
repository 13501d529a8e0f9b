// One trace for each turn, as a collector receives it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { called, mcpAgent } from '../mcp/tool-sessions.ts';
import { type Collector, outline, type ReceivedSpan, startCollector } from '../telemetry/collector.ts';
import { type Client, open, prompt, type Stage, testAtOnce as test } from './harness.ts';

const YES = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

/** The collector of one test, and the environment that leads to it. */
async function collect(stage: Stage, onTestFinished: (end: () => Promise<void>) => void) {
  const collector = await startCollector();
  onTestFinished(collector.close);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_METRIC_EXPORT_INTERVAL: '50' };
  return { collector, env, dir: stage.dir };
}

const consents = (client: Client) =>
  client.on('session/request_permission', ({ options }) => {
    const yes = options.find(({ kind }: { kind: string }) => kind === 'allow_once');
    return { outcome: { outcome: 'selected', optionId: yes.optionId } };
  });

/** The trace of the n-th turn, once it has arrived. */
async function turn(collector: Collector, n: number): Promise<readonly ReceivedSpan[]> {
  const turns = () =>
    collector
      .spans()
      .filter(({ name, parentSpanId }) => name.startsWith('invoke_agent') && parentSpanId === undefined)
      .sort((a, b) => a.start - b.start);
  await collector.until(() => turns().length > n);
  const root = turns()[n] as ReceivedSpan;
  return collector.spans().filter(({ traceId }) => traceId === root.traceId);
}

test('a turn with tool calls, a permission wait, a denial and a crash', async ({ stage, onTestFinished }) => {
  const { collector, env } = await collect(stage, onTestFinished);
  const agent = stage.agent('claude', {
    async turn({ id }, message) {
      if (message === 'crash') return agent.exit();
      const call = (toolCallId: string, more: object) => agent.update(id, { sessionUpdate: 'tool_call', toolCallId, title: 't', ...more });
      call('call-1', { kind: 'read', status: 'in_progress' });
      agent.update(id, { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'completed' });
      call('call-2', { kind: 'edit', status: 'pending' });
      await agent.call('session/request_permission', {
        sessionId: id,
        toolCall: {
          toolCallId: 'call-2',
          kind: 'edit',
          rawInput: { file_path: path.join(stage.cwd, 'a.txt') },
          locations: [{ path: path.join(stage.cwd, 'a.txt') }],
        },
        options: YES,
      });
      agent.update(id, { sessionUpdate: 'tool_call_update', toolCallId: 'call-2', status: 'failed' });
      await agent.request('fs/read_text_file', { sessionId: id, path: '/etc/shadow' });
      call('call-3', { kind: 'odd/kind', status: 'pending' });
      return { stopReason: 'end_turn', usage: { totalTokens: 12, inputTokens: 10, outputTokens: 2 } };
    },
  });
  const policy = { version: 1, default: 'ask', deny: ['read(/etc/**)'] };
  const client = await stage.connect([agent], { env, config: { policy, host_tools: { enabled: false } } });
  consents(client);
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'work');
  const spans = await turn(collector, 0);
  const root = spans.find(({ parentSpanId }) => parentSpanId === undefined) as ReceivedSpan;
  const isDecision = ({ name }: ReceivedSpan) => name === 'policy decision';
  expect(outline(spans.filter((span) => !isDecision(span)))).toEqual([
    'invoke_agent claude',
    '  execute_tool read',
    '  execute_tool edit !tool_failed',
    '    permission wait',
    '  execute_tool other',
  ]);
  expect(root.attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'claude',
    'gen_ai.conversation.id': id,
    'gen_ai.response.finish_reasons': ['end_turn'],
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 2,
  });
  expect(root.events).toEqual(['first update']);
  const decisions = spans.filter(isDecision);
  expect(new Set(decisions.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]));
  expect(new Set(decisions.map(({ attributes }) => attributes))).toEqual(
    new Set([
      {
        'switchboard.policy.surface': 'tool_call',
        'switchboard.policy.verdict': 'ask',
        'switchboard.policy.outcome': 'unasked',
        'switchboard.policy.answered_by': 'policy',
      },
      {
        'switchboard.policy.surface': 'session/request_permission',
        'switchboard.policy.verdict': 'ask',
        'switchboard.policy.outcome': 'allowed',
        'switchboard.policy.answered_by': 'user',
      },
      {
        'switchboard.policy.surface': 'fs/read_text_file',
        'switchboard.policy.verdict': 'deny',
        'switchboard.policy.outcome': 'prevented',
        'switchboard.policy.answered_by': 'policy',
      },
    ]),
  );
  expect(spans.find(({ name }) => name === 'permission wait')?.attributes).toEqual({ 'switchboard.permission.outcome': 'allowed' });

  await prompt(client, id, 'crash');
  expect(outline(await turn(collector, 1))).toEqual(['invoke_agent claude !agent_exited']);
  await prompt(client, id, 'work');
  expect(outline(await turn(collector, 2)).slice(0, 3)).toEqual(['invoke_agent claude', '  start agent claude', '  execute_tool read']);
  const opened = collector.spans().filter(({ name }) => name === 'session/new');
  expect(outline(collector.spans().filter(({ traceId }) => traceId === opened[0]?.traceId))).toEqual(['session/new']);
});

test('a turn with a host tool, and one with a delegated agent and its tool calls', async ({ stage, onTestFinished }) => {
  const { collector, env } = await collect(stage, onTestFinished);
  const helper = stage.agent('helper', {
    turn({ id }) {
      helper.update(id, { sessionUpdate: 'tool_call', toolCallId: 'h1', title: 'Look', kind: 'search', status: 'pending' });
      helper.update(id, { sessionUpdate: 'tool_call_update', toolCallId: 'h1', status: 'completed' });
      return { stopReason: 'end_turn' };
    },
  });
  const config = { host_tools: { enabled: true, delegate: true } };
  const client = await stage.connect({ asker: mcpAgent('stdio', 'asker'), helper }, { env, config });
  consents(client);
  const { id } = await open(client, stage.cwd, 'asker');
  writeFileSync(path.join(stage.cwd, 'notes.txt'), 'x');
  await called(client, id, 'session_info');
  expect(outline(await turn(collector, 0))).toEqual(['invoke_agent asker', '  execute_tool session_info']);
  await called(client, id, 'delegate', { agent: 'helper', prompt: 'look' });
  expect(outline(await turn(collector, 1))).toEqual([
    'invoke_agent asker',
    '  execute_tool delegate',
    '    permission wait',
    '    invoke_agent helper',
    '      execute_tool search',
  ]);
});

test("a client's trace context is the parent, a prompt during a turn links to it, and agents get the context only if the configuration says so", async ({
  stage,
  onTestFinished,
}) => {
  const { collector, env } = await collect(stage, onTestFinished);
  const seen: unknown[] = [];
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const agent = stage.agent('claude', {
    async turn(_, message, { _meta }) {
      seen.push(_meta);
      if (message === 'slow') await finished;
      return { stopReason: 'end_turn' };
    },
  });
  const config = { while_running: 'pass', host_tools: { enabled: false } };
  const client = await stage.connect([agent], { env, config });
  const { id } = await open(client, stage.cwd);
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const ask = (text: string, traceparent: string, more = {}) =>
    client.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text }], _meta: { traceparent, ...more } });
  await ask('hello', `00-${trace}-${span}-01`, { tracestate: 'vendor=1' });
  await ask('hello', `00-${trace}-${span}-00`); // the caller does not sample
  await ask('hello', `00-${'0'.repeat(32)}-${span}-01`); // not valid
  const slow = ask('slow', 'nonsense');
  await collector.until(() => collector.spans().length >= 2);
  const second = prompt(client, id, 'second');
  await second;
  finish();
  await slow;
  await collector.until(() => collector.spans().filter(({ name }) => name === 'invoke_agent claude').length === 4);
  const turns = collector
    .spans()
    .filter(({ name }) => name === 'invoke_agent claude')
    .sort((a, b) => a.start - b.start);
  expect([turns[0]?.traceId, turns[0]?.parentSpanId]).toEqual([trace, span]);
  expect(turns.map(({ links }) => links)).toEqual([[], [], [], [{ traceId: turns[2]?.traceId, spanId: turns[2]?.spanId }]]);
  expect(new Set(turns.map(({ traceId }) => traceId)).size).toBe(4);
  // Nothing was put into the frames.
  expect(seen[0]).toEqual({ traceparent: `00-${trace}-${span}-01`, tracestate: 'vendor=1' });
  expect(seen.at(-1)).toBeUndefined();
});

test('with "inject", prompts and new sessions carry the span that they belong to, and no other byte changes', async ({
  stage,
  onTestFinished,
}) => {
  const { collector } = await collect(stage, onTestFinished);
  const seen: Record<string, unknown>[] = [];
  const agent = stage.agent('claude', {
    turn(_, __, params) {
      seen.push(params);
      return { stopReason: 'end_turn' };
    },
  });
  const telemetry = {
    traces: { endpoint: `${collector.url}/v1/traces`, headers: { 'x-key': ['$', '{env:COLLECTOR_KEY}'].join('') }, inject: true },
  };
  const env = {
    COLLECTOR_KEY: 'key-4711-0815',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_SERVICE_NAME: 'ours',
    OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b',
  };
  const client = await stage.connect([agent], { env, config: { telemetry, host_tools: { enabled: false } } });
  const { id } = await open(client, stage.cwd);
  const foreign = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`;
  for (const meta of [{}, { _meta: {} }, { _meta: { a: 1 } }, { _meta: { b: 2, traceparent: foreign } }])
    await client.request('session/prompt', { sessionId: id, prompt: [], ...meta });
  const opening = agent.all('session/new').at(-1)?.msg.params;
  await collector.until(() => collector.spans().filter(({ name }) => name.startsWith('invoke_agent')).length === 4);
  const spans = [...collector.spans()].sort((a, b) => a.start - b.start);
  const parents = [opening, ...seen].map(({ _meta }) => _meta.traceparent);
  expect(parents).toEqual(spans.filter(({ name }) => !name.startsWith('start')).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
  expect(spans.at(-1)?.parentSpanId).toBe('b7ad6b7169203331');
  expect(seen.map(({ _meta, ...others }) => [Object.keys(_meta as object).sort(), Object.keys(others)])).toEqual([
    [['traceparent'], ['sessionId', 'prompt']],
    [['traceparent'], ['sessionId', 'prompt']],
    [
      ['a', 'traceparent'],
      ['sessionId', 'prompt'],
    ],
    [
      ['b', 'traceparent'],
      ['sessionId', 'prompt'],
    ],
  ]);
  const first = collector.bodies[0];
  expect(first?.headers['x-key']).toBe('key-4711-0815');
  const { attributes } = JSON.parse(first?.text ?? '').resourceSpans[0].resource;
  expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'ours' } });
  expect(attributes).toContainEqual({ key: 'team', value: { stringValue: 'a b' } });
  await client.close();
  expect(collector.metrics().get('switchboard_turns{agent=claude,outcome=end_turn}')).toBe(4);
});
