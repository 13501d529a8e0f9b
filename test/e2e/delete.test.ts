// session/delete: what the agent has deleted, we do not keep.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { type Client, open, prompt, Refusal, type Stage, testAtOnce as test } from './harness.ts';

const transcriptOf = (stage: Stage, id: string) => path.join(stage.state, 'transcripts', `${id}.jsonl`);

test('a deleted session leaves no transcript, neither earlier entries nor later updates', async ({ stage }) => {
  const agent = stage.agent('agent', { turn: () => ({ stopReason: 'end_turn' }) });
  const talk = async (client: Client) => {
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, 'remember this');
    return id;
  };
  const before = await stage.connect([agent]);
  const old = await talk(before);
  expect(await before.close()).toBe(0);
  expect(existsSync(transcriptOf(stage, old))).toBe(true);

  const client = await stage.connect([agent]);
  await client.call('session/load', { sessionId: old, cwd: stage.cwd, mcpServers: [] });
  const fresh = await talk(client);
  for (const id of [old, fresh]) {
    await client.call('session/delete', { sessionId: id });
    agent.sendText(id, 'one more thing');
  }
  const kept = await talk(client);
  agent.on('session/delete', () => {
    throw new Refusal(-32603, 'in use');
  });
  await client.refused('session/delete', { sessionId: kept });
  expect(await client.close()).toBe(0);
  expect([old, fresh, kept].map((id) => existsSync(transcriptOf(stage, id)))).toEqual([false, false, true]);
});
