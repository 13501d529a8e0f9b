// What a user has written and reads: drafts, earlier prompts, files, copies, times, errors, pictures, pickers, the agent behind a session.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../e2e/peer.ts';
import { visit } from './visit.ts';

const DONE = { stopReason: 'end_turn' };
const PNG = readFileSync(path.resolve(import.meta.dirname, '../../docs/images/console-narrow.png')).toString('base64');
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'act', name: 'Act' },
  ],
};
const MODELS = {
  currentModelId: 'small',
  availableModels: [
    { modelId: 'small', name: 'Small' },
    { modelId: 'large', name: 'Large' },
  ],
};
const OPTIONS = [{ type: 'select', id: 'effort', name: 'Effort', currentValue: 'low', options: [{ value: 'low', name: 'Low' }] }];

describe('writing and reading', () => {
  const here = visit({}, {}, { describe: () => ({ modes: MODES, models: MODELS, configOptions: OPTIONS }) });
  const { turns, begin, prompt, ends, open } = here;
  const field = (page: Page) => page.getByLabel('Prompt', { exact: true });

  test('drafts and attachments are kept by session, across navigation and reload', async () => {
    const page = await begin('Mime');
    const one = page.url();
    await field(page).fill('half a thought');
    await page.locator('input[type=file]').setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('words') }]);
    await page.getByRole('button', { name: 'Show a.txt' }).waitFor();
    await page.getByRole('link', { name: 'New session' }).first().click();
    await page.getByRole('radio', { name: 'Mime' }).check();
    await page.getByRole('button', { name: 'Begin' }).click();
    await expect.poll(() => page.url()).not.toBe(one);
    await expect.poll(() => field(page).inputValue()).toBe('');
    expect(await page.locator('.attached').count()).toBe(0);
    await page.goto(one);
    await expect.poll(() => field(page).inputValue()).toBe('half a thought');
    await page.reload();
    await page.getByRole('button', { name: 'Show a.txt' }).waitFor();
    expect(await field(page).inputValue()).toBe('half a thought');
    await field(page).press('Enter');
    await ends(page, 1);
    await page.reload();
    await page.locator('.message.user').waitFor();
    expect([await field(page).inputValue(), await page.locator('.attached').count()]).toEqual(['', 0]);
  });

  test('arrow keys recall earlier prompts, and lead back to the draft', async () => {
    const page = await begin('Mime');
    for (const [index, words] of ['first', 'second'].entries()) {
      await prompt(page, words);
      await ends(page, index + 1);
    }
    const press = async (key: string) => {
      await field(page).press(key);
      return field(page).inputValue();
    };
    expect(await press('ArrowUp')).toBe('second');
    expect(await press('ArrowUp')).toBe('first');
    expect(await press('ArrowUp')).toBe('first');
    expect(await press('ArrowDown')).toBe('second');
    expect(await press('ArrowDown')).toBe('');
    await field(page).fill('two\nlines');
    expect(await press('ArrowUp')).toBe('two\nlines'); // moves the caret
  });

  test('files are dropped anywhere on the conversation, and each one that is refused says why', async () => {
    const page = await begin('Builder');
    const drop = `(() => {
      const data = new DataTransfer();
      for (const [name, type] of [['a.png', 'image/png'], ['b.wav', 'audio/wav'], ['c.txt', 'text/plain']])
        data.items.add(new File(['x'], name, { type }));
      document.querySelector('.scroll').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    })()`;
    await page.evaluate(drop);
    await expect
      .poll(() => page.getByRole('list', { name: 'Not attached' }).locator('li').allInnerTexts())
      .toEqual(['a.png was not attached: this agent does not accept images', 'b.wav was not attached: this agent does not accept audio']);
    await page.getByRole('button', { name: 'Show c.txt' }).waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    expect(await page.getByRole('list', { name: 'Not attached' }).count()).toBe(0);
  });

  test('messages have a time and a copy button, code too; annotations are shown, pictures open large', async () => {
    turns.set('speak', ({ id }, mime) => {
      const annotations = { audience: ['user'], priority: 0.9, lastModified: '2026-01-02T03:04:05Z' };
      const content = { type: 'text', text: 'Look:\n\n```js\nlet a = 1;\n```\n', annotations };
      mime.update(id, { sessionUpdate: 'agent_message_chunk', content });
      mime.update(id, { sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: PNG } });
      return DONE;
    });
    await here.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: here.serving.origin });
    const page = await begin('Mime');
    await prompt(page, 'speak');
    await ends(page, 1);
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await expect.poll(copied).toBe('let a = 1;');
    const message = page.locator('.said.agent');
    await message.hover();
    await message.getByRole('button', { name: 'Copy the message' }).click();
    await expect.poll(copied).toBe('Look:\n\n```js\nlet a = 1;\n```\n');
    const at = await message.locator('time').getAttribute('datetime');
    expect(Math.abs(Date.now() - Date.parse(at ?? ''))).toBeLessThan(120_000);
    expect(await message.locator('.annotation').innerText()).toMatch(/^for user · priority 0\.9 · changed .*2026/);
    await page.getByRole('button', { name: 'Show the picture large' }).press('Enter');
    await page.getByRole('dialog', { name: 'Picture' }).getByRole('img').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('after an error its data is shown and the prompt can be sent again; a call that the turn left behind does not wait', async () => {
    let isBroken = true;
    turns.set('stumble', ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'tool_call', toolCallId: 'left', title: 'Left behind', status: 'pending' });
      if (isBroken) throw new Refusal(-32603, 'the model is overloaded', { retryAfter: 7 });
      return DONE;
    });
    const page = await begin('Mime');
    await prompt(page, 'stumble on');
    await page.getByText('the model is overloaded').waitFor();
    expect(await page.locator('.tool .status').allInnerTexts()).toEqual(['not finished']);
    expect(await page.locator('.failure .raw pre').innerText()).toContain('"retryAfter": 7');
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await ends(page, 2);
    expect(await page.locator('.message.user').allInnerTexts()).toEqual(['stumble on', 'stumble on']);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('pickers stay, whatever the agent sends last, and follow what it chooses itself', async () => {
    turns.set('switch', ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'config_option_update', configOptions: OPTIONS });
      mime.update(id, { sessionUpdate: 'current_mode_update', current_mode_id: 'act' });
      mime.update(id, { sessionUpdate: 'usage_update', used: 930, size: 1000 });
      return DONE;
    });
    const page = await begin('Mime');
    const shown = () =>
      page.locator('.picker').evaluateAll((all) => all.map((one) => [one.textContent?.trim(), one.querySelector('select')?.value].join()));
    const labels = async () => (await page.locator('.picker > span').allInnerTexts()).sort();
    await expect.poll(labels).toEqual(['Agent', 'Effort', 'Mode', 'Model']);
    await prompt(page, 'switch');
    await ends(page, 1);
    expect(await labels()).toEqual(['Agent', 'Effort', 'Mode', 'Model']);
    expect((await shown()).join(' ')).toMatch(/,act /);
    await page.getByText('Mode: Act').waitFor();
    // The context is nearly full.
    expect(await page.locator('.context.full').innerText()).toContain('930 / 1.0k 93 %');
    await page.getByLabel('Model').selectOption('large');
    await expect.poll(() => here.serving.mime.seen.filter(({ msg }) => msg.method === 'session/set_model').length).toBe(1);
  });

  test('the agent behind a session is one click away; the title names both; an unknown address says so', async () => {
    const page = await begin('Mime');
    await prompt(page, 'hello there');
    await ends(page, 1);
    await expect.poll(() => page.title()).toBe('hello there · mime – Switchboard');
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    const panel = page.getByRole('dialog', { name: 'Agent mime' });
    await panel.getByText('stderr').waitFor();
    await panel.getByRole('region', { name: 'Host tools' }).getByText('None are offered').waitFor();
    await page.keyboard.press('Escape');
    const lost = await open('#/session/nobody');
    await lost.getByRole('heading', { name: 'There is no such session' }).waitFor();
    await lost.getByRole('link', { name: 'All sessions' }).click();
    await lost.getByRole('heading', { name: 'Sessions' }).waitFor();
  });

  test('a request is announced; Escape leads from the prompt to it, keys answer it, and the focus returns', async () => {
    const page = await begin('Sketcher');
    await prompt(page, '/edit keys.txt');
    await page.locator('.request-card').waitFor();
    await expect.poll(() => page.locator('[data-announced]').innerText()).toBe('sketcher asks: Edit keys.txt');
    const focused = () => page.evaluate<string>('document.activeElement.className || document.activeElement.tagName');
    expect(await focused()).toBe('TEXTAREA'); // the user may be about to write
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('request-card');
    await expect
      .poll(async () => {
        await page.keyboard.press('d');
        return page.locator('.request-card').count();
      })
      .toBe(0);
    await expect.poll(focused).toBe('TEXTAREA');
    await ends(page, 1);
    // The first key leads past the navigation.
    const other = await open('#/agents');
    await other.locator('.agent-card').first().waitFor();
    await other.keyboard.press('Tab');
    await other.keyboard.press('Enter');
    expect(await other.evaluate('document.activeElement.tagName')).toBe('MAIN');
  });
});
