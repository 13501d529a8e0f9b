// Out of descriptors, processes or disk space. What runs continues, and what cannot start says why.

import { spawnSync } from 'node:child_process';
import { chownSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, choosing, fixture, hello, open, prompt, type Stage } from '../e2e/harness.ts';
import { agentsOf, end, eventually, noticed, pidIn, SWITCHBOARD, test } from './setup.ts';
import { goesOnWithout } from './unusable-state.ts';

test.concurrent('row 25: without free descriptors new agents are refused with a clear reason, running ones continue, and freed ones are used', async ({
  stage,
}) => {
  const names = Array.from({ length: 12 }, (_, n) => `agent${n}`);
  const config = stage.writeConfig(Object.fromEntries(names.map((name) => [name, fixture('well-behaved', name)])));
  // Enough for the proxy itself and for some of the agents.
  const limited = ['-c', 'ulimit -n 44; exec "$@"', 'sh', process.execPath, SWITCHBOARD, 'acp', '--config', config];
  const client = stage.run('sh', limited);
  await hello(client);
  const answers = await Promise.all(names.map((name) => tryNew(client, stage, name)));
  const opened = answers.flatMap(({ id }) => id ?? []);
  const refused = answers.flatMap(({ name, error }) => (error ? [{ name, error }] : []));
  expect(opened.length).toBeGreaterThan(1);
  expect(refused.length).toBeGreaterThan(1);
  for (const { name, error } of refused) {
    expect(error).toMatchObject({ code: -32603, data: { agent: name } });
    expect(error.message).toMatch(/too many files open.*ulimit/);
  }
  for (const id of opened) expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  const [first = '', second = ''] = opened;
  for (const id of [first, second]) end(pidIn(id));
  await eventually(() => expect(client.stderr().match(/exited \(signal SIGKILL\)/g)).toHaveLength(2));
  await open(client, stage.cwd, refused[0]?.name);
  expect(await client.close()).toBe(0);
  expect(agentsOf(stage, client)).toEqual([]);
});

function runs([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args).status === 0;
}

test
  .skipIf(process.platform !== 'linux')
  .concurrent(
    'row 25: a part that cannot be loaded any more fails only its own feature, neither sessions nor a clean exit',
    async ({ stage }) => {
      const agent = fixture('mcp-agent', '--takes', 'acp', '--name', 'agent');
      const client = await stage.connect({ agent, well: fixture('well-behaved', 'well') }, { config: { host_tools: { enabled: true } } });
      const [{ id }, well] = [await open(client, stage.cwd, 'agent'), await open(client, stage.cwd, 'well')];
      expect(runs(['prlimit', '--nofile=8:', '--pid', String(client.child.pid)])).toBe(true);
      expect((await prompt(client, id, 'tools')).result).toEqual({ stopReason: 'end_turn' });
      expect(client.agentText(id)).toMatch(/could not be loaded \(EMFILE/);
      await noticed(client, /agents get no host tools: .*EMFILE.*only a new start helps/);
      for (const session of [id, well.id]) expect((await prompt(client, session, 'hello')).result).toEqual({ stopReason: 'end_turn' });
      expect(await client.close()).toBe(0);
      expect(agentsOf(stage, client)).toEqual([]);
      expect(client.stderr()).not.toMatch(/should not have happened|^ +at /m);
    },
  );

async function tryNew(client: Client, stage: Stage, name: string) {
  const { result, error } = await client.request('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing(name) });
  return { name, id: result?.sessionId as string | undefined, error };
}

// The limit does not bind root, so there the proxy runs as another user without other processes, who may still read our files.
const NOBODY = '54321';
const AS_NOBODY = [
  '--reuid',
  NOBODY,
  '--regid',
  NOBODY,
  '--clear-groups',
  '--inh-caps',
  '+dac_override',
  '--ambient-caps',
  '+dac_override',
];
const asUser = (command: readonly string[]): string[] => (process.getuid?.() === 0 ? ['setpriv', ...AS_NOBODY, ...command] : [...command]);
const runsAsUser = (command: readonly string[]): boolean => runs(asUser(command));
/** The process limit of a running process's user. */
const allowProcesses = (count: number, pid: number | undefined): boolean =>
  runsAsUser(['prlimit', `--nproc=${count}:`, '--pid', String(pid)]);

test
  .skipIf(process.platform !== 'linux')
  .concurrent(
    'row 26: when the system refuses another process, its sessions are refused with the reason, the others continue, and a later try works',
    async ({ stage }) => {
      const agents = { well: fixture('well-behaved', 'well'), late: fixture('well-behaved', 'late') };
      // With the cache, the second agent is not started before it is needed.
      await (await stage.connect(agents)).close();
      const config = stage.writeConfig(agents);
      if (process.getuid?.() === 0) give(stage.dir, Number(NOBODY));
      const [program = '', ...args] = asUser([process.execPath, SWITCHBOARD, 'acp', '--config', config]);
      const client = stage.run(program, args);
      await hello(client);
      const well = await open(client, stage.cwd, 'well');
      expect(allowProcesses(1, client.child.pid)).toBe(true);
      const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [], ...choosing('late') });
      expect(error).toMatchObject({ code: -32603, data: { agent: 'late' } });
      expect(error.message).toMatch(/cannot start another process now \(EAGAIN\)/);
      expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
      expect(allowProcesses(4096, client.child.pid)).toBe(true);
      await open(client, stage.cwd, 'late');
    },
  );

function give(dir: string, uid: number): void {
  chownSync(dir, uid, uid);
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true }))
    chownSync(path.join(entry.parentPath, entry.name), uid, uid);
}

for (const what of ['is a file', 'lies below a file'])
  test.concurrent(`row 30: a state directory that ${what}: one notice, and the traffic goes on`, async ({ stage }) => {
    writeFileSync(path.join(stage.dir, 'broken'), '');
    await goesOnWithout(stage, path.join(stage.dir, 'broken', ...(what === 'lies below a file' ? ['state'] : [])));
  });
