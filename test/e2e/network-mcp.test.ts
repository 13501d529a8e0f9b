// `/mcp` of `switchboard serve`: the agents as MCP tools for network clients. test/mcp/agents-as-tools has what the tools do, on this endpoint too.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';
import { expect, vi } from 'vitest';
import type { Role } from '../../src/store/tokens.ts';
import { connect, eventsUntil } from '../mcp/agents-as-tools/clients.ts';
import { connectSocket, runCommand, startDaemon, storeToken } from './daemon.ts';
import { fixture, type Json, prompt, test, UNANSWERED } from './harness.ts';
import { selfSigned } from './remote-agent.ts';

const agents = { all: fixture('versatile', 'all') };
const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
};
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

test('only owners and clients get in, with the checks of the listener, and a broken request gets a plain answer', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents, { config: { limits: { max_frame_bytes: 65_536 } } });
  const token = storeToken(stage, 'ann', 'client');
  const post = (headers: Record<string, string>, body: string = JSON.stringify(INITIALIZE)) =>
    fetch(`${daemon.address}/mcp`, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  const own = { authorization: `Bearer ${token}` };
  expect((await post({})).status).toBe(401);
  expect((await post({ authorization: 'Bearer wrong' })).status).toBe(401);
  for (const role of ['observer', 'metrics'] as const)
    expect((await post({ authorization: `Bearer ${storeToken(stage, role, role)}` })).status, role).toBe(403);
  expect((await post({ ...own, origin: 'https://evil.example' })).status).toBe(403);
  expect((await fetch(`${daemon.address}/mcp?token=${token}`, { method: 'POST', headers: HEADERS, body: '{}' })).status).toBe(401);
  expect((await post({ ...own, 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post(own, 'no json')).status).toBe(400);
  expect((await post(own, JSON.stringify({ x: 'x'.repeat(70_000) }))).status).toBe(413);
  expect((await post({ ...own, 'mcp-session-id': 'nobody' })).status).toBe(404);
  const first = await post(own);
  expect(first.status).toBe(200);
  // The connection of one principal does not exist for another.
  const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
  expect((await post({ authorization: `Bearer ${storeToken(stage, 'bob', 'client')}`, ...session })).status).toBe(404);
});

test('a principal finds its own sessions only, in the directories of allow_cwd; an owner finds all', async ({ stage }) => {
  mkdirSync(path.join(stage.dir, 'allowed'));
  const cwd = path.join(stage.dir, 'allowed');
  const daemon = await startDaemon(stage, agents, { config: { allow_cwd: ['allowed'] } });
  const at = (name: string, role: Role = 'client') => ({ url: `${daemon.address}/mcp`, token: storeToken(stage, name, role) });
  const ann = await connect(stage, { line: '1.x', way: 'daemon', at: at('ann') });
  const bob = await connect(stage, { line: '2.x', way: 'daemon', at: at('bob') });
  const root = await connect(stage, { line: '2.x', way: 'daemon', at: at('root', 'owner') });
  const { session_id, cwd: where } = await ann.ask('start_session');
  expect(where).toBe(cwd);
  expect(await ann.ask('prompt', { session_id, prompt: 'the plan is secret' })).toMatchObject({ text: 'you said the plan is secret' });
  expect((await ann.ask('list_sessions')).sessions).toMatchObject([{ session_id, is_open: true }]);
  await vi.waitFor(async () => expect((await root.ask('get_transcript', { session_id })).transcript).toContain('secret'));
  const refusals = async (id: string) => {
    const calls = [
      bob.call('get_transcript', { session_id: id }),
      bob.call('continue', { session_id: id, prompt: 'go on', cwd }),
      bob.call('resume_session', { session_id: id, cwd }),
      bob.call('fork_session', { session_id: id, cwd }),
      bob.call('delete_session', { session_id: id }),
      bob.call('get_turn', { session_id: id }),
    ];
    const answers = await Promise.all(calls);
    return answers.map(({ isError, content }: Json) => `${isError} ${content[0].text.replaceAll(id, 'ID')}`);
  };
  expect(await refusals(session_id)).toEqual(await refusals('all-1-1'));
  expect((await bob.ask('list_sessions')).sessions).toEqual([]);
  await expect(bob.client.readResource({ uri: `session://${session_id}` })).rejects.toMatchObject({ code: -32602 });
  for (const outside of ['/', stage.cwd])
    expect(await bob.call('start_session', { cwd: outside })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('allow_cwd') }],
    });
  expect(await root.ask('start_session', { cwd: stage.cwd })).toMatchObject({ cwd: stage.cwd });
  for (const one of [ann, bob, root]) await one.close();
});

