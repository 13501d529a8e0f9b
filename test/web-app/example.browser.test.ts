// The example page of docs/examples in a browser, as `serve --example` serves it.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { startBrowser } from '../console/browser.ts';
import { createToken, startDaemon } from '../e2e/daemon.ts';
import { type Json, test } from '../e2e/harness.ts';

test('the example page connects with a token, shows turns, asks for permission, also after a reload, and stops a turn', async ({
  stage,
}) => {
  const options = [
    { optionId: 'yes', name: 'Allow it', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject it', kind: 'reject_once' },
  ];
  let cancel = () => {};
  const agent = stage.agent('coder', {
    async turn(session, words) {
      if (words === 'wait') {
        agent.sendText(session.id, 'waiting');
        await new Promise<void>((resolve) => {
          cancel = resolve;
        });
        return { stopReason: 'cancelled' };
      }
      const toolCall = { toolCallId: 't', title: 'Sweep <b>the</b> floor', kind: 'other' };
      const { result } = await agent.request('session/request_permission', { sessionId: session.id, toolCall, options });
      agent.update(session.id, { sessionUpdate: 'tool_call', ...toolCall, status: 'completed' });
      agent.update(session.id, { sessionUpdate: 'session_info_update', title: 'A clean floor' });
      agent.sendText(session.id, `answered ${result.outcome.optionId}`);
      return { stopReason: 'end_turn' };
    },
  });
  agent.on('session/cancel', () => cancel());
  const daemon = await startDaemon(stage, [agent], { args: ['--example'] });
  const token = createToken(stage, 'web');
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const problems: Json[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    const log = page.getByRole('log');
    await page.goto(`${daemon.address}/example`);
    await enter(page, 'swb_wrong');
    await log.getByText('The token was refused.').waitFor();
    await enter(page, token);
    await say(page, 'sweep');
    // The text of an agent is text.
    await log.getByText('Sweep <b>the</b> floor?').waitFor();
    await page.reload();
    await enter(page, token);
    await log.getByRole('button', { name: 'Allow it' }).click();
    await log.getByText('answered yes').waitFor();
    expect(await log.getByRole('button').count()).toBe(0);
    expect(await log.textContent()).toMatch(/\[Sweep <b>the<\/b> floor: completed\]\s+answered yes/);
    await say(page, 'wait');
    await log.getByText('waiting').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await log.getByText('(cancelled)').waitFor();
    expect(problems).toEqual([]);
    expect(page.url()).not.toContain(token);
  } finally {
    await browser.close();
  }
});

async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByLabel('Agent').fill('coder');
  await page.getByRole('button', { name: 'Connect' }).click();
}

async function say(page: Page, words: string): Promise<void> {
  await page.getByLabel('Prompt').fill(words);
  await page.getByRole('button', { name: 'Send' }).click();
}
