// The screens for frames, agents, charts, transcripts and settings. The built command, a real browser, real agents.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parseRecording } from '../../src/store/recordings/recording.ts';
import { visit } from './visit.ts';

const CANARY = 'canary-7f3e9a1b5c2d8e4f6a0b';

/** Without the header. */
const rowsOf = (list: Locator): Locator => list.locator('[id^=frame-]');

describe('in the browser', () => {
  const gone = { command: 'not-there-at-all', env: { TOKEN: 'tok-1234' } };
  const config = { log: { redact: { variables: ['CANARY'] } }, host_tools: { enabled: true }, agent_servers: { gone } };
  const visitor = visit(config, { CANARY });
  const { open, begin, prompt, ends, turns } = visitor;
  const serving = () => visitor.serving;

  test('a frame is shown as a tree and raw, with its schema check, redactions and latency', async () => {
    turns.set('odd', ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'tool_call', toolCallId: 't', title: `Use ${CANARY}`, kind: 'juggle', status: 5 });
      mime.update(id, { sessionUpdate: 'plan', entries: 'none <img src=x onerror=alert(1)>' });
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    const frames = await open('#/frames');
    const list = frames.getByRole('grid');
    const filter = frames.getByLabel('Filter frames');
    const panel = frames.getByRole('tabpanel');
    await prompt(page, 'odd one');
    await ends(page, 1);

    // The session that contains the text, and no other.
    await filter.fill('agent:mime text:"odd one" !kind:response');
    await expect.poll(() => list.getAttribute('aria-rowcount')).toBe('1');
    await list.press('ArrowDown');
    await panel.getByText('"odd one"').waitFor();
    await panel.locator('summary', { hasText: 'prompt' }).click();
    await expect.poll(() => panel.getByText('"odd one"').count()).toBe(0);
    await frames.getByRole('tab', { name: 'Tree' }).press('ArrowRight');
    expect(await panel.innerText()).toContain('"text":"odd one"');
    await frames.getByRole('tab', { name: 'Check' }).click();
    await panel.getByText('Valid: matches PromptRequest of ACP.').waitFor();
    await frames.getByRole('tab', { name: 'Latency' }).click();
    expect(await panel.innerText()).toMatch(
      /From request to response, on this connection\s+[\d.]+ ms[\s\S]*connection to client\s+[\d.]+ ms[\s\S]*both ways\s+[\d.]+ ms[\s\S]*This frame took\s+[\d.]+ ms/,
    );
    await panel.getByRole('button', { name: 'the same frame there' }).click();
    await frames.locator('.detail', { hasText: 'client → switchboard · request' }).waitFor();

    await filter.fill('text:juggle');
    await rowsOf(list).filter({ hasText: 'session/update' }).click();
    await frames.getByRole('tab', { name: 'Check 2' }).click();
    expect(await panel.innerText()).toMatch(/params\.update\.kind is "juggle"[^\n]*ignore/);
    await frames.getByRole('tab', { name: 'Redactions 1' }).click();
    expect(await panel.innerText()).toMatch(/CANARY\s+1\s+params\.update\.title/);
    await filter.fill('text:onerror');
    await expect.poll(() => list.locator('[aria-selected=true]').count()).toBe(0);
    await rowsOf(list).click();
    await frames.getByRole('tab', { name: 'Check 1' }).click();
    await panel.getByText('params.update.entries is "none <img src=x onerror=alert(1)>", and must be array').waitFor();
    await list.focus();
    await list.press('Escape');
    await expect.poll(() => frames.locator('.detail').count()).toBe(0);
  });

  test('matching frames are saved as JSON lines, without secrets', async () => {
    const frames = await open('#/frames');
    await frames.getByLabel('Filter frames').fill('agent:mime method:session/update');
    await expect.poll(() => rowsOf(frames.getByRole('grid')).count()).toBeGreaterThan(1);
    await frames.getByRole('button', { name: 'Export' }).click();
    const save = frames.getByRole('button', { name: 'Save the frames' });
    const [saved] = await Promise.all([frames.waitForEvent('download'), save.click()]);
    expect(saved.suggestedFilename()).toMatch(/^frames-[\dT_-]+\.jsonl$/);
    const text = readFileSync(await saved.path(), 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.every(({ leg, method }) => leg === 'mime' && method === 'session/update')).toBe(true);
    expect(lines.map(({ msg }) => msg?.params.update.title)).toContain('Use [redacted:CANARY]');
    expect(text).not.toContain(CANARY);
    await frames.getByLabel('Filter frames').fill('bytes>much');
    await frames.getByRole('alert').filter({ hasText: '"bytes>much" is not a filter term' }).waitFor();
    await frames.getByText('text:"not found"').waitFor();
  });

  test('a request and its answer are one row; its values filter, it is sent again after confirmation, and saved as a recording', async () => {
    turns.set('again', ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'tool_call', toolCallId: 'look', title: 'Look around', status: 'completed' });
      return { stopReason: 'end_turn' };
    });
    const page = await begin('Mime');
    const frames = await open('#/frames');
    const list = frames.getByRole('grid');
    await prompt(page, 'again and again');
    await ends(page, 1);
    await list.waitFor();
    expect(await list.getByRole('columnheader').allInnerTexts()).toEqual(expect.arrayContaining(['From → to', 'Method', 'About', 'Took']));
    const row = rowsOf(list).filter({ hasText: 'session/prompt' }).filter({ hasText: 'again and again' });
    await expect.poll(() => row.count()).toBe(1);
    await expect
      .poll(() => row.innerText())
      .toMatch(/client → mime\s+req\s+session\/prompt\s+again and again\s+again and again\s+[\d.]+ ms/);
    expect(await rowsOf(list).filter({ hasText: 'Look around' }).innerText()).toMatch(
      /mime → client\s+ntf\s+session\/update\s+tool_call · Look around/,
    );
    // Requests have their answers, though these are not requests.
    await frames.getByRole('button', { name: 'Requests' }).click();
    await expect.poll(async () => (await rowsOf(list).allInnerTexts()).every((text) => /\breq\b/.test(text))).toBe(true);
    expect(await row.innerText()).toMatch(/[\d.]+ ms/);
    await frames.getByRole('button', { name: 'Requests' }).click();
    await row.click();
    expect(await frames.getByRole('group', { name: 'Frames of the exchange' }).getByRole('button').allInnerTexts()).toEqual([
      'Request\nclient',
      'Request\nmime',
      expect.stringMatching(/^Answer\nmime\n[\d.]+ ms$/),
      expect.stringMatching(/^Answer\nclient\n[\d.]+ ms$/),
    ]);
    // A value filters.
    await frames.getByRole('button', { name: 'method:session/prompt' }).click();
    expect(await frames.getByLabel('Filter frames').inputValue()).toBe('method:session/prompt');
    await expect.poll(async () => (await rowsOf(list).allInnerTexts()).every((text) => text.includes('session/prompt'))).toBe(true);
    // Sent again, after confirmation.
    await frames.getByRole('button', { name: 'Send again…' }).click();
    await frames.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await frames.getByText('The prompt was sent.').waitFor();
    await ends(page, 2);
    expect(await page.locator('.message.user').allInnerTexts()).toEqual(['again and again', 'again and again']);
    // Each frame by itself.
    const joined = Number(await list.getAttribute('aria-rowcount'));
    await frames.getByLabel('Each frame by itself').check();
    await expect.poll(async () => Number(await list.getAttribute('aria-rowcount'))).toBeGreaterThan(2 * joined);
    await frames.getByLabel('Each frame by itself').uncheck();
    // A recording.
    await frames.getByRole('button', { name: 'Export' }).click();
    await frames.getByLabel('Connection').selectOption('mime');
    const save = frames.getByRole('button', { name: 'Save the recording' });
    const [saved] = await Promise.all([frames.waitForEvent('download'), save.click()]);
    const recorded = parseRecording(readFileSync(await saved.path(), 'utf8'));
    const prompts = recorded.filter(({ dir, msg }) => dir === 'client->agent' && msg.method === 'session/prompt');
    expect(prompts.length).toBeGreaterThanOrEqual(2);
    expect(recorded.some(({ dir, msg }) => dir === 'agent->client' && msg.id === prompts.at(-1)?.msg.id)).toBe(true);
  });

  test("an agent's exit appears among the frames, with the errors it causes", async () => {
    turns.set('die', (_, mime) => {
      mime.exit();
      return new Promise(() => {});
    });
    const page = await begin('Mime');
    const frames = await open('#/frames');
    await frames.getByLabel('Filter frames').fill('err:true');
    await prompt(page, 'die');
    await frames.getByRole('row', { name: /mime.*down/ }).waitFor();
    await frames.getByRole('row', { name: /switchboard → client.*session\/prompt.*-32603/ }).waitFor();
  });

  test('an agent is stopped after confirmation, rejects requests, and is started again; its resource use is shown', async () => {
    turns.set('wait', () => new Promise(() => {}));
    const page = await begin('Mime');
    const agents = await open('#/agents');
    const card = agents.locator('[data-agent=mime]');
    await card.getByText('running').waitFor();
    await expect.poll(() => card.locator('dl').innerText()).toMatch(/Memory\s+[\d.]+ MB\s+Processor\s+(?:–|\d+ %)\s+Processes\s+1/);
    await prompt(page, 'wait');
    await expect
      .poll(() => agents.getByLabel('Host tools', { exact: true }).innerText())
      .toMatch(/wait\s+mime\s+(?:http|stdio)\s+offered, not connected\s+\d/);
    const toolNames = agents.getByLabel('Host tools', { exact: true }).getByText('ask_question');
    expect(await toolNames.isVisible()).toBe(false);
    await agents.getByLabel('Host tools', { exact: true }).locator('summary').first().click();
    await toolNames.first().waitFor();

    await card.getByRole('button', { name: 'Stop' }).click();
    await agents.getByRole('dialog').getByText('1 request is in flight.').waitFor();
    await agents.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.locator('.end').count()).toBe(0);
    await card.getByRole('button', { name: 'Drain' }).click();
    await agents.getByRole('button', { name: 'Drain Mime' }).click();
    await card.getByText('ends', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Stop' }).click();
    await agents.getByRole('button', { name: 'Stop Mime' }).click();
    await page.locator('.end.told', { hasText: 'Cancelled' }).waitFor();
    await card.locator('.state', { hasText: 'stopped' }).waitFor();
    await prompt(page, 'and now?');
    await page.locator('.failure', { hasText: 'Agent "mime" is stopped' }).waitFor();

    await card.getByRole('button', { name: 'Start' }).click();
    await card.getByText('running').waitFor();
    await prompt(page, 'back?');
    await page.getByText('heard: back?').waitFor();
    expect(await agents.locator('.matrix').last().innerText()).toContain('promptCapabilities.image');
  });

  test('charts show what happened before the page was open, by agent, with totals, as tables, by keyboard, and zoomed', async () => {
    turns.set('chart', async ({ id }, mime) => {
      mime.sendText(id, 'one');
      mime.update(id, { sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount: 0.25, currency: 'USD' } });
      await mime.request('session/request_permission', {
        sessionId: id,
        toolCall: { toolCallId: 't', title: 'Use it' },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      });
      return { stopReason: 'end_turn', usage: { inputTokens: 1200, outputTokens: 34, totalTokens: 1234 } };
    });
    const page = await begin('Mime');
    await prompt(page, 'chart');
    await page.locator('.request-card button.primary').click();
    await ends(page, 1);
    const charts = await open('#/charts');
    const totals = charts.getByRole('region', { name: 'Totals of the range' });
    const row = (name: string) => totals.getByRole('row', { name: new RegExp(`^${name} `) });
    // Turns, three pairs of percentiles, failures, tool calls, tokens, cost.
    await expect.poll(() => row('mime').innerText()).toMatch(/^mime\s+\d+\s+(?:[\d.]+ m?s\s+){6}\d+\s+0\s+1\.2k\s+34\s+0\.250$/);
    expect(await row('sketcher').innerText()).toMatch(/–\s+–$/);
    const chart = (name: string) => charts.getByRole('figure', { name, exact: true });
    for (const name of ['Turns', 'Turn duration, mean', 'Tokens', 'Cost in USD', 'Frames per second', 'Permission wait, mean']) {
      await chart(name).getByText('As a table').click();
      await chart(name).getByRole('cell', { name: /\d/ }).nth(1).waitFor();
    }
    // One agent only, and an honest empty chart.
    await row('sketcher').getByRole('button').click();
    await chart('Tokens').getByText('No agent reported tokens.').waitFor();
    expect(await chart('Tokens').locator('canvas').count()).toBe(0);
    await row('sketcher').getByRole('button').click();

    await charts.mouse.move(0, 0); // away from the area where the page may end up under it
    const frames = chart('Frames per second');
    const looksAt = () => frames.locator('output').innerText();
    await frames.locator('.canvas').press('ArrowLeft');
    await expect.poll(looksAt).toMatch(/^\d\d:\d\d:\d\d$/);
    await frames.locator('.canvas').press('Escape');
    await expect.poll(looksAt).toBe('now');
    // The next interval comes by itself.
    const turnsOfMime = async () => Number((await row('mime').locator('td').first().innerText()).trim());
    const before = await turnsOfMime();
    await prompt(page, 'hello');
    await expect.poll(turnsOfMime, { timeout: 20_000 }).toBe(before + 1);
    // Zoomed by keyboard and by drag; the totals follow.
    const whole = charts.getByRole('button', { name: 'show the whole range' });
    await frames.locator('.canvas').press('+');
    await whole.waitFor();
    await whole.click();
    expect(await whole.count()).toBe(0);
    const drawing = frames.locator('.u-over');
    await drawing.dragTo(drawing, { sourcePosition: { x: 5, y: 20 }, targetPosition: { x: 300, y: 20 } });
    await whole.waitFor();
    await whole.click();
    // The drawing follows the colour scheme.
    const ink = () => frames.locator('canvas').evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    const light = await ink();
    await charts.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(ink).not.toBe(light);
  });

  test('transcripts are searched, saved as Markdown and JSON, and deleted after confirmation', async () => {
    const page = await begin('Mime');
    await prompt(page, 'The green gate (1) <b>is</b> open');
    await ends(page, 1);
    const transcripts = await open('#/transcripts');
    await transcripts.getByLabel('Agent').selectOption('mime');
    await transcripts.getByLabel('Search transcripts').fill('GATE (1)');
    await transcripts.getByText('“GATE (1)” found in 1 session.').waitFor();
    const one = transcripts.getByRole('list', { name: 'Transcripts' }).getByRole('listitem');
    expect(await one.locator('mark').allInnerTexts()).toEqual(['gate', '(1)', 'gate', '(1)']);
    expect(await one.innerText()).toContain('heard: The green gate (1) <b>is</b> open');
    const saved = async (name: string) => {
      const [file] = await Promise.all([transcripts.waitForEvent('download'), one.getByRole('button', { name }).click()]);
      return readFileSync(await file.path(), 'utf8');
    };
    expect(await saved('Markdown')).toMatch(/^# The green gate \(1\) [\s\S]*heard: The green gate/);
    expect(JSON.parse(await saved('JSON'))).toMatchObject({
      session: { agent: 'mime', turns: 1 },
      transcript: [{ kind: 'prompt' }, {}, {}],
    });
    // An open one stays.
    expect(await one.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('From the transcript').waitFor();
    await transcripts.getByLabel('Search transcripts').fill('green gate');
    await one.getByRole('button', { name: 'Delete' }).click();
    await transcripts.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await transcripts.getByText('“green gate” found in 0 sessions.').waitFor();
    await expect.poll(() => page.locator('.recent', { hasText: 'green gate' }).count()).toBe(0);
  });

  test('a user who wants it is notified of requests and ended turns while the page is out of sight', async () => {
    turns.set('knock', async ({ id }, mime) => {
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
      await mime.call('session/request_permission', { sessionId: id, toolCall: { toolCallId: 't', title: 'Come in' }, options });
      return { stopReason: 'end_turn' };
    });
    const hidden = await open('#/settings');
    await hidden.addInitScript(`document.hasFocus = () => false;
      window.told = [];
      window.Notification = class {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, { body }) { told.push(title + ': ' + body); }
      }`);
    await hidden.reload();
    const told = () => hidden.evaluate('told');
    const page = await begin('Mime');
    await prompt(page, 'hello');
    await ends(page, 1);
    await hidden.getByLabel('Notify me').check();
    await prompt(page, 'knock knock');
    await expect.poll(told).toEqual(['mime asks: Come in']);
    await page.locator('.request-card button.primary').click();
    await expect.poll(told).toEqual(['mime asks: Come in', 'mime is done: hello']);
    await hidden.reload();
    expect(await hidden.getByLabel('Notify me').isChecked()).toBe(true);
    await prompt(page, 'knock again');
    await expect.poll(told).toEqual(['mime asks: Come in']);
    await hidden.getByLabel('Notify me').uncheck();
    await page.locator('.request-card button.primary').click();
    await ends(page, 3);
    await hidden.locator('.badge').waitFor({ state: 'detached' });
    expect(await told()).toEqual(['mime asks: Come in']);
  });

  test('settings show what is in force and its origin, the doctor what is wrong and how to fix it, and the chosen theme stays', async () => {
    const page = await open('#/settings');
    const configuration = page.getByLabel('Configuration', { exact: true });
    await configuration.getByRole('row', { name: 'host_tools.enabled true' }).waitFor();
    expect(await configuration.getByRole('row', { name: 'host_tools.enabled' }).innerText()).toMatch(/config\.json:1:\d+$/);
    expect(await configuration.innerText()).toContain(`agent_servers.gone.env.TOKEN`);
    expect(await configuration.innerText()).not.toContain('tok-1234');
    expect(await configuration.getByText('limits.max_frame_bytes').count()).toBe(0);
    await page.getByLabel('with defaults').check();
    await page.getByRole('region', { name: 'Documentation' }).getByText('switchboard help policy').waitFor();
    await page.getByLabel('Filter settings').fill('max_frame');
    expect(await configuration.locator('tbody').innerText()).toMatch(/^limits\.max_frame_bytes\s+33554432\s+default$/);

    const doctor = page.getByLabel('Doctor');
    const missing = doctor.getByRole('listitem').filter({ hasText: 'agent "gone": command not found: not-there-at-all' });
    expect(await missing.innerText()).toMatch(
      /switchboard cannot start this agent\s+Next: install not-there-at-all, or switchboard --config \S+ agents remove gone/,
    );
    expect(await doctor.getByRole('status').innerText()).toMatch(/^1 problem, \d+ warnings?, \d+ passed$/);
    expect(await doctor.innerText()).not.toContain('agent "mime" answered');
    await doctor.getByRole('button', { name: 'Check and start each agent' }).click();
    await doctor.getByText('What passed').click();
    await doctor.getByText(/agent "sketcher" answered in \d+ ms/).waitFor();

    const file = path.join(serving().project, '..', 'config.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{ "default_agnt": "mime", '));
    await page.reload();
    await configuration.getByText('The files are invalid').waitFor();
    await configuration.getByText('config.json (changed)').waitFor();
    expect(await configuration.locator('.problem').innerText()).toMatch(/config\.json:1:\d+[\s\S]*default_agnt[\s\S]*default_agent/);

    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByLabel('dark').check();
    await expect.poll(ground).not.toBe(light);
    await page.reload();
    await page.getByLabel('dark').waitFor();
    expect(await ground()).not.toBe(light);
    await page.getByLabel('system').check();
    await expect.poll(ground).toBe(light);
  });
});
