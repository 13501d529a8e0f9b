// An agent is a tree of processes: none of them survives the proxy, however the proxy ends.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { livingDaemons } from '../../src/agents/daemons.ts';
import { checkState } from '../../src/cli/doctor/check-state.ts';
import { draftOf } from '../../src/private-files.ts';
import { fixture, open, prompt, type Stage } from '../e2e/harness.ts';
import { agentsOf, childOf, contentOf, end, eventually, isAlive, noticed, pidIn, processesOf, test } from './setup.ts';

const SHORT = { timeouts: { stop_grace_ms: 200 } };
const runningFiles = (stage: Stage): string[] => readdirSync(path.join(stage.state, 'running'));

test.concurrent('row 28: when the proxy is killed, agents see the end of their stdin and exit', async ({ stage }) => {
  const client = await stage.connect({ one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') });
  const { id } = await open(client, stage.cwd, 'one');
  expect(isAlive(pidIn(id))).toBe(true);
  await client.kill();
  await eventually(() => expect(processesOf(stage)).toEqual([]));
});

test.concurrent('row 28: the next start ends what a killed proxy left behind, children included, and reports it on stderr', async ({
  stage,
}) => {
  const client = await stage.connect({ stubborn: fixture('ignores-sigterm', 'stubborn') });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'child');
  const child = await childOf(client, id);
  await client.kill();
  // As if it had been killed while it wrote its record.
  writeFileSync(path.join(stage.state, 'running', draftOf(`${runningFiles(stage)[0]}`, client.child.pid)), '{');
  expect([pidIn(id), child].every(isAlive)).toBe(true);
  const next = await stage.connect({ well: fixture('well-behaved', 'well') });
  await eventually(() => expect([pidIn(id), child].filter(isAlive)).toEqual([]));
  await noticed(next, 'stopped 1 agent process(es) that an earlier switchboard left behind');
  expect(await next.close()).toBe(0);
  expect(runningFiles(stage)).toEqual([]);
});

test.concurrent('row 28: a child whose agent is already gone is found as well', async ({ stage }) => {
  const client = await stage.connect({ stubborn: fixture('ignores-sigterm', 'stubborn') });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'child');
  const child = await childOf(client, id);
  await client.kill();
  end(pidIn(id));
  await eventually(() => expect(isAlive(pidIn(id))).toBe(false));
  await stage.connect({ well: fixture('well-behaved', 'well') });
  await eventually(() => expect(isAlive(child)).toBe(false));
});

