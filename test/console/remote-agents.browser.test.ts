// The Agents screen names where a remote agent runs and how it is reached. These two cannot be reached.
import { expect, test } from 'vitest';
import { visit } from './visit.ts';

const agents = {
  far: { url: 'ws://127.0.0.1:1/acp?key=key-5f21', label: 'Far away', headers: { Authorization: 'Bearer tok-5f21' } },
  build: { ssh: 'me@127.0.0.1', command: 'claude-agent-acp', args: ['--api-key', 'tok-5f21'], files: 'same' },
};
const { open } = visit({ agent_servers: agents });

test('a remote agent has its address and transport, and the card says why it cannot be reached', async () => {
  const page = await open('#/agents');
  const card = (name: string) => page.locator(`[data-agent=${name}]`);
  const [far, build] = [card('far'), card('build')];
  await expect.poll(() => far.innerText()).toMatch(/Far away\s+remote/);
  expect(await far.innerText()).toMatch(/Transport\s+WebSocket\s+Files\s+its own[\s\S]*Address\s+ws:\/\/127\.0\.0\.1:1\/acp\n?/);
  expect(await build.innerText()).toMatch(
    /Transport\s+ssh\s+Files\s+same paths as here[\s\S]*Address\s+me@127\.0\.0\.1\s+Command there\s+claude-agent-acp/,
  );
  await far.getByRole('button', { name: 'Start' }).click();
  await far.getByText(/the connection was refused/).waitFor();
  for (const one of [far, build]) {
    expect(await one.innerText()).not.toMatch(/Sandbox|Memory|Processor/);
    expect(await one.innerText()).not.toContain('5f21');
  }
  expect(await card('mime').innerText()).toMatch(/Sandbox[\s\S]*Memory/);
});
