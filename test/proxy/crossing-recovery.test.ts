// Requests that cross the recovery of a session.
import { expect, test } from 'vitest';
import { open, type Peer, prompt, Refusal, UNANSWERED } from '../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { createStillClock, type StillClock } from '../faults/in-process.ts';
import { type Actor, able, CWD, cancelled, chunk, connected, connection, end } from './actors.ts';

test('a session that is closed during its recovery is not recovered by another method', async () => {
  const agents = [able('left'), able('right')] as const;
  const [left] = agents;
  const client = await connected(agents);
  const { id } = await open(client, CWD, 'left');
  left.on('session/resume', () => UNANSWERED);
  left.exit({ kind: 'exited', code: 1, signal: null });
  const turn = prompt(client, id, 'hello');
  const asked = await left.got('session/resume');
  await client.call('session/close', { sessionId: id });
  expect((await turn).result).toEqual(cancelled);
  left.send({ jsonrpc: '2.0', id: asked.msg.id, error: { code: -32603, message: 'no' } });
  await client.call('session/list', {}); // a round trip
  expect(left.all('session/load')).toEqual([]);
});

/** A prompt on a session whose recovery exceeds the time limit. */
async function waitInVain(client: Peer, agent: Actor, clock: StillClock, id: string): Promise<void> {
  const turn = prompt(client, id, 'hello');
  await agent.got('session/load');
  await client.call('session/list', {}); // after the prompt
  clock.advance(30_000);
  expect((await turn).error.data.reason).toBe('session_not_back');
}

test.each(['a load of the editor’s', 'another prompt'])(
  'a session whose recovery was given up sends updates again when it is recovered by %s',
  async (way) => {
    const clock = createStillClock();
    const { sessionCapabilities, ...rest } = ALL_CAPABILITIES;
    const { resume: _, ...others } = sessionCapabilities;
    const left = able('left', { ...rest, sessionCapabilities: others });
    const { client } = await connection([left, able('right')], {}, { clock });
    const { id } = await open(client, CWD, 'left');
    left.on('session/load', () => UNANSWERED);
    left.exit({ kind: 'exited', code: 1, signal: null });
    await waitInVain(client, left, clock, id);
    await waitInVain(client, left, clock, id);
    left.on('session/load', ({ sessionId }) => {
      left.notify('session/update', { sessionId, update: chunk('from before') });
      return {};
    });
    if (way === 'another prompt') {
      expect((await prompt(client, id, 'again')).result).toEqual(end);
      expect(client.agentText(id)).toContain('left heard again');
      expect(client.agentText(id)).not.toContain('from before');
    } else {
      await client.call('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
      expect(client.agentText(id)).toContain('from before');
    }
  },
);

test('the replay of a recovery that was given up stays withheld if the next recovery is refused', async () => {
  const clock = createStillClock();
  const { sessionCapabilities: _, ...rest } = ALL_CAPABILITIES;
  const left = able('left', rest);
  const { client } = await connection([left, able('right')], {}, { clock });
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  left.exit({ kind: 'exited', code: 1, signal: null });
  await waitInVain(client, left, clock, id);
  await waitInVain(client, left, clock, id);
  const given = await left.got('session/load');
  left.on('session/load', () => {
    throw new Refusal(-32603, 'not now');
  });
  expect((await prompt(client, id, 'again')).error.data.reason).toBe('session_lost');
  left.notify('session/update', { sessionId: id, update: chunk('from before') });
  left.reply(given.msg, {});
  await client.call('session/list', {}); // a round trip
  expect(client.agentText(id)).toBe('');
});
