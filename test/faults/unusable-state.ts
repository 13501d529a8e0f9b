// What holds for every kind of unusable state directory.
import { expect } from 'vitest';
import { type Client, fixture, hello, open, prompt, type Stage } from '../e2e/harness.ts';
import { agentsOf, noticed } from './setup.ts';

/** Two agents, and an unusable state directory: one warning, and the traffic continues. */
export async function goesOnWithout(stage: Stage, home: string): Promise<Client> {
  const client = stage.proxy(
    { one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') },
    { env: { SWITCHBOARD_HOME: home } },
  );
  await hello(client);
  const sessions = [await open(client, stage.cwd, 'one'), await open(client, stage.cwd, 'two'), await open(client, stage.cwd, 'two')];
  for (const { id } of sessions) expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  await noticed(client, /state directory .* cannot be used/);
  expect(await client.close()).toBe(0);
  expect(client.stderr().match(/cannot be used/g)).toHaveLength(1);
  expect(agentsOf(stage, client)).toEqual([]);
  return client;
}
