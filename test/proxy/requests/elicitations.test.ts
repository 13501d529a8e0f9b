// An agent with more concurrent elicitations than a user can answer.
import { expect, test } from 'vitest';
import { type Json, open, UNANSWERED } from '../../e2e/harness.ts';
import { type Actor, able, CWD, connected } from '../actors.ts';

const form = (about: Json): Json => ({ ...about, mode: 'form', message: 'How many?', requestedSchema: { type: 'object', properties: {} } });
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const flood = (agent: Actor, about: Json) => upTo(33).map(() => agent.request('elicitation/create', form(about)));

test('32 elicitations of a session reach the user at once; the next is refused, other sessions may ask, and so may this one later', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('elicitation/create', () => UNANSWERED);
  const [{ id }, other] = [await open(client, CWD, 'left'), await open(client, CWD, 'left')];
  const asked = flood(left, { sessionId: id });
  expect((await asked[32]).error).toEqual({
    code: -32603,
    message: 'Too many elicitations are open in this session (limit 32); wait until one completes',
    data: { reason: 'too_many_open', retryable: true },
  });
  const elsewhere = left.request('elicitation/create', form({ sessionId: other.id }));
  const { msg } = await client.got('elicitation/create', ({ sessionId }) => sessionId === other.id);
  client.reply(msg, { action: 'decline' });
  expect((await elsewhere).result).toEqual({ action: 'decline' });

  const put = client.all('elicitation/create', ({ sessionId }) => sessionId === id);
  expect(put).toHaveLength(32);
  for (const one of put) client.reply(one.msg, { action: 'accept', content: {} });
  const answers = await Promise.all(asked.slice(0, 32));
  expect(answers.map(({ result }) => result)).toEqual(upTo(32).map(() => ({ action: 'accept', content: {} })));
  client.on('elicitation/create', () => ({ action: 'cancel' }));
  expect((await left.request('elicitation/create', form({ sessionId: id }))).result).toEqual({ action: 'cancel' });
});

test('the same limit applies before there is a session', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  client.on('elicitation/create', () => UNANSWERED);
  left.on('session/new', () => UNANSWERED);
  const opening = open(client, CWD, 'left');
  const { msg } = await left.got('session/new');
  expect((await flood(left, { requestId: msg.id })[32])?.error.message).toBe(
    'Too many elicitations are open before a session (limit 32); wait until one completes',
  );
  left.reply(msg, { sessionId: 's1' });
  expect((await opening).id).toBe('s1');
});
