// Files and terminals: what passes, what is refused, what the user is asked, and in which order.
import { describe, expect, test } from 'vitest';
import { type Json, open, prompt, Refusal, UNANSWERED } from '../../../e2e/harness.ts';
import { OPTIONS, selected } from '../../../e2e/policy-support.ts';
import { able, CWD, chunk, end } from '../../actors.ts';
import { CANCELLED, type PolicyOptions, type UnderPolicy, underPolicy } from '../support.ts';

const POLICY = {
  deny: [{ id: 'secrets', path: ['**/.env'] }, 'execute(sudo ...)'],
  allow: ['read($cwd/**)', 'edit($cwd/src/**)', 'execute(npm test ...)'],
};
const LIMIT_MS = 20_000;

async function place(policy: object = POLICY, options: PolicyOptions = {}): Promise<UnderPolicy> {
  const all = await underPolicy(policy, options);
  all.client.on('fs/read_text_file', ({ path }: Json) => ({ content: `of ${path}` }));
  all.client.on('fs/write_text_file', () => ({}));
  all.client.on('terminal/create', () => ({ terminalId: 't1' }));
  return all;
}

const requests = ({ client }: UnderPolicy) => client.all('session/request_permission');
const writing = (all: UnderPolicy, file = '/work/README.md', more: Json = {}) => ({
  sessionId: all.id,
  path: file,
  content: 'new',
  ...more,
});
const write = (all: UnderPolicy, file?: string, id?: Json) => all.agent.request('fs/write_text_file', writing(all, file), id);
const read = (all: UnderPolicy, file = '/work/a', id?: Json) =>
  all.agent.request('fs/read_text_file', { sessionId: all.id, path: file }, id);
/** A write that waits for the user. */
async function asked(all: UnderPolicy, id?: Json) {
  all.client.on('session/request_permission', () => UNANSWERED);
  const answer = write(all, '/work/README.md', id);
  return { answer, request: (await all.client.got('session/request_permission')).msg };
}

describe('the policy decides', () => {
  test('what it allows reaches the client as the agent wrote it, after its audit line', async () => {
    const all = await place();
    const params = { sessionId: all.id, path: '/work/a.ts', line: 1, limit: 2, _meta: { odd: 1 } };
    expect(await all.agent.call('fs/read_text_file', params)).toEqual({ content: 'of /work/a.ts' });
    expect(all.client.all('fs/read_text_file')[0]?.msg.params).toEqual(params);
    await all.agent.call('terminal/create', { sessionId: all.id, command: 'npm', args: ['test'] });
    expect(all.entries).toMatchObject([
      { method: 'fs/read_text_file', verdict: 'allow', answeredBy: 'policy', option: 'passed', summary: 'read: /work/a.ts' },
      { method: 'terminal/create', verdict: 'allow', option: 'passed', summary: 'execute: npm test' },
    ]);
    expect(requests(all)).toEqual([]);
  });

  test('what it denies is an error that names the rule, and is recorded as a deny', async () => {
    const all = await place();
    const error = await all.agent.refused('fs/read_text_file', { sessionId: all.id, path: '/work/.env' });
    expect(error).toMatchObject({ code: -32603, data: { rule: 'secrets' } });
    expect(error.message).toMatch(/^fs\/read_text_file denied by policy: deny by rule secrets/);
    await all.agent.refused('terminal/create', { sessionId: all.id, command: 'sudo', args: ['ls'] });
    expect(all.decisions()).toEqual([
      ['deny', 'policy', 'refused'],
      ['deny', 'policy', 'refused'],
    ]);
    expect([all.client.all('fs/read_text_file'), all.client.all('terminal/create'), requests(all)]).toEqual([[], [], []]);
  });

  test('what it allows but cannot record is put to the user', async () => {
    const all = await place();
    all.breakAudit();
    all.client.on('session/request_permission', () => selected('reject'));
    expect((await read(all)).error.message).toContain('the user refused it');
    expect(all.client.all('fs/read_text_file')).toEqual([]);
  });

  test('a request outside of any session cannot be put to a user, and is refused', async () => {
    const all = await place({ ...POLICY, ask: ['edit(/work/README.md)'] });
    expect((await all.agent.refused('fs/write_text_file', { path: '/work/README.md', content: '' })).message).toContain('ask by rule');
    expect(all.decisions()).toEqual([['deny', 'policy', 'refused']]);
  });

  test('a policy that only observes lets all of them pass, and records its verdicts', async () => {
    const all = await place(POLICY, { isObserving: true });
    for (const file of ['/work/.env', '/work/a', '/elsewhere']) expect((await read(all, file)).result).toEqual({ content: `of ${file}` });
    expect(all.decisions()).toEqual([
      ['deny', 'policy', 'passed'],
      ['allow', 'policy', 'passed'],
      ['ask', 'policy', 'passed'],
    ]);
  });

  test('requests about a terminal that was evaluated when it was created pass', async () => {
    const all = await place({ default: 'deny', allow: ['execute(npm test ...)'] });
    await all.agent.call('terminal/create', { sessionId: all.id, command: 'npm', args: ['test'] });
    for (const act of ['output', 'wait_for_exit', 'kill', 'release']) {
      all.client.on(`terminal/${act}`, () => ({ done: act }));
      expect(await all.agent.call(`terminal/${act}`, { sessionId: all.id, terminalId: 't1' })).toEqual({ done: act });
    }
    expect(all.entries).toHaveLength(1);
  });
});

