// Clients and agents elsewhere: the console joins a session that clients of the SDK use over the network, where all see the same and each
// request gets one answer; the Agents screen lists these clients, and names where a remote agent runs.
import path from 'node:path';
import { client, methods, type SessionNotification } from '@agentclientprotocol/sdk';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectSocket, createToken, type Daemon } from '../e2e/daemon.ts';
import type { Json, Stage } from '../e2e/harness.ts';
import { visit } from './visit.ts';

/** These two cannot be reached. */
const agents = {
  far: { url: 'ws://127.0.0.1:1/acp?key=key-5f21', label: 'Far away', headers: { Authorization: 'Bearer tok-5f21' } },
  build: { ssh: 'me@127.0.0.1', command: 'claude-agent-acp', args: ['--api-key', 'tok-5f21'], files: 'same' },
};
const here = visit({ agent_servers: agents });
const { turns, prompt } = here;
const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

type SdkClient = {
  readonly agent: Json;
  readonly updates: SessionNotification['update'][];
  readonly asked: Json[];
  readonly withdrawn: Json[];
  reads: number;
  /** Answers the last permission request. */
  answer(optionId: string): void;
  send(sessionId: string, words: string): Promise<Json>;
  texts(kind: string): string;
};

/** A client of the SDK with files, that answers permission requests only when the test says so. */
async function sdkClient(token: string): Promise<SdkClient> {
  const self: SdkClient = {
    agent: undefined as Json,
    updates: [],
    asked: [],
    withdrawn: [],
    reads: 0,
    answer: () => {},
    send: (sessionId, words) =>
      connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: words }] }),
    texts: (kind) => self.updates.flatMap((update: Json) => (update.sessionUpdate === kind ? [update.content.text] : [])).join(''),
  };
  const url = `${here.serving.origin.replace(/^http/, 'ws')}/acp`;
  const stream = createWebSocketStream(url, { headers: { authorization: `Bearer ${token}` }, WebSocket: WebSocket as never });
  const connection = client({ name: 'sdk-editor' })
    .onNotification(methods.client.session.update, ({ params }) => void self.updates.push(params.update))
    .onRequest(methods.client.fs.readTextFile, () => {
      self.reads++;
      return { content: 'from the client' };
    })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
      self.asked.push(params);
      return new Promise((resolve) => {
        self.answer = (optionId) => resolve({ outcome: { outcome: 'selected', optionId } });
        signal.addEventListener('abort', () => {
          self.withdrawn.push(params);
          resolve({ outcome: { outcome: 'cancelled' } });
        });
      });
    })
    .connect(stream);
  onTestFinished(() => connection.close());
  Object.assign(self, { agent: connection.agent });
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true } };
  await connection.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities,
    clientInfo: { name: 'sdk-editor', version: '1' },
  });
  return self;
}

const daemonToken = (name: string, role?: string) => createToken({ state: path.join(here.serving.root, 'state') } as Stage, name, role);
const waiting = (page: Page) => page.getByRole('region', { name: 'Waiting prompts' }).locator('li > span').allTextContents();
const messages = (page: Page) => page.locator('.message').allInnerTexts();

/** A session of a first client that a second client has joined. */
async function share(name: string) {
  const token = daemonToken(name);
  const [first, second] = [await sdkClient(token), await sdkClient(token)];
  const cwd = here.serving.project;
  const _meta = { 'acp-switchboard': { agent: 'mime' } };
  const { sessionId } = await first.agent.request(methods.agent.session.new, { cwd, mcpServers: [], _meta });
  await second.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  return { first, second, sessionId };
}

test('two clients of the SDK and the console share a session: same updates, one answer, one file request', async () => {
  const { first, second, sessionId } = await share('shared');
  turns.set('ask', async ({ id }, mime) => {
    const { content } = await mime.call('fs/read_text_file', { sessionId: id, path: path.join(here.serving.project, 'a.txt') });
    mime.sendText(id, `It says: ${content}. `);
    const { outcome } = await mime.call('session/request_permission', {
      ...{ sessionId: id, toolCall: { toolCallId: 't', title: 'Delete it' }, options: OPTIONS },
    });
    mime.sendText(id, `Chosen: ${outcome.optionId}.`);
    return { stopReason: 'end_turn' };
  });
  await first.send(sessionId, 'before a page looks');
  const page = await here.open(`#/session/${encodeURIComponent(sessionId)}`);
  await expect.poll(() => messages(page)).toEqual(['before a page looks', 'heard: before a page looks']);
  const turn = first.send(sessionId, 'ask');
  await page.getByLabel('The agent is working').waitFor();
  await expect.poll(() => [first.asked.length, second.asked.length]).toEqual([1, 1]);
  await page.locator('.request-card').getByRole('button', { name: 'Allow' }).click();
  expect(await turn).toMatchObject({ stopReason: 'end_turn' });
  await expect.poll(() => [first.withdrawn.length, second.withdrawn.length]).toEqual([1, 1]);
  expect([first.reads, second.reads]).toEqual([1, 0]);
  const text = 'It says: from the client. Chosen: yes.';
  for (const one of [first, second]) await expect.poll(() => one.texts('agent_message_chunk')).toContain(text);
  expect(second.texts('user_message_chunk')).toContain('ask');
  expect(first.texts('user_message_chunk')).toBe('');
  await expect.poll(async () => (await messages(page)).join('|')).toContain('|ask|It says: from the client.');
  await expect.poll(async () => (await messages(page)).at(-1)).toBe('Chosen: yes.');
  await expect.poll(() => page.getByLabel('The agent is working').count()).toBe(0);
  await page.locator('.end').waitFor();

  // Answered by another client: the page says so.
  const next = first.send(sessionId, 'ask');
  await page.locator('.request-card').waitFor();
  await expect.poll(() => first.asked.length).toBe(2);
  first.answer('no');
  expect(await next).toMatchObject({ stopReason: 'end_turn' });
  await page.getByText('“Delete it” was answered by another client').waitFor();
  await page.locator('.decision', { hasText: 'answered by another client — Delete it' }).waitFor();
  expect(await page.locator('.request-card').count()).toBe(0);
});

