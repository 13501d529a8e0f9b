// Turns that last: cancelled, resumed, found again after a lost connection, as tasks; roots, logins and subscriptions.
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client as ModernClient } from '@modelcontextprotocol/client';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { fixture, type Json, type Stage, SWITCHBOARD, test } from '../../e2e/harness.ts';
import { CLIENTS, connect, eventsUntil, handshake, raw, startHttp } from './clients.ts';

const versatile = (stage: Stage) => ['--config', stage.writeConfig({ all: fixture('versatile', 'all') })];
const never = (stage: Stage) => `until ${path.join(stage.dir, 'never')}`;

describe.each(CLIENTS)('SDK $line on $way', (kind) => {
  test('a cancelled request cancels the turn, and get_turn has what became of it', async ({ stage }) => {
    const { ask, call, close } = await connect(stage, { ...kind, args: versatile(stage) });
    const { session_id } = await ask('start_session');
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort('enough') };
    await expect(call('prompt', { session_id, prompt: never(stage) }, options)).rejects.toThrow();
    const turn = await ask('get_turn', { session_id, wait_ms: 10_000 });
    expect(turn).toMatchObject({ turn: 1, status: 'ended', result: { stop_reason: 'cancelled', text: 'started;ended with cancelled' } });
    expect(Date.parse(turn.kept_until) - Date.parse(turn.started_at)).toBe(24 * 3_600_000);
    // The session goes on.
    expect(await ask('prompt', { session_id, prompt: 'hello' })).toMatchObject({ turn: 2, text: 'you said hello' });
    expect(await call('get_turn', { session_id: 'nobody' })).toMatchObject({ isError: true });
    await close();
  });

  test('an earlier session can be read, resumed and continued', async ({ stage }) => {
    const first = await connect(stage, kind);
    const { session_id } = await first.ask('start_session', { agent: 'sketcher' });
    await first.ask('prompt', { session_id, prompt: 'hello' });
    await first.ask('prompt', { session_id, prompt: 'again' });
    expect((await first.ask('get_transcript', { session_id, turn: 2 })).transcript).toMatch(/^> again\n\n\S/);
    await first.close();
    const second = await connect(stage, kind);
    expect((await second.call('prompt', { session_id, prompt: 'x' })).content[0].text).toContain('is not open here');
    expect((await second.ask('list_sessions')).sessions).toMatchObject([{ session_id, agent: 'sketcher', is_open: false }]);
    expect((await second.ask('get_transcript', { session_id, turn: 2 })).transcript).toMatch(/^\[Prompt\]\nagain\n/);
    expect(await second.call('get_transcript', { session_id, turn: 3 })).toMatchObject({ isError: true });
    const { resources } = (await second.client.listResources()) as Json;
    expect(resources).toMatchObject([{ uri: `session://${session_id}` }]);
    for (const [uri, text] of [
      [`session://${session_id}`, 'hello'],
      [`session://${session_id}/turn/2`, 'again'],
      [`switchboard://transcripts/${session_id}`, 'hello'],
    ] as const)
      expect(((await second.client.readResource({ uri })) as Json).contents[0].text).toContain(text);
    expect(await second.ask('resume_session', { session_id })).toMatchObject({ session_id, turns: 2 });
    expect(await second.ask('continue', { session_id, prompt: 'more' })).toMatchObject({ stop_reason: 'end_turn', turn: 3 });
    // What was said before it was resumed is still there, under the same numbers.
    const transcripts = await Promise.all(
      [undefined, 2, 3].map(async (turn) => (await second.ask('get_transcript', { session_id, turn })).transcript),
    );
    expect(transcripts[0]).toMatch(/^\[Prompt\]\nhello\n.*\[Prompt\]\nagain\n.*> more\n/s);
    expect(transcripts[1]).toMatch(/^\[Prompt\]\nagain\n/);
    expect(transcripts[2]).toMatch(/^> more\n/);
    expect((await second.call('start_session', { agent: 'nobody' })).content[0].text).toContain('nobody');
    await second.close();
  });

  test('roots are the directories that sessions may use', async ({ stage }) => {
    const outside = path.join(stage.dir, 'home');
    symlinkSync(outside, path.join(stage.cwd, 'way-out'));
    const { ask, call, close } = await connect(stage, { ...kind, args: versatile(stage), roots: [stage.cwd] });
    expect(await ask('start_session')).toMatchObject({ cwd: stage.cwd });
    for (const cwd of [outside, path.join(stage.cwd, 'way-out'), `${stage.cwd}-other`])
      expect(await call('start_session', { cwd })).toMatchObject({
        isError: true,
        content: [{ text: `"${cwd}" is outside the roots that the client allows: ${stage.cwd}` }],
      });
    expect((await call('start_session', { cwd: 'relative' })).content[0].text).toBe('cwd must be an absolute path; "relative" is not');
    await close();
    const none = await connect(stage, { ...kind, args: versatile(stage), roots: [] });
    expect(await none.call('start_session', { cwd: outside })).toMatchObject({ isError: true });
    expect(await none.ask('start_session')).toMatchObject({ cwd: stage.cwd });
    await none.close();
  });

  test('a required login names the agent, its methods and the command; the user is sent to the URL of a method', async ({ stage }) => {
    const seen: Json[] = [];
    const answer = (params: Json) => {
      seen.push(params);
      return { action: 'accept' };
    };
    const config = stage.writeConfig({ locked: fixture('requires-login', stage.dir) });
    const { ask, call, close } = await connect(stage, { ...kind, args: ['--config', config], answer });
    const { content, isError } = await call('start_session');
    expect(isError).toBe(true);
    expect(content[0].text).toMatch(/^Agent "locked" requires a login: .*methods: browser \(In a browser\), /);
    expect(content[0].text).toContain('run: switchboard auth locked METHOD, or call the tool login');
    expect(seen).toMatchObject([{ mode: 'url', url: 'https://example.com/keys', message: expect.stringContaining('Agent "locked"') }]);
    expect((await call('login', { agent: 'locked', method: 'tty' })).content[0].text).toContain('run: switchboard auth locked tty');
    expect((await call('login', { agent: 'locked', method: 'nothing' })).content[0].text).toContain('has no login method "nothing"');
    expect((await call('login', { agent: 'other', method: 'x' })).content[0].text).toContain('There is no agent "other"');
    expect(await ask('login', { agent: 'locked', method: 'browser' })).toEqual({ agent: 'locked', done: 'Logged in to locked.' });
    expect(await ask('start_session')).toMatchObject({ session_id: 's' });
    await close();
  });
});

