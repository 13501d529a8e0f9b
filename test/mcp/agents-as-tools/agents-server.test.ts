// `switchboard mcp` with the embedded agents as tools, driven by a real MCP client (SDK 1.32).
import { once } from 'node:events';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'vitest';
import { fixture, type Json, type Stage, SWITCHBOARD, test } from '../../e2e/harness.ts';

type Driver = { readonly client: Client; call(name: string, args?: Json, options?: Json): Promise<Json>; close(): Promise<void> };

async function drive(stage: Stage, { args = [] as string[], answer = undefined as string | undefined } = {}): Promise<Driver> {
  const client = new Client({ name: 'test', version: '0' }, { capabilities: answer === undefined ? {} : { elicitation: {} } });
  if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { answer } }));
  const env = { ...getDefaultEnvironment(), HOME: stage.dir, SWITCHBOARD_HOME: stage.state, XDG_CONFIG_HOME: stage.dir };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SWITCHBOARD, 'mcp', ...args], env, cwd: stage.cwd, stderr: 'ignore' }),
  );
  return driverOf(client);
}
const driverOf = (client: Client): Driver => ({
  client,
  call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, CallToolResultSchema, options),
  close: () => client.close(),
});

test('both embedded agents can be prompted, report progress and return their answer', async ({ stage }) => {
  const { client, call, close } = await drive(stage);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    ...['list_agents', 'start_session', 'prompt', 'continue', 'cancel', 'list_sessions', 'get_transcript'],
  ]);
  expect((await call('list_agents')).structuredContent.agents.map(({ name }: Json) => name)).toEqual(['sketcher', 'builder']);
  for (const agent of ['sketcher', 'builder']) {
    const { structuredContent } = await call('start_session', { agent });
    expect(structuredContent.agent).toBe(agent);
    const { session_id } = structuredContent;
    const progress: string[] = [];
    const turn = await call('prompt', { session_id, prompt: 'hello' }, { onprogress: ({ message }: Json) => progress.push(message) });
    expect(turn.structuredContent).toMatchObject({ session_id, stop_reason: 'end_turn', text: expect.stringMatching(/\w/) });
    expect(turn.content[0].text).toBe(turn.structuredContent.text);
    // The client may drop progress that arrives together with the answer.
    expect(turn.structuredContent.text).toContain(progress.join('').trim());
    expect((await call('get_transcript', { session_id })).content[0].text).toMatch(/^> hello\n\n\S/);
  }
  const { resources } = await client.listResources();
  expect(resources).toHaveLength(2);
  expect((await client.readResource({ uri: resources[0]?.uri ?? '' })).contents[0]).toMatchObject({
    text: expect.stringContaining('> hello'),
  });
  await close();
});

test("an agent's permission request goes to the client, and is refused if the client cannot be asked", async ({ stage }) => {
  const changes = async (answer: string | undefined) => {
    const config = stage.writeConfig({ asks: fixture('until-cancelled') });
    const { call, close } = await drive(stage, { args: ['--config', config], answer });
    const { session_id } = (await call('start_session')).structuredContent;
    const turn = await call('prompt', { session_id, prompt: 'edit' });
    await close();
    return turn.structuredContent;
  };
  const allowed = await changes('Allow');
  expect(allowed.tool_calls).toMatchObject([{ kind: 'edit', status: 'completed' }]);
  expect(allowed.changed_files).toEqual(['/w/notes.txt']);
  expect((await changes('Reject')).tool_calls).toMatchObject([{ status: 'failed' }]);
  expect((await changes(undefined)).tool_calls).toMatchObject([{ status: 'failed' }]);
});

test('a client of the 2026 era gets the permission request as a result, and calls again with the answer', async ({ stage }) => {
  const config = stage.writeConfig({ asks: fixture('until-cancelled') });
  const env = { ...getDefaultEnvironment(), HOME: stage.dir, SWITCHBOARD_HOME: stage.state };
  const client = new ModernClient(
    { name: 'modern', version: '0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const asked: Json[] = [];
  const answers = ['Reject', 'Allow'];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params);
    return { action: 'accept' as const, content: { answer: answers.pop() ?? '' } };
  });
  const args = [SWITCHBOARD, 'mcp', '--config', config];
  await client.connect(new ModernStdio({ command: process.execPath, args, env, cwd: stage.cwd, stderr: 'ignore' }));
  const call = async (name: string, given: Json = {}): Promise<Json> =>
    (await client.callTool({ name, arguments: given })).structuredContent;
  const { session_id } = await call('start_session');
  expect((await call('prompt', { session_id, prompt: 'edit' })).tool_calls).toMatchObject([{ status: 'completed' }]);
  expect((await call('prompt', { session_id, prompt: 'edit' })).tool_calls).toMatchObject([{ status: 'failed' }]);
  expect(asked[0].message).toContain('The agent wants to do this');
  expect(asked).toHaveLength(2);
  await client.close();
});

