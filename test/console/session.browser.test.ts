// Around a session in the browser: starting it, attachments, actions, and a stable layout while it streams.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type Json, Refusal } from '../e2e/peer.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { visit } from './visit.ts';

const EVIL = '<img src=x onerror="window.hacked=1">';
const HACKED = `[document.querySelectorAll('#app img[src="x"], #app script').length, 'hacked' in window]`;
const SECRET = 'sesame-4f1a9c';
const DONE = { stopReason: 'end_turn' };
const capabilities = { ...ALL_CAPABILITIES, sessionCapabilities: { ...ALL_CAPABILITIES.sessionCapabilities, title: {} } };
const authMethods = [
  { id: 'browser', name: `In a browser ${EVIL}`, description: 'opens one' },
  { id: 'tty', type: 'terminal', name: 'In a terminal', args: ['login'] },
  { id: 'key', type: 'env_var', name: 'With a key', varName: 'WANTED_KEY' },
];
const png = Buffer.from('89504e470d0a1a0a', 'hex');
const named = (name: string, mimeType: string, buffer: Buffer) => ({ name, mimeType, buffer });

/** The layout shift without user action, and the element at the top of the view. */
const WATCH = `window.moved = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
}).observe({ type: 'layout-shift', buffered: false })`;

describe('around a session', () => {
  const mcp_servers = [{ name: 'almanac', command: 'true' }];
  const here = visit({ mcp_servers, host_tools: { enabled: true } }, {}, { capabilities, authMethods });
  const { turns, begin, prompt, ends, open } = here;
  const safe = async (page: Page) => expect(await page.evaluate(HACKED)).toEqual([0, false]);

  test('attachments are previewed, moved, removed, and sent in their order; one that exceeds a limit is rejected with the reason', async () => {
    let sent: Json[] = [];
    turns.set('take', (_, __, params) => {
      sent = params.prompt;
      return DONE;
    });
    const page = await begin('Mime');
    const row = page.getByLabel('Attachments').locator('li');
    const clip = page.locator('input[type=file]');
    const note = named(`note ${EVIL}.txt`, 'text/plain', Buffer.from(`remember ${EVIL}`));
    await clip.setInputFiles([named('dot.png', 'image/png', png), note, named('beep.wav', 'audio/wav', Buffer.from('RIFF'))]);
    await expect.poll(() => row.count()).toBe(3);
    const drop = (...files: string[]) =>
      page.evaluate(`{
        const data = new DataTransfer();
        for (const file of [${files.join()}]) data.items.add(file);
        document.querySelector('.composer').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
      }`);
    const large = (name: string, bytes: number) => `new File([new Uint8Array(${bytes}).fill(255)], '${name}')`;
    await drop(large('huge.bin', 8 * 1024 * 1024 + 1));
    await page.getByText('huge.bin is too large: 8.0 MB; the limit is 8.0 MB').waitFor();
    await drop(...['one.bin', 'two.bin', 'three.bin'].map((name) => large(name, 7 * 1024 * 1024)));
    await page.getByText('three.bin was not attached: the limit for one prompt is 16.0 MB').waitFor();
    for (const name of ['one.bin', 'two.bin']) await page.getByRole('button', { name: `Remove ${name}` }).click();

    await page.getByRole('button', { name: `Show note ${EVIL}.txt` }).click();
    await page.locator('dialog pre', { hasText: `remember ${EVIL}` }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Move beep.wav before' }).click();
    await page.getByRole('button', { name: 'Move dot.png behind' }).focus();
    await page.keyboard.press('Enter');
    await drop("new File(['dropped'], 'drop.txt', { type: 'text/plain' })");
    await expect.poll(() => row.count()).toBe(4);
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File(['pasted'], 'paste.txt', { type: 'text/plain' }));
      document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: data }));
    }`);
    await expect.poll(() => row.count()).toBe(5);
    await page.getByRole('button', { name: 'Remove paste.txt' }).click();
    await page.getByRole('button', { name: 'Link a file' }).click();
    await page.getByLabel('Path').fill('src/a b.ts');
    await page.getByLabel('Path').press('Enter');
    await prompt(page, 'take these');
    await ends(page, 1);
    const project = here.serving.project.split(path.sep).map(encodeURIComponent).join('/');
    expect(sent.map((block) => [block.type, block.resource?.text ?? block.name ?? block.text ?? block.mimeType])).toEqual([
      ['text', 'take these'],
      ['audio', 'audio/wav'],
      ['image', 'image/png'],
      ['resource', `remember ${EVIL}`],
      ['resource', 'dropped'],
      ['resource_link', 'a b.ts'],
    ]);
    expect(sent.at(-1)).toMatchObject({ uri: `file://${project}/src/a%20b.ts` });
    expect(await row.count()).toBe(0);
    await safe(page);
  });

  test('an attachment that another agent does not accept is not sent to it', async () => {
    const page = await begin('Mime');
    await page.locator('input[type=file]').setInputFiles([named('dot.png', 'image/png', png)]);
    await page.getByRole('button', { name: 'Show dot.png' }).waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('builder');
    await page.locator('.attached .refused').waitFor();
    await prompt(page, 'look');
    await page.getByText('Not sent. Remove what the agent does not accept.').waitFor();
    expect(await page.getByRole('list', { name: 'Not attached' }).innerText()).toBe('dot.png: this agent does not accept images');
    expect(await page.getByLabel('Prompt').inputValue()).toBe('look');
  });

  test('a session that changes its agent by a command shows the new agent and its capabilities', async () => {
    const page = await begin('Mime');
    await page.locator('input[type=file]').setInputFiles([named('dot.png', 'image/png', png)]);
    await page.getByRole('button', { name: 'Show dot.png' }).waitFor();
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    await prompt(page, '/agent builder');
    await page.locator('header .chip', { hasText: 'builder' }).waitFor();
    await page.locator('input[type=file]').setInputFiles([named('dot.png', 'image/png', png)]);
    await page.getByText('this agent does not accept images').first().waitFor();
  });

  test('remote MCP servers go with a new session; header values stay in the browser only on request', async () => {
    const page = await open('#/new');
    await page.getByRole('radio', { name: 'Mime' }).check();
    await page.getByRole('button', { name: 'Add a server' }).click();
    const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()');
    expect(await focused()).toBe('Name');
    await page.getByRole('button', { name: 'Remove server' }).press('Enter');
    expect(await focused()).toBe('Add a server');
    await page.keyboard.press('Enter');
    await page.getByLabel('Name').fill(`docs ${EVIL}`);
    await page.getByLabel('Address').fill('file:///etc/passwd');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('alert').filter({ hasText: 'must start with http:// or https://' }).waitFor();
    await page.locator('.servers', { hasText: 'It already has the configured ones: almanac.' }).waitFor();
    await page.setViewportSize({ width: 390, height: 780 });
    expect(await page.evaluate('[document.documentElement.scrollWidth, document.querySelector("main").scrollWidth]')).toEqual([390, 390]);
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.getByLabel('Address').fill('https://example.com/mcp');
    await page.getByLabel('Kind').selectOption('sse');
    await page.getByRole('button', { name: 'Add a header' }).click();
    expect(await focused()).toBe('Header');
    await page.getByLabel('Header', { exact: true }).fill('Authorization');
    await page.getByLabel('Value', { exact: true }).fill(`Bearer ${SECRET}`);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByLabel('Prompt').waitFor();
    const [last] = here.serving.mime.all('session/new').slice(-1);
    const server = { type: 'sse', name: `docs ${EVIL}`, url: 'https://example.com/mcp' };
    expect(last?.msg.params.mcpServers).toContainEqual({ ...server, headers: [{ name: 'Authorization', value: `Bearer ${SECRET}` }] });
    const kept = () => page.evaluate('JSON.stringify({ ...localStorage })');
    expect(await kept()).toContain('Authorization');
    expect(await kept()).not.toContain(SECRET);

    await page.goto(`${here.serving.origin}/#/new`);
    await page.getByRole('radio', { name: 'Mime' }).check();
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('alert').filter({ hasText: 'The header “Authorization”' }).waitFor();
    await page.getByLabel('Value', { exact: true }).fill(SECRET);
    await page.getByLabel('Keep the values in this browser').check();
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByLabel('Prompt').waitFor();
    expect(await kept()).toContain(SECRET);
    await page.goto(`${here.serving.origin}/#/new`);
    await page.getByRole('button', { name: `Remove docs ${EVIL}` }).click();
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByLabel('Prompt').waitFor();
    expect(await kept()).not.toContain(SECRET);
    const state = path.join(here.serving.root, 'state');
    const records = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(records.length).toBeGreaterThan(2);
    for (const { parentPath, name } of records) expect(readFileSync(path.join(parentPath, name), 'utf8')).not.toContain(SECRET);
    await safe(page);
  });

  test('a session is renamed, forked and deleted, if its agent supports it', async () => {
    const { mime } = here.serving;
    mime.on('session/set_title', ({ title }) => ({ title }));
    const page = await begin('Mime');
    await prompt(page, 'Once upon a time');
    await ends(page, 1);
    const menu = page.getByLabel('More actions');
    await menu.click();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill(`A tale ${EVIL}`);
    await page.getByLabel('Title').press('Enter');
    await page.getByRole('heading', { name: `A tale ${EVIL}` }).waitFor();
    const first = page.url();
    await menu.click();
    await page.getByRole('button', { name: 'Fork' }).click();
    await expect.poll(() => page.url()).not.toBe(first);
    await page.locator('.message.user', { hasText: 'Once upon a time' }).waitFor();
    await prompt(page, 'and then?');
    await page.getByText('heard: and then?').waitFor();
    const forked = page.url();
    await menu.click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    expect(await page.locator('.recent a', { hasText: 'A tale' }).count()).toBe(1);
    expect(mime.all('session/delete', ({ sessionId }) => forked.endsWith(`/${sessionId}`))).toHaveLength(1);
    await safe(page);
    // Sketcher and Builder keep no titles.
    const other = await begin('Sketcher');
    expect(await other.getByRole('button', { name: 'Rename' }).count()).toBe(0);
  });

  test('a form fits a narrow screen; one that asks for a secret is declined and never shown', async () => {
    const form = (title: string) => ({
      ...{ mode: 'form', message: 'Your key?', requestedSchema: { type: 'object', properties: { it: { type: 'string', title } } } },
    });
    turns.set('wants', async ({ id }, mime) => {
      const { result } = await mime.request('elicitation/create', { sessionId: id, ...form('API key') });
      mime.sendText(id, `first ${JSON.stringify(result)}`);
      await mime.request('elicitation/create', { sessionId: id, ...form('Colour') });
      return DONE;
    });
    const page = await begin('Mime');
    await page.setViewportSize({ width: 390, height: 780 });
    await prompt(page, 'wants it');
    await page.locator('.request-card').getByLabel('Colour').waitFor();
    await page.getByText('first {"action":"decline"}').waitFor();
    expect(await page.evaluate('[document.documentElement.scrollWidth, document.querySelector("main").scrollWidth]')).toEqual([390, 390]);
    await page.locator('.request-card').getByRole('button', { name: 'Decline' }).press('Enter');
    await ends(page, 1);
  });

  test('a very long text shows its beginning and end, and all of it on request; the end of a code block stays code', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join('\n');
    turns.set('recite', ({ id }, mime) => {
      mime.sendText(id, lines);
      return DONE;
    });
    turns.set('program', ({ id }, mime) => {
      mime.sendText(id, `\`\`\`ts\n${lines.replaceAll('line ', 'const line_')}\n\`\`\`\n\nThat was **all**.`);
      return DONE;
    });
    const page = await begin('Mime');
    await prompt(page, 'recite');
    await ends(page, 1);
    const message = page.locator('.message.agent');
    const has = async (line: string) => ((await message.textContent()) ?? '').split('\n').some((one) => one.includes(line));
    expect([await has('line 1'), await has('line 10000'), await has('line 19999')]).toEqual([true, false, true]);
    await message.getByText('About 160,000 characters are not shown.').waitFor();
    await message.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => message.textContent()).toBe(lines);

    await prompt(page, 'program');
    await ends(page, 2);
    const program = page.locator('.message.agent').last();
    const code = program.locator('figure.code pre');
    await expect
      .poll(() => code.innerText())
      .toMatch(/^const line_0\n[\s\S]*characters are not shown\.\s+Show all\s+const line_1\d+\n[\s\S]*const line_19999\s*$/);
    expect((await code.innerText()).length).toBeLessThan(70_000);
    await expect.poll(() => code.locator('.piece').last().locator('.tok-keyword').count()).toBeGreaterThan(10);
    await program.locator('strong', { hasText: 'all' }).waitFor();
    await code.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => code.locator('.piece .tok-keyword').count()).toBe(20_000);
  });

  test("a program in an agent's terminal is killed from the page", async () => {
    const page = await begin('Builder');
    await prompt(page, '/run sleep 600');
    await page.locator('.request-card').getByRole('button', { name: 'Allow' }).first().click();
    await page.getByRole('button', { name: 'Kill' }).click();
    await page.locator('.terminal figcaption', { hasText: 'SIGTERM' }).waitFor();
    await ends(page, 1);
    expect(await page.getByRole('button', { name: 'Kill' }).count()).toBe(0);
  });

  test('while a thousand updates a second stream in, nothing jumps, neither at the end nor further up', async () => {
    turns.set('stream', async ({ id }, mime) => {
      for (let n = 0; n < 100; n++) {
        for (let part = 0; part < 12; part++) mime.sendText(id, `word ${n}.${part} `);
        mime.sendText(id, n % 5 === 4 ? '\n\n' : '\n');
        if (n % 20 === 10) mime.update(id, { sessionUpdate: 'tool_call', toolCallId: `t${n}`, title: `Step ${n}`, status: 'in_progress' });
        if (n % 20 === 15) mime.update(id, { sessionUpdate: 'tool_call_update', toolCallId: `t${n - 5}`, status: 'completed' });
        await delay(10); // its pace
      }
      return DONE;
    });
    const page = await begin('Mime');
    await page.evaluate(WATCH);
    await prompt(page, 'stream one');
    await ends(page, 1);
    const fromEnd = () =>
      page.locator('.scroll').evaluate(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight);
    await expect.poll(fromEnd).toBeLessThan(40);
    expect(await page.evaluate('window.moved')).toBeLessThan(0.1); // the limit for a good layout shift score

    // The user's own prompt is in sight, also when the user was further up.
    const scrollUp = () => page.locator('.scroll').evaluate((element) => element.scrollTo(0, 200));
    await scrollUp();
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await prompt(page, 'stream two');
    await page.locator('.message.user', { hasText: 'stream two' }).waitFor();
    await expect.poll(fromEnd).toBeLessThan(40);
    await scrollUp();
    const latest = page.getByRole('button', { name: 'jump to latest' });
    await latest.waitFor();
    const top = () =>
      page
        .locator('.message.agent')
        .first()
        .evaluate((element) => element.getBoundingClientRect().top);
    const before = await top();
    const seen = new Set<number>();
    do seen.add(await top());
    while ((await page.locator('.end').count()) < 2);
    expect([...seen]).toEqual([before]);
    // The button counts the entries that arrived meanwhile, and leads to them.
    expect(Number.parseInt(await latest.innerText(), 10)).toBeGreaterThan(0);
    await latest.click();
    await expect.poll(fromEnd).toBeLessThan(40);
    expect(await latest.count()).toBe(0);
    const words = (await page.locator('.message.agent').allTextContents()).join(' ');
    expect(words.match(/word \d+\.\d+/g)).toHaveLength(2 * 1200);
  });

  test('a login that an agent requires is done from the page, or explained; the prompt then continues', async () => {
    const { mime } = here.serving;
    let isIn = false;
    let count = 0;
    const wanted = () => {
      if (!isIn) throw new Refusal(-32000, `Authentication required ${EVIL}`);
    };
    mime.on('authenticate', ({ methodId }) => {
      expect(methodId).toBe('browser');
      isIn = true;
      return {};
    });
    mime.on('session/new', ({ cwd }) => {
      wanted();
      const id = `in-${count++}`;
      mime.sessions.set(id, { id, cwd, model: '', mode: '', title: '', updatedAt: '' });
      return { sessionId: id };
    });
    turns.set('locked', () => {
      wanted();
      return DONE;
    });
    const page = await open('#/new');
    await page.getByRole('radio', { name: 'Mime' }).check();
    await page.getByRole('button', { name: 'Begin' }).click();
    const logins = page.getByRole('group', { name: 'The agent requires a login' });
    await logins.getByText('switchboard auth mime tty').waitFor();
    await logins.getByText("Set WANTED_KEY in the agent's env in your configuration").waitFor();
    await logins.getByRole('button', { name: `In a browser ${EVIL}` }).click();
    await page.getByLabel('Prompt').waitFor();

    isIn = false;
    await prompt(page, 'locked');
    await page.locator('.failure', { hasText: `Authentication required ${EVIL}` }).waitFor();
    await page
      .locator('.failure')
      .getByRole('button', { name: `In a browser ${EVIL}` })
      .click();
    await page.getByText('You are logged in. Send the prompt again.').waitFor();
    await prompt(page, 'locked');
    await page.locator('.end').waitFor();
    await safe(page);
  });
});
