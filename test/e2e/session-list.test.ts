// One list of the sessions of all agents.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import {
  type Client,
  type Json,
  open,
  prompt,
  Refusal,
  type ScriptedAgent,
  type Stage,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';

const list = (client: Client, params: Json = {}): Promise<Json> => client.call('session/list', params);
const ids = (result: Json): string[] => result.sessions.map((one: Json) => one.sessionId);
const owners = (result: Json): string[] => result.sessions.map((one: Json) => one._meta['acp-switchboard'].agent);
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

/** An agent with sessions of these minutes, served in pages. */
function pages(stage: Stage, name: string, minutes: readonly number[], size = minutes.length): ScriptedAgent {
  const agent = stage.agent(name);
  const sessions = minutes.map((minute) => ({ sessionId: `${name}-at-${minute}`, cwd: '/work', updatedAt: at(minute) }));
  agent.on('session/list', ({ cursor }) => {
    if (cursor !== undefined && !/^from:\d+$/.test(cursor)) throw new Refusal(-32602, 'unknown cursor');
    const from = Number(cursor?.slice('from:'.length) ?? 0);
    return { sessions: sessions.slice(from, from + size), ...(from + size < sessions.length && { nextCursor: `from:${from + size}` }) };
  });
  return agent;
}

test('sessions of all agents come in one list, newest first, each marked with its agent and otherwise as the agent wrote it', async ({
  stage,
}) => {
  const [left, right] = [pages(stage, 'left', [1, 5, 3]), pages(stage, 'right', [2, 4])];
  left.on('session/list', (_, msg) => {
    left.line(
      `{"jsonrpc":"2.0","id":${msg.id},"result":{"sessions":[{"sessionId":"l","x":1.0,"cwd":"/w","title":"\\u00e9","updatedAt":"${at(3)}","_meta":{"own":9007199254740993}},{"cwd":"/w","sessionId":"undated"}]}}`,
    );
    return UNANSWERED;
  });
  const client = await stage.connect([left, right]);
  const answer = await client.request('session/list', {});
  expect(ids(answer.result)).toEqual(['right-at-4', 'l', 'right-at-2', 'undated']);
  expect(owners(answer.result)).toEqual(['right', 'left', 'right', 'left']);
  const { line } = client.seen[client.place(answer)] as { line: string };
  expect(line).toContain('{"sessionId":"l","x":1.0,"cwd":"/w","title":"\\u00e9"');
  expect(line).toContain('"own":9007199254740993');
  expect(answer.result._meta).toBeUndefined();
});

test('filters reach every agent', async ({ stage }) => {
  const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
  const client = await stage.connect([left, right]);
  await list(client, { cwd: '/work', archived: 'only', _meta: { k: 1 } });
  for (const agent of [left, right])
    expect((await agent.got('session/list')).msg.params).toEqual({ cwd: '/work', archived: 'only', _meta: { k: 1 } });
});

test('the pages of several agents are listed with one cursor until all are done', async ({ stage }) => {
  const [left, right, third] = [pages(stage, 'left', [1, 2, 3, 4, 5], 2), pages(stage, 'right', [6, 7, 8], 2), pages(stage, 'third', [9])];
  const client = await stage.connect([left, right, third]);
  const seen: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list(client, cursor === undefined ? {} : { cursor });
    seen.push(ids(page));
    cursor = page.nextCursor;
  } while (cursor !== undefined && seen.length < 10);
  expect(seen).toEqual([
    ['third-at-9', 'right-at-7', 'right-at-6', 'left-at-2', 'left-at-1'],
    ['right-at-8', 'left-at-4', 'left-at-3'],
    ['left-at-5'],
  ]);
  expect(third.all('session/list')).toHaveLength(1);
  expect(right.all('session/list')).toHaveLength(2);
});

test('a foreign cursor, or one of a list with another filter, is -32602', async ({ stage }) => {
  const client = await stage.connect([pages(stage, 'left', [1, 2], 1), pages(stage, 'right', [])]);
  const { nextCursor } = await list(client, { cwd: '/work' });
  expect(await client.refused('session/list', { cursor: nextCursor })).toMatchObject({ code: -32602 });
  for (const cursor of ['from:1', '', 'e30', Buffer.from('{"v":1,"next":{"left":5}}').toString('base64url')])
    expect(await client.refused('session/list', { cwd: '/work', cursor }), cursor).toMatchObject({ code: -32602 });
  expect(ids(await list(client, { cwd: '/work', cursor: nextCursor }))).toEqual(['left-at-2']);
});

