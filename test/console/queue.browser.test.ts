// Prompts that are sent during a turn: they wait above the composer, and can be edited and removed there, or join the turn of an agent that
// takes such prompts.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visit } from './visit.ts';

const here = visit({}, {}, { canSteer: true });
const { turns, begin, prompt, ends } = here;
const waiting = (page: Page): Locator => page.getByRole('region', { name: 'Waiting prompts' });
const texts = (page: Page): Promise<string[]> => waiting(page).locator('li > span').allTextContents();
const messagesOn = (page: Page): Promise<string[]> => page.locator('.message').allInnerTexts();

/** Prepares a turn that runs until the returned function is called. */
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

test('prompts sent during a turn wait in order, can be edited and removed, and then begin one by one', async () => {
  const release = holdTurn();
  const page = await begin('Mime');
  await prompt(page, 'hold');
  await page.getByLabel('The agent is working').waitFor();
  for (const words of ['first', 'second', 'third']) await prompt(page, words);
  await expect.poll(() => texts(page)).toEqual(['first', 'second', 'third']);
  expect(await messagesOn(page)).toEqual(['hold']);
  // By keyboard.
  await waiting(page).getByRole('button', { name: 'Edit second' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Waiting prompt', { exact: true }).fill('second, but better');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect.poll(() => texts(page)).toEqual(['first', 'second, but better', 'third']);
  await waiting(page).getByRole('button', { name: 'Remove first' }).press('Enter');
  await expect.poll(() => texts(page)).toEqual(['second, but better', 'third']);
  // Another page, and this one after a reload, show the same.
  await page.reload();
  await expect.poll(() => texts(page)).toEqual(['second, but better', 'third']);
  release();
  await ends(page, 3);
  expect(await messagesOn(page)).toEqual(['hold', 'second, but better', 'heard: second, but better', 'third', 'heard: third']);
  await expect.poll(() => waiting(page).count()).toBe(0);
});

test('the prompt after the last one that may wait is refused with the limit, and cancelling the turn removes those that wait', async () => {
  const release = holdTurn();
  const page = await begin('Mime');
  await prompt(page, 'hold');
  await page.getByLabel('The agent is working').waitFor();
  for (let n = 1; n <= 17; n++) await prompt(page, `number ${n}`);
  await page.getByText(/Not sent: 16 prompts already wait/).waitFor();
  await expect.poll(async () => (await texts(page)).length).toBe(16);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect.poll(() => waiting(page).count()).toBe(0);
  release();
  await ends(page, 1);
  expect((await messagesOn(page)).filter((text) => text.startsWith('number'))).toEqual([]);
});

test('a prompt that the agent has meanwhile can no longer be edited, and the page says so', async () => {
  const release = holdTurn();
  const page = await begin('Mime');
  await prompt(page, 'hold');
  await page.getByLabel('The agent is working').waitFor();
  await prompt(page, 'late');
  await waiting(page).getByRole('button', { name: 'Edit late' }).click();
  release();
  await ends(page, 2);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('the prompt no longer waits: the agent has it, or it was removed').waitFor();
});

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
