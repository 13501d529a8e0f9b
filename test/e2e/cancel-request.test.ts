// `$/cancel_request` names a request by an id that the other side has never seen; it must arrive with the id that side knows.
import { describe, expect } from 'vitest';
import { hello, open, prompt, testAtOnce as test, text, UNANSWERED } from './harness.ts';

describe('the client cancels a request', () => {
  test('in any spelling: the agent gets the id it knows, and still answers', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    right.on('_x/slow', () => UNANSWERED);
    const client = await stage.connect([left, right]);
    const session = await open(client, stage.cwd, 'right');
    for (const id of ['"word"', '7.0', '9007199254740993', '"\\u0069d"']) {
      const [atAgent, atClient] = [right.seen.length, client.seen.length];
      client.line(`{"jsonrpc":"2.0","id":${id},"method":"_x/slow","params":{"sessionId":"${session.id}"}}`);
      const received = await right.got('_x/slow', () => true, atAgent);
      client.line(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id},"_meta":{"one":1.0}}}`);
      const cancel = await right.got('$/cancel_request', () => true, atAgent);
      expect(cancel.line).toBe(
        `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${received.msg.id},"_meta":{"one":1.0}}}`,
      );
      right.line(`{"jsonrpc":"2.0","id":${received.msg.id},"error":{"code":-32800,"message":"cancelled"}}`);
      const answer = await client.until((msg) => msg.error?.code === -32800, atClient);
      expect(answer.line).toBe(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,"message":"cancelled"}}`);
    }
    expect(left.all('$/cancel_request')).toEqual([]);
  });

  test('that waits for its agent to start: the proxy answers -32800, and the agent never sees it', async ({ stage }) => {
    const [quick, slow] = [stage.agent('quick'), stage.agent('slow')];
    slow.on('initialize', () => UNANSWERED);
    const client = await stage.connect([quick, slow], { config: { timeouts: { initialize_wait_ms: 50 } } });
    const waiting = client.refused(
      'session/new',
      { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'slow' } } },
      'waiting',
    );
    client.notify('$/cancel_request', { requestId: 'waiting' });
    expect((await waiting).code).toBe(-32800);
    slow.reply((await slow.got('initialize')).msg, { protocolVersion: 1 });
    await open(client, stage.cwd, 'slow');
    expect(slow.all('session/new')).toHaveLength(1);
    expect(client.answersTo('waiting')).toHaveLength(1);
  });

  test('that waits for the only agent to start', async ({ stage }) => {
    const only = stage.agent('only');
    await (await stage.connect([only])).close(); // from now on its capabilities are known
    only.on('initialize', () => UNANSWERED);
    const client = stage.proxy([only]);
    await hello(client);
    const waiting = client.refused('session/new', { cwd: stage.cwd, mcpServers: [] }, 'waiting');
    client.notify('$/cancel_request', { requestId: 'waiting' });
    expect((await waiting).code).toBe(-32800);
  });

  test('that waits behind a load: answered -32800, never sent, and the session can still be prompted', async ({ stage }) => {
    const only = stage.agent('only');
    only.on('session/load', () => UNANSWERED);
    const client = await stage.connect([only]);
    const { id: sessionId } = await open(client, stage.cwd);
    void client.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
    const turn = prompt(client, sessionId, 'to be cancelled', 'to-cancel');
    client.notify('$/cancel_request', { requestId: 'to-cancel' });
    expect((await turn).error.code).toBe(-32800);
    only.reply((await only.got('session/load')).msg, {});
    await prompt(client, sessionId, 'sent');
    expect(only.all('session/prompt').map(({ msg }) => msg.params.prompt)).toEqual([text('sent')]);
  });

  test('that the proxy answers itself: -32800', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    right.on('session/list', () => UNANSWERED);
    const client = await stage.connect([left, right]);
    const list = client.refused('session/list', {}, 'list');
    await right.got('session/list');
    client.notify('$/cancel_request', { requestId: 'list' });
    expect((await list).code).toBe(-32800);
    right.reply((await right.got('session/list')).msg, { sessions: [] });
    await open(client, stage.cwd, 'right');
    expect(client.answersTo('list')).toHaveLength(1);
  });

  test('that was answered already, or never sent: nothing happens', async ({ stage }) => {
    const [left, right] = [stage.agent('left'), stage.agent('right')];
    const client = await stage.connect([left, right]);
    const { id } = await open(client, stage.cwd);
    const { id: done } = await prompt(client, id, 'done');
    for (const requestId of [done, 'never', null, { a: 1 }]) client.notify('$/cancel_request', { requestId });
    client.notify('$/cancel_request', {});
    const from = client.seen.length;
    await prompt(client, id, 'still there');
    expect(left.all('$/cancel_request')).toEqual([]);
    expect(client.seen.slice(from).filter(({ msg }) => msg.error)).toEqual([]);
  });
});

test('an agent cancels a request: the client gets the id it knows, and only for that agent’s request', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const client = await stage.connect([left, right]);
  const sessions = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right')];
  const requests = await Promise.all(
    [left, right].map((agent, n) => {
      void agent.request('_x/ask', { sessionId: `${agent.name}-1` }, 0);
      return client.got('_x/ask', ({ sessionId }) => sessionId === sessions[n]?.id);
    }),
  );
  right.notify('$/cancel_request', { requestId: 0 });
  right.notify('$/cancel_request', { requestId: 99 });
  right.sendText('right-1', 'behind it');
  await client.until((msg) => msg.params?.update?.content?.text === 'behind it');
  expect(client.all('$/cancel_request').map(({ msg }) => msg.params.requestId)).toEqual([requests[1]?.msg.id]);
  // Both requests are still answered.
  for (const { msg } of requests) client.reply(msg, { to: msg.params.sessionId });
  for (const agent of [left, right])
    expect((await agent.until((msg) => msg.id === 0 && msg.result)).msg.result).toEqual({ to: `${agent.name}-1` });
});