test('a prompt of the console waits for the turn of a client, and the console edits and removes prompts of clients', async () => {
  const { first, second, sessionId } = await share('queue');
  let release = () => {};
  turns.set('hold', async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { stopReason: 'end_turn' };
  });
  const page = await here.open(`#/session/${encodeURIComponent(sessionId)}`);
  await page.getByLabel('Prompt', { exact: true }).waitFor();
  const turn = first.send(sessionId, 'hold');
  await page.getByLabel('The agent is working').waitFor();
  const removed = first.send(sessionId, 'one');
  const changed = second.send(sessionId, 'two');
  await expect.poll(() => waiting(page)).toEqual(['one', 'two']);
  await prompt(page, 'three');
  await expect.poll(() => waiting(page)).toEqual(['one', 'two', 'three']);
  await page.getByRole('button', { name: 'Remove one' }).click();
  expect(await removed).toMatchObject({ stopReason: 'cancelled' });
  await page.getByRole('button', { name: 'Edit two' }).click();
  await page.getByLabel('Waiting prompt', { exact: true }).fill('two, but better');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => waiting(page)).toEqual(['two, but better', 'three']);
  release();
  await Promise.all([turn, changed]);
  await expect.poll(() => messages(page)).toEqual(['hold', 'two, but better', 'heard: two, but better', 'three', 'heard: three']);
  await expect.poll(() => first.texts('user_message_chunk')).toBe('two, but betterthree');
  await expect.poll(() => waiting(page)).toEqual([]);
});

test('the console is a client of the sessions that a page shows, and of no others', async () => {
  const { sessionId } = await share('listed');
  const owner = { authorization: `Bearer ${daemonToken('root', 'owner')}` };
  const clients = async () => {
    const { clients: all } = (await (await fetch(`${here.serving.origin}/daemon`, { headers: owner })).json()) as Json;
    return all
      .filter(({ sessions }: Json) => sessions.includes(sessionId))
      .map(({ principal, role, program }: Json) => [principal, role, program]);
  };
  const others = [
    ['listed', 'client', 'sdk-editor'],
    ['listed', 'client', 'sdk-editor'],
  ];
  await expect.poll(clients).toHaveLength(2);
  const page = await here.open(`#/session/${encodeURIComponent(sessionId)}`);
  await expect.poll(clients).toEqual([['the console', 'owner', 'Switchboard console'], ...others]);
  await page.close();
  await expect.poll(clients, { timeout: 10_000 }).toEqual(others);
});

test('network clients are listed with token, role, program and sessions, and disconnected after confirmation', async () => {
  const { origin, project } = here.serving;
  const token = daemonToken('laptop');
  const daemon = { socketUrl: `${origin.replace(/^http/, 'ws')}/acp` } as Daemon;
  const client = await connectSocket(daemon, token, { clientInfo: { name: 'my-editor', version: '1' } });
  const { result } = await client.request('session/new', { cwd: project, mcpServers: [] });
  const page = await here.open('#/agents');
  const row = page.getByRole('region', { name: 'Network clients', exact: true }).locator('tbody tr');
  await expect.poll(() => row.locator('td').allInnerTexts()).toHaveLength(6);
  const [name, role, program, since] = await row.locator('td').allInnerTexts();
  expect([name, role]).toEqual(['laptop', 'client']);
  expect(program).toContain('my-editor');
  expect(since).toMatch(/\d/);
  await expect.poll(() => row.getByRole('link').getAttribute('href')).toContain(encodeURIComponent(result.sessionId));
  // By keyboard.
  await row.getByRole('button', { name: 'Disconnect laptop' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).press('Enter');
  expect((await client.closed).reason).toContain('disconnected by the owner');
  await expect.poll(() => row.count()).toBe(0);
});

test('a remote agent has its address and transport, and the card says why it cannot be reached', async () => {
  const page = await here.open('#/agents');
  const card = (name: string) => page.locator(`[data-agent=${name}]`);
  const [far, build] = [card('far'), card('build')];
  await expect.poll(() => far.innerText()).toMatch(/Far away\s+remote/);
  expect(await far.innerText()).toMatch(/Transport\s+WebSocket\s+Files\s+its own[\s\S]*Address\s+ws:\/\/127\.0\.0\.1:1\/acp\n?/);
  expect(await build.innerText()).toMatch(
    /Transport\s+ssh\s+Files\s+same paths as here[\s\S]*Address\s+me@127\.0\.0\.1\s+Command there\s+claude-agent-acp/,
  );
  await far.getByRole('button', { name: 'Start' }).click();
  await far.getByText(/the connection was refused/).waitFor();
  for (const one of [far, build]) {
    expect(await one.innerText()).not.toMatch(/Sandbox|Memory|Processor/);
    expect(await one.innerText()).not.toContain('5f21');
  }
  expect(await card('mime').innerText()).toMatch(/Sandbox[\s\S]*Memory/);
});
