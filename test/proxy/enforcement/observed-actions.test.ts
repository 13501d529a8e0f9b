// Tool calls that agents make without permission, or against a denial.
import { describe, expect, test } from 'vitest';
import { type Json, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { execution, OPTIONS, selected } from '../../e2e/policy-support.ts';
import { CWD, cancelled, end } from '../actors.ts';
import { CANCELLED, type UnderPolicy, underPolicy } from './support.ts';

const POLICY = { deny: [{ id: 'no-sudo', action: 'execute', command: 'sudo ...' }] };
const call = (status: string | undefined, command = 'sudo ls', more: Json = {}): Json => ({
  ...{ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Shell', kind: 'execute', status, rawInput: { command } },
  ...more,
});
const reports = ({ notices }: UnderPolicy) => notices.filter((text) => text.includes(' did '));

describe('a call that the policy denies', () => {
  const output = { terminal_output: { terminal_id: 'c1', data: 'x' } };

  test.each([
    ['it has completed', { status: 'completed' }],
    ['its terminal has output', { status: 'in_progress', _meta: output }],
    ['a piece of output came', { _meta: { terminal_output_delta: output.terminal_output } }],
    ['it has a result', { status: 'in_progress', rawOutput: { stdout: '' } }],
    ['it ran and failed', { status: 'failed', _meta: { terminal_exit: { exit_code: 1, signal: null } } }],
  ])('is recorded and reported once %s', async (_, news) => {
    const all = await underPolicy(POLICY);
    all.update(call('pending'));
    all.update(call('in_progress'));
    await all.settled();
    expect(all.entries).toEqual([]);
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', ...news });
    await all.settled();
    expect(all.entries).toMatchObject([
      {
        ...{ agent: 'agent', session: all.id, method: 'tool_call', verdict: 'deny', answeredBy: 'policy', option: 'notify' },
        ...{ rule: { id: 'no-sudo' }, summary: 'execute: sudo ls' },
      },
    ]);
    expect(String(all.entries[0]?.request)).toContain('"toolCallId":"c1"');
    const what = 'did what the policy denies, without asking: execute: sudo ls';
    expect(reports(all)).toEqual([expect.stringMatching(new RegExp(`^agent "agent" ${what} \\(deny by rule no-sudo .*\\)\\.$`))]);
    expect(JSON.stringify(all.client.updates(all.id))).toContain(what);
  });

  test('is not one before it has an effect, when it failed, or when it is allowed', async () => {
    const all = await underPolicy({ ...POLICY, default: 'allow' });
    const none = { terminal_exit: { exit_code: null, signal: null } };
    for (const update of [call('pending'), call('in_progress'), call('failed'), call(undefined), call('odd')]) all.update(update);
    all.update(call('failed', 'sudo ls', { rawOutput: { error: 'rejected' }, _meta: none }));
    all.update(call('completed', 'ls'));
    all.update({ ...call('completed'), toolCallId: 7 });
    await all.settled();
    expect([all.entries, reports(all)]).toEqual([[], []]);
  });

  test('is reported once, and again when it becomes another one', async () => {
    const all = await underPolicy(POLICY);
    for (const command of ['sudo ls', 'sudo ls', 'sudo rm x', 'sudo rm x']) all.update(call('in_progress', command, { rawOutput: '' }));
    all.update(call('completed', 'sudo rm x'));
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', title: 'sudo again' });
    all.update(call('completed', 'sudo ls', { toolCallId: 'c2' }));
    await all.settled();
    expect(all.entries.map(({ summary }) => summary)).toEqual(['execute: sudo ls', 'execute: sudo rm x', 'execute: sudo ls']);
  });

  test('is known by its earlier updates when it begins', async () => {
    const all = await underPolicy(POLICY);
    all.update(call('pending'));
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    await all.settled();
    expect(all.entries).toMatchObject([{ summary: 'execute: sudo ls' }]);
  });

  test('is forgotten when it is over: its id may stand for another call', async () => {
    const all = await underPolicy(POLICY);
    all.update(call('pending'));
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' });
    all.update({ sessionUpdate: 'tool_call', toolCallId: 'c1', status: 'completed', kind: 'think' });
    await all.settled();
    expect(all.entries).toEqual([]);
  });

  test('is forgotten when an update says it differently to different readers', async () => {
    const all = await underPolicy(POLICY);
    all.update(call('pending'));
    all.agent.line(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${all.id}","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","status":"completed"}}}`,
    );
    all.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    await all.settled();
    expect(all.entries.filter(({ verdict }) => verdict === 'deny')).toEqual([]);
  });

  test('is not reported from the replay of a load', async () => {
    const all = await underPolicy(POLICY);
    all.agent.on('session/load', () => {
      all.update(call('completed'));
      return {};
    });
    await all.client.call('session/load', { sessionId: all.id, cwd: CWD, mcpServers: [] });
    all.update(call('completed'));
    await all.settled();
    expect(all.entries).toEqual([]);
    all.agent.on('session/prompt', () => {
      all.update(call('completed'));
      return end;
    });
    await prompt(all.client, all.id, 'go');
    expect(all.entries).toHaveLength(1);
  });
});

describe('a call that the policy asks about', () => {
  const unasked = async (all: UnderPolicy) => {
    await prompt(all.client, all.id, 'go');
    return all.entries.filter(({ outcome }) => outcome === 'unasked').map(({ summary }) => summary);
  };

  test('is not reported again when its agent sends more about it after the turn', async () => {
    const all = await underPolicy({});
    all.agent.on('session/prompt', () => {
      all.update(call('completed', 'make'));
      return end;
    });
    expect(await unasked(all)).toEqual(['execute: make']);
    const late = { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' };
    for (const update of [late, { ...late, title: 'make' }, { ...late, toolCallId: 'never heard of' }]) all.update(update);
    all.agent.on('session/prompt', () => end);
    expect(await unasked(all)).toEqual(['execute: make']);
  });

  test('is none if the agent only thinks, whatever it gives as input', async () => {
    const all = await underPolicy({});
    all.agent.on('session/prompt', () => {
      const review = { title: 'Guardian Review', kind: 'think', rawInput: { threadId: 't', risk: 'low' } };
      all.update({ sessionUpdate: 'tool_call', toolCallId: 'g', ...review, status: 'completed' });
      return end;
    });
    expect(await unasked(all)).toEqual([]);
  });

  test('is none if only the title shows that the policy allows it', async () => {
    const all = await underPolicy({ allow: ['execute(ls ...)'] });
    all.agent.on('session/prompt', () => {
      for (const [toolCallId, title] of Object.entries({ a: 'ls', b: '`ls src`', c: 'make', d: 'ls; make' }))
        all.update({ sessionUpdate: 'tool_call', toolCallId, title, kind: 'execute', status: 'completed' });
      return end;
    });
    expect(await unasked(all)).toEqual([expect.stringMatching(/^execute: .*make; execute: .*ls ; make$/)]);
  });
});

describe('a call that was refused', () => {
  const begin = async (all: UnderPolicy, toolCallId: string) => {
    all.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
    await all.settled();
    return reports(all).filter((text) => text.includes('did what it was refused')).length;
  };
  const asking = (all: UnderPolicy, command = 'make') => {
    const request = execution(all.id, command);
    return { request, answer: () => all.agent.request('session/request_permission', request), toolCallId: request.toolCall.toolCallId };
  };

  test.each([
    ['by the policy', POLICY, 'sudo ls', () => selected('a1'), 1],
    ['by the user', {}, 'make', () => selected('r1'), 1],
    ['by a user who dismissed the request', {}, 'make', () => CANCELLED, 1],
    ['by an unclear answer', {}, 'make', () => selected('none'), 1],
    ['by nobody: the user allowed it', {}, 'make', () => selected('a1'), 0],
    ['by nobody: the policy allows it', { allow: ['execute(make)'] }, 'make', () => selected('r1'), 0],
  ])('%s is reported when the agent does it nevertheless', async (_, policy, command, answer, expected) => {
    const all = await underPolicy(policy);
    all.client.on('session/request_permission', answer);
    const asked = asking(all, command);
    await asked.answer();
    expect(await begin(all, asked.toolCallId)).toBe(expected);
    if (expected > 0) expect(all.entries.at(-1)).toMatchObject({ method: 'tool_call', verdict: 'deny', option: 'notify' });
  });

  test('by a policy that changed while the user was asked', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ deny: ['execute(make)'] });
      return selected('a1');
    });
    const asked = asking(all);
    await asked.answer();
    expect(await begin(all, asked.toolCallId)).toBe(1);
  });

  test('because nobody answered in time', async () => {
    const all = await underPolicy({ limits: { permission_timeout: '1s' } });
    all.client.on('session/request_permission', () => UNANSWERED);
    const asked = asking(all);
    const answer = asked.answer();
    await all.client.got('session/request_permission');
    all.clock.advance(1000);
    await answer;
    expect(await begin(all, asked.toolCallId)).toBe(1);
  });

  test('because the client could not ask', async () => {
    const all = await underPolicy({});
    all.client.on('session/request_permission', (_: Json, { id }: Json) => {
      all.client.send({ jsonrpc: '2.0', id, error: { code: -32099, message: 'no window' } });
      return UNANSWERED;
    });
    const asked = asking(all);
    await asked.answer();
    expect(await begin(all, asked.toolCallId)).toBe(1);
  });
});

