// The state of an agent while the connection runs, and its causes.
import { expect } from 'vitest';
import { startAgentProcess } from '../../src/agents/agent-process.ts';
import { fixture, hello, open, prompt, type Server, type Stage } from '../e2e/harness.ts';
import { connectInProcess, type InProcess } from './in-process.ts';
import { end, eventually, pidIn, test } from './setup.ts';

/** The connection in this process, its agents in their own; `FIXTURE_DIR` as the stage passes it to those it starts. */
function connected(stage: Stage, agents: Readonly<Record<string, Server>>, onStateChange = () => {}): InProcess {
  const env = { FIXTURE_DIR: stage.dir };
  const withEnv = Object.entries(agents).map(([name, { args = [], ...server }]) => [name, { ...server, args: [...args], env }]);
  return connectInProcess({ agents: Object.fromEntries(withEnv), launch: (spec) => startAgentProcess(spec, 'test'), onStateChange });
}

test.concurrent('row 9: 100 consecutive invalid lines mark an agent unhealthy, and the next valid one clears that', async ({ stage }) => {
  const { client, connection, notices } = connected(stage, {
    noisy: { ...fixture('bad-json', 'noisy'), while_running: 'pass' },
    well: fixture('well-behaved', 'well'),
  });
  await hello(client);
  const { id } = await open(client, stage.cwd, 'noisy');
  const state = () => connection.health().noisy?.state;
  void prompt(client, id, '99');
  await prompt(client, id, 'sound'); // behind the noise
  void prompt(client, id, '100');
  await eventually(() => expect(state()).toBe('unhealthy'));
  expect(connection.health().well?.state).toBe('ready');
  expect((await prompt(client, id, 'sound')).result).toEqual({ stopReason: 'end_turn' });
  expect(state()).toBe('ready');
  expect(notices.filter((text) => text.includes('"noisy"')).length).toBeGreaterThan(0);
  await connection.stop();
});

test.concurrent('row 2: an agent that did not answer initialize is unavailable, with the reason, until it may be tried again', async ({
  stage,
}) => {
  const sick = { ...fixture('silent-initialize', 'sick', '1'), timeouts: { initialize_ms: 1500 } };
  const changes: unknown[] = [];
  const { client, connection } = connected(stage, { sick, well: fixture('well-behaved', 'well') }, () =>
    changes.push(connection.health().sick),
  );
  const initialized = hello(client);
  await eventually(() => expect(connection.health().sick).toMatchObject({ state: 'starting', restarts: 0, lastError: undefined }));
  await initialized;
  // For a second, and the other agent may have taken longer than that.
  expect(changes).toContainEqual(
    expect.objectContaining({ state: 'unavailable', pid: undefined, lastError: expect.objectContaining({ key: 'AGENT_SILENT' }) }),
  );
  await eventually(() => expect(connection.health().sick?.state).toBe('idle'));
  await connection.stop();
});

test.concurrent('row 4: after a crash the state shows it: idle, one restart, the last error, and no request in flight', async ({
  stage,
}) => {
  const { client, connection } = connected(stage, { sick: fixture('crash-mid-turn', 'sick'), well: fixture('well-behaved', 'well') });
  await hello(client);
  const { id } = await open(client, stage.cwd, 'sick');
  const turn = prompt(client, id, 'work');
  await client.got('fs/read_text_file');
  expect(connection.health().sick).toMatchObject({ state: 'ready', pid: pidIn(id), sessions: 1, inFlight: 1, restarts: 0 });
  end(pidIn(id));
  await turn;
  expect(connection.health().sick).toMatchObject({ state: 'idle', pid: undefined, inFlight: 0, restarts: 1 });
  expect(connection.health().sick?.lastError?.message).toContain('SIGKILL');
  await connection.stop();
});
