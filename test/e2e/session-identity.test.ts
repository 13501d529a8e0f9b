// Agents that number their sessions per process: every session has an id and a record of its own.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, vi } from 'vitest';
import { createSessionStore, type SessionRecord } from '../../src/store/sessions/session-store.ts';
import { readStats } from '../../src/store/transcripts/session-stats.ts';
import { readTranscript, transcriptsDir } from '../../src/store/transcripts/transcript-files.ts';
import { connectSocket, createToken, runCommand, startDaemon } from './daemon.ts';
import { fixture, type Json, open, prompt, type Stage, SWITCHBOARD, test } from './harness.ts';

const numbering = (name: string) => ({ [name]: fixture('numbers-sessions', name) });

/** The records, newest first, as `sessions list` reads them. */
function listed(stage: Stage): (SessionRecord & { readonly turns: number })[] {
  const stats = readStats(transcriptsDir(stage.state));
  const records = [
    ...createSessionStore(stage.state, () => {})
      .records()
      .values(),
  ];
  return records.map((record) => ({ ...record, turns: stats.get(record.sessionId)?.turns ?? 0 })).reverse();
}
const promptsOf = (stage: Stage, id: string): string[] =>
  (readTranscript(transcriptsDir(stage.state), id) ?? []).flatMap((entry) => (entry.kind === 'prompt' ? [entry.text] : []));

/** One process with one session and one prompt. */
async function oneRun(stage: Stage, agent: string, cwd: string, text: string): Promise<string> {
  const client = await stage.connect(numbering(agent));
  const { id } = await open(client, cwd);
  await prompt(client, id, text);
  await client.close();
  return id;
}

describe('an agent that numbers its sessions per process', () => {
  test('three runs of two agents in two directories are three sessions', async ({ stage }) => {
    const other = path.join(stage.dir, 'other');
    mkdirSync(other);
    const runs = [
      { agent: 'left', cwd: stage.cwd, text: 'one' },
      { agent: 'right', cwd: other, text: 'two' },
      { agent: 'left', cwd: stage.cwd, text: 'three' },
    ];
    const ids: string[] = [];
    for (const { agent, cwd, text } of runs) ids.push(await oneRun(stage, agent, cwd, text));
    expect(ids[0]).toBe('session-1'); // without a collision, the id is the agent's own
    expect(new Set(ids).size).toBe(3);
    const found = listed(stage);
    for (const [n, { agent, cwd, text }] of runs.entries()) {
      expect(found.find(({ sessionId }) => sessionId === ids[n])).toMatchObject({ agent, cwd, nativeId: 'session-1', turns: 1 });
      expect(promptsOf(stage, ids[n] as string)).toEqual([text]);
    }
    const shown = runCommand(stage, 'sessions', 'show', ids[2] as string);
    expect(shown).toContain('left heard three');
    expect(shown).not.toMatch(/heard one|heard two/);
  });

  test('two processes that open their first sessions at the same moment do not share one', async ({ stage }) => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => stage.connect(numbering('left'))));
    const ids = await Promise.all(clients.map(async (client) => (await open(client, stage.cwd)).id));
    await Promise.all(clients.map((client, n) => prompt(client, ids[n] as string, `from ${n}`)));
    await Promise.all(clients.map((client) => client.close()));
    expect(new Set(ids).size).toBe(4);
    for (const [n, id] of ids.entries()) expect(promptsOf(stage, id)).toEqual([`from ${n}`]);
  });

  for (const [name, agents] of [
    ['one agent', numbering('left')],
    ['several agents', { ...numbering('left'), ...numbering('right') }],
  ] as const)
    test(`after a crash, its next session is another one, and the lost one is refused by name: ${name}`, async ({ stage }) => {
      const client = await stage.connect(agents);
      const { id: before } = await open(client, stage.cwd, 'left');
      await prompt(client, before, 'one');
      expect(await prompt(client, before, 'die')).toHaveProperty('error.data.reason', 'agent_exited');
      const { id: after } = await open(client, stage.cwd, 'left');
      expect(after).not.toBe(before);
      await prompt(client, after, 'two');
      expect(client.agentText(after)).toBe('left heard two');
      const refusal = await prompt(client, before, 'three');
      expect(refusal.error).toMatchObject({ code: -32002, data: { sessionId: before } });
      expect(refusal.error.message).toContain(`agent "left" has given its id to session "${after}"`);
      await client.close();
      expect([promptsOf(stage, before), promptsOf(stage, after)]).toEqual([['one', 'die', 'three'], ['two']]);
    });

  test("a single agent's list names sessions by the ids that clients know", async ({ stage }) => {
    await oneRun(stage, 'left', stage.cwd, 'one');
    const client = await stage.connect(numbering('left'));
    const { id } = await open(client, stage.cwd);
    const { sessions } = await client.call('session/list', {});
    expect(sessions.map(({ sessionId }: Json) => sessionId)).toEqual([id]);
  });

  test('a session of an earlier process is loaded under its own id', async ({ stage }) => {
    const first = await oneRun(stage, 'left', stage.cwd, 'one');
    const second = await oneRun(stage, 'left', stage.cwd, 'two');
    const client = await stage.connect(numbering('left'));
    await client.call('session/load', { sessionId: second, cwd: stage.cwd, mcpServers: [] });
    await prompt(client, second, 'three');
    expect(client.agentText(second)).toBe('replayedleft heard three');
    await client.close();
    expect([promptsOf(stage, first), promptsOf(stage, second)]).toEqual([['one'], ['two', 'three']]);
  });

  test('a session that was deleted does not give its id away', async ({ stage }) => {
    const first = await oneRun(stage, 'left', stage.cwd, 'one');
    runCommand(stage, 'sessions', 'delete', first);
    const second = await oneRun(stage, 'left', stage.cwd, 'two');
    expect(second).not.toBe(first);
    expect(listed(stage).map(({ sessionId }) => sessionId)).toEqual([second]);
  });

  test('two network clients whose agents give out the same id see their own session only', async ({ stage }) => {
    const daemon = await startDaemon(stage, numbering('left'));
    const clients = [
      await connectSocket(daemon, createToken(stage, 'first')),
      await connectSocket(daemon, createToken(stage, 'second')),
    ] as const;
    const ids = [(await open(clients[0], stage.cwd)).id, (await open(clients[1], stage.cwd)).id] as const;
    for (const [n, client] of clients.entries()) await prompt(client, ids[n] as string, `from ${n}`);
    for (const [n, client] of clients.entries()) {
      const own = ids[n] as string;
      const { sessions } = await client.call('session/list', {});
      expect(sessions.map(({ sessionId }: Json) => sessionId)).toEqual([own]);
      expect(client.agentText(own)).toBe(`left heard from ${n}`);
      expect(await prompt(client, ids[1 - n] as string, 'who are you?')).toHaveProperty('error.code', -32002);
      const other = { sessionId: ids[1 - n], cwd: stage.cwd, mcpServers: [] };
      expect(await client.request('session/load', other)).toHaveProperty('error.code', -32002);
    }
    for (const [n, id] of ids.entries()) await vi.waitFor(() => expect(promptsOf(stage, id)).toEqual([`from ${n}`]), { timeout: 20_000 });
  });
});

