// The page stays smooth: no task of its main thread takes longer than 50 ms, however much there is.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { tasksDuring } from './trace.ts';
import { visit } from './visit.ts';

/** A task that takes longer is seen and felt: the browser calls it a long task. */
const LONG_MS = 50;
const CHUNKS = 5000;
/** Few enough at a time that the page draws between them, hundreds of times. */
const AT_ONCE = 10;
const SESSIONS = 500;
const WORDS = 'The quick brown fox jumps over `the` **lazy** dog, and then it rests a while. '.split(/(?<= )/);

const prose = (n: number) => (n % 60 === 59 ? '\n\n' : (WORDS[n % WORDS.length] as string));
const code = (n: number) => (n === 0 ? '```ts\n' : n % 8 === 0 ? ';\n' : `const a${n} = "b" `);

describe('smooth', { timeout: 180_000 }, () => {
  const here = visit();
  const { turns, open, begin, prompt, ends } = here;
  async function smooth(page: Page, act: () => Promise<unknown>): Promise<void> {
    const tasks = await tasksDuring(page, LONG_MS, act);
    expect(tasks.length).toBeGreaterThan(5);
    expect(tasks.filter(({ ms }) => ms > LONG_MS)).toEqual([]);
  }
  /** A turn of five thousand chunks. `after` follows a chunk. */
  function stream(words: (n: number) => string, after: (id: string, n: number) => void = () => {}): void {
    turns.set('stream', async ({ id }, mime) => {
      for (let n = 0; n < CHUNKS; n++) {
        mime.sendText(id, words(n));
        after(id, n);
        if (n % AT_ONCE === 0) await delay(1);
      }
      return { stopReason: 'end_turn' };
    });
  }

  test('while five thousand chunks and a thousand tool calls arrive, when they are opened again, scrolled, and answered', async () => {
    stream(prose, (id, n) => {
      const content = [{ type: 'content', content: { type: 'text', text: 'some output '.repeat(20) } }];
      const update = { sessionUpdate: 'tool_call', toolCallId: `t${n}`, title: `Tool ${n}`, kind: 'read', status: 'completed', content };
      if (n % 5 === 0) here.serving.mime.update(id, update);
    });
    const page = await begin('Mime');
    await smooth(page, async () => {
      await prompt(page, 'stream');
      await ends(page, 1);
    });
    await smooth(page, async () => {
      await page.reload();
      await ends(page, 1);
    });
    const { hash } = new URL(page.url());
    await page.locator('a.brand').click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await smooth(page, async () => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await ends(page, 1);
    });
    // Earlier entries come as the user scrolls there, and what is read stays where it is.
    await smooth(page, async () => {
      for (let wheel = 0; wheel < 20; wheel++) {
        await page.locator('.scroll').evaluate((element) => {
          element.scrollTop -= 600;
        });
        await page.evaluate('new Promise(requestAnimationFrame)');
      }
    });
    const first = await page.locator('[data-item]').first().getAttribute('data-item');
    expect(Number(first)).toBeLessThan(1900);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await smooth(page, async () => {
      await prompt(page, 'once more');
      await page.getByText('heard: once more').waitFor();
    });
  });

  test('while five thousand chunks of one code block arrive', async () => {
    stream(code);
    const page = await begin('Mime');
    await smooth(page, async () => {
      await prompt(page, 'stream');
      await ends(page, 1);
    });
  });

  test('with five hundred sessions: opened, filtered, listed to the end', async () => {
    const agents = ['sketcher', 'builder', 'mime'];
    const lines = Array.from({ length: SESSIONS }, (_, n) => {
      const at = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString();
      return `${JSON.stringify({ sessionId: `old-${n}`, agent: agents[n % 3], nativeId: `old-${n}`, cwd: here.serving.project, at })}\n`;
    });
    const page = await open();
    appendFileSync(path.join(here.serving.root, 'state', 'sessions.jsonl'), lines.join(''));
    const more = page.getByRole('button', { name: /^Show \d+ more of / });
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Sessions' }).waitFor();
        return more.count();
      })
      .toBe(1);
    await smooth(page, async () => {
      await page.reload();
      await more.waitFor();
    });
    await smooth(page, async () => {
      while ((await more.count()) > 0) await more.click();
    });
    expect(await page.locator('.sessions tbody tr').count()).toBeGreaterThanOrEqual(SESSIONS);
    await smooth(page, async () => {
      await page.getByLabel('Filter sessions').pressSequentially('old-49');
      await expect.poll(() => page.locator('.sessions tbody tr').count()).toBe(11);
    });
    await smooth(page, async () => {
      await page.getByRole('link', { name: 'Agents' }).click();
      await page.locator('[data-agent=mime]').waitFor();
    });
  });
});