test('a client that subscribed hears of the turns of a session', async ({ stage }) => {
  const { client, ask, close } = await connect(stage, { line: '1.x', args: versatile(stage) });
  const { session_id } = await ask('start_session');
  const heard: string[] = [];
  (client as Json).setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }: Json) => heard.push(params.uri));
  await client.subscribeResource({ uri: `session://${session_id}` });
  await ask('prompt', { session_id, prompt: 'hello' });
  await client.unsubscribeResource({ uri: `session://${session_id}` });
  expect(heard).toEqual([`session://${session_id}`, `session://${session_id}`]); // its start and its end
  await ask('prompt', { session_id, prompt: 'hello' });
  await (client as Json).setLoggingLevel('warning');
  expect(heard).toHaveLength(2);
  await expect(client.subscribeResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32602 });
  await close();
});

test.for(['stdio', 'http'] as const)(
  'a client of the 2026 era on %s listens to a session and to the list of sessions',
  async (way, { stage }) => {
    const { client, ask, close } = await connect(stage, { line: '2.x', way, args: versatile(stage) });
    const modern = client as ModernClient;
    const { session_id } = await ask('start_session');
    const heard: string[] = [];
    modern.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    modern.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('list'));
    const uri = `session://${session_id}`;
    const listening = await modern.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
    await ask('prompt', { session_id, prompt: 'hello' });
    await ask('start_session');
    await expect.poll(() => heard).toEqual([uri, uri, 'list']); // its start and its end, and the other session
    await listening.close();
    await ask('prompt', { session_id, prompt: 'hello' });
    expect(heard).toHaveLength(3);
    await close();
  },
);

