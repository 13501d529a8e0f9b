// Clients that are connected over the network, on the Agents screen.
import path from 'node:path';
import { expect, test } from 'vitest';
import { connectSocket, createToken, type Daemon } from '../e2e/daemon.ts';
import type { Stage } from '../e2e/harness.ts';
import { visit } from './visit.ts';

const here = visit();

test('network clients are listed with token, role, program and sessions, and disconnected after confirmation', async () => {
  const { origin, root, project } = here.serving;
  const token = createToken({ state: path.join(root, 'state') } as Stage, 'laptop');
  const daemon = { socketUrl: `${origin.replace(/^http/, 'ws')}/acp` } as Daemon;
  const client = await connectSocket(daemon, token, { clientInfo: { name: 'my-editor', version: '1' } });
  const { result } = await client.request('session/new', { cwd: project, mcpServers: [] });
  const page = await here.open('#/agents');
  const row = page.getByRole('region', { name: 'Network clients', exact: true }).locator('tbody tr');
  await expect.poll(() => row.locator('td').allInnerTexts()).toHaveLength(6);
  const [name, role, program, since] = await row.locator('td').allInnerTexts();
  expect([name, role]).toEqual(['laptop', 'client']);
  expect(program).toContain('my-editor');
  expect(since).toMatch(/\d/);
  await expect.poll(() => row.getByRole('link').getAttribute('href')).toContain(encodeURIComponent(result.sessionId));
  // By keyboard.
  await row.getByRole('button', { name: 'Disconnect laptop' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).press('Enter');
  expect((await client.closed).reason).toContain('disconnected by the owner');
  await expect.poll(() => row.count()).toBe(0);
});