describe('the policy says what follows', () => {
  const violating = async (response: string, options = {}) => {
    const all = await underPolicy({ ...POLICY, agents: { '*': { on_violation: response } } }, options);
    all.agent.on('session/prompt', async () => {
      all.update(call('completed'));
      await all.agent.got('session/cancel');
      return cancelled;
    });
    return all;
  };

  test('cancel ends the turn', async () => {
    const all = await violating('cancel');
    expect((await prompt(all.client, all.id, 'go')).result).toEqual(cancelled);
    expect(reports(all)).toEqual([expect.stringMatching(/\)\. The turn was cancelled\.$/)]);
    expect(JSON.stringify(all.client.updates(all.id))).toContain('The turn was cancelled.');
    expect(all.entries).toMatchObject([{ option: 'cancel' }]);
  });

  test('kill ends the agent', async () => {
    const all = await violating('kill');
    expect((await prompt(all.client, all.id, 'go')).error).toMatchObject({ code: -32603, data: { agent: 'agent' } });
    expect(all.notices.join('\n')).toContain('The agent was ended.');
    expect(all.entries).toMatchObject([{ option: 'kill' }]);
  });

  test('log records it and tells nobody', async () => {
    const all = await violating('log');
    all.update(call('completed'));
    await all.settled();
    expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'log' }]);
    expect([reports(all), JSON.stringify(all.client.updates(all.id)).includes('acted without asking')]).toEqual([[], false]);
  });

  test('a policy that only observes records it, whatever it says', async () => {
    const all = await violating('kill', { isObserving: true });
    all.update(call('completed'));
    await all.settled();
    expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'log', mode: 'observe' }]);
    expect(reports(all)).toEqual([]);
  });
});