test('a cancelled request cancels the turn', async ({ stage }) => {
  const config = stage.writeConfig({ slow: fixture('until-cancelled') });
  const { call, close } = await drive(stage, { args: ['--config', config] });
  const { session_id } = (await call('start_session')).structuredContent;
  const controller = new AbortController();
  const turn = call('prompt', { session_id, prompt: 'wait' }, { signal: controller.signal, onprogress: () => controller.abort('enough') });
  await expect(turn).rejects.toThrow();
  // The agent reports in its next turn how the previous one ended.
  expect((await call('prompt', { session_id, prompt: 'how' })).structuredContent.text).toBe('cancelled');
  await close();
});

test('an earlier session can be continued', async ({ stage }) => {
  const first = await drive(stage);
  const { session_id } = (await first.call('start_session', { agent: 'sketcher' })).structuredContent;
  await first.call('prompt', { session_id, prompt: 'hello' });
  await first.close();
  const second = await drive(stage);
  expect((await second.call('prompt', { session_id, prompt: 'x' })).content[0].text).toContain('is not open here');
  expect((await second.call('list_sessions')).structuredContent.sessions).toMatchObject([{ sessionId: session_id }]);
  expect((await second.call('get_transcript', { session_id })).content[0].text).toContain('hello');
  const [resource] = (await second.client.listResources()).resources;
  expect((await second.client.readResource({ uri: resource?.uri ?? '' })).contents[0]).toMatchObject({
    text: expect.stringContaining('hello'),
  });
  expect((await second.call('get_transcript', { session_id: 'nobody' })).isError).toBe(true);
  expect((await second.call('continue', { session_id, prompt: 'again' })).structuredContent.stop_reason).toBe('end_turn');
  expect(await second.call('prompt', { session_id })).toMatchObject({ isError: true });
  expect(await second.call('start_session', { agent: 'nobody' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('nobody') }],
  });
  await second.close();
});

test('an invalid configuration and an invalid port are reported as in other commands', async ({ stage }) => {
  const ended = async (...args: string[]) => {
    const child = stage.run(process.execPath, [SWITCHBOARD, 'mcp', ...args]);
    return { code: await child.ended, said: child.stderr() };
  };
  expect(await ended('--config', 'nowhere.json')).toMatchObject({ code: 6, said: expect.stringContaining('file not found') });
  expect(await ended('--http', 'many')).toMatchObject({ code: 2, said: expect.stringContaining('invalid port "many"') });
  const config = stage.writeConfig({ one: fixture('until-cancelled') }, { mcp_servers: [{ name: 'docs', command: 'x' }] });
  expect(await ended('approve', 'dosc', '--config', config)).toMatchObject({
    code: 4,
    said: expect.stringContaining('did you mean "docs"?'),
  });
});

test('over HTTP it requires its token, and permission requests and cancellation work as on stdio', async ({ stage }) => {
  const config = stage.writeConfig({ asks: fixture('until-cancelled') });
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'mcp', '--http', '--config', config], {
    HOME: stage.dir,
    SWITCHBOARD_MCP_TOKEN: 'short',
  });
  let said = '';
  const heard = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = () => {
        const found = pattern.exec(said)?.[1];
        if (found !== undefined) resolve(found);
        return found !== undefined;
      };
      child.stderr?.on('data', (chunk) => {
        said += chunk;
        look();
      });
      look();
    });
  const [url, token] = await Promise.all([heard(/MCP at (\S+)/), heard(/Bearer (\S+)/)]);
  expect(said).toContain('ignoring SWITCHBOARD_MCP_TOKEN: it is shorter than 32 characters'); // and prints a generated one
  expect((await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(401);
  const client = new Client({ name: 'test', version: '0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { answer: 'Allow' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  const { call } = driverOf(client);
  const { session_id } = (await call('start_session')).structuredContent;
  expect((await call('prompt', { session_id, prompt: 'edit' })).structuredContent.tool_calls).toMatchObject([{ status: 'completed' }]);
  const enough = new AbortController();
  const turn = call('prompt', { session_id, prompt: 'wait' }, { signal: enough.signal, onprogress: () => enough.abort('enough') });
  await expect(turn).rejects.toThrow();
  expect((await call('prompt', { session_id, prompt: 'how' })).structuredContent.text).toBe('cancelled');
  await client.close();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
});
