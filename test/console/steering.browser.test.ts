// A prompt during a turn: it waits, or joins the turn of an agent that takes such prompts.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visit } from './visit.ts';

const here = visit({}, {}, { canSteer: true });
const { turns, begin, prompt, ends } = here;
const messagesOn = (page: Page): Promise<string[]> => page.locator('.message').allInnerTexts();

function holdTurn(): () => void {
  let end = () => {};
  const isOver = new Promise<void>((resolve) => {
    end = resolve;
  });
  turns.set('hold', async () => {
    await isOver;
    return { stopReason: 'end_turn' };
  });
  return end;
}

test('Ctrl+Enter sends a prompt into the running turn, Enter lets it wait, and the page says which', async () => {
  const { mime } = here.serving;
  mime.on('_session/steering', () => ({ outcome: 'injected' }));
  const release = holdTurn();
  const page = await begin('Mime');
  const field = page.getByLabel('Prompt', { exact: true });
  await prompt(page, 'hold');
  await page.getByLabel('The agent is working').waitFor();
  await page.getByRole('button', { name: 'Send into the running turn Ctrl+Enter' }).waitFor();
  expect(await field.getAttribute('placeholder')).toBe('Next prompt; it waits for the end of the turn');
  await prompt(page, 'later');
  await page.getByRole('region', { name: 'Waiting prompts' }).getByText('later').waitFor();
  await field.fill('and mind the tests');
  await field.press('Control+Enter');
  const { msg } = await mime.got('_session/steering');
  expect(msg.params.prompt).toEqual([{ type: 'text', text: 'and mind the tests' }]);
  await expect.poll(() => messagesOn(page)).toEqual(['hold', 'and mind the tests']);
  release();
  await ends(page, 2); // of the turn, and of the prompt that waited
  expect(await messagesOn(page)).toEqual(['hold', 'and mind the tests', 'later', 'heard: later']);
  await page.getByLabel('The agent is working').waitFor({ state: 'detached' });
  expect(await field.getAttribute('placeholder')).toBe('Ask, or type / for commands');
});