test('only the file that was evaluated may be opened: allowed by the policy, by the user, or by an earlier consent', async () => {
  const all = await place(POLICY, { canonical: (path) => path.replace('/work/link', '/work/docs') });
  all.client.on('session/request_permission', ({ options }: Json) => selected(options[0].optionId));
  const last = () => all.passed.at(-1)?.evaluatedPath;
  await read(all, '/work/link/a');
  expect(last()).toBe('/work/docs/a');
  await write(all, '/work/link/b');
  expect(last()).toBe('/work/docs/b');
  expect(all.passed.at(-2)).toMatchObject({ about: { action: { kind: 'edit' }, decision: { verdict: 'ask' }, isFromPolicy: true } });
  await all.agent.call('terminal/create', { sessionId: all.id, command: 'npm', args: ['test'] });
  expect(last()).toBeUndefined();
  all.agent.on('session/prompt', async () => {
    const toolCall = { toolCallId: 'e', kind: 'edit', title: 'Edit', rawInput: { path: '/work/link/c' } };
    await all.agent.call('session/request_permission', { sessionId: all.id, toolCall, options: OPTIONS });
    await write(all, '/work/link/c');
    return end;
  });
  await prompt(all.client, all.id, 'go');
  expect([last(), requests(all).length]).toEqual(['/work/docs/c', 2]);
});

describe('a request that is not as the protocol has it', () => {
  test('is refused, recorded, and never shown', async () => {
    const all = await place();
    const error = await all.agent.refused('fs/read_text_file', { sessionId: all.id, path: 'relative' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('paths must be absolute and without ".."') });
    expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'refused', why: 'its params do not follow the protocol' }]);
    expect([all.client.all('fs/read_text_file'), requests(all)]).toEqual([[], []]);
  });

  test('passes where the policy only observes', async () => {
    const all = await place(POLICY, { isObserving: true });
    expect((await read(all, 'relative')).result).toEqual({ content: 'of relative' });
    expect(all.decisions()).toEqual([['deny', 'policy', 'passed']]);
  });
});

