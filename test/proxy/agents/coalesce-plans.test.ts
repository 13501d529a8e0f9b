// `coalesce_plans_ms`: of plans that follow each other quickly, the last passes. Time stands still unless a test advances it.
import { expect, test } from 'vitest';
import { open, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { createStillClock } from '../../faults/in-process.ts';
import { able, CWD, chunk, connection, end } from '../actors.ts';

const WINDOW_MS = 100;

async function running(coalescePlansMs = WINDOW_MS) {
  const clock = createStillClock();
  const agent = able('agent');
  const { client } = await connection([agent], { coalesce_plans_ms: coalescePlansMs, timeouts: { stall_ms: 0 } }, { clock });
  const [{ id }, { id: other }] = [await open(client, CWD), await open(client, CWD)];
  agent.on('session/prompt', () => UNANSWERED);
  const turn = prompt(client, id, 'work', 'turn');
  const { msg: asked } = await agent.got('session/prompt');
  const update = (sessionId: string, body: object) => agent.notify('session/update', { sessionId, update: body });
  let marks = 0;
  return {
    ...{ clock, agent, client, id, other, turn, asked },
    plan: (content: string, sessionId = id) => update(sessionId, { sessionUpdate: 'plan', entries: [{ content }] }),
    say: (text: string) => update(id, chunk(text)),
    /** What the client has seen of the session: plans, and what else came, once all that the agent has sent so far has passed. */
    async seen(): Promise<readonly string[]> {
      const mark = `mark ${++marks}`;
      update('unheard-of', chunk(mark)); // of no session that holds anything
      const isMark = (text: unknown) => String(text).startsWith('mark ');
      await client.until(({ params }) => params?.update?.content?.text === mark);
      return client.seen
        .map(
          ({ msg: { id: answered, method, params: { update } = {} } }) =>
            update?.entries?.[0].content ?? update?.content?.text ?? method ?? answered,
        )
        .filter((one) => typeof one === 'string' && !isMark(one));
    },
  };
}

test('the first plan passes at once, and of those that follow within the time, the last', async () => {
  const { plan, seen, clock } = await running();
  for (const content of ['one', 'two', 'three']) plan(content);
  expect(await seen()).toEqual(['one']);
  clock.advance(WINDOW_MS);
  expect(await seen()).toEqual(['one', 'three']);
  plan('four'); // the time runs from the plan before
  expect(await seen()).toEqual(['one', 'three']);
  clock.advance(WINDOW_MS);
  clock.advance(WINDOW_MS);
  plan('five');
  expect(await seen()).toEqual(['one', 'three', 'four', 'five']);
});

test('nothing else is held, and no plan is overtaken: not by text, a request, or the end of the turn', async () => {
  const { agent, plan, say, seen, client, id, turn, asked } = await running();
  plan('one');
  plan('two');
  say('text');
  plan('three');
  void agent.call('session/request_permission', { sessionId: id, toolCall: { toolCallId: 't' }, options: [] });
  const permission = await client.got('session/request_permission');
  expect(await seen()).toEqual(['one', 'two', 'text', 'three', 'session/request_permission']);
  client.reply(permission.msg, { outcome: { outcome: 'cancelled' } });
  plan('four');
  plan('five');
  agent.reply(asked, end);
  await turn;
  expect((await seen()).slice(-2)).toEqual(['five', 'turn']);
});

test('sessions do not wait for each other', async () => {
  const { plan, seen, other, clock } = await running();
  plan('one');
  plan('one of another', other);
  plan('two');
  plan('two of another', other);
  expect(await seen()).toEqual(['one', 'one of another']);
  clock.advance(WINDOW_MS);
  expect(await seen()).toEqual(['one', 'one of another', 'two', 'two of another']);
});

test('the last plan of an agent that exits comes before the error of its turn', async () => {
  const { agent, plan, turn, client, seen } = await running();
  plan('one');
  plan('two');
  expect(await seen()).toEqual(['one']);
  agent.exit({ kind: 'exited', code: 1, signal: null });
  expect((await turn).error).toMatchObject({ data: { reason: 'agent_exited' } });
  expect(client.seen.slice(-2).map(({ msg }) => msg.params?.update?.entries?.[0].content ?? msg.id)).toEqual(['two', 'turn']);
});

test('without the setting, every plan passes at once', async () => {
  const { plan, seen } = await running(0);
  for (const content of ['one', 'two', 'three']) plan(content);
  expect(await seen()).toEqual(['one', 'two', 'three']);
});