test.concurrent("row 28: the agents of a running proxy, and strangers with an old agent's pid, are left alone", async ({ stage }) => {
  const client = await stage.connect({ one: fixture('well-behaved', 'one') });
  const { id } = await open(client, stage.cwd);
  const stranger = stage.run(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']).child.pid as number;
  const record = {
    owner: { pid: 4194301, startTime: '1' },
    mark: 'an-older-proxy',
    children: [{ pid: stranger, startTime: '1', agent: 'old' }],
  };
  mkdirSync(path.join(stage.state, 'running'), { recursive: true });
  writeFileSync(path.join(stage.state, 'running', '4194301-old.json'), JSON.stringify(record));
  writeFileSync(path.join(stage.state, 'running', 'torn.json'), '{"owner":');
  const other = await stage.connect({ two: fixture('well-behaved', 'two') });
  await eventually(() => expect(runningFiles(stage).sort()).toHaveLength(2)); // one for each running proxy
  expect(isAlive(stranger)).toBe(true);
  expect((await prompt(client, id, 'still here')).result).toEqual({ stopReason: 'end_turn' });
  expect(await other.close()).toBe(0);
  expect(isAlive(pidIn(id))).toBe(true);
});

test.concurrent('row 29: an agent behind a wrapper such as npx ends with it, also when it ignores the end of its stdin', async ({
  stage,
}) => {
  const wrapped = { ...fixture('npx-like-wrapper', 'wrapped', 'ignores-eof.mjs'), ...SHORT };
  const client = await stage.connect({ wrapped });
  const { id } = await open(client, stage.cwd);
  expect(agentsOf(stage, client)).toHaveLength(3);
  expect(await client.close()).toBe(0);
  expect(isAlive(pidIn(id))).toBe(false);
  expect(processesOf(stage)).toEqual([]);
});

test.concurrent('row 29: a wrapper that is killed takes its agent with it: the session is lost, the rest of the tree is ended, and the next prompt works', async ({
  stage,
}) => {
  const wrapped = { ...fixture('npx-like-wrapper', 'wrapped', 'ignores-eof.mjs'), ...SHORT };
  const client = await stage.connect({ wrapped, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'wrapped');
  const wrapper = agentsOf(stage, client).find((pid) => contentOf(`/proc/${pid}/cmdline`).includes('npx-like-wrapper')) as number;
  end(wrapper);
  await noticed(client, '"wrapped" exited (signal SIGKILL)');
  await eventually(() => expect(isAlive(pidIn(id))).toBe(false));
  expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 29: an agent that restarts itself on every stop is ended in all its generations', async ({ stage }) => {
  // Several looks, since one may fall between two generations.
  const names = ['ash', 'ember', 'flame', 'spark'];
  const phoenix = (name: string) => ({ ...fixture('respawns-itself', name), timeouts: { stop_grace_ms: 1000 } });
  const client = await stage.connect(Object.fromEntries(names.map((name) => [name, phoenix(name)])));
  for (const name of names) await open(client, stage.cwd, name);
  expect(await client.close()).toBe(0);
  expect(processesOf(stage)).toEqual([]);
  for (const name of names) expect(contentOf(path.join(stage.dir, `${name}.lives`))).toMatch(/^\d+\n/);
});

test.concurrent("row 29: a daemon that has left its agent's group is reported at the end, and by doctor while it runs", async ({
  stage,
}) => {
  const client = await stage.connect({ cline: { ...fixture('leaves-its-group', 'cline'), ...SHORT } });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'go');
  const daemon = await childOf(client, id);
  expect(await client.close()).toBe(0);
  expect(isAlive(pidIn(id))).toBe(false);
  expect(isAlive(daemon)).toBe(true); // it left on purpose
  expect(client.stderr()).toContain(
    `in their own process groups: ${daemon} (node). Switchboard does not stop them; to stop them, run: kill ${daemon}\n`,
  );
  const named = async () => (await checkState(stage.state, 'linux')).filter(({ check }) => check === 'state.daemons');
  expect(await named()).toMatchObject([
    { status: 'warning', what: expect.stringContaining(`${daemon} (node)`), next: expect.stringContaining(`kill ${daemon}`) },
  ]);
  const next = await stage.connect({ well: fixture('well-behaved', 'well') });
  expect(await next.close()).toBe(0); // no longer news, but not forgotten
  expect(next.stderr()).not.toContain(String(daemon));
  expect(await named()).toHaveLength(1);
  end(daemon);
  await eventually(() => expect(isAlive(daemon)).toBe(false));
  expect(await named()).toEqual([]);
  await (await stage.connect({ well: fixture('well-behaved', 'well') })).close();
  expect(readdirSync(path.join(stage.state, 'daemons'))).toEqual([]);
});

test.concurrent('row 29: a daemon that outlived a killed proxy is reported by the next start, and left alone', async ({ stage }) => {
  const client = await stage.connect({ cline: { ...fixture('leaves-its-group', 'cline'), ...SHORT } });
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'go');
  const daemon = await childOf(client, id);
  await client.kill();
  await eventually(() => expect(isAlive(pidIn(id))).toBe(false));
  const next = await stage.connect({ well: fixture('well-behaved', 'well') });
  await noticed(
    next,
    new RegExp(
      `still running in their own process groups: ${daemon} \\(node\\)\\. Switchboard does not stop them; to stop them, run: kill ${daemon}`,
    ),
  );
  expect(isAlive(daemon)).toBe(true);
  expect(livingDaemons(stage.state)).toMatchObject([{ pid: daemon, program: 'node' }]);
});
