// An agent that refuses to resume a session and can load it: the session is recovered, and its replay is withheld.
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/agents/options.ts';
import { open, prompt, Refusal, UNANSWERED } from '../../e2e/harness.ts';
import type { Peer } from '../../e2e/peer.ts';
import { ALL_CAPABILITIES } from '../../e2e/scripted-agent.ts';
import { createStillClock } from '../../faults/in-process.ts';
import { type Actor, able, CWD, chunk, connected, connection, end } from '../actors.ts';

/** Refuses every resume; replays what it loads. */
function onlyLoads(name: string, code = -32603): Actor {
  const actor = able(name);
  actor.on('session/resume', () => {
    throw new Refusal(code, 'not like this');
  });
  actor.on('session/load', ({ sessionId }) => {
    actor.notify('session/update', { sessionId, update: chunk('of old; ') });
    return {};
  });
  return actor;
}

test('a resume by the client that is refused is tried as a load, whose replay is withheld', async () => {
  const left = onlyLoads('left');
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  expect((await client.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] })).error).toBeUndefined();
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toBe('left heard hello');
  expect([left.all('session/resume').length, left.all('session/load').length]).toEqual([1, 1]);
});

test('a resume for recovery after a crash that is refused is tried as a load too', async () => {
  const left = onlyLoads('left');
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toBe('left heard hello');
});

test('a connection that breaks during the recovery does not make the session lost: the error says so, and the next prompt recovers it', async () => {
  const left = able('left');
  const gone = () => left.exit({ kind: 'disconnected', why: 'host "h" is gone' });
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  gone();
  left.on('session/resume', () => {
    gone();
    return UNANSWERED;
  });
  const { error } = await prompt(client, id, 'hello');
  expect([error.data.reason, error.data.retryable, error.message]).toEqual(['disconnected', true, expect.stringContaining('host "h"')]);
  left.on('session/resume', () => ({}));
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
});

test.each([1, 2])(
  'a notification on a lost session does not start its agent, and is not sent to it later, with %i agents',
  async (count) => {
    const left = able('left');
    const client = await connected([left, able('right')].slice(0, count));
    const { id } = await open(client, CWD, count === 1 ? undefined : 'left');
    left.exit({ kind: 'exited', code: 1, signal: null });
    for (const method of ['_vendor/note', 'session/set_mode']) client.notify(method, { sessionId: id });
    client.line('no json'); // answered by the proxy, behind the notifications
    await client.until((msg) => msg.error?.code === -32700);
    expect(left.all('initialize')).toHaveLength(1);
    expect((await prompt(client, id, 'hello')).result).toEqual(end);
    client.notify('_vendor/note', { sessionId: id, again: true });
    await left.got('_vendor/note', ({ again }) => again === true);
    expect([left.all('initialize').length, left.all('_vendor/note').length, left.all('session/set_mode')]).toEqual([2, 1, []]);
  },
);

test('an agent that requires a login is not asked again by another method, and its error is forwarded', async () => {
  const left = onlyLoads('left', -32000);
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  const { error } = await client.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: 'not like this' });
  expect(left.all('session/load')).toEqual([]);
});

test('if both methods are refused, the last error is forwarded', async () => {
  const left = onlyLoads('left');
  left.on('session/load', () => {
    throw new Refusal(-32002, 'no such session');
  });
  const client = await connected([left, able('right')]);
  const { id } = await open(client, CWD, 'left');
  const { error } = await client.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] });
  expect(error).toMatchObject({ code: -32002, message: 'no such session' });
});

test('with one agent, its refusal is forwarded', async () => {
  const only = onlyLoads('only');
  const client = await connected([only]);
  const { id } = await open(client, CWD);
  expect((await client.request('session/resume', { sessionId: id, cwd: CWD, mcpServers: [] })).error.message).toBe('not like this');
  expect(only.all('session/load')).toEqual([]);
});

