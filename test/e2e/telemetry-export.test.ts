// What leaves the process: to collectors that fail, of clients that leave, of agents elsewhere, and that none of it is content.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { expect } from 'vitest';
import { called, mcpAgent } from '../mcp/tool-sessions.ts';
import { type Behaviour, type Collector, outline, type ReceivedSpan, startCollector } from '../telemetry/collector.ts';
import { type Client, fixture, type Json, open, prompt, Refusal, type Stage, SWITCHBOARD, testAtOnce as test } from './harness.ts';
import { overWebSocket } from './remote-agent.ts';

type OnFinished = (end: () => Promise<void>) => void;

async function started(onTestFinished: OnFinished, behaviour?: Behaviour): Promise<Collector> {
  const collector = await startCollector(behaviour);
  onTestFinished(collector.close);
  return collector;
}
const envFor = ({ url }: Collector): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '10',
  OTEL_METRIC_EXPORT_INTERVAL: '50',
});
const turnsIn = (collector: Collector): readonly ReceivedSpan[] => collector.spans().filter(({ name }) => name.startsWith('invoke_agent'));
const traceOf = (collector: Collector, span: ReceivedSpan | undefined): string[] =>
  outline(collector.spans().filter(({ traceId }) => traceId === span?.traceId));

/** A proxy whose traces go to a collector that fails, and whose metrics go to one that works. */
async function withFailing(stage: Stage, onTestFinished: OnFinished, behaviour: Behaviour, more: Record<string, string> = {}) {
  const [traces, metrics] = [await started(onTestFinished, behaviour), await started(onTestFinished)];
  const env = { ...envFor(metrics), OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${traces.url}/v1/traces`, ...more };
  const client = await stage.connect([stage.agent('claude')], { env, config: { host_tools: { enabled: false } } });
  const { id } = await open(client, stage.cwd);
  const work = async (turns: number) => {
    for (let n = 0; n < turns; n++) expect((await prompt(client, id, 'hello')).result.stopReason).toBe('end_turn');
  };
  const count = (name: string) => metrics.metrics().get(name) ?? 0;
  return { traces, metrics, client, work, count };
}
const TURNS = 10;
/** The start of the agent, `session/new`, and the turns. */
const SPANS = TURNS + 2;

test.for<[string, Behaviour]>([
  ['503', 503],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }],
  ['nothing, and closes', 'close'],
])(
  'a collector that answers %s delays no turn, and gets everything once when it works',
  async ([, behaviour], { stage, onTestFinished }) => {
    const { traces, client, work, count } = await withFailing(stage, onTestFinished, behaviour);
    await work(TURNS);
    await traces.until(() => traces.bodies.length > 0);
    traces.answer(200);
    await traces.until(() => traces.spans().length === SPANS);
    await client.close();
    const ids = traces.spans().map(({ spanId }) => spanId);
    expect([ids.length, new Set(ids).size]).toEqual([SPANS, SPANS]);
    expect(count('switchboard_telemetry_exported{signal=traces}')).toBe(SPANS);
    expect(client.stderr().match(/the collector at .* does not take traces/g)).toHaveLength(1);
  },
);

test('a collector that never answers delays no turn; what its queue does not hold is counted exactly', async ({
  stage,
  onTestFinished,
}) => {
  const limits = { OTEL_BSP_MAX_QUEUE_SIZE: '5', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5' };
  const { traces, metrics, client, work, count } = await withFailing(stage, onTestFinished, 'hang', limits);
  await work(TURNS);
  await metrics.until(() => count('switchboard_telemetry_dropped{signal=traces,reason=queue_full}') === SPANS - 5);
  expect(count('switchboard_queue_length{queue=spans}')).toBe(5);
  expect(traces.bodies).toHaveLength(1);
  await client.close();
  expect(count('switchboard_telemetry_dropped{signal=traces,reason=shutdown}')).toBe(5);
  expect(traces.bodies).toHaveLength(1);
});

test('what a collector answers 400 is counted, and nothing else is lost', async ({ stage, onTestFinished }) => {
  const { traces, client, work, count } = await withFailing(stage, onTestFinished, 400);
  await work(TURNS);
  await traces.until(() => traces.bodies.length > 0);
  traces.answer(200);
  await work(TURNS);
  await client.close();
  const rejected = count('switchboard_telemetry_dropped{signal=traces,reason=rejected}');
  expect(rejected).toBeGreaterThan(0);
  expect(rejected + traces.spans().length).toBe(SPANS + TURNS);
  expect(count('switchboard_telemetry_exported{signal=traces}')).toBe(traces.spans().length);
});

test('a collector that is down delays no turn and no end', async ({ stage }) => {
  const gone = await startCollector();
  await gone.close();
  const client = await stage.connect([stage.agent('claude')], { env: envFor(gone), config: { host_tools: { enabled: false } } });
  const { id } = await open(client, stage.cwd);
  for (let n = 0; n < TURNS; n++) expect((await prompt(client, id, 'hello')).result.stopReason).toBe('end_turn');
  expect(await client.close()).toBe(0);
});

test('a client that leaves during a turn ends its spans', async ({ stage, onTestFinished }) => {
  const collector = await started(onTestFinished);
  const agent = stage.agent('claude', {
    async turn({ id }) {
      agent.update(id, { sessionUpdate: 'tool_call', toolCallId: 'call-1', title: 't', kind: 'edit', status: 'pending' });
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
      await agent.call('session/request_permission', { sessionId: id, toolCall: { toolCallId: 'call-1' }, options }).catch(() => {});
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent], { env: envFor(collector), config: { host_tools: { enabled: false } } });
  const asked = new Promise<void>((resolve) => client.on('session/request_permission', () => new Promise(() => resolve())));
  const { id } = await open(client, stage.cwd);
  void prompt(client, id, 'work').catch(() => {});
  await asked;
  await collector.until(() => collector.metrics().get('switchboard_queue_length{queue=permissions}') === 1);
  await client.close();
  const [turn] = turnsIn(collector);
  expect(turn).toBeDefined();
  expect(traceOf(collector, turn).map((line) => line.replace(/ !.*/, ''))).toEqual([
    'invoke_agent claude',
    '  execute_tool edit',
    '    permission wait',
  ]);
  expect(collector.metrics().get('switchboard_queue_length{queue=permissions}')).toBe(0);
});

test('a turn of a remote agent has its connection, and one with a tool of an MCP server has the call, also if it fails', async ({
  stage,
  onTestFinished,
}) => {
  const collector = await started(onTestFinished);
  const remote = await overWebSocket(fixture('well-behaved', 'far'), stage.cwd);
  onTestFinished(remote.stop);
  const agents = { asker: mcpAgent('stdio', 'asker'), far: { url: remote.url } as unknown as ReturnType<typeof fixture> };
  const config = {
    host_tools: { files: false, terminal: false, ask_user: false },
    mcp_servers: [{ name: 'docs', ...fixture('mcp-docs') }],
  };
  const client = await stage.connect(agents, { env: envFor(collector), config });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'session' } }));
  const far = await open(client, stage.cwd, 'far');
  await prompt(client, far.id, 'hello');
  remote.cut();
  await prompt(client, far.id, 'hello');
  await prompt(client, far.id, 'again');
  await collector.until(() => turnsIn(collector).some((turn) => traceOf(collector, turn).some((line) => line.includes('connect far'))));
  const recovered = turnsIn(collector).map((turn) => traceOf(collector, turn));
  expect(recovered).toContainEqual(expect.arrayContaining(['invoke_agent far', '  start agent far', '    connect far']));

  const { id } = await open(client, stage.cwd, 'asker');
  await called(client, id, 'docs-search', { query: 'x' });
  await called(client, id, 'docs-die');
  const ofAsker = () => turnsIn(collector).filter(({ name }) => name === 'invoke_agent asker');
  await collector.until(() => ofAsker().length === 2);
  const [search, die] = [...ofAsker()].sort((a, b) => a.start - b.start);
  expect(traceOf(collector, search)).toEqual(['invoke_agent asker', '  tools/call search', '    permission wait']);
  expect(traceOf(collector, die)[1]).toBe('  tools/call die !tool_failed');
  expect(collector.spans().find(({ name }) => name === 'tools/call search')?.attributes).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'search',
    'mcp.method.name': 'tools/call',
    'switchboard.mcp.server': 'docs',
  });
});

test('switchboard mcp pushes its metrics', async ({ stage, onTestFinished }) => {
  const collector = await started(onTestFinished);
  const config = stage.writeConfig({ claude: fixture('well-behaved') });
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'mcp', '--config', config], envFor(collector));
  await collector.until(() => collector.metrics().size > 0);
  expect([...collector.metrics().keys()]).toContain('switchboard_build_info{version=0.2.0}');
  const { attributes } = JSON.parse(collector.bodies[0]?.text ?? '').resourceMetrics[0].resource;
  expect(attributes).toContainEqual({ key: 'service.instance.id', value: { stringValue: expect.stringMatching(/^[0-9a-f-]{36}$/) } });
  child.stdin.end();
  await once(child, 'close');
});

test('prompts, answers, paths and secrets are never exported, wherever they are put', async ({ stage, onTestFinished }) => {
  const collector = await started(onTestFinished);
  const canary = `cnry${randomBytes(12).toString('hex')}`;
  const secret = `sk-ant-${randomBytes(24).toString('hex')}`;
  const all = `${canary} /home/${canary}/x ${secret}`;
  const agent = stage.agent('claude', {
    mint: () => `session/${canary}`,
    async turn({ id }, message) {
      if (message.includes('fail')) throw new Refusal(-32000, all, { reason: canary });
      agent.sendText(id, all);
      for (const toolCallId of ['call-1', `/home/${canary}`, `x ${canary}`, secret]) {
        const about = { toolCallId, title: all, rawInput: { command: all, file_path: `/${canary}` }, locations: [{ path: `/${canary}` }] };
        agent.update(id, { sessionUpdate: 'tool_call', ...about, kind: canary, status: canary });
        agent.update(id, { sessionUpdate: 'tool_call_update', ...about, status: 'completed', content: [] });
      }
      const options = [{ optionId: canary, name: all, kind: canary }];
      await agent.request('session/request_permission', { sessionId: id, toolCall: { toolCallId: canary, title: all }, options });
      await agent.request('fs/read_text_file', { sessionId: id, path: `/home/${canary}` });
      await agent.request(`_${canary}/method`, { sessionId: id, [canary]: canary });
      agent.notify(`_${canary}/note`, { [canary]: canary });
      return { stopReason: canary, usage: { inputTokens: canary, [canary]: 3 }, _meta: { traceparent: canary } };
    },
  });
  const env = {
    ...envFor(collector),
    OUR_API_KEY: secret,
    OTEL_RESOURCE_ATTRIBUTES: `team=x,note=${secret},api_key=${canary}`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${secret}`,
  };
  const policy = { version: 1, default: 'ask', deny: ['read(/home/**)'] };
  const tools = { ...mcpAgent('stdio', 'asker') };
  const client: Client = await stage.connect({ claude: agent, asker: tools }, { env, config: { policy } });
  client.on('session/request_permission', ({ options }: Json) => ({ outcome: { outcome: 'selected', optionId: options[0].optionId } }));
  client.on('fs/read_text_file', () => ({ content: all }));
  client.on(`_${canary}/method`, () => ({ [canary]: canary }));
  const { id } = await open(client, path.join(stage.cwd), 'claude', { _meta: { tracestate: all, traceparent: all } });
  const trace = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  const ask = (words: string, tracestate: string) =>
    client.request('session/prompt', {
      sessionId: id,
      prompt: [{ type: 'text', text: words }],
      _meta: { traceparent: trace, tracestate, baggage: `a=${all}` },
    });
  await ask(all, `vendor=${secret}`);
  await ask(`fail ${all}`, all);
  await client.request(`_${canary}/x`, { [canary]: canary });
  await client.request('session/prompt', { sessionId: `/${canary}`, prompt: [{ type: 'text', text: all }] });
  const asker = await open(client, stage.cwd, 'asker');
  await called(client, asker.id, canary, { [canary]: all }); // a tool that no server has
  await called(client, asker.id, 'read_file', { path: `/home/${canary}` });
  await collector.until(() => turnsIn(collector).length >= 4);
  await client.close();
  const everything = collector.bodies.map(({ text, headers }) => text + JSON.stringify({ ...headers, 'x-key': '' })).join('\n');
  expect(collector.bodies.some(({ headers }) => headers['x-key'] === secret)).toBe(true);
  for (const text of [canary, secret]) {
    expect(everything.includes(text)).toBe(false);
    expect(everything.includes(text.slice(0, 16)), everything.slice(everything.indexOf(text.slice(0, 16)) - 200).slice(0, 300)).toBe(false);
  }
  expect(everything).toContain('execute_tool other');
  expect(client.stderr()).not.toContain(secret);
});
