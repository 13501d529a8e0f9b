// Too long, too much, too late, twice: what an agent may do for a while, and what happens then. Time stands still unless a test advances
// it.
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createTrafficWarnings } from '../../src/proxy/traffic-warnings.ts';
import { open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { able, CWD, cancelled, chunk, connection, end } from '../proxy/actors.ts';
import { connectInProcess, createStillClock } from './in-process.ts';

const MB = 1024 * 1024;

describe('row 6: with on_stall end', () => {
  const options = { on_stall: 'end', timeouts: { stall_ms: 60_000, cancel_ms: 10_000 } } as const;

  test('an agent that does not end a silent turn after a cancel is ended, and its session is recovered', async () => {
    const clock = createStillClock();
    const [left, right] = [able('left'), able('right')];
    const { client, notices } = await connection([left, right], options, { clock });
    const { id } = await open(client, CWD, 'left');
    left.on('session/prompt', () => UNANSWERED);
    const turn = prompt(client, id, 'hang');
    await left.got('session/prompt');
    clock.advance(60_000);
    await left.got('session/cancel');
    clock.advance(10_000);
    expect((await turn).result).toEqual(cancelled);
    expect(notices.filter((text) => /"left" was stopped: its turn was silent/.test(text))).toHaveLength(1);
    left.on('session/prompt', () => end);
    expect((await prompt(client, id, 'again')).result).toEqual(end);
    expect(left.all('session/resume')).toHaveLength(1);
  });

  test('one that ends it is left running', async () => {
    const clock = createStillClock();
    const left = able('left');
    const { client, notices } = await connection([left], options, { clock });
    const { id } = await open(client, CWD);
    left.on('session/prompt', () => UNANSWERED);
    const turn = prompt(client, id, 'hang');
    const received = await left.got('session/prompt');
    clock.advance(60_000);
    await left.got('session/cancel');
    left.reply(received.msg, cancelled);
    expect((await turn).result).toEqual(cancelled);
    clock.advance(60_000);
    expect(notices).toEqual([]);
    left.on('session/prompt', () => end);
    expect((await prompt(client, id, 'again')).result).toEqual(end);
  });
});

test('row 11: a frame of more than 1 MB passes, with one warning', async () => {
  const clock = createStillClock();
  const notices: string[] = [];
  const watch = createTrafficWarnings(clock, 'agent "left"', (text) => notices.push(text));
  for (const bytes of [1000, MB, MB + 1, 5 * MB]) watch(bytes);
  expect(notices).toEqual([expect.stringMatching(/^agent "left" sent a frame of 1048577 bytes; it was passed on/)]);
});

test('row 14: an agent that reuses the id of a pending request gets -32600, and the request stays pending', async () => {
  const [left, right] = [able('left'), able('right')];
  const { client } = await connection([left, right]);
  const { id } = await open(client, CWD, 'left');
  const ask = (words: string) => left.send({ jsonrpc: '2.0', id: 'q', method: '_vendor/ask', params: { sessionId: id, words } });
  client.on('_vendor/ask', () => UNANSWERED);
  ask('first');
  const first = await client.got('_vendor/ask');
  ask('second');
  const refused = await left.until((msg) => msg.id === 'q');
  expect(refused.msg.error).toMatchObject({ code: -32600, message: expect.stringContaining('id "q" is still open') });
  client.reply(first.msg, { words: 'yes' });
  expect((await left.until((msg) => msg.id === 'q' && msg.result)).msg.result).toEqual({ words: 'yes' });
  ask('third'); // free again
  await client.got('_vendor/ask', ({ words }) => words === 'third');
  expect(client.all('_vendor/ask', ({ words }) => words === 'second')).toEqual([]);
});

describe('row 21: an agent that reads nothing for 60 s', () => {
  /** Answers initialize and session/new, and reads further only when the test says so. */
  function slow(clock: ReturnType<typeof createStillClock>) {
    const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
    const send = (message: object) => fromAgent.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const process = { toAgent, fromAgent, pid: undefined, stderrTail: () => [], stop: async () => {}, kill() {}, onExit() {} };
    const made = connectInProcess({ agents: { slow: { command: 'slow' } }, launch: () => process, clock });
    const initialized = made.client.call('initialize', { protocolVersion: 1 });
    send({ id: 0, result: { protocolVersion: 1, agentCapabilities: {} } });
    return { ...made, toAgent, send, initialized };
  }

  test('is ended, and its pending requests get the reason', async () => {
    const clock = createStillClock();
    const { client, initialized } = slow(clock);
    await initialized;
    const turn = prompt(client, 's', 'w'.repeat(100_000));
    const next = prompt(client, 's', 'more');
    client.notify('_vendor/behind', {});
    await client.refused('initialize', {}).catch(() => {}); // a round trip: the agent has everything that was sent
    clock.advance(59_999);
    clock.advance(1);
    expect((await turn).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('read none of its input'),
      data: { agent: 'slow' },
    });
    expect((await next).error.data.reason).toBe('not_reading');
  });

  test('while one that reads a little is only slow', async () => {
    const clock = createStillClock();
    const { client, initialized, toAgent, send, connection: made } = slow(clock);
    await initialized;
    const turn = prompt(client, 's', 'w'.repeat(20_000));
    void prompt(client, 's', 'w'.repeat(20_000));
    await client.refused('initialize', {}).catch(() => {});
    clock.advance(50_000);
    toAgent.read(); // initialize
    toAgent.read();
    clock.advance(10_000);
    expect(made.health().slow?.state).toBe('ready');
    send({ id: 1, result: end });
    expect((await turn).result).toEqual(end);
  });
});

test('row 24: a flood of frames causes one warning, and as many frames in a longer time cause none', () => {
  const clock = createStillClock();
  const notices: string[] = [];
  const watch = createTrafficWarnings(clock, 'agent "left"', (text) => notices.push(text));
  const send = (frames: number, ms: number) => {
    for (let n = 0; n < frames; n++) watch(100);
    clock.advance(ms);
  };
  for (let n = 0; n < 30; n++) send(1000, 1000);
  expect(notices).toEqual([]);
  for (let n = 0; n < 30; n++) send(5000, 1000);
  expect(notices).toEqual([expect.stringMatching(/^agent "left" sent 20000 frames within \d+ s/)]);
});

test('row 24: flooding frames are not dropped', async () => {
  const left = able('left');
  const { client } = await connection([left]);
  const { id } = await open(client, CWD);
  let received = 0;
  client.sift((line) => line.includes('agent_message_chunk') && received++ >= 0);
  left.on('session/prompt', ({ sessionId }) => {
    for (let n = 0; n < 3000; n++) left.notify('session/update', { sessionId, update: chunk(String(n)) });
    return end;
  });
  await prompt(client, id, 'go');
  expect(received).toBe(3000);
});
