// Agents that behave as real ones do: what happened is in the audit log, and nothing else is.
import path from 'node:path';
import { describe, expect } from 'vitest';
import { CAPABILITIES, type Client, fixture, hello, type Json, open, prompt, type Stage, test } from './harness.ts';
import { audit, selected } from './policy-support.ts';

type Run = { readonly client: Client; readonly id: string };

/** `answer`: the user's, to a permission request. */
async function run(stage: Stage, agent: string, policy: Json, { answer = 'allow', capabilities = {} } = {}): Promise<Run> {
  const config = { policy: { version: 1, agents: { '*': { on_violation: 'kill' } }, ...policy } };
  const client = stage.proxy({ agent: fixture(`real-agents/${agent}`, 'agent') }, { config });
  client.on('session/request_permission', ({ options }: Json) =>
    selected(options.find(({ kind }: Json) => kind === `${answer}_once`).optionId),
  );
  client.on('fs/write_text_file', () => ({}));
  await hello(client, { clientCapabilities: { ...CAPABILITIES, ...capabilities } });
  const { id } = await open(client, stage.cwd);
  return { client, id };
}

const lines = (stage: Stage) => audit(stage).map(({ method, summary, outcome, by }) => [method, summary, outcome, by]);
const texts = ({ client, id }: Run): readonly string[] =>
  client.updates(id).flatMap((update) => {
    const found = JSON.stringify(update);
    return /\[switchboard\]|"notice"/.test(found) ? [found] : [];
  });

const NOTICES = { session: { notices: {} } };

describe('an agent that obeys is not accused, and not killed', () => {
  test.for([
    ['asks-late', 'refused by a rule', { deny: ['execute(touch ...)'] }, 'allow', 'prevented', 'policy'],
    ['asks-late', 'allowed by a rule', { allow: ['execute(touch ...)'] }, 'reject', 'allowed', 'policy'],
    ['asks-late', 'refused by the user', {}, 'reject', 'prevented', 'user'],
    ['asks-late', 'allowed by the user', {}, 'allow', 'allowed', 'user'],
    ['asks-first', 'refused by a rule', { deny: ['execute(touch ...)'] }, 'allow', 'prevented', 'policy'],
    ['asks-first', 'allowed by the user', {}, 'allow', 'allowed', 'user'],
    ['asks-first', 'refused by the user', {}, 'reject', 'prevented', 'user'],
  ] as const)('%s, %s', async ([agent, , policy, answer, outcome, by], { stage }) => {
    const { client, id } = await run(stage, agent, policy, { answer });
    for (const name of ['a', 'b']) expect((await prompt(client, id, `touch ${name}`)).result).toEqual({ stopReason: 'end_turn' });
    expect(lines(stage)).toEqual(['a', 'b'].map((name) => ['session/request_permission', `execute: touch ${name}`, outcome, by]));
  });

  test.for([
    ['refused by a rule', { deny: ['edit($cwd/**)'] }, 'allow', 'prevented', 'policy', 'failed'],
    ['refused by the user', {}, 'reject', 'prevented', 'user', 'failed'],
    ['allowed by the user', {}, 'allow', 'allowed', 'user', 'completed'],
    ['allowed by a rule', { allow: ['edit($cwd/**)'] }, 'reject', 'allowed', 'policy', 'completed'],
  ] as const)('writes-through-client, %s', async ([, policy, answer, outcome, by, status], { stage }) => {
    const { client, id } = await run(stage, 'writes-through-client', policy, { answer });
    const file = path.join(stage.cwd, 'x');
    expect((await prompt(client, id, file)).result).toEqual({ stopReason: 'end_turn' });
    expect(client.updates(id, 'tool_call_update').find(({ toolCallId }) => toolCallId === 'call-1').status).toBe(status);
    expect(lines(stage)).toEqual([['fs/write_text_file', `edit: ${file}`, outcome, by]]);
  });
});