describe('the user is asked', () => {
  test('with the text to be written, in the session, and the write passes once allowed', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('allow'));
    const params = writing(all);
    expect(await all.agent.call('fs/write_text_file', params)).toEqual({});
    const { msg } = await all.client.got('session/request_permission');
    const { toolCallId } = msg.params.toolCall;
    expect(toolCallId).toMatch(/^switchboard-[0-9a-f-]{36}$/);
    expect(msg.params).toEqual({
      sessionId: all.id,
      toolCall: {
        ...{ toolCallId, status: 'pending', title: 'Write /work/README.md', kind: 'edit', locations: [{ path: '/work/README.md' }] },
        ...{ rawInput: { path: '/work/README.md' }, content: [{ type: 'diff', path: '/work/README.md', newText: 'new' }] },
      },
      options: [
        { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
        { optionId: 'allow-always', name: 'Always allow this', kind: 'allow_always' },
        { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
        { optionId: 'reject-always', name: 'Always reject this', kind: 'reject_always' },
      ],
      _meta: { 'acp-switchboard': { summary: 'edit: /work/README.md', why: expect.stringContaining('no rule settles it') } },
    });
    expect(all.client.all('fs/write_text_file')[0]?.msg.params).toEqual(params);
    expect(all.client.updates(all.id, 'tool_call_update')).toEqual([
      { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' },
    ]);
    expect(all.decisions()).toEqual([['ask', 'user', 'allow']]);
  });

  test.each([
    ['rejects', selected('reject'), 'reject'],
    ['dismisses', CANCELLED, 'cancelled'],
    ['chooses what was not offered', selected('other'), 'cancelled'],
    ['answers in no known form', { outcome: 7 }, 'cancelled'],
    ['answers with a text', 'yes', 'cancelled'],
  ])('and %s: the write does not reach the client', async (_, answer, option) => {
    const all = await place();
    all.client.on('session/request_permission', () => answer);
    expect((await write(all)).error).toMatchObject({ code: -32603, message: 'fs/write_text_file denied by policy: the user refused it' });
    expect(all.client.all('fs/write_text_file')).toEqual([]);
    expect(all.client.updates(all.id, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
    expect(all.decisions()).toEqual([['ask', 'user', option]]);
  });

  test('an error of the client is no consent', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => {
      throw new Refusal(-32099, 'no window');
    });
    expect((await write(all)).error.message).toContain('the user refused it');
  });

  test.each([
    ['allow-always', 'result', 'allow'],
    ['reject-always', 'error', 'deny'],
  ])('and an answer %s is kept', async (answer, how, verdict) => {
    const all = await place();
    all.client.on('session/request_permission', () => selected(answer));
    for (const _ of [1, 2]) expect(await write(all)).toHaveProperty(how);
    expect(requests(all)).toHaveLength(1);
    expect(all.decisions()).toEqual([
      ['ask', 'user', answer],
      [verdict, 'memory', verdict === 'allow' ? 'passed' : 'refused'],
    ]);
  });

  test.each([
    ['the policy keeps none', { remember: { allow_always: 'once' } }, {}],
    ['nothing is known of the request but its name', {}, { method: 'fs/copy' }],
  ])('without options for always if %s', async (_, policy, { method = 'fs/write_text_file' }: { method?: string }) => {
    const all = await place(policy);
    all.client.on(method, () => ({}));
    all.client.on('session/request_permission', () => selected('allow'));
    await all.agent.call(method, writing(all));
    expect(requests(all)[0]?.msg.params.options.map(({ optionId }: Json) => optionId)).toEqual(['allow', 'reject']);
  });

  test('without options for always in a session whose directory is unknown', async () => {
    const all = await place();
    all.agent.notify('session/update', { sessionId: 'unknown', update: { sessionUpdate: 'plan' } });
    all.client.on('session/request_permission', () => selected('allow-always'));
    for (const _ of [1, 2]) await all.agent.request('fs/write_text_file', { ...writing(all), sessionId: 'unknown' });
    expect(requests(all).map(({ msg }) => msg.params.options.length)).toEqual([2, 2]);
  });

  test('and if nobody answers in time, the write is refused and the request withdrawn', async () => {
    const all = await place({ ...POLICY, limits: { permission_timeout: `${LIMIT_MS}ms` } });
    const { answer, request } = await asked(all);
    all.clock.advance(LIMIT_MS);
    expect((await answer).error.message).toContain('the user refused it');
    expect((await all.client.got('$/cancel_request')).msg.params).toEqual({ requestId: request.id });
    expect(all.decisions()).toEqual([['deny', 'timeout', 'refused']]);
    all.clock.advance(LIMIT_MS);
    expect(all.entries).toHaveLength(1);
  });

  test('and an answer in time stops the clock', async () => {
    const all = await place({ ...POLICY, limits: { permission_timeout: `${LIMIT_MS}ms` } });
    all.client.on('session/request_permission', () => selected('allow'));
    const before = all.timers();
    await write(all);
    expect(all.timers()).toBe(before);
    all.clock.advance(2 * LIMIT_MS);
    await all.settled();
    expect([all.client.all('$/cancel_request'), all.entries.length]).toEqual([[], 1]);
  });

  test('and consent that comes after the policy began to deny it is too late', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ deny: [{ id: 'now', path: ['**/README.md'] }] });
      return selected('allow');
    });
    expect((await write(all)).error).toMatchObject({ message: expect.stringContaining('deny by rule now'), data: { rule: 'now' } });
    expect(all.client.all('fs/write_text_file')).toEqual([]);
    expect(all.decisions()).toEqual([
      ['ask', 'user', 'allow'],
      ['deny', 'policy', 'refused'],
    ]);
  });

  test('and consent to a path that leads elsewhere by then is too late', async () => {
    let target = '/work/docs';
    const all = await place(POLICY, { canonical: (path) => path.replace('/work/link', target) });
    all.client.on('session/request_permission', () => {
      target = '/etc';
      return selected('allow');
    });
    expect((await write(all, '/work/link/passwd')).error.message).toContain('the path changed after the policy checked it');
    expect(all.client.all('fs/write_text_file')).toEqual([]);
    expect(all.entries.at(-1)).toMatchObject({ verdict: 'deny', option: 'refused', why: 'the path changed after the policy checked it' });
  });
});

