// A repository does not loosen the user's policy.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { hello, type Json, open, type Stage, SWITCHBOARD, testAtOnce as test } from './harness.ts';
import { execution, selected, UNCONTAINED } from './policy-support.ts';

const modes = (currentModeId: string, ...ids: string[]): Json => ({
  modes: { currentModeId, availableModes: ids.map((id) => ({ id, name: id })) },
});

describe('a repository', () => {
  /** The user's own configuration, and a project that brings this one. */
  async function inProject(stage: Stage, project: Json, agent = stage.agent('agent')) {
    writeFileSync(path.join(stage.cwd, 'switchboard.json'), JSON.stringify(project));
    mkdirSync(path.join(stage.dir, 'home/.config/acp-switchboard'), { recursive: true });
    const own = { agent_servers: { agent: agent.server }, policy: { version: 1, deny: ['execute(sudo ...)'] } };
    writeFileSync(path.join(stage.dir, 'home/.config/acp-switchboard/config.jsonc'), JSON.stringify(own));
    const client = stage.run(process.execPath, [SWITCHBOARD, 'acp']);
    await hello(client);
    return { client, agent };
  }

  test.for([{ pin: ['bypassPermissions'] }, { refuse: ['default', 'plan'] }])(
    'does not choose the mode of an agent: %j',
    async (mode, { stage }) => {
      const agent = stage.agent('agent', { describe: () => modes('default', 'default', 'plan', 'bypassPermissions') });
      const { client } = await inProject(stage, { policy: { version: 1, agents: { '*': { mode } } } }, agent);
      const answer = await client.request('session/new', { cwd: stage.cwd, mcpServers: [] });
      expect(agent.all('session/set_mode')).toEqual([]);
      expect(answer.result?.modes.currentModeId ?? answer.error.code).toBe('pin' in mode ? 'default' : -32602);
    },
  );

  test('does not replace a preset with its own policy', async ({ stage }) => {
    writeFileSync(path.join(stage.cwd, 'standard'), 'version: 1\ndefault: allow\n');
    const agent = stage.agent('agent');
    const client = await stage.connect([agent], { args: ['--policy', 'standard'], ...UNCONTAINED });
    const { id } = await open(client, stage.cwd);
    expect(await agent.call('session/request_permission', execution(id, 'sudo rm -rf /'))).toEqual(selected('r1'));
  });
});
