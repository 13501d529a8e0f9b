// One id means one session at a time, for whoever has seen it, and frames that name it keep their order.
import { expect, test } from 'vitest';
import { open, UNANSWERED } from '../../e2e/harness.ts';
import { able, CWD, connected } from '../actors.ts';

const PERMISSION = { toolCall: { toolCallId: 't' }, options: [] };
const toRight = (sessionId: string) => ({ sessionId, configId: 'agent', value: 'right' });

// Seed 88101744 of the simulator.
test('an id under which the client shows a request is not given to another session, even if a cancel has answered the agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('session/request_permission', () => UNANSWERED);
  const { id } = await open(client, CWD, 'left');
  right.on('session/new', async () => {
    void right.request('session/request_permission', { sessionId: 's2', ...PERMISSION }, 'early');
    await client.got('session/request_permission');
    return { sessionId: 's2' };
  });
  await client.call('session/set_config_option', toRight(id));
  client.notify('session/cancel', { sessionId: id });
  await right.until((msg) => msg.id === 'early' && msg.method === undefined);
  expect((await open(client, CWD, 'left')).id).toBe('s2~left');
});
