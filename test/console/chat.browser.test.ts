// A session in the browser with everything agents can send: changes to apply, forms, all updates, files, terminals, logins.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createSessionStore } from '../../src/store/sessions/session-store.ts';
import type { Json } from '../e2e/peer.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { visit } from './visit.ts';

const EVIL = '<img src=x onerror="window.hacked=1">';
const HACKED = `[document.querySelectorAll('#app img[src="x"], #app script').length, 'hacked' in window]`;
const CANARY = 'canary-5b1f0c7d9e3a2846';
const POLICY = { version: 1, default: 'ask', deny: ['edit($cwd/locked/**)', 'read($cwd/locked/**)'], allow: ['read($cwd/**)'] };
const capabilities = {
  ...ALL_CAPABILITIES,
  sessionCapabilities: { ...ALL_CAPABILITIES.sessionCapabilities, title: {} },
};
const authMethods = [
  { id: 'browser', name: `In a browser ${EVIL}`, description: 'opens one' },
  { id: 'tty', type: 'terminal', name: 'In a terminal', args: ['login'] },
  { id: 'key', type: 'env_var', name: 'With a key', varName: 'WANTED_KEY' },
];
const DONE = { stopReason: 'end_turn' };

describe('a session in the browser', () => {
  const here = visit({ policy: POLICY, log: { redact: { variables: ['CANARY'] } } }, { CANARY }, { capabilities, authMethods });
  const { turns, begin, prompt, ends, open } = here;
  const file = (...names: string[]) => path.join(here.serving.project, ...names);
  const lines = (changed: Readonly<Record<number, string>> = {}) =>
    Array.from({ length: 30 }, (_, n) => `${changed[n + 1] ?? `line ${n + 1}`}\n`).join('');
  /** A turn in which the mime reports a change without making it. */
  const announces = (word: string, diff: () => Json) =>
    turns.set(word, ({ id }, mime) => {
      mime.update(id, { sessionUpdate: 'tool_call', toolCallId: word, title: word, kind: 'edit', status: 'failed', content: [diff()] });
      return DONE;
    });
  const audit = () => readFileSync(path.join(here.serving.root, 'state', 'audit.jsonl'), 'utf8');
  const safe = async (page: Page) => expect(await page.evaluate(HACKED)).toEqual([0, false]);

  test('hunks are chosen and applied by keyboard; a change on disk meanwhile is a conflict, and nothing is written', async () => {
    const changed = { 3: `three ${EVIL}`, 15: 'fifteen', 28: 'twenty-eight' };
    announces('change', () => ({ type: 'diff', path: file('a.txt'), oldText: lines(), newText: lines(changed) }));
    writeFileSync(file('a.txt'), lines());
    const page = await begin('Mime');
    await prompt(page, 'change');
    await page.getByRole('button', { name: 'Apply…' }).focus();
    await page.keyboard.press('Enter');
    const second = page.getByRole('checkbox', { name: 'Apply hunk 2' });
    await second.focus();
    await page.keyboard.press('Space');
    expect(await second.isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Apply 2 of 3 hunks' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Applied. The file has 2 of 3 hunks; 1 can still be applied.').waitFor();
    await page.getByRole('button', { name: 'Done', exact: true }).waitFor(); // an applied hunk cannot be cleared
    const { 15: _, ...two } = changed;
    expect(readFileSync(file('a.txt'), 'utf8')).toBe(lines(two));
    expect(await page.locator('.chip.applied').count()).toBe(2);
    expect(audit()).toMatch(/"method":"console\/edit"[^\n]*a\.txt[^\n]*"verdict":"ask"[^\n]*"by":"user"/);
    await page.getByText('You applied 2 of 3 hunks to').waitFor();

    // Another program writes where the third hunk belongs.
    const theirs = lines({ ...two, 14: `mine ${EVIL} ${CANARY}` });
    writeFileSync(file('a.txt'), theirs);
    await page.getByRole('button', { name: 'Apply 1 hunk', exact: true }).click();
    await page.getByText('The file has changed, so nothing was written.').waitFor();
    await page.getByText('The file has 2 of 3 hunks; 1 is in conflict.').waitFor();
    expect(await page.getByRole('button', { name: /^Apply \d/ }).count()).toBe(0);
    expect(await page.locator('.conflict pre').allInnerTexts()).toEqual([
      expect.stringContaining('line 14\nline 15'),
      expect.stringContaining(`mine ${EVIL} [redacted:CANARY]\nline 15`),
    ]);
    expect(readFileSync(file('a.txt'), 'utf8')).toBe(theirs);
    await safe(page);
    // The same side by side.
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.getByRole('button', { name: 'Apply…' }).click();
    await expect
      .poll(() => page.locator('.sides .hunk .chip').allInnerTexts())
      .toEqual(['already in the file', 'conflict', 'already in the file']);
    await page.getByRole('button', { name: 'Unified' }).click();
  });

  test('a change is applied inside the directory, within the policy, and only as it was shown', async () => {
    announces('outside', () => ({ type: 'diff', path: path.join(here.serving.root, 'b.txt'), newText: 'no' }));
    announces('locked', () => ({ type: 'diff', path: file('locked', 'b.txt'), newText: 'no' }));
    announces('hidden', () => ({ type: 'diff', path: file('b.txt'), newText: `key ${CANARY}\n` }));
    announces('turned', () => ({ type: 'diff', path: file('b.txt'), newText: 'a\u202eb\n' }));
    announces('fresh', () => ({ type: 'diff', path: file('new', 'b.txt'), oldText: null, newText: 'new\n' }));
    const page = await begin('Mime');
    await prompt(page, 'outside');
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('alert').filter({ hasText: 'outside' }).waitFor();
    await prompt(page, 'locked');
    await ends(page, 2);
    await page.getByRole('button', { name: 'Apply…' }).last().click();
    await page.getByRole('alert').filter({ hasText: 'denied by policy' }).waitFor();
    expect(audit()).toMatch(/"method":"console\/read"[^\n]*"verdict":"deny"/);
    await prompt(page, 'hidden');
    await ends(page, 3);
    await prompt(page, 'turned');
    await ends(page, 4);
    // None of these can be applied.
    expect(await page.getByRole('button', { name: 'Apply…' }).count()).toBe(2);
    await prompt(page, 'fresh');
    await ends(page, 5);
    await page.getByRole('button', { name: 'Apply…' }).last().click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied.').waitFor();
    expect(readFileSync(file('new', 'b.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(path.join(here.serving.root, 'b.txt'))).toBe(false);
    expect(existsSync(file('locked'))).toBe(false);
  });

  test('a session with additional directories has them again when it is reopened, and changes apply there too', async () => {
    const more = path.join(here.serving.root, 'more');
    mkdirSync(more);
    symlinkSync(here.serving.root, path.join(more, 'way-out'));
    announces('beyond', () => ({ type: 'diff', path: path.join(more, 'c.txt'), oldText: null, newText: 'there\n' }));
    announces('further', () => ({ type: 'diff', path: path.join(more, 'way-out', 'd.txt'), oldText: null, newText: 'no\n' }));
    const page = await open('#/new');
    await page.getByRole('radio', { name: 'Sketcher' }).check();
    expect(await page.getByLabel('Additional directories').count()).toBe(0); // this agent does not accept them
    await page.getByRole('radio', { name: 'Mime' }).check();
    await page.getByLabel('Additional directories').fill(`${more}\n${path.join(more, 'nothing')}\n`);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('alert').filter({ hasText: 'is not a directory' }).waitFor();
    await page.getByLabel('Additional directories').fill(`${more}\n`);
    await page.getByRole('button', { name: 'Begin' }).click();
    await prompt(page, 'beyond');
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied. The file already has all of it.').waitFor();
    expect(readFileSync(path.join(more, 'c.txt'), 'utf8')).toBe('there\n');

    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByText('From the transcript').waitFor();
    await prompt(page, 'further');
    await page.locator('.path', { hasText: 'd.txt' }).waitFor();
    await page.getByRole('button', { name: 'Apply…' }).last().click();
    await page.getByRole('alert').filter({ hasText: 'outside the session directories' }).waitFor();
    expect(existsSync(path.join(here.serving.root, 'd.txt'))).toBe(false);
    const opened = here.serving.mime.seen.filter(({ msg }) => /^session\/(?:new|load)$/.test(msg.method)).slice(-2);
    expect(opened.map(({ msg }) => [msg.method, msg.params.additionalDirectories])).toEqual([
      ['session/new', [more]],
      ['session/load', [more]],
    ]);
  });

  test('a session of another process is reopened with its directories; missing ones are named, and it continues', async () => {
    const [kept, gone] = ['kept', 'gone'].map((name) => path.join(here.serving.root, name)) as [string, string];
    mkdirSync(kept);
    const its = { id: 'elsewhere', cwd: here.serving.project, model: 'm', mode: 'code', title: 'of before', updatedAt: '' };
    here.serving.mime.sessions.set(its.id, its);
    const about = { agent: 'mime', cwd: here.serving.project, at: new Date().toISOString(), additionalDirectories: [gone, kept] };
    createSessionStore(path.join(here.serving.root, 'state'), (error) => {
      throw error;
    }).append({ sessionId: 'elsewhere', nativeId: 'elsewhere', ...about });
    announces('abroad', () => ({ type: 'diff', path: path.join(kept, 'e.txt'), oldText: null, newText: 'there\n' }));
    const page = await open('#/session/elsewhere');
    await prompt(page, 'abroad');
    await page.getByText(`A directory of this session no longer exists: ${gone}`).waitFor();
    await page.getByRole('button', { name: 'Apply…' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied. The file already has all of it.').waitFor();
    expect(readFileSync(path.join(kept, 'e.txt'), 'utf8')).toBe('there\n');
    expect(here.serving.mime.all('session/load').at(-1)?.msg.params).toMatchObject({
      sessionId: 'elsewhere',
      additionalDirectories: [kept],
    });
  });

  test('a change that the agent replaces while the user chooses hunks is not applied', async () => {
    announces('swapped', () => ({ type: 'diff', path: file('swapped.txt'), oldText: null, newText: 'harmless\n' }));
    const page = await begin('Mime');
    await prompt(page, 'swapped');
    await page.getByRole('button', { name: 'Apply…' }).click();
    const apply = page.getByRole('button', { name: 'Apply', exact: true });
    await apply.waitFor();
    const sessionId = [...here.serving.mime.sessions.keys()].at(-1) as string;
    const content = [{ type: 'diff', path: file('swapped.txt'), oldText: null, newText: 'harmful\n' }];
    here.serving.mime.update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: 'swapped', content });
    await page.getByText('harmful').waitFor();
    await apply.click();
    await page.getByRole('alert').filter({ hasText: 'has since been replaced' }).waitFor();
    expect(existsSync(file('swapped.txt'))).toBe(false);
    // Opened again, it shows the new change.
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Apply…' }).click();
    await apply.click();
    await page.getByText('Applied.').waitFor();
    expect(readFileSync(file('swapped.txt'), 'utf8')).toBe('harmful\n');
  });

  test('a form is filled in and checked, declined from the list of requests, and removed when its turn is cancelled', async () => {
    const requestedSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: `Name ${EVIL}`, description: EVIL, minLength: 2 },
        count: { type: 'integer', default: 3, maximum: 5 },
        sure: { type: 'boolean', title: 'Sure' },
        colour: { type: 'string', title: 'Colour', oneOf: [{ const: 'r', title: `Red ${EVIL}` }] },
        tags: { type: 'array', title: 'Tags', items: { type: 'string', enum: ['a', 'b'] } },
      },
      required: ['name', 'colour'],
    };
    const asks = async (id: string) => {
      const { result } = await here.serving.mime.request('elicitation/create', {
        ...{ sessionId: id, mode: 'form', message: `Who are you? ${EVIL}`, requestedSchema },
      });
      here.serving.mime.sendText(id, `got ${JSON.stringify(result)} `);
      return DONE;
    };
    turns.set('form', ({ id }) => asks(id));
    const page = await begin('Mime');
    await prompt(page, 'form');
    const card = page.locator('.request-card');
    await card.getByLabel('Name').fill('A');
    await card.getByRole('button', { name: 'Send' }).click();
    await card.getByText('This must be at least 2 characters.').waitFor();
    await card.getByText('This field is required.').waitFor();
    await card.getByLabel('Name').fill('Ada');
    await card.getByLabel('Colour').selectOption({ label: `Red ${EVIL}` });
    await card.getByLabel('Sure').check();
    await card.getByRole('group', { name: 'Tags' }).getByLabel('b').check();
    await card.getByLabel('count').fill('4');
    await card.getByLabel('count').press('Enter');
    await page.getByText('got {"action":"accept","content":{"name":"Ada","count":4,"sure":true,"colour":"r","tags":["b"]}}').waitFor();
    await safe(page);

    const inbox = await open('#/inbox');
    await prompt(page, 'form');
    await inbox.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('got {"action":"decline"}').waitFor();
    await page.getByText('was answered elsewhere: Declined').waitFor();

    await prompt(page, 'form');
    await card.waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).last().click();
    await card.waitFor({ state: 'detached' });
    await page.getByText('got {"action":"cancel"}').waitFor();
  });

  test('a URL opens after confirmation, with its host shown; other schemes do not; requests before a session work too', async () => {
    const asks = (url: string) => (session: { id: string }) =>
      here.serving.mime
        .request('elicitation/create', { sessionId: session.id, mode: 'url', message: 'Log in', elicitationId: url, url })
        .then(({ result }) => {
          here.serving.mime.sendText(session.id, `got ${JSON.stringify(result)} `);
          here.serving.mime.notify('elicitation/complete', { elicitationId: url });
          return DONE;
        });
    turns.set('go', asks(`http://127.0.0.1:9/log?token=${CANARY}`));
    turns.set('script', asks('javascript:window.hacked=1'));
    const page = await begin('Mime');
    await prompt(page, 'go');
    expect(await page.locator('.request-card').innerText()).not.toContain(CANARY);
    const [opened] = await Promise.all([here.context.waitForEvent('page'), page.getByRole('button', { name: 'Open 127.0.0.1:9' }).click()]);
    await page.getByText('got {"action":"accept"}').waitFor();
    await page.getByText('The step in the browser is complete.').waitFor();
    await opened.close();
    await prompt(page, 'script');
    await page.getByText('This request cannot be answered here').waitFor();
    await page.locator('.request-card').getByRole('button', { name: 'Decline' }).click();
    await page.getByText('got {"action":"decline"}').waitFor();
    await safe(page);

    const { mime } = here.serving;
    let asked: Json;
    let count = 0;
    mime.on('session/new', async ({ cwd }, msg) => {
      const requestedSchema = { properties: { it: { type: 'string', default: 'this' } } };
      asked ??= await mime.request('elicitation/create', { requestId: msg.id, mode: 'form', message: 'Which one?', requestedSchema });
      const id = `asked-${count++}`;
      mime.sessions.set(id, { id, cwd, model: '', mode: '', title: '', updatedAt: '' });
      return { sessionId: id };
    });
    const fresh = await open('#/new');
    await fresh.getByRole('radio', { name: 'Mime' }).check();
    await fresh.getByRole('button', { name: 'Begin' }).click();
    await fresh.locator('.request-card').getByRole('button', { name: 'Send' }).click();
    await fresh.getByLabel('Prompt').waitFor();
    expect(asked.result).toEqual({ action: 'accept', content: { it: 'this' } });
  });

  test('every kind of update is shown, unknown ones as received', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    const block = (content: Json) => ({ type: 'content', content });
    const updates: Json[] = [
      { sessionUpdate: 'notice', severity: 'warning', title: `Slow ${EVIL}`, description: 'today' },
      { sessionUpdate: 'plan_update', plan: { type: 'markdown', planId: 'p', content: `**bold** ${EVIL}` } },
      {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: 'q', entries: [{ content: `Dig ${EVIL}`, status: 'pending', priority: 'high' }] },
      },
      { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'gone', entries: [{ content: 'Never', status: 'pending' }] } },
      { sessionUpdate: 'plan_removed', planId: 'gone' },
      { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' },
      { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: { type: 'text', text: `In short: ${CANARY.slice(0, 8)}` } },
      { sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: { type: 'text', text: `${CANARY.slice(8)} ${EVIL}` } },
      { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'completed' },
      { sessionUpdate: 'subagent_update', sessionId: 'child', title: `Helper ${EVIL}`, description: 'helps', state: { state: 'running' } },
      { sessionUpdate: 'usage_update', used: 1500, size: 3000, cost: { amount: 1.5, currency: 'EUR' } },
      { sessionUpdate: 'session_info_update', title: `Titled ${EVIL}` },
      { sessionUpdate: 'current_mode_update', currentModeId: `code ${EVIL}` },
      { sessionUpdate: 'config_option_update', configOptions: [{ id: 'deep', name: `Deep ${EVIL}`, type: 'boolean', currentValue: true }] },
      { sessionUpdate: '_odd/thing', words: EVIL },
      { sessionUpdate: '_odd/thing', words: `${EVIL} twice` },
      {
        ...{ sessionUpdate: 'tool_call', toolCallId: 'all', title: 'All', kind: 'fetch', status: 'completed' },
        content: [
          block({ type: 'text', text: '```ts\nconst it = "is"; // so\n```' }),
          block({ type: 'image', mimeType: 'image/png', data: png }),
          block({ type: 'image', mimeType: 'image/svg+xml', data: png }),
          block({ type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' }),
          block({ type: 'resource', resource: { uri: 'mem://a', text: `held ${EVIL}` } }),
          block({ type: 'resource_link', uri: 'https://example.com/a', name: `Far ${EVIL}` }),
          block({ type: 'resource_link', uri: 'javascript:window.hacked=1', name: 'Bad' }),
          block({ type: 'hologram', data: EVIL }),
          { type: 'diff', path: file('x.ts'), oldText: 'let a;\n', newText: 'const a = 1;\n' },
        ],
      },
    ];
    turns.set('all', ({ id }, mime) => {
      for (const update of updates) mime.update(id, update);
      return { stopReason: 'refusal' };
    });
    const page = await begin('Mime');
    await prompt(page, 'all');
    await page.getByText('The agent refused to continue').waitFor();
    await page.locator('.note.warning', { hasText: `Slow ${EVIL}: today` }).waitFor();
    await page.locator('.plan .md strong', { hasText: 'bold' }).waitFor();
    expect(await page.locator('.plan li').allInnerTexts()).toEqual([`Dig ${EVIL}\nhigh`]);
    const compaction = page.getByLabel('Compaction');
    await compaction.getByText('continues from a summary').waitFor();
    await compaction.getByText('The summary').click();
    expect(await compaction.innerText()).toContain(`In short: [redacted:CANARY] ${EVIL}`);
    expect(await page.getByLabel('Subagent').innerText()).toContain(`Helper ${EVIL} running`);
    expect(await page.locator('.bar').innerText()).toContain('1.5k / 3.0k · 1.50 EUR');
    await page.getByRole('heading', { name: `Titled ${EVIL}` }).waitFor();
    await page.getByText(`Mode: code ${EVIL}`).waitFor();
    expect(await page.getByLabel(`Deep ${EVIL}`).isChecked()).toBe(true);
    await page.getByText('_odd/thing (2 times; the last one)').click();
    await page.locator('.raw pre', { hasText: `${EVIL.replaceAll('"', '\\"')} twice` }).waitFor();

    await page.locator('.tool summary', { hasText: 'All' }).waitFor();
    const tool = page.locator('.tool .inside');
    await tool.locator('.tok-keyword', { hasText: 'const' }).first().waitFor();
    await tool.locator('.tok-comment', { hasText: '// so' }).waitFor();
    expect(await tool.locator('img').count()).toBe(1);
    expect(await tool.locator('img').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
    await tool.getByText('image of type image/svg+xml').waitFor();
    expect(await tool.locator('audio').count()).toBe(1);
    await tool.getByText('Bad (javascript:window.hacked=1)').waitFor();
    await tool.getByText('mem://a').click();
    await tool.getByText(`held ${EVIL}`).waitFor();
    await tool.getByText('Unknown content').click();
    await tool.locator('pre', { hasText: 'hologram' }).waitFor();
    await tool.getByRole('button', { name: `Far ${EVIL}` }).click();
    await page.locator('dialog pre', { hasText: 'https://example.com/a' }).waitFor();
    await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await page.locator('#app').innerText()).not.toContain(CANARY);
    await safe(page);
    await page.setViewportSize({ width: 390, height: 780 });
    expect(await page.evaluate('[document.documentElement.scrollWidth, document.querySelector("main").scrollWidth]')).toEqual([390, 390]);
  });

  test('a file that the agent names is previewed if the session may read it', async () => {
    writeFileSync(file('seen.md'), `# Seen ${EVIL}\n${CANARY}\n`);
    mkdirSync(file('locked'), { recursive: true });
    writeFileSync(file('locked', 'key'), 'the key');
    turns.set('names', ({ id }, mime) => {
      for (const target of [file('seen.md'), file('locked', 'key'), '/etc/passwd'])
        mime.update(id, {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'resource_link', uri: pathToFileURL(target).href, name: path.basename(target) },
        });
      return DONE;
    });
    const page = await begin('Mime');
    await prompt(page, 'names');
    await page.getByText('seen.md').click();
    await page.locator('.resource pre', { hasText: `# Seen ${EVIL}\n[redacted:CANARY]` }).waitFor();
    await page.locator('summary', { hasText: 'key' }).click();
    await page.getByRole('alert').filter({ hasText: 'denied by policy' }).waitFor();
    await page.getByText('passwd').click();
    await page.getByRole('alert').filter({ hasText: 'outside' }).waitFor();
    expect(await page.locator('.resource pre').count()).toBe(1);
    await safe(page);
  });
});