test('an editor with the same token joins the session, and each client answers the requests of its own turns', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const token = storeToken(stage, 'ann', 'client');
  const asked: Json[] = [];
  const answer = (params: Json) => {
    asked.push(params);
    return { action: 'accept', content: { answer: 'Allow' } };
  };
  const mcp = await connect(stage, { line: '1.x', way: 'daemon', at: { url: `${daemon.address}/mcp`, token }, answer });
  const { session_id } = await mcp.ask('start_session');
  const editor = await connectSocket(daemon, token);
  expect(
    (await editor.call('session/resume', { sessionId: session_id, cwd: stage.cwd, mcpServers: [] }))._meta['acp-switchboard'],
  ).toMatchObject({
    attached: true,
    clients: 2,
  });
  editor.on('session/request_permission', () => UNANSWERED);
  expect(await mcp.ask('prompt', { session_id, prompt: 'tidy' })).toMatchObject({ text: 'outcome: yes' });
  expect(asked).toHaveLength(1);
  const turn = prompt(editor, session_id, 'tidy');
  const { msg } = await editor.got('session/request_permission', undefined, editor.seen.length);
  expect((await mcp.ask('get_session', { session_id })).session_id).toBe(session_id); // the MCP client has the request, too
  editor.reply(msg, { outcome: { outcome: 'selected', optionId: 'no' } });
  expect((await turn).result.stopReason).toBe('end_turn');
  expect(editor.agentText(session_id)).toContain('outcome: no');
  expect(asked).toHaveLength(1);
  const { data } = JSON.parse(runCommand(stage, 'serve', 'status', '--json'));
  expect(data.clients.map(({ program }: Json) => program)).toContainEqual(expect.stringContaining('switchboard-mcp'));
  await mcp.close();
});

test('a revoked token ends its calls and its sessions; others go on, and SIGTERM lets their turns end', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents, { args: ['--drain-seconds', '20'] });
  const at = (name: string) => ({ url: `${daemon.address}/mcp`, token: storeToken(stage, name, 'client') });
  const revoked = at('ann');
  const [ann, bob] = [
    await connect(stage, { line: '2.x', way: 'daemon', at: revoked }),
    await connect(stage, { line: '2.x', way: 'daemon', at: at('bob') }),
  ];
  const own = { ...HEADERS, authorization: `Bearer ${revoked.token}` };
  const { headers } = await fetch(revoked.url, { method: 'POST', headers: own, body: JSON.stringify(INITIALIZE) });
  const stream = await fetch(revoked.url, { headers: { ...own, 'mcp-session-id': headers.get('mcp-session-id') ?? '' } });
  expect(stream.status).toBe(200);
  const file = path.join(stage.dir, 'go');
  const begin = async (client: typeof ann) => {
    const { session_id } = await client.ask('start_session');
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const turn = client.ask('prompt', { session_id, prompt: `until ${file}` }, { onprogress: () => started() });
    turn.catch(() => {});
    await running;
    return { session_id, turn };
  };
  const [, kept] = [await begin(ann), await begin(bob)];
  runCommand(stage, 'token', 'revoke', 'ann');
  await expect(eventsUntil(stream, () => false)).rejects.toThrow('terminated');
  await expect(ann.call('list_agents')).rejects.toThrow('the token is unknown, revoked or expired');
  const live = () => JSON.parse(runCommand(stage, 'serve', 'status', '--json')).data.sessions.map(({ sessionId }: Json) => sessionId);
  await vi.waitFor(() => expect(live()).toEqual([kept.session_id]), { timeout: 10_000 });
  const exited = new Promise((resolve) => daemon.child.once('exit', resolve));
  daemon.child.kill('SIGTERM');
  await vi.waitFor(async () => expect(await fetch(`${daemon.address}/healthz`).catch(() => 'refused')).toBe('refused'));
  writeFileSync(file, '');
  expect(await kept.turn).toMatchObject({ text: 'started;ended with end_turn' });
  await exited;
});

test('both eras work over HTTP/2, where a server has no connection headers', async ({ stage }) => {
  const files = selfSigned(stage.dir);
  const daemon = await startDaemon(stage, agents, { args: ['--tls-cert', files.cert, '--tls-key', files.key] });
  const own = { ...HEADERS, authorization: `Bearer ${storeToken(stage, 'ann', 'client')}` };
  const session = http2.connect(daemon.address, { ca: readFileSync(files.cert) });
  const post = (body: Json, more: Record<string, string> = {}) =>
    new Promise<{ headers: Json; messages: Json[] }>((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': '/mcp', ...own, ...more });
      let headers: Json;
      stream.on('response', (given) => {
        headers = given;
      });
      stream.on('error', reject);
      stream.end(JSON.stringify(body));
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const done = (messages: Json[]) => resolve({ headers, messages });
        if (!String(headers['content-type']).startsWith('text/event-stream')) return done(text === '' ? [] : [JSON.parse(text)]);
        void eventsUntil(new Response(text), () => false).then((events) => done(events.map(({ message }) => message)), reject);
      });
    });
  const { headers, messages } = await post(INITIALIZE);
  expect(session.alpnProtocol).toBe('h2');
  expect(headers[':status']).toBe(200);
  expect(messages[0].result.serverInfo.name).toBe('acp-switchboard');
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_agents', arguments: {} } };
  const old = await post(call, { 'mcp-session-id': headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' });
  expect(old.messages.at(-1).result.structuredContent.agents).toMatchObject([{ name: 'all' }]);
  session.close();
});
