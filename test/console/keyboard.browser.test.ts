// A user with a keyboard and one agent: from the first page to an answered request, a chosen model and the frames of it.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visit } from './visit.ts';

const off = { command: 'not-there', enabled: false };
const MODELS = {
  currentModelId: 'small',
  availableModels: [
    { modelId: 'small', name: 'Small' },
    { modelId: 'large', name: 'Large' },
  ],
};
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'act', name: 'Act' },
  ],
};
const describe = () => ({ modes: MODES, models: MODELS });
const here = visit({ agent_servers: { sketcher: off, builder: off } }, {}, { describe });

const focused = (page: Page) =>
  page.evaluate<string>(
    "(({activeElement: one}) => one.getAttribute('aria-label') ?? ((one.labels?.[0] ?? one).innerText || one.tagName))(document)",
  );

/** Presses Tab until the focus is on what has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = [];
  while (!name.test(seen.at(-1) ?? '')) {
    if (seen.length > 60) throw new Error(`Tab does not lead to ${name}: ${seen.join(', ')}`);
    await page.keyboard.press('Tab');
    seen.push((await focused(page)).trim());
  }
}

test('a session is begun, prompted, allowed and configured, and its frames are read, by keyboard alone', async () => {
  const before = 'const wide = 1;\nlet port = 80;\n';
  const after = `const wide = ${'1'.repeat(300)};\nlet port = 8080;\n`;
  here.turns.set('change', async ({ id }, mime) => {
    mime.sendText(id, '(no content)');
    mime.update(id, { sessionUpdate: 'usage_update', used: 800, size: 1000 });
    const text = { type: 'text', text: 'if (a) {\n    b();\n}\n' };
    const read = { toolCallId: 'r', title: 'Read b.ts', kind: 'read', status: 'completed', locations: [{ path: 'b.ts' }] };
    mime.update(id, { sessionUpdate: 'tool_call', ...read, content: [{ type: 'content', content: text }] });
    const content = [{ type: 'diff', path: `${here.serving.project}/a.ts`, oldText: before, newText: after }];
    const { outcome } = await mime.call('session/request_permission', {
      sessionId: id,
      toolCall: { toolCallId: 'e', title: 'Edit a.ts', kind: 'edit', content },
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
    });
    mime.sendText(id, `${outcome.optionId} it is`);
    return { stopReason: 'end_turn' };
  });
  here.serving.mime.on('session/set_model', () => ({}));
  const page = await here.open();
  const { keyboard } = page;
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  await keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the main part');
  await keyboard.press('Enter');
  await tabTo(page, /^New session$/);
  await keyboard.press('Enter');
  await page.getByRole('radio', { name: 'Mime' }).waitFor();
  await tabTo(page, /^Begin$/);
  await keyboard.press('Enter');

  // The prompt has the focus, and the pickers of a single agent are there from its answer on.
  await expect.poll(() => focused(page)).toBe('Prompt');
  await expect.poll(() => page.locator('.picker > span').allInnerTexts()).toEqual(['Mode', 'Model']);
  await keyboard.type('change it');
  await keyboard.press('Enter');
  const card = page.locator('.request-card');
  await card.locator('.diff').waitFor();
  expect(await page.locator('[data-announced]').innerText()).toContain('mime asks: Edit a.ts');
  // What changed within a line is marked, lines wrap or scroll as chosen, and side by side the code has the width.
  expect(await card.locator('.diff mark').allInnerTexts()).toContain('8080');
  await expect.poll(() => card.locator('.diff .new .tok-keyword').allInnerTexts()).toEqual(['const', 'let']);
  // What a tool has read is no Markdown.
  expect(await page.locator('.tool pre').textContent()).toBe('if (a) {\n    b();\n}');
  const scrolls = () => card.locator('.lines').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  await keyboard.press('Escape');
  expect(await scrolls()).toBe(false);
  await tabTo(page, /^Wrap$/);
  await keyboard.press('Enter');
  await expect.poll(scrolls).toBe(true);
  await keyboard.press('Enter');
  await keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('Side by side');
  await keyboard.press('Enter');
  const share = card
    .locator('.sides tr')
    .nth(1)
    .evaluate((row) => {
      const widths = [...row.querySelectorAll('td')].map((cell) => cell.getBoundingClientRect().width);
      return ((widths[1] ?? 0) + (widths[3] ?? 0)) / widths.reduce((sum, width) => sum + width, 0);
    });
  expect(await share).toBeGreaterThan(0.8);
  // Keys answer nothing right after a request has appeared.
  await expect
    .poll(async () => {
      await keyboard.press('a');
      return card.count();
    })
    .toBe(0);
  await page.getByText('yes it is').waitFor();
  await here.ends(page, 1);
  expect(await page.getByText('(no content)').count()).toBe(0);
  expect(await page.locator('.context.high').innerText()).toContain('80 %');
  await expect.poll(() => focused(page)).toBe('Prompt');

  await tabTo(page, /^Mode\n/);
  await keyboard.press('ArrowDown');
  await here.serving.mime.got('session/set_mode');
  await tabTo(page, /^Model\n/);
  await keyboard.press('ArrowDown');
  await here.serving.mime.got('session/set_model');
  const values = () => page.locator('.picker select').evaluateAll((all) => all.map((one) => (one as { value?: string }).value));
  await expect.poll(values).toEqual(['act', 'large']);

  await page.reload(); // the focus is at the top again
  await here.ends(page, 1);
  await tabTo(page, /^Frames$/);
  await keyboard.press('Enter');
  await page.locator('[id^=frame-]').first().waitFor();
  await tabTo(page, /^Frames$/); // the list
  await keyboard.press('ArrowUp');
  await page.locator('.detail [role=tabpanel]').waitFor();
  await keyboard.press('Escape');
  await page.locator('.detail').waitFor({ state: 'detached' });
});
