// Permission requests of an agent: what it is answered, and what the audit log says about it.
import { describe, expect, test } from 'vitest';
import { type Json, prompt, Refusal, UNANSWERED } from '../../../e2e/harness.ts';
import { execution, OPTIONS, selected } from '../../../e2e/policy-support.ts';
import { memoryParts } from '../../memory-enforcement.ts';
import { allowOnce, CANCELLED, type UnderPolicy, underPolicy } from '../support.ts';

const POLICY = {
  allow: ['execute(git status)'],
  deny: [{ id: 'no-sudo', action: 'execute', command: 'sudo ...' }],
};
const LIMIT_MS = 20_000;
const requests = ({ client }: UnderPolicy) => client.all('session/request_permission');

describe('the policy decides', () => {
  test('an allow is answered with the option for once, and recorded before that with its rule', async () => {
    const all = await underPolicy(POLICY);
    expect(await all.ask('git status')).toEqual(selected('a1'));
    expect(requests(all)).toEqual([]);
    expect(all.entries).toMatchObject([
      {
        ...{ agent: 'agent', session: all.id, method: 'session/request_permission', summary: 'execute: git status', evidence: 'raw' },
        ...{ verdict: 'allow', answeredBy: 'policy', option: 'a1', layer: 'user', policyHash: '1', mode: 'enforce', latencyMs: 0 },
        ...{ rule: { id: 'allow[0]' }, why: expect.stringContaining('allow by rule allow[0]') },
      },
    ]);
    expect(String(all.entries[0]?.request)).toContain('"method":"session/request_permission"');
  });

  test('a deny is recorded as a deny, and the agent gets the option that rejects', async () => {
    const all = await underPolicy(POLICY);
    expect(await all.ask('sudo ls')).toEqual(selected('r1'));
    expect(requests(all)).toEqual([]);
    expect(all.entries).toMatchObject([{ verdict: 'deny', answeredBy: 'policy', option: 'r1', rule: { id: 'no-sudo' } }]);
  });

  test('a deny without an option that rejects cancels the request', async () => {
    const all = await underPolicy(POLICY);
    expect(await all.ask('sudo ls', { options: OPTIONS.slice(0, 2) })).toEqual(CANCELLED);
    expect(all.decisions()).toEqual([['deny', 'policy', 'cancelled']]);
  });

  test('an allow that cannot be recorded is put to the user', async () => {
    const all = await underPolicy(POLICY);
    all.breakAudit();
    all.client.on('session/request_permission', () => selected('r1'));
    expect(await all.ask('git status')).toEqual(selected('r1'));
    expect(requests(all)).toHaveLength(1);
  });

  test('an allow without an option for once is put to the user', async () => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', () => CANCELLED);
    expect(await all.ask('git status', { options: [OPTIONS[1], OPTIONS[2]] })).toEqual(CANCELLED);
    expect(requests(all)).toHaveLength(1);
  });

  test('where no user can be asked, a request without a rule is denied', async () => {
    const all = await underPolicy(POLICY, { isInteractive: false });
    expect(await all.ask('make')).toEqual(selected('r1'));
    expect(all.decisions()).toEqual([['deny', 'policy', 'r1']]);
  });
});

