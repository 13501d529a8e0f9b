// The sandbox level `review` in the browser: the changes of a turn as diffs, and those that wait.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { visit } from './visit.ts';

const AGENT = path.resolve(import.meta.dirname, '../fixtures/runs-scripts.mjs');
const POLICY = `version: 1
default: ask
deny:
  - id: locked
    action: [edit, delete, move]
    path: $cwd/locked/**
`;
const scripts = { command: process.execPath, args: [AGENT], sandbox: 'review' };
const here = visit({ agent_servers: { scripts }, policy: './policy.yaml' }, {}, {}, { 'policy.yaml': POLICY });
const { begin, prompt, ends } = here;
const at = (name: string) => path.join(here.serving.project, name);
const read = (name: string) => readFileSync(at(name), 'utf8');
const request = (page: Page): Locator => page.getByRole('region', { name: 'Permission request' });
const waiting = (page: Page): Locator => page.getByRole('region', { name: 'Waiting changes' });

async function keep(page: Page, script: string): Promise<void> {
  await prompt(page, script);
  await request(page)
    .getByRole('button', { name: /^Decide later/ })
    .click();
  await ends(page, 1);
}

test('the changes of a turn are one request with a diff for each, and denied ones are reported', async () => {
  writeFileSync(at('a.txt'), 'one\n');
  const page = await begin('scripts');
  await prompt(page, 'echo two >> a.txt; echo new > b.txt; mkdir locked; echo x > locked/c.txt');
  const card = request(page);
  await card.getByRole('heading', { name: 'Apply 2 changes to the project' }).waitFor();
  await expect.poll(() => card.locator('figure.diff .path').allTextContents()).toEqual(['a.txt', 'b.txt']);
  expect(await card.locator('ins, del').allTextContents()).toContain('+1');
  expect(read('a.txt')).toBe('one\n');
  await card.getByRole('button', { name: /^Apply/ }).click();
  await ends(page, 1);
  expect([read('a.txt'), read('b.txt'), existsSync(at('locked/c.txt'))]).toEqual(['one\ntwo\n', 'new\n', false]);
  await page.getByText('Dropped: new locked/c.txt').waitFor();
  expect(await waiting(page).count()).toBe(0);
});

test('changes that wait are listed with their diffs, and applied or dropped one by one; a reload shows what is left', async () => {
  writeFileSync(at('c.txt'), 'c\n');
  const page = await begin('scripts');
  await keep(page, 'echo more >> c.txt; echo draft > d.txt; echo keep > e.txt');
  const card = waiting(page);
  await card.getByRole('heading', { name: '3 changes wait to be applied to the project' }).waitFor();
  await expect.poll(() => card.locator('figure.diff .path').allTextContents()).toEqual(['c.txt', 'd.txt', 'e.txt']);
  await card.getByRole('button', { name: `Apply ${at('c.txt')}` }).click();
  await card.getByText('Applied: edited c.txt').waitFor();
  expect([read('c.txt'), existsSync(at('d.txt'))]).toEqual(['c\nmore\n', false]);
  // By keyboard, and only after confirmation.
  await card.getByRole('button', { name: `Drop ${at('d.txt')}` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Drop this change' }).getByRole('button', { name: 'Drop' }).press('Enter');
  await card.getByText('Dropped: new d.txt').waitFor();
  await page.reload();
  await card.getByRole('heading', { name: '1 change waits to be applied to the project' }).waitFor();
  await expect.poll(() => card.locator('summary').allTextContents()).toEqual(['new e.txt']);
  expect([existsSync(at('d.txt')), existsSync(at('e.txt'))]).toEqual([false, false]);
  // The agent sees what was decided.
  await prompt(page, 'ls');
  await request(page).getByRole('button', { name: /^Drop/ }).click();
  await page.locator('.message.agent', { hasText: 'e.txt' }).last().waitFor();
  expect(await page.locator('.message.agent').last().innerText()).not.toContain('d.txt');
});

test('a change that conflicts, or that the policy denies by now, is not applied, and the page says why', async () => {
  writeFileSync(at('f.txt'), 'f\n');
  const page = await begin('scripts');
  await keep(page, 'echo agent >> f.txt; echo g > g.txt');
  await waiting(page).getByRole('heading', { name: '2 changes wait' }).waitFor();
  writeFileSync(path.join(here.serving.root, 'policy.yaml'), `${POLICY}  - id: no-g\n    action: edit\n    path: $cwd/g.txt\n`);
  const rules = await here.open('#/policy');
  await rules.getByText('no-g').first().waitFor();
  await waiting(page)
    .getByRole('button', { name: `Apply ${at('g.txt')}` })
    .click();
  await waiting(page).getByText('Not applied: new g.txt: denied by policy').waitFor();
  writeFileSync(at('f.txt'), 'user\n');
  await waiting(page)
    .getByRole('button', { name: `Apply ${at('f.txt')}` })
    .click();
  // The file below is another one than the page showed.
  await waiting(page).getByText('the changes are different by now').waitFor();
  await waiting(page).getByText('CONFLICT: also changed in the project').waitFor();
  await waiting(page)
    .getByRole('button', { name: `Apply ${at('f.txt')}` })
    .click();
  await waiting(page).getByText('Not applied: edited f.txt').waitFor();
  expect([read('f.txt'), existsSync(at('g.txt'))]).toEqual(['user\n', false]);
});

test('what another page has decided is not decided again', async () => {
  const page = await begin('scripts');
  await keep(page, 'echo h > h.txt');
  await waiting(page).getByText('new h.txt').waitFor();
  const other = await here.open(new URL(page.url()).hash);
  await waiting(other).getByRole('button', { name: /^Drop/ }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
  await waiting(other).getByText('Dropped: new h.txt').waitFor();
  await waiting(page)
    .getByRole('button', { name: /^Apply/ })
    .click();
  await waiting(page).getByText('the changes are different by now, or were decided elsewhere').waitFor();
  expect(existsSync(at('h.txt'))).toBe(false);
});