describe('a session whose recovery takes long', () => {
  /** Crashed, asked to load the session again, and silent for as long as a prompt waits. */
  async function slow(options: Partial<AgentOptions> = {}, others: readonly Actor[] = [able('right')]) {
    const clock = createStillClock();
    const { resume: _, ...sessionCapabilities } = ALL_CAPABILITIES.sessionCapabilities;
    const left = able('left', { ...ALL_CAPABILITIES, sessionCapabilities });
    const { client, notices } = await connection([left, ...others], options, { clock });
    const { id } = await open(client, CWD, others.length > 0 ? 'left' : undefined);
    left.exit({ kind: 'exited', code: 1, signal: null });
    left.on('session/load', () => UNANSWERED);
    const turn = prompt(client, id, 'hello', 'turn');
    const asked = await left.got('session/load');
    return { clock, left, client, id, turn, load: asked.msg, notices };
  }
  /** A round trip with the agent. */
  const settled = (client: Peer) => client.call('session/list', {});

  test.each([
    [500, 30_000],
    [45_000, 45_000],
  ])('with %i ms for initialize, a prompt waits %i ms, and the error names the setting', async (initialize_ms, limitMs) => {
    const { clock, client, id, turn } = await slow({ timeouts: { initialize_ms } });
    clock.advance(limitMs - 1);
    expect(client.answersTo('turn')).toEqual([]);
    clock.advance(1);
    const { message, data } = (await turn).error;
    expect(message).toContain(`no response to session/load within ${limitMs} ms`);
    expect(message).toContain('agent_servers.left.timeouts.initialize_ms');
    expect(data).toMatchObject({ sessionId: id, agent: 'left', reason: 'session_not_back' });
  });

  test('is recovered by the late answer, and the replay stays withheld', async () => {
    const { clock, left, client, id, turn, load } = await slow();
    clock.advance(30_000);
    expect((await turn).error.data.reason).toBe('session_not_back');
    left.notify('session/update', { sessionId: id, update: chunk('of old; ') });
    left.reply(load, {});
    left.notify('session/update', { sessionId: id, update: chunk('of now; ') });
    await client.until((msg) => msg.params?.update?.content?.text === 'of now; ');
    expect((await prompt(client, id, 'again')).result).toEqual(end);
    expect(client.agentText(id)).toBe('of now; left heard again');
    expect(left.all('session/load')).toHaveLength(1);
  });

  test.each(['several agents', 'one agent'])(
    'with %s, gets a second prompt that waits for the same load, and a third that loads again',
    async (company) => {
      const { clock, left, client, id, turn, load } = await slow({}, company === 'one agent' ? [] : [able('right')]);
      clock.advance(30_000);
      expect((await turn).error.data.reason).toBe('session_not_back');
      const [second, behind] = [prompt(client, id, 'second'), prompt(client, id, 'behind it')];
      await settled(client);
      expect(left.all('session/load')).toHaveLength(1);
      clock.advance(30_000);
      expect((await second).error.data.reason).toBe('session_not_back');
      await settled(client);
      const [, anew, ...more] = left.all('session/load');
      expect(more).toEqual([]);
      left.reply(load, {}); // the abandoned load: updates stay withheld while the other one replays
      left.notify('session/update', { sessionId: id, update: chunk('of old; ') });
      left.reply(anew?.msg, {});
      expect((await behind).result).toEqual(end);
      expect(client.agentText(id)).toBe('left heard behind it');
      expect(left.all('session/prompt')).toHaveLength(1);
    },
  );

  test('is waited for while its agent still replays', async () => {
    const { clock, left, client, id, turn, load } = await slow();
    for (const _ of [1, 2, 3]) {
      clock.advance(29_000);
      left.notify('session/update', { sessionId: id, update: chunk('of old; ') });
      await settled(client);
    }
    left.reply(load, {});
    expect((await turn).result).toEqual(end);
    expect(client.agentText(id)).toBe('left heard hello');
  });

  test('is loaded again by the next prompt after a late refusal', async () => {
    const { clock, left, client, id, turn, load } = await slow();
    clock.advance(30_000);
    await turn;
    left.send({ jsonrpc: '2.0', id: load.id, error: { code: -32603, message: 'no' } });
    await settled(client);
    left.on('session/load', () => ({}));
    expect((await prompt(client, id, 'again')).result).toEqual(end);
  });

  test('stays closed if it is closed meanwhile, and is closed at the agent that opened it late', async () => {
    const { clock, left, client, id, turn, load, notices } = await slow();
    clock.advance(30_000);
    await turn;
    await client.call('session/close', { sessionId: id });
    left.reply(load, {});
    left.notify('session/update', { sessionId: id, update: chunk('of old; ') });
    await settled(client);
    expect(client.agentText(id)).toBe('');
    expect(left.all('session/close').map(({ msg }) => msg.params)).toEqual([{ sessionId: id }]);
    expect(notices.filter((text) => text.includes('failed'))).toEqual([]);
  });
});