describe('the user decides', () => {
  test('about a request as the agent wrote it, and the line says that the user did', async () => {
    const all = await underPolicy(POLICY);
    const params = execution(all.id, 'make', { _meta: { odd: 1.5 }, unknown: [1] });
    all.clock.advance(1000);
    all.client.on('session/request_permission', () => {
      all.clock.advance(300);
      return selected('a1');
    });
    expect(await all.agent.call('session/request_permission', params)).toEqual(selected('a1'));
    expect(requests(all)[0]?.msg.params).toEqual(params);
    expect(all.decisions()).toEqual([['ask', 'user', 'a1']]);
    expect(all.entries[0]?.latencyMs).toBe(300);
    expect(all.passed).toMatchObject([{ about: { action: { kind: 'execute' }, decision: { verdict: 'ask' }, isFromPolicy: false } }]);
  });

  test.each([
    ['rejects it', () => selected('r1'), selected('r1'), 'r1'],
    ['dismisses it', () => CANCELLED, CANCELLED, 'cancelled'],
    ['chooses an option that was not offered', () => selected('other'), CANCELLED, 'cancelled'],
    ['answers in no known form', () => ({ outcome: 'selected', optionId: 'a1' }), CANCELLED, 'cancelled'],
    ['says yes without saying that it is selected', () => ({ outcome: { outcome: 'chosen', optionId: 'a1' } }), CANCELLED, 'cancelled'],
    ['answers nothing', () => null, CANCELLED, 'cancelled'],
  ])('and %s: no consent', async (_, answer, expected, option) => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', answer);
    expect(await all.ask('make')).toEqual(expected);
    expect(all.decisions()).toEqual([['ask', 'user', option]]);
  });

  test('an error of the client reaches the agent as it is', async () => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', () => {
      throw new Refusal(-32099, 'no window', { odd: 1 });
    });
    expect(await all.agent.refused('session/request_permission', execution(all.id, 'make'))).toEqual({
      ...{ code: -32099, message: 'no window', data: { odd: 1 } },
    });
    expect(all.decisions()).toEqual([['ask', 'user', 'client-error']]);
  });

  test('consent that comes after the policy began to deny it is too late', async () => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ deny: ['execute(make)'] });
      return selected('a1');
    });
    expect(await all.ask('make')).toEqual(selected('r1'));
    expect(all.decisions()).toEqual([['deny', 'policy', 'r1']]);
    allowOnce(all.client);
  });

  test('a rejection stands though the policy would allow it by now', async () => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ allow: ['execute(make)'] });
      return selected('r1');
    });
    expect(await all.ask('make')).toEqual(selected('r1'));
  });

  test('nobody in time: it is denied, withdrawn at the client, and recorded as a timeout', async () => {
    const all = await underPolicy({ ...POLICY, limits: { permission_timeout: `${LIMIT_MS}ms` } });
    all.client.on('session/request_permission', () => UNANSWERED);
    const answer = all.ask('make');
    const { msg } = await all.client.got('session/request_permission');
    all.clock.advance(LIMIT_MS - 1);
    expect(all.decisions()).toEqual([]);
    all.clock.advance(1);
    expect(await answer).toEqual(selected('r1'));
    expect((await all.client.got('$/cancel_request')).msg.params).toEqual({ requestId: msg.id });
    expect(all.decisions()).toEqual([['deny', 'timeout', 'r1']]);
  });

  test('an answer in time stops the clock', async () => {
    const all = await underPolicy({ ...POLICY, limits: { permission_timeout: `${LIMIT_MS}ms` } });
    const before = all.timers();
    await all.ask('make');
    expect(all.timers()).toBe(before);
    all.clock.advance(2 * LIMIT_MS);
    await all.settled();
    expect(all.client.all('$/cancel_request')).toEqual([]);
    expect(all.decisions()).toEqual([['ask', 'user', 'a1']]);
  });

  test('a cancelled turn ends its requests without consent', async () => {
    const all = await underPolicy(POLICY);
    all.client.on('session/request_permission', () => UNANSWERED);
    all.agent.on('session/prompt', async () => ({ stopReason: (await all.ask('make')).outcome.outcome }));
    const turn = prompt(all.client, all.id, 'go');
    await all.client.got('session/request_permission');
    all.client.notify('session/cancel', { sessionId: all.id });
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    expect(all.decisions()).toEqual([['ask', 'user', 'cancelled']]);
  });

  test('about no more requests at once than the policy permits', async () => {
    const all = await underPolicy({ limits: { max_pending_permissions: 1 } });
    all.client.on('session/request_permission', () => UNANSWERED);
    void all.ask('make').catch(() => {});
    await all.client.got('session/request_permission');
    expect((await all.agent.refused('session/request_permission', execution(all.id, 'make all'))).message).toContain('limit 1');
    expect(all.decisions()).toEqual([['deny', 'policy', 'refused: too many permission requests are open']]);
  });
});

