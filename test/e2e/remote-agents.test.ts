// Agents behind a URL: they work as local ones do, and a broken connection is a crash that only their sessions notice.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { called, HOST_TOOLS, mcpAgent, wordsOf } from '../mcp/tool-sessions.ts';
import { fixture, type Json, open, type Peer, prompt, type ScriptedAgent, type Server, type Stage, test, UNANSWERED } from './harness.ts';
import { overWebSocket, type RemoteAgent, selfSigned } from './remote-agent.ts';

async function withRemote(stage: Stage, server: Server, work: (remote: RemoteAgent) => Promise<void>): Promise<void> {
  const remote = await overWebSocket(server, stage.cwd);
  try {
    await work(remote);
  } finally {
    await remote.stop();
  }
}
const remoteServer = (more: Json): Server => more;

describe('an agent behind a WebSocket', () => {
  test('answers prompts next to a local agent, and gets the configured headers', async ({ stage }) => {
    await withRemote(stage, fixture('well-behaved', 'far'), async ({ url, headers }) => {
      const far = remoteServer({ url, headers: { authorization: `Bearer \${env:FAR_TOKEN}` } });
      const client = await stage.connect({ near: fixture('well-behaved', 'near'), far }, { env: { FAR_TOKEN: 'top-secret-token' } });
      const [a, b] = [await open(client, stage.cwd, 'near'), await open(client, stage.cwd, 'far')];
      expect(a.id).toMatch(/^near-/);
      expect(b.id).toMatch(/^far-/);
      const answers = await Promise.all([prompt(client, a.id, 'one'), prompt(client, b.id, 'two')]);
      expect(answers.map(({ result }) => result.stopReason)).toEqual(['end_turn', 'end_turn']);
      expect(client.agentText(b.id)).toMatch(/^two by \d+;$/);
      expect(headers[0]?.authorization).toBe('Bearer top-secret-token');
      expect(await client.close()).toBe(0);
    });
  });

  test('passes frames of the only agent byte for byte, and a frame of several megabytes', async ({ stage }) => {
    await withRemote(stage, fixture('well-behaved', 'far'), async ({ url }) => {
      const client = await stage.connect({ far: remoteServer({ url, files: 'same' }) });
      const { id } = await open(client, stage.cwd);
      const long = 'x'.repeat(3_000_000);
      const answer = await prompt(client, id, long);
      expect(answer.result).toBeDefined();
      expect(client.agentText(id)).toContain(long);
    });
  });

  test('that drops the connection fails its own open requests, and the next prompt recovers the session', async ({ stage }) => {
    await withRemote(stage, fixture('well-behaved', 'far'), async ({ url, cut, sockets }) => {
      const client = await stage.connect({ near: fixture('well-behaved', 'near'), far: remoteServer({ url }) });
      const [near, far] = [await open(client, stage.cwd, 'near'), await open(client, stage.cwd, 'far')];
      const turn = prompt(client, far.id, 'wait');
      await client.until((msg) => msg.method === 'session/update' && msg.params.sessionId === far.id);
      cut();
      const { error } = await turn;
      expect(error).toMatchObject({ code: -32603, data: { agent: 'far', reason: 'disconnected' } });
      expect(error.message).toBe('The connection to agent "far" was lost (the connection broke) before it answered');
      expect((await prompt(client, near.id, 'hello')).result.stopReason).toBe('end_turn');
      const again = prompt(client, far.id, 'wait');
      await client.until((msg) => msg.method === 'session/update' && msg.params.sessionId === far.id, client.seen.length);
      expect(sockets.length).toBe(2);
      client.notify('session/cancel', { sessionId: far.id });
      expect((await again).result.stopReason).toBe('cancelled');
    });
  });

  test('is not offered files or terminals of the client, unless both sides share them', async ({ stage }) => {
    const [far, same] = ['far', 'same'].map((name) => stage.agent(name));
    if (!far || !same) throw new Error('no agents');
    await withRemote(stage, far.server, async (one) => {
      await withRemote(stage, same.server, async (two) => {
        const client = await stage.connect({ far: remoteServer({ url: one.url }), same: remoteServer({ url: two.url, files: 'same' }) });
        const capabilities = async (agent: typeof far) => (await agent.got('initialize')).msg.params.clientCapabilities;
        expect(await capabilities(far)).toMatchObject({ fs: { readTextFile: false, writeTextFile: false }, terminal: false });
        expect(await capabilities(same)).toMatchObject({ fs: { readTextFile: true, writeTextFile: true }, terminal: true });
        const { id } = await open(client, stage.cwd, 'far');
        const error = await far.refused('fs/read_text_file', { sessionId: id, path: '/etc/hostname' });
        expect(error.code).toBe(-32601);
        expect(error.message).toContain('agent_servers.far.files');
        expect(client.all('fs/read_text_file')).toEqual([]);
      });
    });
  });
});