test('a client that loses its connection in a turn reads on from Last-Event-ID, and finds the turn', async ({ stage }) => {
  const address = await startHttp(stage, versatile(stage));
  const request = raw(address);
  const session = await handshake(request);
  const call = async (id: number, name: string, args: Json): Promise<Json> => {
    const response = await request({ session, body: { id, method: 'tools/call', params: { name, arguments: args } } });
    return (await eventsUntil(response, (message) => message.id === id)).at(-1)?.message.result.structuredContent;
  };
  const { session_id } = await call(1, 'start_session', {});
  const go = path.join(stage.dir, 'go');
  const lost = new AbortController();
  const args = { session_id, prompt: `until ${go}` };
  const body = { id: 2, method: 'tools/call', params: { name: 'prompt', arguments: args, _meta: { progressToken: 7 } } };
  const stream = await request({ session, body, signal: lost.signal });
  const seen = await eventsUntil(stream, ({ params: { message } = {} as Json }) => message === 'started;');
  lost.abort();
  expect(await call(3, 'get_turn', { session_id })).toMatchObject({ status: 'running', text: expect.stringContaining('started;') });
  writeFileSync(go, '');
  expect(await call(4, 'get_turn', { session_id, wait_ms: 20_000 })).toMatchObject({
    status: 'ended',
    result: { stop_reason: 'end_turn' },
  });
  const again = await request({ session, more: { 'last-event-id': seen.at(-1)?.id ?? '' } });
  const rest = await eventsUntil(again, ({ id }) => id === 2);
  expect(rest.at(-1)?.message.result.structuredContent).toMatchObject({ session_id, text: 'started;ended with end_turn' });
  // A session id is of no use without the token.
  expect((await raw({ ...address, token: 'x'.repeat(40) })({ session, body: { id: 9, method: 'ping' } })).status).toBe(401);
  expect((await request({ session: 'other', body: { id: 9, method: 'ping' } })).status).toBe(404);
});

test('a client without a stream for requests of the server is asked in the response to its call', async ({ stage }) => {
  const policy = { version: 1, default: 'ask' };
  const config = stage.writeConfig({ all: fixture('versatile', 'all') }, { policy });
  const request = raw(await startHttp(stage, ['--config', config]));
  const session = await handshake(request, { roots: {}, elicitation: {} });
  const asked: string[] = [];
  const call = async (id: number, name: string, args: Json, answers: Readonly<Record<string, Json>>): Promise<Json> => {
    const response = await request({ session, body: { id, method: 'tools/call', params: { name, arguments: args } } });
    const reply = async ({ id: asking, method }: Json) => {
      asked.push(method);
      await (await request({ session, body: { id: asking, ...answers[method] } })).text();
    };
    const events = await eventsUntil(response, (message) => message.method === undefined, reply);
    return events.at(-1)?.message.result.structuredContent;
  };
  const roots = { result: { roots: [{ uri: `file://${stage.cwd}` }] } };
  const { session_id, cwd } = await call(1, 'start_session', {}, { 'roots/list': roots });
  expect(cwd).toBe(stage.cwd);
  const allowed = { result: { action: 'accept', content: { answer: 'Allow' } } };
  const turn = await call(2, 'prompt', { session_id, prompt: 'tidy' }, { 'elicitation/create': allowed });
  expect(turn.text).toBe('outcome: yes');
  expect(asked).toEqual(['roots/list', 'elicitation/create']);
  // The client's error is a refusal, and the result says so.
  const failed = { error: { code: -32603, message: 'the window is closed' } };
  const refused = await call(3, 'prompt', { session_id, prompt: 'tidy' }, { 'elicitation/create': failed });
  expect(refused).toMatchObject({
    text: 'outcome: no',
    notes: [expect.stringContaining('gave no answer (the window is closed): Agent all asks')],
  });
});

test('over HTTP it requires its token, and refuses other hosts and origins', async ({ stage }) => {
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'mcp', '--http', ...versatile(stage)], {
    HOME: stage.dir,
    SWITCHBOARD_MCP_TOKEN: 'short',
  });
  let output = '';
  await new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk) => {
      output += chunk;
      if (/MCP at \S+/.test(output) && /Bearer \S+/.test(output)) resolve();
    });
  });
  expect(output).toContain('ignoring SWITCHBOARD_MCP_TOKEN: it is shorter than 32 characters'); // and prints a generated one
  const [url = '', token = ''] = [/MCP at (\S+)/.exec(output)?.[1], /Bearer (\S+)/.exec(output)?.[1]];
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', ...headers } }).then(({ status }) => status);
  const authorization = `Bearer ${token}`;
  expect(await post({})).toBe(401);
  expect(await post({ authorization, origin: 'https://evil.example' })).toBe(403);
  expect(await post({ authorization })).toBe(400);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
});