describe('behind a write that waits for the user', () => {
  test('a read of the same session waits, in order, and updates and other sessions do not', async () => {
    const all = await place();
    const { id: other } = await open(all.client, CWD);
    const { answer, request } = await asked(all);
    const behind = read(all, '/work/README.md');
    all.update(chunk('meanwhile'));
    expect(await all.agent.call('fs/read_text_file', { sessionId: other, path: '/work/b' })).toEqual({ content: 'of /work/b' });
    expect(all.client.agentText(all.id)).toBe('meanwhile');
    expect(all.client.all('fs/read_text_file').map(({ msg }) => msg.params.path)).toEqual(['/work/b']);
    all.client.reply(request, selected('allow'));
    expect((await answer).result).toEqual({});
    expect((await behind).result).toEqual({ content: 'of /work/README.md' });
    const [written, shown] = [all.client.all('fs/write_text_file')[0], all.client.all('fs/read_text_file')[1]];
    expect((written?.index ?? 0) < (shown?.index ?? 0)).toBe(true);
  });

  test('a second write is put to the user only after the first is answered', async () => {
    const all = await place();
    const { answer, request } = await asked(all);
    const second = write(all, '/work/second');
    await all.settled();
    expect(requests(all)).toHaveLength(1);
    all.client.on('session/request_permission', () => selected('reject'));
    all.client.reply(request, selected('reject'));
    expect([(await answer).error.code, (await second).error.code, requests(all).length]).toEqual([-32603, -32603, 2]);
  });

  test('a request that the agent withdraws is answered at once, and neither asked nor done', async () => {
    const all = await place();
    const { answer, request } = await asked(all);
    const second = write(all, '/work/second', 'second');
    const third = read(all, '/work/third', 'third');
    all.agent.notify('$/cancel_request', { requestId: 'second' });
    expect((await second).error).toMatchObject({ code: -32800, message: 'fs/write_text_file was cancelled' });
    all.agent.notify('$/cancel_request', { requestId: 'second' });
    all.client.reply(request, selected('allow'));
    expect([(await answer).result, (await third).result]).toEqual([{}, { content: 'of /work/third' }]);
    expect([requests(all).length, all.client.all('fs/write_text_file').length, all.agent.answersTo('second').length]).toEqual([1, 1, 1]);
  });

  test('an id that waits already is refused', async () => {
    const all = await place();
    const { answer, request } = await asked(all);
    const first = read(all, '/work/a', 'same');
    await all.settled();
    all.agent.send({ jsonrpc: '2.0', id: 'same', method: 'fs/read_text_file', params: { sessionId: all.id, path: '/work/b' } });
    expect((await all.agent.until(({ id, error }) => id === 'same' && error !== undefined)).msg.error.code).toBe(-32600);
    all.client.reply(request, selected('allow'));
    await answer;
    await first;
    await all.agent.until(({ id, result }) => id === 'same' && result !== undefined);
    expect(all.client.all('fs/read_text_file').map(({ msg }) => msg.params.path)).toEqual(['/work/a']);
  });

  test('no more than 256 requests wait', async () => {
    const all = await place();
    const { answer, request } = await asked(all);
    const waiting = Array.from({ length: 256 }, (_, n) => read(all, `/work/${n}`));
    expect((await read(all, '/work/one-more')).error.message).toContain(
      'requests that wait for the user are open in this session (limit 256)',
    );
    all.client.reply(request, selected('allow'));
    await answer;
    for (const one of await Promise.all(waiting)) expect(one.result).toBeDefined();
  });

  test('what belongs to the cancelled turn is refused without asking, and the next request is put to the user again', async () => {
    const all = await place();
    let answers: Promise<Json>[] = [];
    all.agent.on('session/prompt', async () => {
      answers = [write(all), write(all, '/work/second'), read(all, '/work/a')];
      await Promise.all(answers);
      return { stopReason: 'cancelled' };
    });
    all.client.on('session/request_permission', () => UNANSWERED);
    const turn = prompt(all.client, all.id, 'go');
    await all.client.got('session/request_permission');
    await all.settled();
    all.client.notify('session/cancel', { sessionId: all.id });
    await turn;
    const [first, second, third] = await Promise.all(answers);
    expect([first.error.message, second.error.message]).toEqual(
      Array(2).fill('fs/write_text_file denied by policy: the turn was cancelled'),
    );
    expect([third.result, requests(all).length]).toEqual([{ content: 'of /work/a' }, 1]);
    expect(all.decisions()).toEqual([
      ['ask', 'user', 'cancelled'],
      ['deny', 'policy', 'refused'],
      ['allow', 'policy', 'passed'],
    ]);
    all.client.on('session/request_permission', () => selected('allow'));
    expect((await write(all)).result).toEqual({});
  });

  test('nothing waits for an agent that has died: its next process starts with an empty queue', async () => {
    const all = await place(POLICY, { others: [able('other')] });
    await asked(all);
    void read(all, '/work/old', 'old').catch(() => {});
    await all.settled();
    all.agent.exit({ kind: 'exited', code: 1, signal: null });
    await all.client.got('$/cancel_request');
    await prompt(all.client, all.id, 'on');
    expect((await read(all, '/work/new')).result).toEqual({ content: 'of /work/new' });
    expect(all.client.all('fs/read_text_file').map(({ msg }) => msg.params.path)).toEqual(['/work/new']);
  });

  test('a withdrawal of an unknown request changes nothing', async () => {
    const all = await place();
    const { answer, request } = await asked(all);
    const behind = read(all, '/work/a', 'read');
    all.agent.notify('$/cancel_request', { requestId: 'nobody' });
    all.client.reply(request, selected('allow'));
    expect([(await answer).result, (await behind).result]).toEqual([{}, { content: 'of /work/a' }]);
  });
});
