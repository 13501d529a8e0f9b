// Irregular time: a clock that is set, a machine that slept, a blocked event loop.

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';
import { watchEventLoop } from '../../src/cli/acp.ts';
import { choosing, fixture, open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { end, noticed, pidIn, test } from './setup.ts';

const CLOCK_JUMPS = pathToFileURL(path.resolve(import.meta.dirname, '../fixtures/clock-jumps.mjs')).href;

test.concurrent('row 31: a clock that jumps by years neither fires nor stops a timer, and sessions continue', async ({ stage }) => {
  const hangs = stage.agent('hangs', { turn: () => UNANSWERED });
  const agents = {
    well: fixture('well-behaved', 'well'),
    sick: { ...fixture('silent-initialize', 'sick', '1'), timeouts: { initialize_ms: 2500 } },
    hangs: { ...hangs.server, timeouts: { cancel_ms: 300 } },
  };
  const client = await stage.connect(agents, {
    config: { timeouts: { initialize_wait_ms: 1 } },
    env: { NODE_OPTIONS: `--import=${CLOCK_JUMPS}` },
  });
  const refusedNew = () => client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing('sick') });
  expect((await refusedNew()).data.reason).toBe('no_initialize');
  const waiting = await refusedNew();
  expect(waiting.data).toMatchObject({ reason: 'backing-off', retryInMs: expect.toSatisfy((ms: number) => ms > 0 && ms <= 1000) });
  await delay(waiting.data.retryInMs);
  await open(client, stage.cwd, 'sick');

  const { id } = await open(client, stage.cwd, 'hangs');
  const turn = prompt(client, id, 'go');
  await hangs.got('session/prompt');
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result).toEqual({ stopReason: 'cancelled' });
  const well = await open(client, stage.cwd, 'well');
  expect((await prompt(client, well.id, 'count 5')).result).toEqual({ stopReason: 'end_turn' });
  expect(await client.close()).toBe(0);
});

test.concurrent('row 31: after proxy and agent were suspended the turn continues', async ({ stage }) => {
  const client = await stage.connect({ one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') });
  const { id } = await open(client, stage.cwd, 'one');
  const turn = prompt(client, id, 'count 3000');
  await client.until((msg) => msg.params?.update?.content?.text === '10 ');
  const suspended = [client.child.pid as number, pidIn(id)];
  for (const pid of suspended) end(pid, 'SIGSTOP');
  await delay(300);
  for (const pid of suspended.toReversed()) end(pid, 'SIGCONT');
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe(Array.from({ length: 3000 }, (_, n) => `${n + 1} `).join(''));
});

test('row 34: a loop blocked for more than a second is reported, a slow one is not, and nothing after the end', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let nowMs = 0;
  const now = vi.spyOn(process, 'uptime').mockImplementation(() => nowMs / 1000);
  try {
    const blocked: number[] = [];
    const stop = watchEventLoop((ms) => blocked.push(ms));
    const pass = (ms: number) => {
      nowMs += ms;
      vi.advanceTimersToNextTimer();
    };
    for (const ms of [500, 500, 1499, 3700, 500]) pass(ms);
    expect(blocked).toEqual([3200]);
    stop();
    pass(10_000);
    expect(blocked).toEqual([3200]);
  } finally {
    now.mockRestore();
    vi.useRealTimers();
  }
});

test.concurrent('row 34: the report names the last frame, by method and size', async ({ stage }) => {
  const agent = stage.agent('one');
  const client = await stage.connect([agent]);
  await open(client, stage.cwd);
  client.notify('_x/last', { fill: 'f'.repeat(5000) });
  await agent.got('_x/last');
  end(client.child.pid as number, 'SIGSTOP');
  await delay(2000);
  end(client.child.pid as number, 'SIGCONT');
  await noticed(client, /event loop was blocked for \d+ ms.*_x\/last.*5\d{3}/);
});
