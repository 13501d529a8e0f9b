// `switchboard auth mcp`: a login at a configured MCP server, and what the gateway does with it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { fixture, open, type Stage, SWITCHBOARD, test } from '../../e2e/harness.ts';
import { called, mcpAgent, notified, wordsOf } from '../tool-sessions.ts';
import { type OAuthServer, startOAuthServer } from './oauth-server.ts';

const HOST_TOOLS = { files: false, terminal: false, ask_user: false };

async function oauthServer(): Promise<OAuthServer> {
  const server = await startOAuthServer();
  onTestFinished(server.close);
  return server;
}
const configOf = (stage: Stage, url: string) =>
  stage.writeConfig({ one: mcpAgent('stdio') }, { host_tools: HOST_TOOLS, mcp_servers: [{ name: 'locked', url }] });

/** Runs the login; `visit` is the browser. */
async function login(stage: Stage, config: string, visit: (page: string) => Promise<unknown> = fetch) {
  const child = stage.run(process.execPath, [SWITCHBOARD, 'auth', 'mcp', 'locked', '--config', config]);
  const page = await expect
    .poll(() => /^ {2}(http\S+)$/m.exec(child.stderr())?.[1])
    .toBeDefined()
    .then(() => /^ {2}(http\S+)$/m.exec(child.stderr())?.[1] ?? '');
  await visit(page);
  return { code: await child.ended, stderr: child.stderr() };
}
async function session(stage: Stage, url: string) {
  const client = await stage.connect(
    { one: mcpAgent('stdio') },
    { config: { host_tools: HOST_TOOLS, mcp_servers: [{ name: 'locked', url }] } },
  );
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'session' } }));
  return { client, ...(await open(client, stage.cwd)) };
}

test('after a login agents get the tools; tokens are private, refreshed, and in no record', async ({ stage }) => {
  const server = await oauthServer();
  expect(await login(stage, configOf(stage, server.url))).toMatchObject({ code: 0 });
  const file = path.join(stage.state, 'mcp-logins.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain(server.issued[0]);

  const { client, id } = await session(stage, server.url);
  expect(wordsOf(await called(client, id, 'locked-hello'))).toBe('hello');
  server.expire();
  expect(wordsOf(await called(client, id, 'locked-hello'))).toBe('hello');
  expect(server.issued).toHaveLength(2);
  expect(readFileSync(file, 'utf8')).toContain(server.issued[1]);
  expect(JSON.stringify(await notified(client, id, 'servers'))).not.toContain('access-');
  await client.close();
  const records = readdirSync(stage.state, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(jsonl|log|json)$/.test(name) && name !== 'mcp-logins.json',
  );
  for (const name of records) expect(readFileSync(path.join(stage.state, name), 'utf8'), name).not.toMatch(/(access|refresh)-[0-9a-f]{24}/);
  expect(client.stderr()).not.toMatch(/(access|refresh)-[0-9a-f]{24}/);
});

test('without a login, and after it was revoked, the message says how to log in', async ({ stage }) => {
  const server = await oauthServer();
  const before = await session(stage, server.url);
  expect(await notified(before.client, before.id, 'tools')).toMatchObject([{ name: 'session_info' }]);
  await expect
    .poll(before.client.stderr)
    .toMatch(
      /^switchboard: the MCP server "locked" is not available: it requires a login; run: switchboard --config \S+ auth mcp locked;/m,
    );
  await before.client.close();
  await login(stage, configOf(stage, server.url));
  const { client, id } = await session(stage, server.url);
  expect(await notified(client, id, 'tools')).toMatchObject([{}, { name: 'locked-hello' }]);
  server.revoke();
  expect(wordsOf(await called(client, id, 'locked-hello'))).toContain('switchboard auth mcp locked');
});

test('a login of one server is not sent to another URL', async ({ stage }) => {
  const [first, second] = [await oauthServer(), await oauthServer()];
  await login(stage, configOf(stage, first.url));
  const { client, id } = await session(stage, second.url);
  expect(await notified(client, id, 'tools')).toHaveLength(1);
});

test('a refused login, a server that is a program and one that does not exist are reported', async ({ stage }) => {
  const server = await oauthServer();
  const refused = await login(stage, configOf(stage, server.url), async (page) => {
    const { searchParams } = new URL(page);
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    expect((await fetch(`${back.href}?code=x&state=forged`)).status).toBe(404); // not ours, so it is ignored
    await fetch(`${back.href}?${new URLSearchParams({ error: 'access_denied', state: searchParams.get('state') ?? '' })}`);
  });
  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining('the login to MCP server "locked" failed: access_denied') });
  const config = stage.writeConfig({ one: mcpAgent('stdio') }, { mcp_servers: [{ name: 'docs', ...fixture('mcp-docs') }] });
  const run = async (name: string) => {
    const child = stage.run(process.execPath, [SWITCHBOARD, 'auth', 'mcp', name, '--config', config]);
    return { code: await child.ended, stderr: child.stderr() };
  };
  expect(await run('docs')).toMatchObject({ code: 2, stderr: expect.stringContaining('OAuth is for servers with "url"') });
  expect(await run('dosc')).toMatchObject({ code: 4, stderr: expect.stringContaining('did you mean "docs"?') });
});
