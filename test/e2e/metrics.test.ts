// `/metrics` of the daemon: who may read it, and whether its numbers are those of what happened.
import { expect } from 'vitest';
import { connectSocket, createToken, type Daemon, startDaemon } from './daemon.ts';
import { open, prompt, test } from './harness.ts';

async function read({ address }: Daemon, token: string | undefined, method = 'GET') {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${address}/metrics`, { method, headers });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

const numberAt = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

test('answers the roles metrics and owner with the numbers of what happened, and no others', async ({ stage }) => {
  const agent = stage.agent('claude', {
    async turn(session, message) {
      agent.sendText(session.id, 'first');
      if (message === 'ask') {
        const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
        const toolCall = { toolCallId: 'call-1', title: 'CANARY title' };
        await agent.request('session/request_permission', { sessionId: session.id, toolCall, options });
      }
      if (message === 'crash') agent.exit();
      return { stopReason: 'end_turn' };
    },
  });
  const daemon = await startDaemon(stage, [agent], {
    config: { allow_cwd: [stage.dir], policy: { version: 1, default: 'ask' }, host_tools: { enabled: false } },
  });
  const metrics = createToken(stage, 'graphs', 'metrics');
  for (const [token, status] of [
    [undefined, 401],
    ['wrong', 401],
    [createToken(stage, 'laptop'), 403],
    [createToken(stage, 'eyes', 'observer'), 403],
    [createToken(stage, 'me', 'owner'), 200],
    [metrics, 200],
  ] as const)
    expect((await read(daemon, token)).status).toBe(status);
  expect((await read(daemon, metrics, 'POST')).status).toBe(405);

  const client = await connectSocket(daemon, createToken(stage, 'desk'));
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
  const { id: sessionId } = await open(client, stage.cwd);
  await prompt(client, sessionId, 'hello');
  await prompt(client, sessionId, 'ask');
  await prompt(client, sessionId, 'crash');
  await client.request('_vendor/whatever', {});
  const { text, type } = await read(daemon, metrics);
  expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
  const found = (series: string) => numberAt(text, `switchboard_${series}`);
  expect(found('clients')).toBe(1);
  expect(found('turns_total{agent="claude",outcome="end_turn"}')).toBe(2);
  expect(found('turns_total{agent="claude",outcome="error"}')).toBe(1);
  expect(found('turn_duration_seconds_count{agent="claude"}')).toBe(3);
  expect(found('turn_first_update_seconds_count{agent="claude"}')).toBe(3);
  expect(found('permission_wait_seconds_count{agent="claude",outcome="allowed"}')).toBe(1);
  expect(found('requests_total{method="session/new",outcome="ok"}')).toBe(1);
  expect(found('requests_total{method="other",outcome="error"}')).toBe(1);
  expect(found('agent_starts_total{agent="claude"}')).toBe(1);
  expect(found('agent_start_seconds_count{agent="claude"}')).toBe(1);
  expect(found('agent_failures_total{agent="claude",reason="agent_exited"}')).toBe(1);
  expect(found('sessions{agent="claude",state="lost"}')).toBe(1);
  expect(found('decisions_total{surface="session/request_permission",verdict="ask",outcome="allowed"}')).toBe(1);
  expect(found('memory_bytes{kind="rss"}')).toBeGreaterThan(1e6);
  for (const direction of ['from_client', 'to_client', 'from_agent', 'to_agent']) {
    expect(found(`frames_total{direction="${direction}"}`)).toBeGreaterThan(3);
    expect(found(`frame_bytes_total{direction="${direction}"}`)).toBeGreaterThan(100);
  }
  expect(text).not.toMatch(/CANARY|hello|whatever/);

  // The agent comes back; hundreds of sessions later there are the same series.
  const seriesIn = (page: string) => page.split('\n').flatMap((line) => (/^\w/.test(line) ? [line.slice(0, line.lastIndexOf(' '))] : []));
  for (const one of ['a', 'b']) await prompt(client, (await open(client, stage.cwd)).id, one);
  const before = seriesIn((await read(daemon, metrics)).text);
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 50 }, async () => prompt(client, (await open(client, stage.cwd)).id, 'hello')));
  const after = await read(daemon, metrics);
  expect(numberAt(after.text, 'switchboard_turns_total{agent="claude",outcome="end_turn"}')).toBe(504);
  expect(numberAt(after.text, 'switchboard_agent_restarts_total{agent="claude"}')).toBe(1);
  expect(seriesIn(after.text)).toEqual(before);
});

test('is off if the configuration says so', async ({ stage }) => {
  const daemon = await startDaemon(stage, [stage.agent('claude')], { config: { telemetry: { metrics: false } } });
  const { status, text } = await read(daemon, createToken(stage, 'graphs', 'metrics'));
  expect([status, text]).toEqual([404, 'metrics are off: telemetry.metrics is false in the configuration\n']);
});
