// Sessions of agents that give no titles, as gemini and cline: the list still says what each is about.
import { expect } from 'vitest';
import { runCommand } from './daemon.ts';
import { fixture, open, prompt, testAtOnce as test } from './harness.ts';

const AGENTS = { late: fixture('real-agents/replays-late', 'late') };

test('a session without a title of its own is listed with the first words of its first prompt, also after it was loaded again', async ({
  stage,
}) => {
  const titles = () =>
    JSON.parse(runCommand(stage, 'sessions', 'list', '--json')).data.sessions.map(({ title }: { title?: string }) => title);
  const first = await stage.connect(AGENTS);
  const { id } = await open(first, stage.cwd);
  await prompt(first, id, 'fix the failing tests\nand say why they failed');
  await prompt(first, id, 'now the docs');
  await first.close();
  expect(titles()).toEqual(['fix the failing tests']);

  const second = await stage.connect(AGENTS);
  await second.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
  await prompt(second, id, 'and the changelog');
  await second.close();
  expect(titles()).toEqual(['fix the failing tests']);
});

test('a title that the agent gives comes before the first words of a prompt', async ({ stage }) => {
  const agent = stage.agent('names', {
    turn: ({ id }) => {
      agent.update(id, { sessionUpdate: 'session_info_update', title: 'Failing tests' });
      return { stopReason: 'end_turn' };
    },
  });
  const client = await stage.connect([agent]);
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, 'fix the failing tests');
  await client.close();
  const { sessions } = JSON.parse(runCommand(stage, 'sessions', 'list', '--json')).data;
  expect(sessions).toMatchObject([{ sessionId: id, title: 'Failing tests' }]);
});
