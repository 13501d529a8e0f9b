// Pieces of a message that come in one chunk pass at once where nothing looks at them, and one by one elsewhere. The client cannot tell.
import { expect, test } from 'vitest';
import { type Json, open, prompt } from '../e2e/harness.ts';
import { type Actor, able, CWD, chunk, connection, end } from './actors.ts';

const WORDS = Array.from({ length: 50 }, (_, k) => `word ${k} "é"\n`);
const line = (sessionId: string, update: Json) =>
  `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })}\n`;

/** An agent that says all words of a turn in one write. */
function talking(name: string, also: readonly Json[] = []): Actor {
  const actor = able(name);
  actor.on('session/prompt', ({ sessionId }) => {
    const updates = WORDS.flatMap((words, k) => [chunk(words), ...(k === 25 ? also : [])]);
    actor.write(updates.map((update) => line(sessionId, update)).join(''));
    return end;
  });
  return actor;
}

test('all of them reach the client in order, before the answer', async () => {
  const { client } = await connection([talking('a')]);
  const { id } = await open(client, CWD);
  for (let turn = 1; turn <= 3; turn++) {
    expect((await prompt(client, id, 'talk')).result).toEqual(end);
    expect(client.agentText(id)).toBe(WORDS.join('').repeat(turn));
  }
});

test('an update among them that the proxy acts on keeps its place', async () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'reads', status: 'completed' };
  const { client } = await connection([talking('a', [call])]);
  const { id } = await open(client, CWD);
  await prompt(client, id, 'talk');
  await prompt(client, id, 'talk');
  const kinds = client.seen.filter(({ msg }) => msg.method === 'session/update').map(({ msg }) => msg.params.update.sessionUpdate);
  const one = [...Array(26).fill('agent_message_chunk'), 'tool_call', ...Array(24).fill('agent_message_chunk')];
  expect(kinds.filter((kind) => kind === 'tool_call' || kind === 'agent_message_chunk')).toEqual([...one, ...one]);
});

test('the client gets them under its own id where two agents gave out the same one', async () => {
  const { client } = await connection([talking('left'), talking('right')]);
  const left = await open(client, CWD, 'left');
  const right = await open(client, CWD, 'right');
  expect(left.id).not.toBe(right.id);
  for (const { id } of [left, right, left, right]) await prompt(client, id, 'talk');
  for (const { id } of [left, right]) expect(client.agentText(id)).toBe(WORDS.join('').repeat(2));
});

test('those of a session that the client has closed do not reach it', async () => {
  const agent = talking('a');
  const { client } = await connection([agent, able('b')]);
  const { id } = await open(client, CWD, 'a');
  await prompt(client, id, 'talk');
  await client.call('session/close', { sessionId: id });
  agent.write(WORDS.map((words) => line(id, chunk(words))).join(''));
  const other = await open(client, CWD, 'a');
  expect((await prompt(client, other.id, 'talk')).result).toEqual(end);
  expect(client.agentText(id)).toBe(WORDS.join(''));
});

/** An agent whose turns are empty. */
function quiet(name: string): Actor {
  const actor = able(name);
  actor.on('session/prompt', () => end);
  return actor;
}
/** The words in turns for each session, in one write, twice: in the first one the proxy may not know the sessions yet. */
function alternate(agent: Actor, ids: readonly string[]): void {
  for (let n = 0; n < 2; n++) agent.write(WORDS.flatMap((words) => ids.map((id) => line(id, chunk(`${words}${id}`)))).join(''));
}
const ofBoth = (id: string) =>
  WORDS.map((words) => `${words}${id}`)
    .join('')
    .repeat(2);

test('those of sessions that alternate reach the client in order, each in its own session', async () => {
  const agent = quiet('a');
  const { client } = await connection([agent]);
  const ids = [(await open(client, CWD)).id, (await open(client, CWD)).id];
  alternate(agent, ids);
  await prompt(client, ids[0] as string, 'wait');
  for (const id of ids) expect(client.agentText(id)).toBe(ofBoth(id));
  const order = client.seen.filter(({ msg }) => msg.method === 'session/update').map(({ msg }) => msg.params.sessionId);
  expect(order).toEqual(
    Array(2 * WORDS.length)
      .fill(ids)
      .flat(),
  );
});

test('a session among them that the client has closed stays silent, and the others do not', async () => {
  const agent = quiet('a');
  const { client } = await connection([agent, able('b')]);
  const ids = [(await open(client, CWD, 'a')).id, (await open(client, CWD, 'a')).id] as const;
  alternate(agent, ids);
  await prompt(client, ids[0], 'wait');
  await client.call('session/close', { sessionId: ids[1] });
  alternate(agent, ids);
  await prompt(client, ids[0], 'wait');
  expect(client.agentText(ids[0])).toBe(ofBoth(ids[0]).repeat(2));
  expect(client.agentText(ids[1])).toBe(ofBoth(ids[1]));
});
