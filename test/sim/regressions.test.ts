// Races that seeds of the simulator have found, each told as the shortest conversation that shows it. The seed is in the comment.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { choosing, type Json, open } from '../e2e/harness.ts';
import { type Actor, able, CWD, connected, connection } from '../proxy/actors.ts';

const elicitation = (sessionId: string, elicitationId: string): Json => ({
  ...{ sessionId, elicitationId, mode: 'url', url: 'https://example.com', message: 'Sign in' },
});
const completed = (peer: { all(method: string): readonly { readonly msg: Json }[] }): readonly string[] =>
  peer.all('elicitation/complete').map(({ msg }) => msg.params.elicitationId);

// 77001024
test('an agent that uses an elicitation id twice completes its own two, and never the one of another agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const editor = await connected([left, right]);
  editor.on('elicitation/create', () => ({ action: 'accept' }));
  const ask = async (agent: Actor) => {
    const { id } = await open(editor, CWD, agent.name);
    await agent.call('elicitation/create', elicitation(id, 'e1'));
  };
  for (const agent of [left, right, right]) await ask(agent);
  expect(editor.all('elicitation/create').map(({ msg }) => msg.params.elicitationId)).toEqual(['e1', 'e1~right', 'e1~right']);
  for (let left = 3; left > 0; left--) right.notify('elicitation/complete', { elicitationId: 'e1' });
  await ask(right); // behind all of that, under a name that is free again
  expect(completed(editor)).toEqual(['e1~right', 'e1~right']);
  left.notify('elicitation/complete', { elicitationId: 'e1' });
  await editor.got('elicitation/complete', ({ elicitationId }) => elicitationId === 'e1');
});

test('a single agent may complete an elicitation that nobody has heard of', async () => {
  const only = able('only');
  const editor = await connected([only]);
  await open(editor, CWD);
  only.notify('elicitation/complete', { elicitationId: 'e1' });
  await editor.got('elicitation/complete', ({ elicitationId }) => elicitationId === 'e1');
});

// 77002559
test('a client that hangs up before the line feed of a session/new starts no agent and opens no session', async () => {
  const [left, right] = [able('left'), able('right')];
  const toProxy = new PassThrough();
  const { editor, connection: proxy } = await connection([left, right], {}, { fromClient: toProxy });
  await open(editor, CWD, 'left');
  const params = { cwd: CWD, mcpServers: [], ...choosing('right') };
  const before = left.seen.length + right.seen.length;
  toProxy.end(JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'session/new', params }));
  const { msg } = await editor.until(({ id }) => id === 'last');
  expect(msg.error.message).toContain('shutting down');
  await proxy.ended;
  expect(left.seen.length + right.seen.length).toBe(before);
  await proxy.stop();
});