describe('the host tools of an agent behind a WebSocket', () => {
  test('are called through its connection if it supports MCP over ACP', async ({ stage }) => {
    await withRemote(stage, mcpAgent('acp', 'far'), async ({ url }) => {
      const client = await stage.connect({ far: remoteServer({ url }) }, { config: HOST_TOOLS });
      const { id } = await open(client, stage.cwd);
      expect(wordsOf(await called(client, id, 'session_info'))).toContain(stage.cwd);
      expect(client.stderr()).not.toContain('cannot reach the host tools');
    });
  });

  test('are said once to be unreachable if it does not', async ({ stage }) => {
    await withRemote(stage, mcpAgent('stdio', 'far'), async ({ url }) => {
      const client = await stage.connect({ far: remoteServer({ url }) }, { config: HOST_TOOLS });
      for (let n = 0; n < 2; n++) {
        const { id } = await open(client, stage.cwd);
        await prompt(client, id, 'servers');
        await prompt(client, id, 'servers');
      }
      const warnings = client.all('session/update').filter(({ msg }) => JSON.stringify(msg).includes('cannot reach the host tools'));
      expect(warnings).toHaveLength(1);
      expect(JSON.stringify(warnings)).toContain('agent_servers.far.mcp_transport');
    });
  });
});

describe('a prompt is never sent twice, when the connection breaks', () => {
  const UPDATE = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x' } };
  const OPTIONS = [{ optionId: 'a', name: 'Allow', kind: 'allow_once' }];
  test.for<readonly [string, (far: ScriptedAgent, client: Peer, sessionId: string) => Promise<unknown>]>([
    ['before the first update', async () => {}],
    [
      'after an update',
      async (far, client, sessionId) => {
        far.update(sessionId, UPDATE);
        await client.got('session/update');
      },
    ],
    [
      'while a permission request is open',
      async (far, client, sessionId) => {
        client.on('session/request_permission', () => UNANSWERED);
        far.send({ id: 'p', method: 'session/request_permission', params: { sessionId, toolCall: { toolCallId: 't' }, options: OPTIONS } });
        await client.got('session/request_permission');
      },
    ],
    [
      'while the turn is cancelled',
      async (far, client, sessionId) => {
        client.notify('session/cancel', { sessionId });
        await far.got('session/cancel');
      },
    ],
  ])('%s', async ([, reach], { stage }) => {
    const far = stage.agent('far', { turn: () => new Promise(() => {}) });
    await withRemote(stage, far.server, async ({ url, cut, sockets }) => {
      const client = await stage.connect({ far: remoteServer({ url, timeouts: { cancel_ms: 200 } }) });
      const { id } = await open(client, stage.cwd);
      const turn = prompt(client, id, 'once');
      await far.got('session/prompt');
      await reach(far, client, id);
      cut();
      await turn;
      const next = prompt(client, id, 'next');
      const texts = () => far.all('session/prompt').map(({ msg }) => msg.params.prompt[0].text);
      await far.got('session/prompt', ({ prompt: [{ text }] }) => text === 'next');
      expect(sockets.length).toBe(2);
      expect(texts()).toEqual(['once', 'next']);
      client.notify('session/cancel', { sessionId: id });
      await next;
    });
  });
});

