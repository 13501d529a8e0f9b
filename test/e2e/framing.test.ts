// Agents and clients framed like language servers. The other end is vscode-jsonrpc's, not ours.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect } from 'vitest';
import { StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { contentOf } from '../faults/setup.ts';
import { fixture, hello, type Json, open, prompt, type Stage, SWITCHBOARD, test } from './harness.ts';

const startsOf = ({ dir }: Stage, name: string) => contentOf(path.join(dir, `${name}.starts`)).split('\n').length - 1;
const dialectsIn = ({ state }: Stage) =>
  Object.values(JSON.parse(readFileSync(path.join(state, 'capabilities.json'), 'utf8')).entries).map(({ dialect }: Json) => dialect);

describe('an agent framed by Content-Length', () => {
  test('works when configured: multi-byte characters, multi-line bodies, an oversized response', async ({ stage }) => {
    const lsp = { ...fixture('content-length', 'lsp'), framing: 'content-length', dialect: 'acp' };
    const client = await stage.connect({ lsp }, { config: { limits: { max_frame_bytes: 100_000 } } });
    const { id } = await open(client, stage.cwd);
    expect((await prompt(client, id, 'schön')).result).toEqual({ stopReason: 'end_turn' });
    expect(client.agentText(id)).toBe('schön größer als 3 €');
    expect((await prompt(client, id, 'pretty')).result).toEqual({ stopReason: 'end_turn', _meta: { by: 'hand' } });
    expect((await prompt(client, id, 'big 300000')).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('exceeds limits.max_frame_bytes (100000)'),
    });
    expect((await prompt(client, id, 'again')).result).toEqual({ stopReason: 'end_turn' });
    expect(startsOf(stage, 'lsp')).toBe(1);
  });

  test('that exits at a line and says why is detected, and framed correctly at once the next time', async ({ stage }) => {
    const lsp = fixture('content-length', 'lsp', 'strict');
    const first = await stage.connect({ lsp });
    const { id } = await open(first, stage.cwd);
    expect((await prompt(first, id, 'found')).result).toEqual({ stopReason: 'end_turn' });
    await first.close();
    expect(startsOf(stage, 'lsp')).toBe(2);
    expect(dialectsIn(stage)).toEqual([{ framing: 'content-length', dialect: 'webapp' }]);

    const second = await stage.connect({ lsp });
    const again = await open(second, stage.cwd);
    expect((await prompt(second, again.id, 'known')).result).toEqual({ stopReason: 'end_turn' });
    expect(startsOf(stage, 'lsp')).toBe(3);
  });

  test('that waits in silence is not started twice: silence is how slow agents start. The error names the setting', async ({ stage }) => {
    const lsp = { ...fixture('content-length', 'lsp'), timeouts: { initialize_ms: 4000 } };
    const client = stage.proxy({ lsp });
    await hello(client);
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    expect(error.message).toMatch(/"lsp" did not answer initialize within 4000 ms.*set framing or dialect/);
    expect(startsOf(stage, 'lsp')).toBe(1);
  });

  test('that speaks first is detected by its first bytes', async ({ stage }) => {
    const client = await stage.connect({ lsp: fixture('content-length', 'lsp', 'hello') });
    await client.got('_fixture/hello');
    const { id } = await open(client, stage.cwd);
    expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
    expect(startsOf(stage, 'lsp')).toBe(2);
  });

  test('is not detected where lines are configured: the agent then times out', async ({ stage }) => {
    // A shell starts at once, so it has spoken long before it counts as silent.
    const script = 'echo begun >> "$0"; printf "Content-Length: 2\\r\\n\\r\\n{}"; exec cat > /dev/null';
    const args = ['-c', script, path.join(stage.dir, 'lsp.starts')];
    const lsp = { command: '/bin/sh', args, framing: 'ndjson', timeouts: { initialize_ms: 700 } };
    const config = { default_agent: 'lsp', timeouts: { initialize_wait_ms: 1 } }; // no agent delays the client
    const client = await stage.connect({ lsp, well: fixture('well-behaved', 'well') }, { config });
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    expect(error.message).toContain('"lsp"');
    expect(error.message).toContain('700 ms');
    expect(startsOf(stage, 'lsp')).toBe(1);
  });
});

test('a client framed by Content-Length has a conversation, including two messages in one write', async ({ stage }) => {
  const config = stage.writeConfig({ works: fixture('well-behaved', 'works') });
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'acp', '--config', config, '--framing', 'content-length']);
  const waiting = new Map<number, (answer: Json) => void>();
  const texts: string[] = [];
  new StreamMessageReader(child.stdout).listen((message: Json) => {
    if (message.method === undefined) waiting.get(message.id)?.(message);
    else texts.push(message.params.update?.content?.text);
  });
  let lastId = 0;
  /** Writes all of them at once with this writer's framing. */
  const request = async (...calls: readonly (readonly [method: string, params: Json])[]): Promise<Json[]> => {
    const framed = new PassThrough();
    const writer = new StreamMessageWriter(framed);
    const answers: Promise<Json>[] = [];
    for (const [method, params] of calls) {
      const id = ++lastId;
      answers.push(new Promise((resolve) => waiting.set(id, resolve)));
      await writer.write({ jsonrpc: '2.0', id, method, params } as Json);
    }
    child.stdin.write(framed.read());
    return Promise.all(answers);
  };
  const [initialized] = await request(['initialize', { protocolVersion: 1, clientCapabilities: {} }]);
  expect(initialized.result.agentInfo.name).toBe('works');
  const opening = ['session/new', { cwd: stage.cwd, mcpServers: [] }] as const;
  const [one, two] = await request(opening, opening);
  expect(one.result.sessionId).not.toBe(two.result.sessionId);
  const message = [{ type: 'text', text: 'count 3' }];
  const [turn] = await request(['session/prompt', { sessionId: one.result.sessionId, prompt: message }]);
  expect(turn.result).toEqual({ stopReason: 'end_turn' });
  expect(texts.join('')).toBe('1 2 3 ');
});
