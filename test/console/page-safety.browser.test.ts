// What must not act in the console or be shown in it: markup from agents, secrets. A used link admits nobody.
import type { Browser } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { visit } from './visit.ts';

const CANARY = 'canary-7f3e9a1b5c2d8e4f6a0b';
/** Runs in the page. */
const HACKED = `[document.querySelectorAll('#app script, #app img[src="x"], #app a[href^="java"]').length, 'hacked' in window]`;

describe('in the browser', () => {
  const here = visit({ log: { redact: { variables: ['CANARY'] } } }, { CANARY });
  const { turns, begin, prompt, ends } = here;

  test('agent output is shown as text, whatever it looks like', async () => {
    const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const plan = { sessionUpdate: 'plan', entries: [{ content: evil, priority: 'high', status: 'pending' }] };
    const call = { toolCallId: 't', title: evil, kind: 'edit', status: 'pending', locations: [{ path: evil }] };
    const content = [
      { type: 'diff', path: `/etc/${evil}`, oldText: evil, newText: `${evil}!` },
      { type: 'content', content: { type: 'text', text: evil } },
    ];
    turns.set('evil', async ({ id }, mime) => {
      mime.sendText(
        id,
        `${evil}\n\n[click](javascript:window.hacked=1) [here](https://example.com/?q=1) \u001b[31m\u202eabc\n\n\`\`\`html\n${evil}\n\`\`\``,
      );
      mime.update(id, plan);
      mime.update(id, { sessionUpdate: 'tool_call', ...call, content, rawInput: { command: evil } });
      mime.update(id, { sessionUpdate: 'session_info_update', title: evil });
      mime.update(id, { sessionUpdate: 'available_commands_update', availableCommands: [{ name: evil, description: evil }] });
      await mime.request('session/request_permission', {
        sessionId: id,
        toolCall: { ...call, content },
        options: [{ optionId: evil, name: evil, kind: 'allow_once' }],
      });
      return { stopReason: evil };
    });
    const page = await begin('Mime');
    await prompt(page, 'evil');
    await page.locator('.request-card').waitFor();
    await page.getByLabel('Prompt').fill('/');
    await page.getByRole('listbox').getByRole('option').last().waitFor();
    await page.getByLabel('Prompt').fill('');
    expect(await page.locator('.request-card .outside').innerText()).toContain('/etc/');
    await page.locator('.request-card button.primary').click();
    await ends(page, 1);
    expect(await page.locator('.message.agent').innerText()).toContain(`${evil}\n`);
    expect(await page.locator('.message.agent').innerText()).toContain('⟨U+202E⟩abc');
    expect(await page.locator('.message.agent').innerText()).toContain('click (javascript:window.hacked=1)');
    expect(await page.evaluate(HACKED)).toEqual([0, false]);
    // A link opens after confirmation, not before.
    await page.getByRole('button', { name: 'here' }).click();
    expect(await page.locator('dialog').innerText()).toContain('https://example.com/?q=1');
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(here.context.pages()).toHaveLength(1);
  });

  test('secrets are not shown, not even when they span two chunks', async () => {
    let goOn = () => {};
    const halfIsShown = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    turns.set('secret', async ({ id }, mime) => {
      mime.sendText(id, `The key is ${CANARY.slice(0, 9)}`);
      await mime.request('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 't', title: `Use ${CANARY}`, rawInput: { command: `curl ${CANARY}` } },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      });
      mime.sendText(id, `${CANARY.slice(9)}.`);
      mime.sendText(id, `${CANARY.slice(0, 12)}`);
      await halfIsShown;
      mime.sendText(id, `${CANARY.slice(12)}. That was all.`);
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    await prompt(page, 'secret');
    expect(await page.locator('.request-card').innerText()).not.toContain(CANARY);
    await page.locator('.request-card button.primary').click();
    await page.locator('.message.agent', { hasText: CANARY.slice(0, 12) }).waitFor(); // while it is no secret yet
    goOn();
    await page.getByText('That was all.').waitFor();
    expect(await page.locator('#app').innerText()).not.toContain(CANARY);
    expect(await page.locator('.message.agent').last().innerText()).toContain('[redacted:CANARY]. That was all.');
  });

  test('a used link gives nobody else access', async () => {
    const stranger = await (here.context.browser() as Browser).newContext();
    onTestFinished(() => stranger.close());
    const page = await stranger.newPage();
    await page.goto(here.serving.link);
    await page.getByText('The link is invalid or was already used.').waitFor();
    await page.route('**/enter', (route) => route.abort());
    await page.goto('about:blank');
    await page.goto(`${here.serving.origin}/#${'x'.repeat(43)}`);
    await page.getByText('The console did not respond.').waitFor();
    await page.goto(here.serving.origin);
    await page.getByText('Open the console with its link.').waitFor();
  });

  test('a fresh link opened in a tab without access lets it in, and leaves the address bar; a used one in a tab with access says so', async () => {
    await here.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: here.serving.origin });
    const inside = await here.open('#/settings');
    await inside.getByRole('button', { name: 'Make a link' }).click();
    await inside.getByRole('button', { name: 'Copy the link' }).click();
    await inside.getByRole('button', { name: 'Copied' }).waitFor();
    const link = await inside.evaluate<string>('navigator.clipboard.readText()');
    const stranger = await (here.context.browser() as Browser).newContext();
    onTestFinished(() => stranger.close());
    const page = await stranger.newPage();
    await page.goto(here.serving.origin);
    await page.getByText('Open the console with its link.').waitFor();
    // The browser keeps the page, because only the part after # changes.
    await page.evaluate(`location.assign(${JSON.stringify(link)})`);
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(page.url()).not.toContain('#');
    const second = await stranger.newPage();
    await second.goto(link);
    await second.getByText('The link is invalid or was already used. This browser already has access').waitFor();
    await second.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(second.url()).not.toContain('#');
    await second.getByRole('button', { name: 'OK' }).click();
    expect(await second.getByText('already has access').count()).toBe(0);
  });
});