describe('an answer for always', () => {
  const withNever = [...OPTIONS, { optionId: 'ra', name: 'Never', kind: 'reject_always' }];

  test('reaches the agent as one for once, and the same request is not put to the user again', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', () => selected('aa'));
    expect([await all.ask('make'), await all.ask('make')]).toEqual([selected('a1'), selected('a1')]);
    expect(requests(all)).toHaveLength(1);
    await all.ask('make all');
    expect(requests(all)).toHaveLength(2);
    expect(all.decisions()).toEqual([
      ['ask', 'user', 'a1'],
      ['allow', 'memory', 'a1'],
      ['ask', 'user', 'a1'],
    ]);
  });

  test('to reject is kept too', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', () => selected('ra'));
    expect(await all.ask('make', { options: withNever })).toEqual(selected('r1'));
    expect(await all.ask('make', { options: withNever })).toEqual(selected('r1'));
    expect(requests(all)).toHaveLength(1);
    expect(all.decisions().at(-1)).toEqual(['deny', 'memory', 'r1']);
  });

  test('is not made of an answer for once', async () => {
    const all = await underPolicy({});
    await all.ask('make');
    await all.ask('make');
    expect(requests(all)).toHaveLength(2);
  });

  test('holds for its session only, and ends with it', async () => {
    const { remembered } = memoryParts();
    const all = await underPolicy({}, { remembered });
    all.client.on('session/request_permission', () => selected('aa'));
    await all.ask('make');
    const other = (await all.client.call('session/new', { cwd: '/work', mcpServers: [] })).sessionId;
    await all.agent.call('session/request_permission', execution(other, 'make'));
    expect(requests(all)).toHaveLength(2);
    const sessions = () =>
      remembered.list().map(({ session, agent, cwd, what, policy, verdict }) => [session, agent, cwd, what, policy, verdict]);
    const kept = (session: string) => [session, 'agent', '/work', 'execute: make', '1', 'allow'];
    expect(sessions()).toEqual([kept(all.id), kept(other)]);
    await all.client.call('session/close', { sessionId: all.id });
    expect(sessions()).toEqual([kept(other)]);
  });

  test('is not kept for a session whose directory is unknown: it would hold for all of them', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', () => selected('aa'));
    all.agent.notify('session/update', { sessionId: 'unknown', update: { sessionUpdate: 'plan' } });
    const ask = () => all.agent.call('session/request_permission', execution('unknown', 'make'));
    expect([await ask(), await ask()]).toEqual([selected('a1'), selected('a1')]);
    expect(requests(all)).toHaveLength(2);
  });
});

describe('a policy that only observes', () => {
  test.each([
    ['git status', 'allow'],
    ['sudo ls', 'deny'],
    ['make', 'ask'],
  ])('lets the client decide about %s, and records the verdict', async (command, verdict) => {
    const all = await underPolicy(POLICY, { isObserving: true });
    all.client.on('session/request_permission', () => selected('a1'));
    expect(await all.ask(command)).toEqual(selected('a1'));
    expect(requests(all)).toHaveLength(1);
    expect(all.entries).toMatchObject([{ verdict, option: 'passed', answeredBy: 'policy', mode: 'observe' }]);
    expect(all.passed).toMatchObject([{ about: { decision: { verdict }, isFromPolicy: false } }]);
  });

  test('sets no limit on open requests', async () => {
    const all = await underPolicy({ limits: { max_pending_permissions: 1, permission_timeout: '1s' } }, { isObserving: true });
    all.client.on('session/request_permission', () => UNANSWERED);
    for (const command of ['make', 'make all']) void all.ask(command).catch(() => {});
    await all.settled();
    expect(requests(all)).toHaveLength(2);
    expect([all.enforcement.maxPendingPermissions()]).toEqual([undefined]);
  });
});