describe('a permission request with nothing but the id of its call', () => {
  const bare = (all: UnderPolicy, toolCallId: string) =>
    all.agent.call('session/request_permission', { sessionId: all.id, toolCall: { toolCallId }, options: OPTIONS });
  const KNOWN = { allow: ['execute(npm test)', 'edit(/work/src/**)'], deny: ['execute(rm ...)'] };

  test('is evaluated by what the updates said of the call', async () => {
    const all = await underPolicy(KNOWN);
    for (const [toolCallId, command] of [
      ['one', 'npm test'],
      ['two', 'rm -r x'],
    ])
      all.update(call('pending', command, { toolCallId }));
    expect([await bare(all, 'one'), await bare(all, 'two')]).toEqual([selected('a1'), selected('r1')]);
    expect(all.client.all('session/request_permission')).toEqual([]);
    await bare(all, 'three');
    expect(all.client.all('session/request_permission')).toHaveLength(1);
  });

  test('is evaluated by the files that its diffs change', async () => {
    const all = await underPolicy(KNOWN);
    const diff = { type: 'diff', path: '/work/src/a.ts', oldText: 'x'.repeat(100), newText: 'y' };
    const content = [{ type: 'content', content: { type: 'text', text: 'long' } }, diff];
    all.update({ sessionUpdate: 'tool_call', toolCallId: 'd', title: 'Edit', kind: 'edit', status: 'pending', content });
    expect(await bare(all, 'd')).toEqual(selected('a1'));
    expect(all.entries).toMatchObject([{ summary: 'edit: /work/src/a.ts', verdict: 'allow' }]);
  });

  test('a call that begins anew is another one: what was known of the first does not count', async () => {
    const all = await underPolicy(KNOWN);
    all.update(call('pending', 'npm test', { toolCallId: 'x' }));
    all.update({ sessionUpdate: 'tool_call', toolCallId: 'x', title: 'Other', kind: 'other', status: 'pending' });
    await bare(all, 'x');
    expect(all.client.all('session/request_permission')).toHaveLength(1);
  });

  test('of more than 1,000 calls the oldest are forgotten, and put to the user', async () => {
    const all = await underPolicy(KNOWN);
    for (let n = 0; n <= 1000; n++) all.update(call('pending', 'npm test', { toolCallId: `c${n}` }));
    expect(await bare(all, 'c1000')).toEqual(selected('a1'));
    expect(all.client.all('session/request_permission')).toEqual([]);
    await bare(all, 'c0');
    expect(all.client.all('session/request_permission')).toHaveLength(1);
  });

  test('of calls with more than 16 MB of input the oldest are forgotten', async () => {
    const all = await underPolicy(KNOWN);
    const pad = 'x'.repeat(900_000);
    all.update(call('pending', 'npm test', { toolCallId: 'first' }));
    for (let n = 0; n < 19; n++) all.update(call('pending', 'npm test', { toolCallId: `c${n}`, rawInput: { command: 'npm test', pad } }));
    all.update(call('pending', 'npm test', { toolCallId: 'last' }));
    await all.settled();
    expect(await bare(all, 'last')).toEqual(selected('a1'));
    expect(all.client.all('session/request_permission')).toEqual([]);
    await bare(all, 'first');
    expect(all.client.all('session/request_permission')).toHaveLength(1);
  });
});