describe('an agent that fails to list', () => {
  test('with an error is left out and named in _meta, and the others are listed', async ({ stage }) => {
    const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
    right.on('session/list', () => {
      throw new Refusal(-32603, 'the disk is full');
    });
    const result = await list(await stage.connect([left, right]));
    expect(ids(result)).toEqual(['left-at-1']);
    expect(Object.keys(result._meta['acp-switchboard'].failed)).toEqual(['right']);
    expect(result._meta['acp-switchboard'].failed.right).toContain('the disk is full');
  });

  test('by silence is left out and named after a while', async ({ stage }) => {
    const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
    right.on('session/list', () => UNANSWERED);
    const result = await list(await stage.connect([left, right]));
    expect(ids(result)).toEqual(['left-at-1']);
    expect(Object.keys(result._meta['acp-switchboard'].failed)).toEqual(['right']);
  });

  test('by not starting is left out and named', async ({ stage }) => {
    const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
    const command = path.join(stage.dir, 'right.sh');
    writeFileSync(command, `#!/bin/sh\nexec '${right.server.command}' ${right.server.args.map((arg) => `'${arg}'`).join(' ')}\n`, {
      mode: 0o755,
    });
    const before = await stage.connect({ left, right: { command } });
    expect(ids(await list(before))).toEqual(['right-at-2', 'left-at-1']); // so it is known to list
    await before.close();
    rmSync(command);
    const result = await list(await stage.connect({ left, right: { command } }));
    expect(ids(result)).toEqual(['left-at-1']);
    expect(result._meta['acp-switchboard'].failed.right).toContain(command);
  });

  test('by exiting midway is left out and named', async ({ stage }) => {
    const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
    right.on('session/list', () => {
      right.exit();
      return UNANSWERED;
    });
    const result = await list(await stage.connect([left, right]));
    expect(ids(result)).toEqual(['left-at-1']);
    expect(result._meta['acp-switchboard'].failed.right).toContain('right');
  });

  test('with an invalid response spoils nothing else', async ({ stage }) => {
    const [left, right] = [pages(stage, 'left', [1]), pages(stage, 'right', [2])];
    const client = await stage.connect([left, right]);
    for (const result of ['{"sessions":null}', '{}', '{"sessions":[1,null,"x",{},{"sessionId":7}]}', 'null', '[]']) {
      right.on('session/list', (_, msg) => {
        right.line(`{"jsonrpc":"2.0","id":${msg.id},"result":${result}}`);
        return UNANSWERED;
      });
      expect(ids(await list(client)), result).toEqual(['left-at-1']);
    }
  });
});

test('for an agent that cannot list, our own record serves: cwd, time, owner, filtered by cwd, also in a later process', async ({
  stage,
}) => {
  const agents = [pages(stage, 'left', [1]), stage.agent('plain', { capabilities: {} })];
  const before = await stage.connect(agents);
  const here = await open(before, stage.cwd, 'plain');
  const there = await open(before, '/elsewhere', 'plain');
  const check = async (client: Client) => {
    expect(ids(await list(client))).toEqual([there.id, here.id, 'left-at-1']);
    const filtered = (await list(client, { cwd: '/elsewhere' })).sessions.filter((one: Json) => one.sessionId.startsWith('plain'));
    expect(filtered).toMatchObject([
      {
        sessionId: there.id,
        cwd: '/elsewhere',
        updatedAt: expect.stringMatching(/^\d{4}-/),
        _meta: { 'acp-switchboard': { agent: 'plain' } },
      },
    ]);
  };
  await check(before);
  await before.kill();
  await check(await stage.connect(agents));
});

test('sessions with the same native id are listed under two ids, each of which loads the right one, also in a later process', async ({
  stage,
}) => {
  const agents = ['left', 'right'].map((name) => stage.agent(name));
  for (const agent of agents)
    agent.sessions.set('same', { id: 'same', cwd: '/w', model: '', mode: '', title: agent.name, updatedAt: at(1) });
  const before = await stage.connect(agents);
  const { sessions } = await list(before);
  expect(sessions.map((one: Json) => one.title).sort()).toEqual(['left', 'right']);
  expect(new Set(sessions.map((one: Json) => one.sessionId)).size).toBe(2);
  await before.kill();
  const client = await stage.connect(agents);
  for (const { sessionId, title } of sessions) {
    await client.call('session/load', { sessionId, cwd: '/w', mcpServers: [] });
    await prompt(client, sessionId, 'hello');
    expect(client.agentText(sessionId)).toBe(`replay of same by ${title}${title} heard hello`);
  }
});

test('a session is listed once under the id it was opened with', async ({ stage }) => {
  const agents = [stage.agent('left', { mint: (n) => `s${n}` }), stage.agent('right', { mint: (n) => `s${n}` })];
  const client = await stage.connect(agents);
  const opened = [await open(client, stage.cwd, 'left'), await open(client, stage.cwd, 'right')].map(({ id }) => id);
  expect(ids(await list(client)).sort()).toEqual(opened.sort());
});

test('a new process lists at once what it has recorded, marked, and the agents tell the rest on the next page', async ({ stage }) => {
  const [left, right] = [stage.agent('left'), stage.agent('right')];
  const first = await stage.connect([left, right]);
  const { id } = await open(first, stage.cwd, 'left');
  await prompt(first, id, 'hello');
  await first.close();

  // As opencode and qwen: the agent starts for longer than a user waits for a list.
  let start = () => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  left.on('initialize', async () => {
    await started;
    return { protocolVersion: 1, agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {} } } };
  });
  left.on('session/list', () => ({
    sessions: [id, 'elsewhere'].map((sessionId) => ({ sessionId, cwd: stage.cwd, updatedAt: at(1) })),
  }));
  right.on('session/list', () => ({ sessions: [] }));
  const second = await stage.connect([left, right]);
  const page = await list(second, { cwd: stage.cwd });
  expect(page.sessions).toMatchObject([{ sessionId: id, _meta: { 'acp-switchboard': { agent: 'left', fromRecord: true } } }]);
  const rest = list(second, { cwd: stage.cwd, cursor: page.nextCursor });
  start();
  expect(ids(await rest)).toEqual(['elsewhere']);
  const complete = await list(second, { cwd: stage.cwd });
  expect([ids(complete).sort(), complete.nextCursor]).toEqual([['elsewhere', id].sort(), undefined]);
});