test('an agent that has the same files under other paths gets and gives its own paths; another agent is not affected', async ({
  stage,
}) => {
  const far = stage.agent('far');
  const near = stage.agent('near');
  await withRemote(stage, far.server, async ({ url }) => {
    const client = await stage.connect({ near, far: remoteServer({ url, files: { map: { [stage.cwd]: '/srv/project' } } }) });
    const session = await open(client, stage.cwd, 'far');
    await open(client, stage.cwd, 'near');
    expect((await far.got('session/new')).msg.params.cwd).toBe('/srv/project');
    expect((await near.got('session/new')).msg.params.cwd).toBe(stage.cwd);
    client.on('fs/read_text_file', () => ({ content: 'text' }));
    expect(await far.call('fs/read_text_file', { sessionId: session.id, path: '/srv/project/a.txt' })).toEqual({ content: 'text' });
    expect(client.all('fs/read_text_file').map(({ msg }) => msg.params.path)).toEqual([`${stage.cwd}/a.txt`]);
    expect((await far.refused('fs/read_text_file', { sessionId: session.id, path: '/etc/hostname' })).code).toBe(-32602);
    const elsewhere = { cwd: stage.dir, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'far' } } };
    expect((await client.refused('session/new', elsewhere)).message).toContain(`"${stage.dir}" is outside the directories`);
  });
});

test('an agent with a certificate of its own is reached only if the configuration names its authority', async ({ stage }) => {
  const files = selfSigned(stage.dir);
  const remote = await overWebSocket(fixture('well-behaved', 'far'), stage.cwd, files);
  try {
    const client = await stage.connect({
      far: remoteServer({ url: remote.url, tls: { ca: 'cert.pem' } }), // relative to the configuration file
      near: remoteServer({ url: remote.url }),
    });
    expect((await prompt(client, (await open(client, stage.cwd, 'far')).id, 'hello')).result.stopReason).toBe('end_turn');
    const params = { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'near' } } };
    const { message } = await client.refused('session/new', params);
    expect(message).toMatch(/its certificate is not trusted \(\w+\)\. Name its certificate authority in "tls.ca" of agent_servers.near/);
  } finally {
    await remote.stop();
  }
});

describe('an agent that cannot be reached', () => {
  const errorOf = async (stage: Stage, server: Json): Promise<Json> => {
    const client = await stage.connect({ near: fixture('well-behaved', 'near'), far: server });
    return client.refused('session/new', { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'far' } } });
  };

  test('is named with its address, the reason and what to check; other agents work', async ({ stage }) => {
    const error = await errorOf(stage, { url: 'ws://127.0.0.1:1/acp?key=secret' });
    expect(error.message).toContain(
      'Agent "far" cannot be reached at ws://127.0.0.1:1/acp: the connection was refused. Check "url" in agent_servers.far',
    );
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  const HEADER = /a header cannot be sent: .*"(authorization|a b)".*Check "headers" in agent_servers.far/;
  test.for([
    ['a line break in a header', 'ws://127.0.0.1:1/acp', { authorization: `Bearer \${env:BROKEN}` }, HEADER],
    ['the same over http', 'http://127.0.0.1:1/acp', { authorization: `Bearer \${env:BROKEN}` }, HEADER],
    ['a header name with a space', 'ws://127.0.0.1:1/acp', { 'a b': 'c' }, HEADER],
    ['a fragment in the address', 'ws://127.0.0.1:1/acp#part', {}, /fragment identifier\. Check "url" in agent_servers.far/],
  ] as const)('because of %s ends no other agent', async ([, url, headers, text], { stage }) => {
    const agents = { near: fixture('well-behaved', 'near'), far: remoteServer({ url, headers }) };
    const client = await stage.connect(agents, { env: { BROKEN: 'secret\nsecret' } });
    const params = { cwd: stage.cwd, mcpServers: [], _meta: { 'acp-switchboard': { agent: 'far' } } };
    const { message } = await client.refused('session/new', params);
    expect(message).toMatch(text);
    expect(message).not.toContain('secret');
    expect((await prompt(client, (await open(client, stage.cwd, 'near')).id, 'hello')).result.stopReason).toBe('end_turn');
  });

  for (const [status, text] of [
    [401, 'it rejected the credentials (HTTP 401). Check "headers" in agent_servers.far'],
    [302, 'it redirects to another address (HTTP 302). Redirects are not followed'],
    [404, 'it serves no ACP at this path (HTTP 404). Check the path of "url" in agent_servers.far'],
  ] as const)
    for (const scheme of ['ws', 'http'])
      test(`because of HTTP ${status} over ${scheme} says so`, async ({ stage }) => {
        const http = createServer((_, response) => response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end());
        await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
        const { port } = http.address() as AddressInfo;
        const error = await errorOf(stage, { url: `${scheme}://127.0.0.1:${port}/acp` }).finally(() => http.close());
        expect(error.message).toContain(text);
      });
});
