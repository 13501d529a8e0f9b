// The console as a user has it: the built command, a real browser, real agents.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { visit } from './visit.ts';

/** Fifty thousand frames take a busy machine a minute or two. */
const LONG_MS = 200_000;
/** Runs in the page. */
const WIDTHS = `[document.documentElement.scrollWidth, document.querySelector('main').scrollWidth]`;

describe('in the browser', () => {
  const here = visit();
  const { turns, open, begin, prompt, ends } = here;
  const file = (name: string) => path.join(here.serving.project, name);
  /** Keys answer nothing right after a request appears, nor while the user types. */
  async function answerByKey(page: Page, key: string): Promise<void> {
    const id = await page.locator('.request-card').getAttribute('data-request');
    await page.getByLabel('Prompt').press('Escape');
    await expect
      .poll(async () => {
        await page.keyboard.press(key);
        return page.locator(`[data-request="${id}"]`).count();
      })
      .toBe(0);
  }

  test('a turn: folded thoughts, the plan, text, a title, slash commands', async () => {
    const page = await begin('Sketcher');
    await page.getByLabel('Prompt').fill('/pl');
    await page.getByRole('option', { name: '/plan' }).waitFor();
    await page.getByLabel('Prompt').press('Tab');
    expect(await page.getByLabel('Prompt').inputValue()).toBe('/plan ');
    await prompt(page, '/plan a shed');
    await ends(page, 1);
    await expect.poll(() => page.locator('.plan li.done').count()).toBe(3);
    expect(await page.locator('.thought').getAttribute('open')).toBeNull();
    expect(await page.locator('.message.agent').innerText()).toBe('Sketcher has a plan for a shed: 3 steps, all of them done.');
    await page.getByRole('heading', { name: '/plan a shed' }).waitFor();
    // The agent is fixed once the session has begun; its model can be changed.
    expect(await page.getByRole('combobox', { name: 'Agent' }).isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: 'Model' }).selectOption('ink');
    await prompt(page, '/whoami');
    await ends(page, 2);
    expect(await page.locator('.message.agent').last().innerText()).toContain('"model": "ink"');
  });

  test("before its first prompt a session may change its agent, and then follows that agent's image and file capabilities", async () => {
    const page = await begin('Sketcher');
    const png = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('89504e470d0a1a0a', 'hex') };
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('remember the milk') };
    await page.locator('input[type=file]').setInputFiles([png, note]);
    await expect.poll(() => page.locator('.attached li').count()).toBe(2);
    await page.getByRole('button', { name: 'Remove note.txt' }).click();
    expect(await page.locator('.attached').innerText()).toContain('dot.png');
    await page.getByRole('button', { name: 'Remove dot.png' }).click();

    await page.getByRole('combobox', { name: 'Agent' }).selectOption('builder');
    await page.getByTitle('Attach text files').waitFor();
    await page.locator('input[type=file]').setInputFiles([png, note]);
    await page.getByText('dot.png was not attached: this agent does not accept images').waitFor();
    expect(await page.locator('.attached li').count()).toBe(1);
    await prompt(page, 'What is in it?');
    await ends(page, 1);
    expect(await page.locator('.message.user').innerText()).toContain('remember the milk');
    expect(await page.locator('.bar .chip').innerText()).toBe('builder');
  });

  test('a diff is shown before it is allowed by key, and is then on disk; a rejected one is not', async () => {
    const page = await begin('Sketcher');
    await prompt(page, '/edit shown.txt');
    await page.locator('.request-card .diff .new', { hasText: 'Sketcher was here in turn 1.' }).waitFor();
    await page.getByLabel('Prompt').press('a'); // typed, not answered
    expect(await page.locator('.request-card').count()).toBe(1);
    expect(existsSync(file('shown.txt'))).toBe(false);
    await page.getByLabel('Prompt').fill('');
    await answerByKey(page, 'a');
    await ends(page, 1);
    expect(readFileSync(file('shown.txt'), 'utf8')).toBe('Sketcher was here in turn 1.\n');
    expect(await page.locator('.decision').innerText()).toContain('Allow — Edit shown.txt');

    await prompt(page, '/edit shown.txt');
    await page.locator('.request-card').waitFor();
    await answerByKey(page, 'd');
    await ends(page, 2);
    expect(readFileSync(file('shown.txt'), 'utf8')).not.toContain('turn 2');
    expect(await page.locator('.tool .status').last().innerText()).toBe('failed');
  });

  test('a command is shown in full, and so is its output', async () => {
    const page = await begin('Builder');
    await prompt(page, '/run printf "\\033[31mred\\033[0m and plain"');
    expect(await page.locator('.request-card .command').innerText()).toBe("$ printf '\\033[31mred\\033[0m and plain'");
    await page.locator('.request-card').getByRole('button', { name: 'Allow', exact: false }).first().click();
    await page.locator('.terminal .sgr-1', { hasText: 'red' }).waitFor();
    await page.getByText('exit 0').waitFor();
    await ends(page, 1);
  });

  test('the first answer counts, and the other page shows that there was one', async () => {
    const page = await begin('Sketcher');
    const other = await open('#/inbox');
    await prompt(page, '/edit two.txt');
    await other.locator('.request-card', { hasText: 'Edit two.txt' }).waitFor();
    await expect.poll(() => other.title()).toBe('(1) Requests – Switchboard');
    await page.locator('.request-card').waitFor();
    await other.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('was answered elsewhere: Reject').waitFor();
    expect(await page.locator('.request-card').count()).toBe(0);
    await ends(page, 1);
    expect(existsSync(file('two.txt'))).toBe(false);
  });

  test('a turn can be cancelled, also while a request is pending', async () => {
    const page = await begin('Sketcher');
    await prompt(page, '/edit never.txt');
    await page.locator('.request-card').waitFor();
    expect(await page.getByText('Ctrl+Enter').count()).toBe(0); // this agent cannot be steered
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.end.told', { hasText: 'Cancelled' }).waitFor();
    expect(await page.locator('.request-card').count()).toBe(0);
  });

  test('a page that reloads or loses its connection in mid-turn misses nothing', async () => {
    const page = await begin('Sketcher');
    await page.routeWebSocket(/socket$/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        socket.send(message);
        if (String(message).includes('"t":"welcome"')) welcomes.push(JSON.parse(String(message)).isResumed);
      });
      cut = async () => {
        await server.close();
        await socket.close({ code: 4000 });
      };
    });
    let cut = async () => {};
    const welcomes: boolean[] = [];
    await prompt(page, '/slow 3');
    await page.getByText('5 of 60').waitFor();
    await page.reload();
    await page.getByText('20 of 60').waitFor();
    await cut();
    await page.getByText('Done.').waitFor();
    await ends(page, 1);
    const lines = (await page.locator('.message.agent').innerText()).split('\n').filter((line) => line !== '');
    expect(lines).toEqual([...Array.from({ length: 60 }, (_, n) => `${n + 1} of 60`), 'Done.']);
    expect(welcomes).toEqual([false, true]);
  });

  test('five thousand updates in one burst arrive complete and in order', async () => {
    turns.set('flood', ({ id }, mime) => {
      for (let n = 0; n < 5000; n++) mime.sendText(id, `${n}\n`);
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    await prompt(page, 'flood');
    await ends(page, 1);
    const numbers = (await page.locator('.message.agent').innerText()).split('\n');
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, n) => String(n)));
    // The end is in sight.
    expect(
      await page.locator('.scroll').evaluate(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight),
    ).toBeLessThan(40);
  });

  test("an agent's crash is shown in the session and among the agents, and the next prompt continues the session", async () => {
    turns.set('die', (_, mime) => {
      mime.exit();
      return new Promise(() => {});
    });
    const page = await begin('Mime');
    const agents = await open('#/agents');
    const card = agents.locator('[data-agent=mime]');
    await card.getByText('running').waitFor();
    const [before] = here.serving.mime.pids.slice(-1);
    await prompt(page, 'die');
    await page.locator('.failure', { hasText: 'agent "mime" exited' }).waitFor();
    await card.getByText('not started').waitFor();
    await prompt(page, 'still there?');
    await page.getByText('heard: still there?').waitFor();
    await card.getByText('running').waitFor();
    const fact = (name: string) => card.locator(`dt:text-is("${name}") + dd`).innerText();
    expect(await fact('Crashes')).toBe('1');
    expect(await fact('Process')).not.toBe(String(before));

    // And stopped gracefully by the user.
    const [second] = here.serving.mime.pids.slice(-1);
    await card.getByRole('button', { name: 'Restart' }).click();
    await agents.getByRole('dialog').getByRole('button', { name: 'Restart Mime' }).click();
    await expect.poll(() => here.serving.mime.pids.at(-1)).not.toBe(second);
    await prompt(page, 'and now?');
    await page.getByText('heard: and now?').waitFor();
  });

  test('frames: all are listed, filtered, inspected and paused; fifty thousand still scroll', { timeout: 2 * LONG_MS }, async () => {
    turns.set('many', ({ id }, mime) => {
      let lines = '';
      for (let n = 0; n < 50_000; n++)
        lines += `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${id}","update":{"sessionUpdate":"usage_update","used":${n},"size":60000}}}\n`;
      mime.write(lines);
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    const frames = await open('#/frames');
    const list = frames.getByRole('grid');
    await prompt(page, 'hello frames');
    await list.getByText('session/prompt').first().waitFor();
    await frames.getByLabel('Filter frames').fill('agent:mime method:session/prompt kind:request');
    await expect
      .poll(() =>
        list
          .locator('[id^=frame-]')
          .allInnerTexts()
          .then((rows) => rows.every((row) => /mime[\s\S]*req[\s\S]*session\/prompt/.test(row))),
      )
      .toBe(true);
    await list.locator('[id^=frame-]').last().click();
    await frames.locator('.detail [role=tabpanel]', { hasText: 'hello frames' }).waitFor();
    await frames.getByLabel('Filter frames').fill('agnt:mime');
    await frames.getByRole('alert').filter({ hasText: '"agnt:mime" is not a filter term' }).waitFor();

    await frames.getByLabel('Filter frames').fill('agent:mime method:session/update');
    await frames.getByRole('alert').waitFor({ state: 'detached' });
    await prompt(page, 'many');
    await expect.poll(async () => Number(await list.getAttribute('aria-rowcount')), { timeout: LONG_MS }).toBeGreaterThan(50_000);
    await ends(page, 2);
    expect(await list.locator('[id^=frame-]').count()).toBeLessThan(80);
    await list.evaluate((element) => {
      element.scrollTop = 25_000 * 24;
    });
    await list.locator('[id^=frame-]').nth(10).click();
    await frames.locator('.detail [role=tabpanel]', { hasText: '"usage_update"' }).waitFor();
    const count = await list.getAttribute('aria-rowcount');
    await frames.getByRole('button', { name: 'Pause' }).click();
    turns.set('one', ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'usage_update', used: 1, size: 2 });
      return { stopReason: 'end_turn' };
    });
    await prompt(page, 'one');
    await frames.getByRole('button', { name: /Resume \([1-9]/ }).waitFor();
    expect(await list.getAttribute('aria-rowcount')).toBe(count);
    await frames.getByRole('button', { name: /Resume/ }).click();
    await expect.poll(async () => Number(await list.getAttribute('aria-rowcount'))).toBeGreaterThan(Number(count));
  });

  test('without a configured policy, the console asks before changes, and saves rules in its own file', async () => {
    expect(here.serving.output()).toContain('No policy is configured');
    turns.set('scribble', async ({ id, cwd }, mime) => {
      const write = (name: string) => mime.call('fs/write_text_file', { sessionId: id, path: path.join(cwd, name), content: 'x' });
      await mime.call('fs/read_text_file', { sessionId: id, path: path.join(cwd, 'nothing') }).catch(() => {});
      await write('scribble.txt');
      await write('scribble.txt');
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    await prompt(page, 'scribble');
    expect(await page.locator('.request-card h2').innerText()).toContain('scribble.txt');
    expect(existsSync(file('scribble.txt'))).toBe(false);
    await page.locator('.request-card').getByRole('button', { name: 'Always allow' }).click();
    const place = await page.locator('.rule code').innerText();
    expect(place.startsWith(here.serving.root)).toBe(true);
    await page.getByRole('button', { name: 'Save the rule and allow' }).click();
    await ends(page, 1); // the second time it was not asked
    expect(readFileSync(file('scribble.txt'), 'utf8')).toBe('x');
    expect(statSync(place).mode & 0o777).toBe(0o600);
    expect(readFileSync(place, 'utf8')).toMatch(/^# console:[\s\S]*\n {2}- action: edit\n {4}agent: mime\n {4}path: \$cwd\/scribble.txt\n/);
  });

  test('a closed session is shown from its transcript, and a prompt reopens it', async () => {
    const page = await begin('Sketcher');
    await prompt(page, 'The blue door');
    await ends(page, 1);
    const words = await page.locator('.message.agent').innerText();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('From the transcript').waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    expect(readFileSync(await saved.path(), 'utf8')).toMatch(/^# The blue door\n[\s\S]*### [\s\S]*The blue door[\s\S]*Sketcher here/);
    const sessions = await open('#/');
    await sessions.getByLabel('Filter sessions').fill('blue DOOR');
    await sessions.getByLabel('Filter sessions').press('Enter');
    await sessions.getByText('“blue DOOR” found in one session').waitFor();
    expect(await sessions.locator('.found li').innerText()).toContain('The blue door');
    await page.reload();
    await page.getByText('From the transcript').waitFor();
    expect(await page.locator('.message.agent').innerText()).toBe(words);
    await prompt(page, '/whoami');
    await expect.poll(() => page.locator('.message.agent').last().innerText()).toContain('"turns": 2');
    expect(await page.locator('.message.user').allInnerTexts()).toEqual(['The blue door', '/whoami']);
  });

  test('on a narrow screen nothing is cut off', async () => {
    const page = await begin('Sketcher');
    await page.setViewportSize({ width: 390, height: 780 });
    await prompt(page, '/edit narrow.txt');
    await page.locator('.request-card .diff').waitFor();
    const address = page.url();
    for (const hash of [
      new URL(address).hash,
      '#/',
      '#/new',
      '#/inbox',
      '#/agents',
      '#/frames',
      '#/charts',
      '#/transcripts',
      '#/settings',
    ]) {
      await page.goto(`${here.serving.origin}/${hash}`);
      await page.locator('.bar').waitFor();
      expect(await page.evaluate(WIDTHS)).toEqual([390, 390]);
      if (hash === '#/frames')
        await page
          .getByRole('row', { name: /tool_call/ })
          .first()
          .waitFor(); // the kinds of updates
      for (const field of await page.getByRole('main').getByRole('searchbox').all())
        expect((await field.boundingBox())?.width).toBeGreaterThan(120);
    }
    await page.goto(address);
    await page.locator('.request-card button.danger').click();
    await ends(page, 1);
  });
});
