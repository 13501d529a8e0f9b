// The console attached to an editor: the SDK's client holds the session, the browser watches and answers.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeDirectory } from '../remove-directory.ts';
import { startBrowser } from './browser.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const FILE = /file:\/\/\S+\.html/;

type ClientRequest = {
  readonly params: RequestPermissionRequest;
  readonly signal: AbortSignal;
  readonly answer: (optionId: string) => void;
};
type Elicited = { readonly signal: AbortSignal; readonly answer: (words: string) => void };
type Client = {
  readonly agent: ClientContext;
  readonly updates: SessionNotification[];
  readonly requests: ClientRequest[];
  readonly elicited: Elicited[];
  readonly project: string;
};

/** The proxy with an attached console, a client that answers when the test says so, and the link file. `policy` is the text of a policy. */
async function withClient(work: (acpClient: Client, linkFile: string) => Promise<void>, policy?: string): Promise<string> {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-attached-'));
  onTestFinished(() => removeDirectory(root));
  const project = path.join(root, 'project');
  mkdirSync(project);
  const env = { PATH: process.env.PATH, HOME: root, SWITCHBOARD_HOME: path.join(root, 'state') };
  const policyFile = path.join(root, 'policy.yaml');
  if (policy !== undefined) writeFileSync(policyFile, policy);
  const flags = policy === undefined ? [] : ['--policy', policyFile];
  const child = spawn(process.execPath, [BIN, 'acp', '--console', ...flags], { cwd: project, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let output = '';
  const linkFile = await new Promise<string>((resolve) =>
    child.stderr.on('data', (data) => {
      output += data;
      const [found] = FILE.exec(output) ?? [];
      if (found !== undefined) resolve(fileURLToPath(found));
    }),
  );
  const updates: SessionNotification[] = [];
  const requests: ClientRequest[] = [];
  const elicited: Elicited[] = [];
  const files = new Map<string, string>();
  await client({ name: 'sdk-editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(
      methods.client.session.requestPermission,
      ({ params, signal }) =>
        new Promise((resolve) => {
          const answer = (optionId: string) => resolve({ outcome: { outcome: 'selected', optionId } });
          signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }));
          requests.push({ params, signal, answer });
        }),
    )
    .onRequest(
      methods.client.elicitation.create,
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
          elicited.push({ signal, answer: (words) => resolve({ action: 'accept', content: { answer: words } }) });
        }),
    )
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: files.get(params.path) ?? '' }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      files.set(params.path, params.content);
      return {};
    })
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      const fs = { readTextFile: true, writeTextFile: true };
      await agent.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: { fs, terminal: false, elicitation: { form: {} } },
      });
      await work({ agent, updates, requests, elicited, project }, linkFile);
    });
  child.stdin.end();
  await exited;
  expect(existsSync(linkFile)).toBe(false);
  return output;
}
const linkIn = (file: string) => /url=(http:[^"]+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
const text = (words: string) => [{ type: 'text' as const, text: words }];

describe('attached to an editor', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  test("the page shows the editor's sessions, and either place answers their requests: the first answer counts, the other place learns of it", async () => {
    const output = await withClient(async ({ agent, updates, requests, project }, linkFile) => {
      expect(statSync(linkFile).mode & 0o777).toBe(0o600);
      const first = linkIn(linkFile);
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
      await agent.request(methods.agent.session.prompt, { sessionId, prompt: text('Before any page was there') });

      const page: Page = await browser.newPage();
      onTestFinished(() => page.close());
      page.setDefaultTimeout(20_000);
      await page.goto(first);
      await page.getByRole('link', { name: 'Before any page was there' }).first().click();
      // The transcript provides the history.
      await page.locator('.message.user', { hasText: 'Before any page was there' }).waitFor();
      await page.locator('.message.agent', { hasText: 'Sketcher here' }).waitFor();
      await page.getByText('The editor owns this session.').waitFor();
      expect(await page.getByLabel('Prompt').count()).toBe(0);

      // Allowed in the browser: the editor's request is cancelled, with the origin of the answer.
      const allowed = agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/edit a.txt') });
      await page.locator('.request-card', { hasText: 'Edit a.txt' }).getByRole('button', { name: 'Allow' }).first().click();
      expect(await allowed).toMatchObject({ stopReason: 'end_turn' });
      expect(requests).toHaveLength(1);
      expect(requests[0]?.signal.aborted).toBe(true);
      expect(JSON.stringify(updates)).toContain('Answered in the console');
      await page.locator('.message.agent', { hasText: 'Done: a.txt has one more line.' }).waitFor();

      // Denied in the browser.
      const denied = agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/edit b.txt') });
      await page.locator('.request-card', { hasText: 'Edit b.txt' }).getByRole('button', { name: 'Reject' }).click();
      await denied;
      await page.getByText('As you wish: I left b.txt as it was.').waitFor();

      // Answered in the editor: the page shows that.
      const other = agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/edit c.txt') });
      await page.locator('.request-card', { hasText: 'Edit c.txt' }).waitFor();
      const { params, answer } = requests.at(-1) as ClientRequest;
      answer(params.options.find(({ kind }) => kind === 'allow_once')?.optionId ?? '');
      await other;
      await page.getByText('was answered in the editor: Allow').waitFor();
      expect(await page.locator('.request-card').count()).toBe(0);

      // The page can cancel a turn of the editor.
      const slow = agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/slow 60') });
      await page.getByRole('button', { name: 'Cancel the turn' }).click();
      expect(await slow).toMatchObject({ stopReason: 'cancelled' });

      // A session of the page has its own connection, which the editor does not see.
      const before = updates.length;
      await page.goto(`${new URL(first).origin}/#/new`);
      await page.getByRole('radio', { name: 'Builder' }).check();
      await page.getByRole('button', { name: 'Begin' }).click();
      await page.getByLabel('Prompt').fill('Mine alone');
      await page.getByLabel('Prompt').press('Enter');
      await page.locator('.end').waitFor();
      expect(await page.locator('.message.agent').innerText()).toContain('Builder here');
      expect(updates.length).toBe(before);
      // The link was used; the file has a new one.
      expect(linkIn(linkFile)).not.toBe(first);
    });
    expect(output).not.toMatch(/http:|#/); // the link itself is in no log
  });

  test('a rule saved on the page answers the editor’s request, and the next one appears in neither place', async () => {
    await withClient(async ({ agent, requests, project }, linkFile) => {
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
      const page: Page = await browser.newPage();
      onTestFinished(() => page.close());
      page.setDefaultTimeout(20_000);
      await page.goto(linkIn(linkFile));
      await page.getByRole('heading', { name: 'Sessions' }).waitFor();
      await page.goto(`${new URL(page.url()).origin}/#/inbox`);
      const edit = () => agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/edit a.txt') });
      const first = edit();
      expect(await page.locator('.request-card .why').innerText()).toContain('ask by rule mine');
      await page.locator('.request-card').getByRole('button', { name: 'Always' }).click();
      await page.getByText('This would still be asked: ask by rule mine').waitFor(); // ask is stronger than allow
      await page.getByRole('button', { name: 'Back' }).click();
      await page.locator('.request-card').getByRole('button', { name: 'Never' }).click();
      await page.getByText(', under deny').waitFor();
      await page.getByRole('button', { name: 'Save the rule and reject' }).click();
      await first;
      expect(requests[0]?.signal.aborted).toBe(true);
      await edit();
      expect(requests).toHaveLength(1);
      expect(readFileSync(path.join(path.dirname(project), 'policy.yaml'), 'utf8')).toMatch(/\ndeny:\n {2}- action: edit\n/);
    }, 'version: 1\nallow:\n  - read($cwd/**)\nask:\n  - { id: mine, action: edit }\n');
  });

  test('either place answers an elicitation: the first answer counts, the other place learns of it', async () => {
    await withClient(async ({ agent, elicited, project }, linkFile) => {
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
      const page: Page = await browser.newPage();
      onTestFinished(() => page.close());
      page.setDefaultTimeout(20_000);
      await page.goto(linkIn(linkFile));
      const request = '/call switchboard ask_question {"question": "Which colour?"}';
      const here = agent.request(methods.agent.session.prompt, { sessionId, prompt: text(request) });
      await page.getByRole('link', { name: '/call switchboard' }).first().click();
      const card = page.locator('.request-card', { hasText: 'Which colour?' });
      await card.getByLabel('Answer').fill('blue');
      await card.getByRole('button', { name: 'Send' }).click();
      expect(await here).toMatchObject({ stopReason: 'end_turn' });
      expect(elicited[0]?.signal.aborted).toBe(true);
      await page.locator('.message.agent', { hasText: 'ask_question answered: blue' }).waitFor();

      const there = agent.request(methods.agent.session.prompt, { sessionId, prompt: text(request) });
      await card.waitFor();
      elicited.at(-1)?.answer('red');
      await there;
      await page.getByText('was answered in the editor: Answered').waitFor();
      await page.locator('.message.agent', { hasText: 'ask_question answered: red' }).waitFor();
      expect(await card.count()).toBe(0);
    });
  });

  test('a page that opens in mid-turn has all of it in the end', async () => {
    await withClient(async ({ agent, project }, linkFile) => {
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
      const slow = agent.request(methods.agent.session.prompt, { sessionId, prompt: text('/slow 3') });
      const page: Page = await browser.newPage();
      onTestFinished(() => page.close());
      page.setDefaultTimeout(20_000);
      await page.goto(linkIn(linkFile));
      await page.getByRole('link', { name: '/slow 3' }).first().click();
      await slow;
      await page.getByText('Done.').waitFor();
      await expect
        .poll(async () => (await page.locator('.message.agent').innerText()).split('\n').filter((line) => line !== '').length)
        .toBe(61);
    });
  });
});