describe('what the client is shown', () => {
  const REFUSING = { agents: { '*': { mode: { refuse: ['yolo', 'custom'] } } } };
  const offered = (...ids: readonly string[]) => ids.map((optionId) => ({ optionId, name: optionId, kind: 'allow_always' }));

  test('has no option that leads to a refused mode, and the rest as the agent wrote it', async () => {
    const all = await underPolicy(REFUSING);
    const odd = { optionId: 'odd', name: 'Odd', kind: 'allow_always', extra: { n: 1.5 } };
    await all.ask('make', { options: [...offered('yolo', 'custom'), odd, ...OPTIONS] });
    expect(requests(all)[0]?.msg.params.options).toEqual([odd, ...OPTIONS]);
    all.client.on('session/request_permission', () => selected('yolo'));
    expect(await all.ask('make', { options: [...offered('yolo'), ...OPTIONS] })).toEqual(CANCELLED);
  });

  test('keeps an option whose name is no mode of the agent', async () => {
    const all = await underPolicy({ agents: { '*': { mode: { pin: ['plan'] } } } });
    const options = [...offered('yolo', 'plan', 'whatever'), ...OPTIONS];
    await all.ask('make', { options });
    expect(requests(all)[0]?.msg.params.options.map(({ optionId }: Json) => optionId)).toEqual(['plan', 'whatever', 'a1', 'aa', 'r1']);
  });

  test('has no mark of the policy that the agent wrote itself', async () => {
    const all = await underPolicy({});
    await all.ask('make', { _meta: { 'acp-switchboard': { why: 'harmless' }, other: 1 } });
    expect(requests(all)[0]?.msg.params._meta).toEqual({ 'acp-switchboard': {}, other: 1 });
  });

  test('is a request without options too', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', () => CANCELLED);
    expect(await all.ask('make', { options: undefined })).toEqual(CANCELLED);
    expect(await all.ask('make', { options: [] })).toEqual(CANCELLED);
    expect(requests(all)).toHaveLength(2);
  });
});

describe('a request that says different things to different readers', () => {
  const twice = (id: string) =>
    `{"sessionId":"${id}","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":"rm -rf /","command":"git status"}},"options":${JSON.stringify(OPTIONS)}}`;
  const line = (id: string) => `{"jsonrpc":"2.0","id":"dup","method":"session/request_permission","params":${twice(id)}}`;

  test('is refused and recorded', async () => {
    const all = await underPolicy(POLICY);
    all.agent.line(line(all.id));
    expect((await all.agent.until(({ id }) => id === 'dup')).msg.error).toMatchObject({
      ...{ code: -32600, message: expect.stringContaining('"command" occurs twice') },
    });
    expect(requests(all)).toEqual([]);
    expect(all.entries).toMatchObject([
      { verdict: 'deny', answeredBy: 'policy', option: 'refused', why: expect.stringContaining('"command" occurs twice'), rule: undefined },
    ]);
    expect(all.entries[0]).toMatchObject({ method: 'session/request_permission', session: all.id, summary: 'other: unread' });
  });

  test('passes where the policy only observes', async () => {
    const all = await underPolicy(POLICY, { isObserving: true });
    all.agent.line(line(all.id));
    expect((await all.agent.until(({ id }) => id === 'dup')).msg.result).toEqual(selected('a1'));
    expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'passed', mode: 'observe' }]);
  });
});

describe('a request without an id', () => {
  test.each(['session/request_permission', 'fs/write_text_file', 'elicitation/create', 'mcp/message'])(
    '%s: the client does not see it',
    async (method) => {
      const all = await underPolicy({});
      all.agent.notify(method, { sessionId: all.id });
      await all.settled();
      expect(all.client.all(method)).toEqual([]);
      expect(all.entries).toMatchObject([
        { method, verdict: 'deny', option: 'refused', why: 'a request was sent as a notification', session: all.id },
      ]);
      expect(String(all.entries[0]?.request)).toContain(`"method":"${method}"`);
    },
  );

  test('passes where the policy only observes, and a notification of another method always', async () => {
    const observing = await underPolicy({}, { isObserving: true });
    observing.agent.notify('fs/write_text_file', { sessionId: observing.id });
    await observing.settled();
    expect(observing.client.all('fs/write_text_file')).toHaveLength(1);
    const all = await underPolicy({});
    all.agent.notify('_vendor/news', { sessionId: all.id });
    await all.settled();
    expect([all.client.all('_vendor/news').length, all.entries]).toEqual([1, []]);
  });
});
