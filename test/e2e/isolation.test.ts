// Agents with a process per session: as many as there are sessions, and none left over.
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import {
  type Client,
  hello,
  open,
  prompt,
  type ScriptedAgent,
  type Server,
  type Stage,
  testAtOnce as test,
  UNANSWERED,
} from './harness.ts';
import type { Traits } from './scripted-agent.ts';

const end = { stopReason: 'end_turn' };

/** Counts its starts in folders and plays the next scripted agent at each. */
const NEXT = 'n=1; until mkdir "$0/$n" 2>/dev/null; do n=$((n+1)); done; exec "$@" "cell-$n"';

/** An agent whose every process is its own scripted agent, named by the order of their starts. */
function cells(stage: Stage, traits: Traits = {}) {
  const dir = path.join(stage.dir, 'starts');
  mkdirSync(dir);
  const scriptedAgents = Array.from({ length: 6 }, (_, n) => stage.agent(`cell-${n + 1}`, traits));
  const { command, args } = (scriptedAgents[0] as ScriptedAgent).server;
  const server: Server = { command: 'sh', args: ['-c', NEXT, dir, command, ...args.slice(0, -1)], isolation: 'session' };
  const starts = () => readdirSync(dir).length;
  /** The one that has this session. */
  const of = (sessionId: string) => scriptedAgents.find(({ sessions }) => sessions.has(sessionId)) as ScriptedAgent;
  return { server, scriptedAgents, starts, of };
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.each([
  ['alone', false],
  ['next to another', true],
] as const)('an agent with a process per session, %s', (_, hasOther) => {
  const agentsOf = (stage: Stage, cell: Server) => (hasOther ? { cell, other: stage.agent('other') } : { cell });

  test('gets two processes for two concurrent sessions, and closing one ends only its process', async ({ stage }) => {
    const { server, starts, of } = cells(stage);
    const agents = agentsOf(stage, server);
    const before = await stage.connect(agents);
    await before.close(); // its capabilities are known from now on
    expect(starts()).toBe(1);

    const client = stage.proxy(agents);
    await hello(client);
    const [one, two] = await Promise.all([open(client, stage.cwd), open(client, stage.cwd)]);
    expect(starts()).toBe(3);
    const [first, second] = [of(one.id), of(two.id)];
    expect(first.pids).not.toEqual(second.pids);
    for (const { id } of [one, two]) expect((await prompt(client, id, 'hello')).result).toEqual(end);

    expect(await client.call('session/close', { sessionId: one.id })).toEqual({});
    await first.gone();
    expect((await prompt(client, two.id, 'again')).result).toEqual(end);
    expect(client.agentText(two.id)).toBe(`${second.name} heard hello${second.name} heard again`);
    expect(isAlive(second.pids[0])).toBe(true);
    expect(starts()).toBe(3);

    expect(await client.call('session/close', { sessionId: two.id })).toEqual({});
    await second.gone();
    const three = await open(client, stage.cwd);
    expect((await prompt(client, three.id, 'hello')).result).toEqual(end);
    expect(starts()).toBe(4);
  });
});

test('a refused session/new leaves no process behind', async ({ stage }) => {
  const { server, scriptedAgents, starts, of } = cells(stage, { capabilities: { sessionCapabilities: { close: {} } } });
  const client = await stage.connect({ cell: server, other: stage.agent('other') });
  const session = await open(client, stage.cwd, 'cell');
  const params = { cwd: stage.cwd, mcpServers: [], additionalDirectories: ['/x'] };
  for (let n = 0; n < 2; n++)
    expect(await client.refused('session/new', { ...params, _meta: { 'acp-switchboard': { agent: 'cell' } } })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('additionalDirectories'),
    });
  const kept = of(session.id);
  await Promise.all(scriptedAgents.filter((scripted) => scripted !== kept).map((scripted) => scripted.gone()));
  expect((await prompt(client, session.id, 'hello')).result).toEqual(end);
  expect(isAlive(kept.pids[0])).toBe(true);
  expect(scriptedAgents.filter(({ pids }) => pids.length > 0)).toHaveLength(starts());
});

describe('while the proxy shuts down', () => {
  /** Everything a client may still ask; each is refused and starts nothing. */
  async function isRefusedAll(client: Client, cwd: string, sessionId: string): Promise<void> {
    const params = { sessionId, cwd, mcpServers: [], prompt: [] };
    const choosing = { _meta: { 'acp-switchboard': { agent: 'idle' } } };
    const received = [
      client.refused('session/new', { cwd, mcpServers: [], ...choosing }),
      client.refused('session/new', { cwd, mcpServers: [] }),
      ...['session/prompt', 'session/load', 'session/list', 'session/fork'].map((method) => client.refused(method, params)),
      client.refused('session/load', { ...params, sessionId: 'unheard of' }),
    ];
    for (const error of await Promise.all(received))
      expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('shutting down') });
  }

  test('after a signal, with an agent that ends its turn slowly, requests are refused and start nothing', async ({ stage }) => {
    const [slow, idle] = [stage.agent('slow', { turn: () => UNANSWERED }), stage.agent('idle')];
    await (await stage.connect([slow, idle])).close();
    const client = await stage.connect([slow, idle]);
    const { id } = await open(client, stage.cwd);
    const turn = prompt(client, id, 'take your time');
    await slow.got('session/prompt');
    client.child.kill('SIGTERM');
    await slow.got('session/cancel');
    await isRefusedAll(client, stage.cwd, id);
    expect((await turn).result).toEqual({ stopReason: 'cancelled' });
    await client.ended;
    expect([slow, idle].map(({ pids }) => pids.length)).toEqual([2, 1]);
  });

  test('after a signal, with an agent that exits slowly, requests are refused and start nothing', async ({ stage }) => {
    const [slow, idle] = [stage.agent('slow'), stage.agent('idle')];
    // The scripted agent exits with its input; the shell around it survives that and a SIGTERM.
    const { command, args } = slow.server;
    const server = (stop_grace_ms: number) => ({
      command: 'sh',
      args: ['-c', 'trap "" TERM; "$@"; exec tail -f /dev/null', 'sh', command, ...args],
      timeouts: { stop_grace_ms },
    });
    const first = await stage.connect({ slow: server(100), idle });
    await first.close();
    const client = await stage.connect({ slow: server(60_000), idle });
    const { id } = await open(client, stage.cwd);
    client.child.kill('SIGTERM');
    await slow.gone();
    await isRefusedAll(client, stage.cwd, id);
    client.child.kill('SIGTERM'); // the second one kills it at once
    await client.ended;
    expect([slow, idle].map(({ pids }) => pids.length)).toEqual([2, 1]);
  });
});
