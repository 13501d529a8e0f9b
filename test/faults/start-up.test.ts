// Agents that never get as far as their first session.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createRestartPolicy } from '../../src/agents/restart-policy.ts';
import { type Client, choosing, fixture, hello, open, prompt, type Stage } from '../e2e/harness.ts';
import { agentsOf, eventually, startsOf, test } from './setup.ts';

const refusedNew = (client: Client, stage: Stage, agent: string) =>
  client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing(agent) });

test.concurrent('row 1: a missing or non-executable command fails its own sessions at once, by name and with a hint', async ({ stage }) => {
  const locked = path.join(stage.dir, 'locked');
  writeFileSync(locked, '#!/bin/sh\n', { mode: 0o600 });
  const client = await stage.connect({
    well: fixture('well-behaved', 'well'),
    missing: { command: path.join(stage.dir, 'nowhere') },
    locked: { command: locked },
    homeless: { ...fixture('well-behaved', 'homeless'), cwd: path.join(stage.dir, 'gone') },
  });
  const reasons = { missing: 'not found', locked: 'not executable', homeless: 'cwd does not exist' };
  for (const [agent, why] of Object.entries(reasons)) {
    // Twice: it is retried on request, and neither in between nor after a while.
    for (const _ of [1, 2]) {
      const error = await refusedNew(client, stage, agent);
      expect(error).toMatchObject({ code: -32603, data: { agent, reason: 'not_startable' } });
      expect(error.message).toContain(`"${agent}"`);
      expect(error.message).toContain(why);
      expect(error.message).toContain(`agent_servers.${agent}`);
    }
  }
  const { id } = await open(client, stage.cwd, 'well');
  expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(agentsOf(stage, client)).toHaveLength(1);
  // Reported once.
  expect(await client.close()).toBe(0);
  for (const agent of Object.keys(reasons)) expect(client.stderr().split(`Agent "${agent}" did not start`)).toHaveLength(2);
});

test.concurrent('row 1: an agent that is installed at run time is used by the next session', async ({ stage }) => {
  const command = path.join(stage.dir, 'later');
  const client = await stage.connect({ well: fixture('well-behaved', 'well'), later: { command } });
  await refusedNew(client, stage, 'later');
  const { command: node, args } = fixture('well-behaved', 'later');
  writeFileSync(command, `#!/bin/sh\nexec "${node}" "${args.join('" "')}"\n`, { mode: 0o700 });
  const { id } = await open(client, stage.cwd, 'later');
  expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 2: an agent that never answers initialize is ended, its sessions are refused by name and with its last output, and a later try works', async ({
  stage,
}) => {
  const SECRET = 'canary-71d0e5a2c9';
  const sick = { ...fixture('silent-initialize', 'sick', '1'), env: { SECRET }, timeouts: { initialize_ms: 2500 } };
  // The client's own initialize does not wait for it, so that session/new does.
  const client = await stage.connect({ well: fixture('well-behaved', 'well'), sick }, { config: { timeouts: { initialize_wait_ms: 1 } } });
  const [first, second] = [refusedNew(client, stage, 'sick'), refusedNew(client, stage, 'sick')];
  const others = open(client, stage.cwd, 'well').then(async ({ id }) => ({ id, answer: await prompt(client, id, 'count 3') }));
  const errors = [await first, await second];
  const waiting = await refusedNew(client, stage, 'sick'); // at once: it may be tried again in a second
  for (const error of errors) {
    expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'no_initialize', stderr: [expect.any(String)] } });
    expect(error.message).toMatch(/"sick".*2500 ms; its last output: "waits for a server that takes .*"\. .*timeouts\.initialize_ms$/);
    expect(JSON.stringify(error)).not.toContain(SECRET);
  }
  expect(waiting).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'backing-off' } });
  expect(waiting.message).toMatch(/try again in 1 s/);
  expect(waiting.message).toContain('did not answer initialize within 2500 ms');
  expect(startsOf(stage, 'sick')).toBe(1);
  const { id, answer } = await others;
  expect(answer.result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).toBe('1 2 3 ');
  await eventually(() => expect(agentsOf(stage, client)).toHaveLength(1));

  await delay(waiting.data.retryInMs);
  const later = await open(client, stage.cwd, 'sick');
  expect((await prompt(client, later.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(startsOf(stage, 'sick')).toBe(2);
});

test.concurrent('row 2: an agent that exits before it answers initialize: the error has its exit code and its last output', async ({
  stage,
}) => {
  const sick = fixture('crash-before-initialize', 'sick', '1');
  // As above. The second request comes right after the first process ended, even if another agent starts slowly.
  const client = await stage.connect({ well: fixture('well-behaved', 'well'), sick }, { config: { timeouts: { initialize_wait_ms: 1 } } });
  expect(await refusedNew(client, stage, 'sick')).toMatchObject({ data: { agent: 'sick', code: 3 } });
  const error = await refusedNew(client, stage, 'sick');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', code: 3, signal: null, stderr: ['cannot find my licence'] } });
  expect(error.message).toMatch(/"sick" is unavailable; try again in 1 s/);
  expect(error.message).toContain(
    'exited (code 3) before answering; its last output: "cannot find my licence". To find out why, run: switchboard agents test sick',
  );
  expect(error.data.cause).toEqual({ reason: 'agent_exited', message: expect.stringContaining('"sick" exited') });
  await delay(error.data.retryInMs);
  await open(client, stage.cwd, 'sick');
});

test.concurrent('row 2: the only agent is silent: the client still gets its answer to initialize, and then the reason', async ({
  stage,
}) => {
  const client = stage.proxy({ sick: { ...fixture('silent-initialize', 'sick', '9'), timeouts: { initialize_ms: 300 } } });
  expect(await hello(client)).toMatchObject({ protocolVersion: 1 });
  const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
  expect(error.code).toBe(-32603);
  expect(error.message).toMatch(/"sick".*300 ms/);
});

test('row 2: the pause before the next try doubles from 1 s to 60 s, and is reset once the agent has started', () => {
  const policy = createRestartPolicy({ max: 5, windowS: 60 });
  const pauses = Array.from({ length: 9 }, () => {
    policy.failedToStart(0);
    return policy.refusal(0)?.waitMs;
  });
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  policy.started();
  expect(policy.refusal(0)).toBeUndefined();
  policy.failedToStart(0);
  expect(policy.refusal(999)).toEqual({ kind: 'backing-off', waitMs: 1 });
  expect(policy.refusal(1000)).toBeUndefined();
});

test.concurrent('row 3: an agent of another protocol version gets no session, and the error names both versions', async ({ stage }) => {
  const client = await stage.connect({ well: fixture('well-behaved', 'well'), future: fixture('wrong-version', 'future') });
  const error = await refusedNew(client, stage, 'future');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'future', protocolVersion: 7, supported: [1] } });
  expect(error.message).toMatch(/"future" speaks ACP version 7.*version 1/);
  await open(client, stage.cwd, 'well');
  await eventually(() => expect(agentsOf(stage, client)).toHaveLength(1));
});
