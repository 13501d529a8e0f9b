// A user at the console: one browser and one `switchboard serve` for all tests of a file.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Json } from '../e2e/peer.ts';
import type { ScriptedAgent, ScriptedSession, Traits } from '../e2e/scripted-agent.ts';
import { startBrowser } from './browser.ts';
import { type More, type Serving, serve } from './serve.ts';

export type Turn = (session: ScriptedSession, mime: ScriptedAgent, params: Json) => unknown;

export type Visit = {
  readonly serving: Serving;
  readonly context: BrowserContext;
  /** What the mime does with a prompt that starts with one of these words. */
  readonly turns: Map<string, Turn>;
  open(hash?: string): Promise<Page>;
  begin(agent: string): Promise<Page>;
  prompt(page: Page, words: string): Promise<void>;
  /** Waits until this many turns have ended. */
  ends(page: Page, count: number): Promise<void>;
};

/** `more` is extra configuration, `files` lie next to it. Errors on the page fail the file. */
export function visit(
  more: More = {},
  env: NodeJS.ProcessEnv = {},
  traits: Omit<Traits, 'turn'> = {},
  files: Readonly<Record<string, string>> = {},
): Visit {
  const turns = new Map<string, Turn>();
  const problems: string[] = [];
  let browser: Browser | undefined;
  let context: BrowserContext | undefined;
  let serving: Serving | undefined;

  beforeAll(async () => {
    const turn = (session: ScriptedSession, words: string, params: Json) => {
      const action = turns.get(words.split(' ', 1)[0] ?? '');
      if (action) return action(session, self.serving.mime, params);
      self.serving.mime.sendText(session.id, `heard: ${words}`);
      return { stopReason: 'end_turn' };
    };
    [browser, serving] = await Promise.all([startBrowser(), serve({ ...traits, turn }, more, env, files)]);
    context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    watch(page);
    await page.goto(serving.link);
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(page.url()).not.toContain('#'); // the token is gone from the address
    await page.close();
  });
  afterAll(async () => {
    await browser?.close();
    // Ctrl-C stops everything gracefully.
    expect(await serving?.stop()).toBe(130);
    expect(problems).toEqual([]);
  });

  function watch(page: Page): void {
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/ERR_CONNECTION|WebSocket connection/.test(message.text())) problems.push(message.text());
    });
  }

  const self: Visit = {
    get serving() {
      return serving as Serving;
    },
    get context() {
      return context as BrowserContext;
    },
    turns,
    async open(hash = '') {
      const page = await self.context.newPage();
      onTestFinished(() => page.close());
      watch(page);
      await page.goto(`${self.serving.origin}/${hash}`);
      await page.locator('.side').waitFor({ state: 'attached' });
      return page;
    },
    async begin(agent) {
      const page = await self.open('#/new');
      await page.getByRole('radio', { name: agent }).check();
      await page.getByRole('button', { name: 'Begin' }).click();
      await page.getByLabel('Prompt').waitFor();
      return page;
    },
    async prompt(page, words) {
      await page.getByLabel('Prompt', { exact: true }).fill(words);
      await page.getByLabel('Prompt', { exact: true }).press('Enter');
    },
    ends: (page, count) => expect.poll(() => page.locator('.end, .failure').count()).toBe(count),
  };
  return self;
}
