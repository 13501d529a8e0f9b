// A peer that does not read costs bounded memory and affects nobody else.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { fixture, hello, open, prompt, rssMb, type Stage, test } from './harness.ts';

const MB = 1_000_000;
const FRAME_BYTES = 100_000;

/** How many frames `floods` had written when it last had to wait. */
function writtenBy(stage: Stage, agent: string): number {
  const file = path.join(stage.dir, `${agent}.written`);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/** Resolves once the agent is blocked: its count stays the same for a while. */
async function stuck(stage: Stage, agent: string, look: () => void): Promise<void> {
  for (let [before, quietMs] = [-1, 0]; quietMs < 400; quietMs += 20) {
    await delay(20);
    look();
    const now = writtenBy(stage, agent);
    if (now !== before || now === 0) quietMs = 0;
    before = now;
  }
}

test.skipIf(process.platform !== 'linux')(
  'while a client does not read, 200 MB from an agent cost less than 32 MB; then every frame arrives, in order',
  async ({ stage }) => {
    const client = stage.proxy({ flood: fixture('floods', 'flood'), other: fixture('floods', 'other') });
    await hello(client);
    const [session, quiet] = [await open(client, stage.cwd, 'flood'), await open(client, stage.cwd, 'other')];
    let expected = 0;
    let wrong: string | undefined;
    client.sift((line) => {
      const found = /"text":"(\d+):\./.exec(line.slice(0, 300));
      if (!found) return false;
      if (Number(found[1]) !== expected || line.length < FRAME_BYTES) wrong ??= `frame ${found[1]} where ${expected} was due`;
      expected++;
      return true;
    });
    await prompt(client, session.id, `200 ${FRAME_BYTES}`); // so that the proxy has grown to its working size
    expect([expected, wrong]).toEqual([200, undefined]);

    const pid = client.child.pid as number;
    const before = rssMb(pid);
    let peak = before;
    const look = () => {
      peak = Math.max(peak, rssMb(pid));
    };
    expected = 0;
    client.child.stdout.pause();
    const frames = (200 * MB) / FRAME_BYTES;
    const turn = prompt(client, session.id, `${frames} ${FRAME_BYTES}`);
    await stuck(stage, 'flood', look);
    expect(writtenBy(stage, 'flood')).toBeLessThan(frames / 4); // the agent was made to wait
    const whileStopped = peak - before;

    client.child.stdout.resume();
    const sampling = setInterval(look, 20);
    const answer = await turn;
    clearInterval(sampling);
    expect(answer.result).toEqual({ stopReason: 'end_turn' });
    expect([expected, wrong]).toEqual([frames, undefined]);
    expect(whileStopped).toBeLessThan(32);
    expect(peak - before).toBeLessThan(32);
    expect((await prompt(client, quiet.id, 'still there?')).result).toEqual({ stopReason: 'end_turn' });
  },
);

test('an agent that stops reading fails alone once its queue exceeds limits.max_queue_bytes, and others are not affected', async ({
  stage,
}) => {
  const [stalled, well] = [stage.agent('stalled'), stage.agent('well')];
  const client = await stage.connect([stalled, well], { config: { limits: { max_queue_bytes: 2 * MB } } });
  const [sick, other] = [await open(client, stage.cwd, 'stalled'), await open(client, stage.cwd, 'well')];
  stalled.stopReading();
  const turn = prompt(client, sick.id, 'do you hear me?');
  // Far more than the pipes in between hold.
  const received = Array.from({ length: 60 }, () => client.request('_x/fill', { sessionId: sick.id, filling: 'f'.repeat(100_000) }));
  await prompt(client, other.id, 'meanwhile');
  expect(client.agentText(other.id)).toBe('well heard meanwhile');

  const { error } = await turn;
  expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('stalled'), data: { agent: 'stalled' } });
  expect(error.message).toContain(String(2 * MB));
  for (const answer of await Promise.all(received)) expect(answer.error.code).toBeOneOf([-32603, -32601, -32002]); // a fresh process may answer the last ones
  await prompt(client, other.id, 'and after');
  expect(client.agentText(other.id)).toBe('well heard meanwhilewell heard and after');
});

test('an agent that reads slowly loses nothing', async ({ stage }) => {
  const [slow, other] = [stage.agent('slow'), stage.agent('other')];
  slow.on('_x/n', ({ n }) => ({ n }));
  const client = await stage.connect([slow, other]);
  const { id: sessionId } = await open(client, stage.cwd, 'slow');
  slow.stopReading();
  const answers = Promise.all(Array.from({ length: 40 }, (_, n) => client.call('_x/n', { sessionId, n, filling: 'f'.repeat(100_000) })));
  await prompt(client, (await open(client, stage.cwd, 'other')).id, 'meanwhile');
  slow.listen();
  expect((await answers).map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
});
