// A call of a host tool is one tool call and one question for the user, no matter who reports it first, and no question stays open.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { type Client, fixture, hello, type Json, open, prompt, type Stage, SWITCHBOARD, test } from '../e2e/harness.ts';
import { audit } from '../e2e/policy-support.ts';

type Place = { readonly client: Client; readonly id: string; readonly call: (tool: string, args: Json) => Promise<Json> };

async function place(stage: Stage, how: string, policy?: Json, answer = 'allow'): Promise<Place> {
  const config = { host_tools: { enabled: true }, workspace: 'serve-missing', ...(policy && { policy: { version: 1, ...policy } }) };
  const client = stage.proxy({ agent: fixture('real-agents/uses-host-tools', 'agent', how) }, { config });
  client.on('session/request_permission', ({ options }: Json) => {
    const { optionId } = options.find(({ kind }: Json) => kind.startsWith(answer));
    return { outcome: { outcome: 'selected', optionId } };
  });
  await hello(client, { clientCapabilities: {} });
  const { id } = await open(client, stage.cwd);
  return { client, id, call: (tool, args) => prompt(client, id, `${tool} ${JSON.stringify(args)}`) };
}

/** The last status of each tool call that the client knows, from updates and permission requests. */
function statuses({ client, id }: Place): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const { msg } of client.seen) {
    const { toolCallId, status } = msg.params?.update ?? msg.params?.toolCall ?? {};
    if (msg.params?.sessionId === id && toolCallId !== undefined && status) all[toolCallId] = status;
  }
  return all;
}
const asked = ({ client }: Place): number => client.all('session/request_permission').length;
const WRITE = { path: 'new.txt', content: 'x' };
const written = (stage: Stage): boolean => existsSync(path.join(stage.cwd, 'new.txt'));

describe.each([
  ['without a policy', undefined],
  ['under a policy that asks', { default: 'ask' }],
])('%s', (_, policy) => {
  test.for(['silent', 'late', 'first', 'asks'])(
    'an agent that reports %s: one tool call, one question, and both end',
    async (how, { stage }) => {
      const all = await place(stage, how, policy);
      expect((await all.call('write_file', WRITE)).result).toEqual({ stopReason: 'end_turn' });
      expect([asked(all), written(stage), Object.values(statuses(all))]).toEqual([1, true, ['completed']]);
    },
  );

  test.for(['silent', 'late', 'first'])('a refused call fails: %s', async (how, { stage }) => {
    const all = await place(stage, how, policy, 'reject');
    await all.call('write_file', WRITE);
    expect([asked(all), written(stage), Object.values(statuses(all))]).toEqual([1, false, ['failed']]);
  });

  test.for(['silent', 'late', 'first', 'asks'])('a question of the agent to the user is closed: %s', async (how, { stage }) => {
    const all = await place(stage, how, policy);
    await all.call('ask_question', { question: 'Which?', choices: ['a', 'b'] });
    expect(Object.values(statuses(all)).every((status) => status === 'completed')).toBe(true);
  });
});

describe('under the standard policy', () => {
  const STANDARD = { allow: ['edit($cwd/**)'], deny: [{ id: 'secrets', path: ['**/.env'] }] };

  test.for(['silent', 'late', 'first', 'asks'])('a write inside $cwd is decided like an edit of the agent: %s', async (how, { stage }) => {
    const all = await place(stage, how, STANDARD);
    await all.call('write_file', WRITE);
    expect([asked(all), written(stage)]).toEqual([0, true]);
    await all.client.close();
    expect(audit(stage).filter(({ outcome }) => outcome !== 'allowed' && outcome !== undefined)).toEqual([]);
  });

  test.for(['silent', 'asks', 'asks-bare'])('a tool that only reads the session is not asked about: %s', async (how, { stage }) => {
    const all = await place(stage, how, STANDARD, 'reject');
    await all.call('session_info', {});
    expect([asked(all), Object.values(statuses(all))]).toEqual([0, ['completed']]);
    await all.client.close();
    expect(audit(stage).filter(({ outcome }) => outcome !== 'allowed' && outcome !== undefined)).toEqual([]);
  });

  test.for(['silent', 'late', 'first'])('a denied one is one failed tool call that says why: %s', async (how, { stage }) => {
    const all = await place(stage, how, STANDARD);
    await all.call('write_file', { path: '.env', content: 'x' });
    expect([asked(all), Object.values(statuses(all))]).toEqual([0, ['failed']]);
    expect(JSON.stringify(all.client.updates(all.id)).match(/The policy refused this/g)).toHaveLength(1);
  });

  test('a denied one is refused at the first question, and the user is told', async ({ stage }) => {
    const all = await place(stage, 'asks', STANDARD);
    await all.call('write_file', { path: '.env', content: 'x' });
    expect(asked(all)).toBe(0);
    expect(audit(stage)).toMatchObject([{ method: 'session/request_permission', outcome: 'prevented', rule: { id: 'secrets' } }]);
    expect(JSON.stringify(all.client.updates(all.id))).toContain('The policy refused this.');
  });
});

test('`sessions show` and `agents list` say which host tools the agent took, by which transport', async ({ stage }) => {
  const all = await place(stage, 'first');
  await all.call('write_file', WRITE);
  await all.client.close();
  const config = stage.writeConfig({ agent: fixture('real-agents/uses-host-tools', 'agent', 'first') });
  const output = (...args: readonly string[]): string =>
    spawnSync(process.execPath, [SWITCHBOARD, ...args], {
      encoding: 'utf8',
      env: { ...process.env, SWITCHBOARD_HOME: stage.state, SWITCHBOARD_CONFIG: config, COLUMNS: '400' },
    }).stdout;
  expect(output('sessions', 'show', all.id)).toMatch(/^host tools: \d+ by acp, used: .*write_file/m);
  expect(output('agents', 'list')).toMatch(/\d+ by acp, used/);
});
