// Every screen, with content, in both colour schemes and three widths: axe finds nothing serious or critical, and nothing is cut off.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { visit } from './visit.ts';

const WIDTHS = [1440, 1024, 390];
const SCHEMES = ['light', 'dark'] as const;
/** The colour scheme changes colours only, so all other rules are applied in one of them. */
const RULES = { light: 'undefined', dark: "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }" };
const findings = (
  scheme: keyof typeof RULES,
) => `axe.run(document, { resultTypes: ['violations'], ...(${RULES[scheme]} && { runOnly: ${RULES[scheme]} }) }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target, html }) => target.join(' ') + ' ' + html.slice(0, 120)).join(' | ')))`;
/** Titles, numbers and buttons that a user cannot read whole. */
const CUT = `[...document.querySelectorAll('.about h1, .about .context, .request-card button, .picker, .bar button, .detail header button')]
  .filter((one) => one.offsetParent !== null)
  .filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    const around = one.closest('.request-card, .about, .pickers, .bar, .detail').getBoundingClientRect();
    return right > Math.max(innerWidth, around.right) + 1 || left < around.left - 1 || (one.matches('h1') && width < Math.min(160, one.scrollWidth));
  })
  .map((one) => one.className + ' ' + one.textContent)`;
const OVERFLOW = 'document.documentElement.scrollWidth - innerWidth';

describe('accessibility', { timeout: 180_000 }, () => {
  const here = visit({ policy: 'policy.yaml' }, {}, {}, { 'policy.yaml': 'version: 1\ndefault: ask\nallow:\n  - read($cwd/**)\n' });
  const { turns, open, begin, prompt, ends } = here;

  async function check(page: Page, name: string): Promise<void> {
    // Not a script tag: the page's content security policy would refuse it.
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
    for (const colorScheme of SCHEMES)
      for (const width of WIDTHS) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        const where = `${name}, ${colorScheme}, ${width} px`;
        expect.soft(await page.evaluate(findings(colorScheme)), where).toEqual([]);
        expect.soft(await page.evaluate(OVERFLOW), where).toBeLessThanOrEqual(0);
        expect.soft(await page.evaluate(CUT), where).toEqual([]);
      }
  }

  test('a conversation with every kind of entry, a request with its diff, a form and waiting prompts', async () => {
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'always', name: 'Always, and never ask me again for anything like it in this project', kind: 'allow_always' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    turns.set('all', async ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Thinking about it.' } });
      mime.update(id, {
        sessionUpdate: 'plan',
        entries: [
          { content: 'Look', priority: 'high', status: 'completed' },
          { content: 'Change', priority: 'low', status: 'in_progress' },
        ],
      });
      mime.sendText(
        id,
        '# A heading\n\nSome `code`, a [link](https://example.com) and\n\n```ts\nconst a = 1; // one\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n',
      );
      const diff = [{ type: 'diff', path: `${here.serving.project}/a.txt`, oldText: 'one\ntwo\n', newText: 'one\nthree\n' }];
      mime.update(id, {
        sessionUpdate: 'tool_call',
        toolCallId: 'e',
        title: 'Edit a.txt',
        kind: 'edit',
        status: 'completed',
        content: diff,
      });
      mime.update(id, { sessionUpdate: 'usage_update', used: 46_000, size: 50_000, cost: { amount: 0.42, currency: 'USD' } });
      await mime.request('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 'w', title: 'Write b.txt', kind: 'edit', content: [{ ...diff[0], path: `${here.serving.project}/b.txt` }] },
        options,
      });
      return { stopReason: 'end_turn' };
    });
    turns.set('then', async ({ id }, mime) => {
      await mime.request('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 'x', title: 'npm test', kind: 'execute', rawInput: { command: 'npm test' } },
        options,
      });
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    await prompt(page, 'all of it');
    await page.locator('.request-card .diff').waitFor();
    await prompt(page, 'then this');
    await page.locator('.queued').first().waitFor();
    await check(page, 'session');

    const inbox = await open('#/inbox');
    await inbox.locator('.request-card .diff').waitFor();
    await check(inbox, 'requests');
    await page.locator('.request-card button.primary').click();
    await inbox.locator('.request-card', { hasText: 'npm test' }).waitFor();
    await inbox.getByRole('button', { name: 'Always' }).first().click();
    await inbox.getByText(', under allow').waitFor();
    await check(inbox, 'rule');
    await page.locator('.request-card button.primary').click();
    await ends(page, 2);
    await check(page, 'session after its turns');
  });

  test('sessions, frames, agents, policy, charts, transcripts, settings', async () => {
    const session = await begin('Sketcher');
    await prompt(session, '/plan the garden path');
    await ends(session, 1);
    await session.close();
    const screens: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
      '': (page) => page.locator('.list tbody tr, .list li').first().waitFor(),
      new: (page) => page.getByRole('button', { name: 'Begin' }).waitFor(),
      frames: async (page) => {
        await page.locator('[id^=frame-]').first().click();
        await page.locator('.detail [role=tabpanel]').waitFor();
      },
      agents: (page) => page.locator('.agent-card').first().waitFor(),
      policy: (page) => page.getByRole('heading', { name: 'Rules, in order of evaluation' }).waitFor(),
      charts: (page) => page.locator('canvas').first().waitFor(),
      transcripts: (page) => page.getByLabel('Search transcripts').waitFor(),
      settings: (page) => page.getByText('What passed').click({ timeout: 60_000 }),
    };
    const page = await open();
    for (const [name, isThere] of Object.entries(screens)) {
      await page.setViewportSize({ width: 1440, height: 800 });
      await page.evaluate(`location.hash = '#/${name}'`);
      await isThere(page);
      await check(page, name || 'sessions');
    }
  });

  test('a tab without access', async () => {
    const other = await here.context.browser()?.newContext();
    const page = await other?.newPage();
    if (!page) throw new Error('no browser');
    await page.goto(here.serving.origin);
    await page.locator('.out').waitFor();
    await check(page, 'no access');
    await other?.close();
  });
});
