// Peers that close one end of a pipe: EPIPE and ECONNRESET end a peer, never the proxy, and nobody waits in vain.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fixture, open, prompt } from '../e2e/harness.ts';
import { agentsOf, eventually, pidIn, test } from './setup.ts';

test.concurrent('row 20: an agent that closes its stdin but keeps running counts as gone: the next request is answered, and the one after it works', async ({
  stage,
}) => {
  const sick = { ...fixture('closes-stdin', 'sick'), timeouts: { stop_grace_ms: 200 } };
  const client = await stage.connect({ sick, well: fixture('well-behaved', 'well') });
  const [{ id }, well] = [await open(client, stage.cwd, 'sick'), await open(client, stage.cwd, 'well')];
  expect((await prompt(client, id, 'close')).result).toEqual({ stopReason: 'end_turn' });
  // Either its exit is already known and the session is recovered at once, or this request discovers it.
  const next = await prompt(client, id, 'hello', 'next');
  if (next.error) expect(next.error).toMatchObject({ code: -32603, data: { agent: 'sick' } });
  expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).not.toContain(`again by ${pidIn(id)};`);
  expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.answersTo('next')).toHaveLength(1);
});

test.concurrent('row 20: an agent that closes its stdout but keeps running counts as gone: its turn is answered', async ({ stage }) => {
  const sick = { ...fixture('closes-stdout', 'sick'), timeouts: { stop_grace_ms: 200 } };
  const client = await stage.connect({ sick, well: fixture('well-behaved', 'well') });
  const [{ id }, well] = [await open(client, stage.cwd, 'sick'), await open(client, stage.cwd, 'well')];
  const { error } = await prompt(client, id, 'close');
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick' } });
  expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 20: when an agent dies with much unread, its requests are answered and the proxy stays up', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('exits-without-reading', 'sick'), well: fixture('well-behaved', 'well') });
  const [{ id }, well] = [await open(client, stage.cwd, 'sick'), await open(client, stage.cwd, 'well')];
  const stalled = prompt(client, id, 'stall');
  await client.until((msg) => msg.params?.update?.content?.text === 'stalled;');
  const unread = Array.from({ length: 20 }, () => client.request('_x/fill', { sessionId: id, fill: 'f'.repeat(100_000) }));
  writeFileSync(path.join(stage.dir, 'sick.go'), '');
  expect((await stalled).error).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'agent_exited', signal: 'SIGKILL' } });
  for (const { error } of await Promise.all(unread)) expect(error).toBeDefined(); // a fresh process may answer the last of them
  expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 20: a client that closes its end of stdout is gone: everything ends gracefully', async ({ stage }) => {
  const client = await stage.connect({ loud: fixture('floods', 'loud'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'loud');
  void prompt(client, id, '100000 1000');
  await client.until((msg) => msg.params?.update?.sessionUpdate === 'agent_message_chunk');
  client.child.stdout.destroy();
  expect(await client.ended).toBe(0);
  expect(agentsOf(stage, client)).toEqual([]);
  expect(client.stderr()).not.toMatch(/Error|EPIPE|at .*\.js/);
});

test.concurrent('row 20: a reader of our stderr may leave; the sessions continue', async ({ stage }) => {
  const agent = stage.agent('noisy', {
    turn({ id }) {
      for (let n = 0; n < 5; n++) agent.line('noise that is told on stderr');
      agent.sendText(id, 'fine');
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  client.child.stderr?.destroy();
  for (const _ of [1, 2, 3]) expect((await prompt(client, id, 'go')).result).toEqual({ stopReason: 'end_turn' });
  client.child.stdin.end();
  await eventually(() => expect(client.child.exitCode).toBe(0));
});
