// Cancelling turns of the demo agents.
import { type AnyMessage, methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Client, isUpdate, only, startClient } from './client.ts';

let builder: Client;
let sessionId: string;
beforeAll(async () => {
  builder = await startClient('builder');
});
afterAll(() => builder.end());
beforeEach(async () => {
  builder.choice = 'allow-once';
  sessionId = await builder.newSession();
});

const cancel = () => builder.agent.notify(methods.agent.session.cancel, { sessionId });
const request = (method: string) => (frame: AnyMessage) =>
  'method' in frame && frame.method === method && (frame.params as { sessionId: string }).sessionId === sessionId;
const chunk = (frame: AnyMessage) =>
  isUpdate(frame) && frame.params.sessionId === sessionId && frame.params.update.sessionUpdate === 'agent_message_chunk';

test('a turn that is sending text stops, and the session continues', async () => {
  const turn = builder.prompt(sessionId, '/slow 60');
  await builder.seen(chunk);
  await cancel();
  const { stopReason, text } = await turn;
  expect(stopReason).toBe('cancelled');
  expect(text).not.toContain('Done.');
  expect((await builder.prompt(sessionId, 'Still there?')).stopReason).toBe('end_turn');
});

test('an open permission request is cancelled, nothing is written, and the tool call does not stay open', async () => {
  builder.choice = 'never';
  const turn = builder.prompt(sessionId, '/edit cancelled.txt');
  await builder.seen(request(methods.client.session.requestPermission));
  await cancel();
  const { stopReason, updates } = await turn;
  expect(stopReason).toBe('cancelled');
  expect(only(updates, 'tool_call_update').at(-1)).toMatchObject({ status: 'failed' });
  expect(builder.files.has('/project/cancelled.txt')).toBe(false);
  const asked = builder.frames.findLast(request(methods.client.session.requestPermission));
  const requestId = asked !== undefined && 'id' in asked ? asked.id : undefined;
  expect(builder.frames).toContainEqual({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId } });
});

test('a permission request answered with cancelled cancels the turn, even before session/cancel arrives', async () => {
  builder.choice = 'cancelled';
  expect((await builder.prompt(sessionId, '/edit cancelled.txt')).stopReason).toBe('cancelled');
  expect(builder.files.has('/project/cancelled.txt')).toBe(false);
});

test('a command that never ends is abandoned and its terminal released', async () => {
  const turn = builder.prompt(sessionId, '/run forever');
  await builder.seen(request(methods.client.terminal.waitForExit));
  await cancel();
  expect((await turn).stopReason).toBe('cancelled');
  expect([...builder.terminals.values()].at(-1)).toEqual({ commandLine: 'forever', released: true });
});

test('a terminal that is not created in time is not waited for, and is released when it arrives', async () => {
  const turn = builder.prompt(sessionId, '/run held');
  await builder.seen(request(methods.client.terminal.create));
  await cancel();
  expect((await turn).stopReason).toBe('cancelled');
  builder.letTerminalsGo();
  await builder.seen(request(methods.client.terminal.release));
});

test('a cancel sent right after the prompt does not overtake it', async () => {
  const turn = builder.prompt(sessionId, '/slow 60');
  await cancel();
  expect((await turn).stopReason).toBe('cancelled');
});

test('a prompt cancelled by $/cancel_request fails with -32800', async () => {
  const withdraw = new AbortController();
  const turn = builder.agent.request(
    methods.agent.session.prompt,
    { sessionId, prompt: [{ type: 'text', text: '/slow 60' }] },
    { cancellationSignal: withdraw.signal },
  );
  await builder.seen(chunk);
  withdraw.abort();
  await expect(turn).rejects.toMatchObject({ code: -32800 });
});

test('cancelling one session does not affect the turn of another', async () => {
  const other = await builder.newSession();
  const otherTurn = builder.prompt(other, '/slow 0.2');
  const turn = builder.prompt(sessionId, '/slow 60');
  await builder.seen(chunk);
  await cancel();
  expect((await turn).stopReason).toBe('cancelled');
  expect((await otherTurn).text).toContain('Done.');
});

test('cancelling when nothing runs is harmless', async () => {
  await cancel();
  await builder.agent.notify(methods.agent.session.cancel, { sessionId: 'builder-unknown' });
  expect((await builder.prompt(sessionId, 'Hello')).stopReason).toBe('end_turn');
});
