// What configured servers ask and tell: elicitation, log messages, updates of resources. The MCP client of the agent receives it, or the ACP client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, vi } from 'vitest';
import { type Client as AcpClient, fixture, hello, type Json, open, prompt, type Stage, testAtOnce as test } from '../../e2e/harness.ts';
import { called, mcpAgent, notified, type Takes, wordsOf } from '../tool-sessions.ts';

const RICH = { name: 'rich', ...fixture('mcp-rich') };
const ONLY_SERVERS = { files: false, terminal: false, ask_user: false };

async function connect(stage: Stage, takes: Takes, { args = [], capabilities = {} }: { args?: string[]; capabilities?: Json } = {}) {
  const agent = mcpAgent(takes);
  const acpClient = stage.proxy(
    { one: { ...agent, args: [...(agent.args ?? []), ...args], mcp_transport: takes } },
    { config: { host_tools: ONLY_SERVERS, mcp_servers: [RICH] } },
  );
  await hello(acpClient, { clientCapabilities: capabilities });
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'once' } }));
  return acpClient;
}
const permissions = (acpClient: AcpClient) => acpClient.all('session/request_permission').length;
const methodsIn = async (acpClient: AcpClient, id: string): Promise<string[]> =>
  (await notified(acpClient, id, 'heard')).map(({ method }: Json) => method);

describe.each(['stdio', 'http'] as const)('an agent that takes %s', (takes) => {
  test('answers the elicitation of a server, and the user allows the call once', async ({ stage }) => {
    const acpClient = await connect(stage, takes);
    const { id } = await open(acpClient, stage.cwd);
    expect(wordsOf(await called(acpClient, id, 'rich-ask', { text: 'why' }))).toBe('accept: WHY');
    expect(permissions(acpClient)).toBe(1);
    await called(acpClient, id, 'rich-ask', { text: 'why' });
    expect(permissions(acpClient)).toBe(2);
  });

  test('gets the log messages from the level on that it sets, and updates of the resources that it watches', async ({ stage }) => {
    const acpClient = await connect(stage, takes);
    const { id } = await open(acpClient, stage.cwd);
    await notified(acpClient, id, 'request logging/setLevel {"level":"error"}');
    await called(acpClient, id, 'rich-log', { text: 'one' });
    expect(await methodsIn(acpClient, id)).not.toContain('notifications/message');
    await notified(acpClient, id, 'request logging/setLevel {"level":"info"}');
    await called(acpClient, id, 'rich-log', { text: 'two' });
    await vi.waitFor(async () => expect(await methodsIn(acpClient, id)).toContain('notifications/message'), 10_000);

    await notified(acpClient, id, 'request resources/subscribe {"uri":"rich://one"}');
    expect(wordsOf(await called(acpClient, id, 'rich-touch'))).toBe('1');
    await vi.waitFor(async () => expect(await methodsIn(acpClient, id)).toContain('notifications/resources/updated'), 10_000);
    await notified(acpClient, id, 'request resources/unsubscribe {"uri":"rich://one"}');
    expect(wordsOf(await called(acpClient, id, 'rich-touch'))).toBe('0');
    expect(JSON.stringify(await notified(acpClient, id, 'request resources/subscribe {"uri":"rich://two"}'))).toContain(
      'There is no resource rich://two',
    );
  });
});

describe('for an agent whose MCP client has no elicitation', () => {
  test('the ACP client shows the form, and it names the server', async ({ stage }) => {
    const acpClient = await connect(stage, 'stdio', { args: ['--unasked'], capabilities: { elicitation: { form: {} } } });
    acpClient.on('elicitation/create', ({ message }) => ({ action: 'accept', content: { answer: message } }));
    const { id } = await open(acpClient, stage.cwd);
    expect(wordsOf(await called(acpClient, id, 'rich-ask', { text: 'why' }))).toBe('accept: The MCP server rich asks: why');
    expect(acpClient.all('elicitation/create')[0]?.msg.params).toMatchObject({ sessionId: id, mode: 'form' });
  });

  test('a server learns that nobody can be asked', async ({ stage }) => {
    const acpClient = await connect(stage, 'stdio', { args: ['--unasked'] });
    const { id } = await open(acpClient, stage.cwd);
    expect(wordsOf(await called(acpClient, id, 'rich-ask', { text: 'why' }))).toContain('Client does not support form elicitation');
  });

  test('in the 2026 era, where a server learns it from its request', async ({ stage }) => {
    const acpClient = await connect(stage, 'acp');
    const { id } = await open(acpClient, stage.cwd);
    expect(JSON.stringify(await called(acpClient, id, 'rich-ask', { text: 'why' }))).toContain(
      'elicitation/create was declined: neither agent nor editor offers elicitation',
    );
  });
});

test('a server that asks while two sessions call it is not answered by either', async ({ stage }) => {
  const acpClient = await connect(stage, 'stdio');
  const [one, other] = [await open(acpClient, stage.cwd), await open(acpClient, stage.cwd)];
  const waiting = prompt(acpClient, one.id, 'call rich-wait');
  await vi.waitFor(() => expect(permissions(acpClient)).toBe(1), 10_000);
  expect(wordsOf(await called(acpClient, other.id, 'rich-ask', { text: 'why' }))).toContain('several sessions call this server');
  await prompt(acpClient, one.id, 'withdraw the call');
  await waiting;
  expect(wordsOf(await called(acpClient, other.id, 'rich-ask', { text: 'why' }))).toBe('accept: WHY');
});

test('a client of the 2026 era answers by calling again, and listens to a resource', async ({ stage }) => {
  const acpClient = await connect(stage, 'http');
  const { id } = await open(acpClient, stage.cwd);
  const { url, headers } = (await notified(acpClient, id, 'servers')).at(-1);
  const client = new Client(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: headers[0].value } } }));
  client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: { answer: params.message.toUpperCase() } }));
  const call = (name: string, text = '') => client.callTool({ name, arguments: { text } });
  expect(await call('rich-ask', 'why')).toMatchObject({ content: [{ text: 'accept: WHY' }] });
  expect(permissions(acpClient)).toBe(1);

  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  const listening = await client.listen({ resourceSubscriptions: ['rich://one'] });
  await vi.waitFor(async () => expect(await call('rich-touch')).toMatchObject({ content: [{ text: '1' }] }), 10_000);
  await vi.waitFor(() => expect(updated).toContain('rich://one'), 10_000);
  await listening.close();
  await vi.waitFor(async () => expect(await call('rich-touch')).toMatchObject({ content: [{ text: '0' }] }), 10_000);
  await expect(call('rich-nothing')).rejects.toThrow('Unknown tool: rich-nothing');
  await client.close();
});