describe('what an agent does unasked', () => {
  test('although the policy asks is one line in the session and one in the log, however many actions there are', async ({ stage }) => {
    const { client, id } = await run(stage, 'never-asks', { allow: ['execute(ls)'] }, { capabilities: NOTICES });
    expect((await prompt(client, id, 'touch a')).result).toEqual({ stopReason: 'end_turn' });
    expect((await prompt(client, id, 'touch b\nls\ntouch c\ntouch c')).result).toEqual({ stopReason: 'end_turn' });
    expect(audit(stage).map(({ summary, outcome, verdict, count }) => [summary, outcome, verdict, count])).toEqual([
      ['execute: touch a', 'unasked', 'ask', undefined],
      ['execute: touch b; execute: touch c', 'unasked', 'ask', 3],
    ]);
    expect(client.updates(id, 'notice')).toEqual([
      expect.objectContaining({
        title: 'agent acted without asking for permission',
        description: expect.stringMatching(/^execute: touch a \(no rule settles it\)\.$/),
      }),
      expect.objectContaining({ description: expect.stringMatching(/^execute: touch b; execute: touch c \(/) }),
    ]);
  });

  test('although the policy denies it is a violation', async ({ stage }) => {
    const policy = { deny: ['execute(touch ...)'], agents: { '*': { on_violation: 'notify' } } };
    const all = await run(stage, 'never-asks', policy);
    await prompt(all.client, all.id, 'touch a');
    expect(audit(stage)).toMatchObject([{ summary: 'execute: touch a', outcome: 'noticed', verdict: 'deny' }]);
    expect(texts(all).join()).toContain('did what the policy denies, without asking: execute: touch a');
  });
});

describe('a refusal is explained to the user in one line', () => {
  const DENY = { deny: [{ id: 'no-touch', action: 'execute', command: 'touch ...', reason: 'leave it' }] };
  const WORDS = /touch a.*no-touch \(.*\): leave it\. To allow it, change that rule\./;

  test.for(['asks-late', 'asks-first'])('by a notice, where the client shows them: %s', async (agent, { stage }) => {
    const { client, id } = await run(stage, agent, DENY, { capabilities: NOTICES });
    await prompt(client, id, 'touch a');
    const [notice, ...others] = client.updates(id, 'notice');
    expect([`${notice.title}. ${notice.description}`, others]).toEqual([expect.stringMatching(WORDS), []]);
  });

  test('else in the tool call that the agent has ended', async ({ stage }) => {
    const all = await run(stage, 'asks-late', DENY);
    await prompt(all.client, all.id, 'touch a');
    expect(all.client.updates(all.id, 'tool_call_update')).toMatchObject([
      { toolCallId: 'call-1', status: 'failed' },
      {
        toolCallId: 'call-1',
        content: [{ content: { text: expect.stringMatching(/^\[switchboard\] The policy refused this\. Deny by rule no-touch/) } }],
      },
    ]);
    expect(texts(all)).toHaveLength(1);
  });

  test('or in the tool call that the agent has not even shown', async ({ stage }) => {
    const all = await run(stage, 'asks-first', DENY);
    await prompt(all.client, all.id, 'touch a');
    expect(all.client.updates(all.id)).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: 'call-1', title: 'touch a', status: 'failed' },
    ]);
    expect(texts(all)).toEqual([expect.stringContaining('no-touch')]);
  });

  test('or, for a file, in a tool call of its own, which names the rule that would allow it', async ({ stage }) => {
    const all = await run(stage, 'writes-through-client', { default: 'deny' });
    await prompt(all.client, all.id, path.join(stage.cwd, 'x'));
    expect(texts(all)).toEqual([expect.stringContaining('To allow it, add under allow: edit($cwd/x)')]);
  });

  test('and not when the user was the one who refused', async ({ stage }) => {
    const all = await run(stage, 'asks-late', {}, { answer: 'reject' });
    await prompt(all.client, all.id, 'touch a');
    expect(texts(all)).toEqual([]);
  });
});
