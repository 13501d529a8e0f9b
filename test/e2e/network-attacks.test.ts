// Network clients that try to get more than their token allows: other programs, other directories, other people's sessions.
import { describe, expect } from 'vitest';
import { connectSocket, createToken, startDaemon } from './daemon.ts';
import { fixture, type Json, open, test } from './harness.ts';

const one = { a: fixture('well-behaved', 'a') };
const two = { ...one, b: fixture('well-behaved', 'b') };

describe.for([
  ['one agent', one],
  ['several agents', two],
] as const)('with %s, a network client', ([, agents]) => {
  test('opens a session only with parameters whose every part is understood', async ({ stage }) => {
    const daemon = await startDaemon(stage, agents);
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    const { id } = await open(client, stage.cwd);
    const remote = { type: 'http', name: 'x', url: 'https://mcp.example', headers: [] };
    const bad: Json[] = [
      { cwd: undefined },
      { cwd: null },
      { cwd: ['/etc'] },
      { cwd: '..' },
      { additionalDirectories: '/etc' },
      { additionalDirectories: [['/etc']] },
      { additionalDirectories: [{ path: '/etc' }] },
      { additionalDirectories: ['../../..'] },
      { mcpServers: { shell: { command: '/bin/sh' } } },
      { mcpServers: ['/bin/sh'] },
      { mcpServers: [[{ name: 'x', command: '/bin/sh', args: [], env: [] }]] },
      { mcpServers: [{ ...remote, command: '/bin/sh' }] },
      { mcpServers: [{ ...remote, args: ['-c'] }] },
      { mcpServers: [{ ...remote, type: 'STDIO' }] },
      { mcpServers: [{ ...remote, type: null }] },
      { mcpServers: [{ ...remote, type: ['stdio'] }] },
      { _meta: { claudeCode: { options: { pathToClaudeCodeExecutable: '/bin/sh' } } } },
      { _meta: ['x'] },
      { options: { command: '/bin/sh' } },
    ];
    for (const method of ['session/new', 'session/load', 'session/resume', 'session/fork'])
      for (const change of bad) {
        const params = { ...(method !== 'session/new' && { sessionId: id }), cwd: stage.cwd, mcpServers: [], ...change };
        expect((await client.refused(method, params)).code, `${method} ${JSON.stringify(change)}`).toBe(-32602);
      }
    const good = { cwd: stage.cwd, additionalDirectories: [], mcpServers: [], _meta: { 'acp-switchboard': { agent: 'a' } } };
    expect((await client.call('session/new', good)).sessionId).toMatch(/^a-/);
  });

  test('uses the methods of sessions only, with one readable session id', async ({ stage }) => {
    const daemon = await startDaemon(stage, agents);
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    const { id } = await open(client, stage.cwd);
    for (const method of ['providers/set', 'providers/list', 'proxy/successor', 'logout', '_vendor/run', 'session/import', 'constructor'])
      for (const params of [{}, { sessionId: id }])
        expect(await client.refused(method, params), method).toMatchObject({
          code: -32601,
          message: expect.stringContaining('role owner'),
        });
    for (const params of [{ session_id: id }, { sessionId: [id] }, { sessionId: null }, [id]])
      for (const method of ['session/prompt', 'session/delete', 'session/set_mode', 'session/load'])
        expect((await client.refused(method, params)).code, `${method} ${JSON.stringify(params)}`).toBe(-32602);
  });

  test('finds no session of another by keys that parsers read differently, nor after it has listed', async ({ stage }) => {
    const daemon = await startDaemon(stage, agents);
    const [ann, bob] = [await connectSocket(daemon, createToken(stage, 'ann')), await connectSocket(daemon, createToken(stage, 'bob'))];
    const [{ id: hers }, { id: his }] = [await open(ann, stage.cwd), await open(bob, stage.cwd)];
    expect((await bob.call('session/list', {})).sessions.map(({ sessionId }: Json) => sessionId)).toEqual([his]);
    expect((await bob.refused('session/delete', { sessionId: hers })).code).toBe(-32002);
    const answers: Json[] = [];
    bob.socket.on('message', (data) => void answers.push(JSON.parse(String(data))));
    const sent = [
      `"method":"session/delete","params":{"sessionId":"${his}","sessionId":"${hers}"}`,
      `"method":"session/delete","params":{"sessionId":"${his}","session\\u0049d":"${hers}"}`,
      `"method":"session/delete","params":{"session\\u0049d":"${hers}"}`,
      `"method":"session/delete","params":{"sessionId":"${his}"},"params":{"sessionId":"${hers}"}`,
      `"method":"session/load","params":{"sessionId":"${his}","cwd":"${stage.cwd}","cwd":"/etc","mcpServers":[]}`,
      `"method":"session/load","params":{"sessionId":"${his}","cwd":"${stage.cwd}","c\\u0077d":"/etc","mcpServers":[]}`,
      `"method":"session/new","params":{"cwd":"${stage.cwd}","mcpServers":[{"type":"http","name":"x","url":"http://x","type":"stdio"}]}`,
      `"method":"session/new","params":{"cwd":"${stage.cwd}","mcpServers":[],"__proto__":{"cwd":"/etc"}}`,
    ];
    for (const [k, body] of sent.entries()) bob.socket.send(`{"jsonrpc":"2.0","id":"attack-${k}",${body}}`);
    await expect.poll(() => answers.filter(({ id }) => String(id).startsWith('attack-')).length).toBe(sent.length);
    for (const { error } of answers.filter(({ id }) => String(id).startsWith('attack-'))) expect([-32600, -32002]).toContain(error?.code);
    expect((await ann.call('session/list', {})).sessions.map(({ sessionId }: Json) => sessionId)).toEqual([hers]);
  });
});