describe('an agent that claims the session of another', () => {
  test('a recording that is played as an agent leaves the original as it was', async ({ stage }) => {
    const file = path.join(stage.dir, 'recording.jsonl');
    const original = await stage.connect(numbering('left'), { args: ['--record', file] });
    const { id } = await open(original, stage.cwd);
    await prompt(original, id, 'one');
    await original.close();
    const player = await stage.connect({ played: { command: process.execPath, args: [SWITCHBOARD, 'replay', file, '--instant'] } });
    const { id: played } = await open(player, stage.cwd);
    await prompt(player, played, 'one');
    await player.close();
    expect(played).not.toBe(id);
    expect([promptsOf(stage, id), promptsOf(stage, played)]).toEqual([['one'], ['one']]);
    expect(listed(stage).map(({ sessionId, agent }) => [sessionId, agent])).toEqual([
      [played, 'played'],
      [id, 'left'],
    ]);
  });

  test('a single agent that loads the session of another is recorded apart, and again there', async ({ stage }) => {
    const id = await oneRun(stage, 'left', stage.cwd, 'one');
    for (const text of ['two', 'three']) {
      const client = await stage.connect(numbering('right'));
      await client.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
      await prompt(client, id, text);
      expect(client.agentText(id)).toBe(`replayedright heard ${text}`); // the client keeps the id that it named
      await client.close();
    }
    expect(listed(stage).map(({ sessionId, agent, turns }) => [sessionId, agent, turns])).toEqual([
      [`${id}~right`, 'right', 2],
      [id, 'left', 1],
    ]);
    expect([promptsOf(stage, id), promptsOf(stage, `${id}~right`)]).toEqual([['one'], ['two', 'three']]);
  });
});
