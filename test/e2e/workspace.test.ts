// Files and terminals for a client without them: the agent cannot tell the difference, and nothing leaves the session's directories.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { test as base, contentOf, eventually, isAlive, noticed, reportedIn } from '../faults/setup.ts';
import { type Client, hello, type Json, open, prompt, type ScriptedAgent, type Stage } from './harness.ts';

const test = base.concurrent;

const SERVING = { config: { workspace: 'serve-missing' } };
const BARE = { clientCapabilities: {} };
const ALL = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const STAYS = { command: process.execPath, args: ['-e', 'console.log(process.pid); setInterval(() => {}, 1e6)'] };

const capabilitiesOf = async (agent: ScriptedAgent): Promise<Json> => (await agent.got('initialize')).msg.params.clientCapabilities;

/** The proxy with a workspace, and a client without capabilities. */
async function bare(stage: Stage, agents: readonly ScriptedAgent[], options: Json = SERVING): Promise<Client> {
  const client = stage.proxy(agents, options);
  await hello(client, BARE);
  return client;
}

/** A terminal that stays, and its process. */
async function stays(agent: ScriptedAgent, sessionId: string): Promise<{ terminalId: string; pid: number }> {
  const { terminalId } = await agent.call('terminal/create', { sessionId, ...STAYS });
  for (;;) {
    const { output } = await agent.call('terminal/output', { sessionId, terminalId });
    if (/^\d+\n/.test(output)) return { terminalId, pid: Number.parseInt(output, 10) };
  }
}

describe('the capabilities that agents see', () => {
  test('without the setting: those of the client, and the error for the others names the setting', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent], {});
    expect(await capabilitiesOf(agent)).toEqual({});
    const { id } = await open(client, stage.cwd);
    expect(await agent.refused('fs/read_text_file', { sessionId: id, path: '/anywhere' })).toMatchObject({
      code: -32601,
      message: expect.stringContaining('serve-missing'),
    });
  });

  test('of a client with all capabilities are unchanged, byte for byte', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = stage.proxy([agent], SERVING);
    const params =
      '{"clientInfo":{"name":"x", "version":"1.0"},"protocolVersion":1,"clientCapabilities":{"terminal":true,"fs":{"writeTextFile":true,"readTextFile":true}}}';
    client.line(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}}`);
    await agent.got('initialize');
    expect(agent.seen[0]?.line).toContain(`"params":${params}`);
    await client.until((msg) => msg.id === 1);
    client.on('terminal/create', () => ({ terminalId: 'the editor’s' }));
    const { id } = await open(client, stage.cwd);
    expect(await agent.call('terminal/create', { sessionId: id, command: 'true' })).toEqual({ terminalId: 'the editor’s' });
  });

  const CASES: readonly (readonly [offered: Json, seen: Json])[] = [
    [
      { fs: {}, terminal: null, session: { notices: {} } },
      { ...ALL, session: { notices: {} } },
    ],
    [{ fs: { readTextFile: false, writeTextFile: 'yes', _meta: { a: 1 } } }, { ...ALL, fs: { ...ALL.fs, _meta: { a: 1 } } }],
    [undefined, ALL],
    ['nonsense', ALL],
  ];
  for (const [offered, seen] of CASES)
    test(`what is missing in ${JSON.stringify(offered)} is added`, async ({ stage }) => {
      const agent = stage.agent('a');
      await hello(stage.proxy([agent], SERVING), { clientCapabilities: offered });
      expect(await capabilitiesOf(agent)).toEqual(seen);
    });

  test('for a client of the next version, which has no files and terminals, include them', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = stage.proxy([agent], SERVING);
    await client.call('initialize', { protocolVersion: 2, capabilities: { elicitation: { form: {} } }, info: { name: 'x', version: '1' } });
    expect(await capabilitiesOf(agent)).toMatchObject({ ...ALL, elicitation: { form: {} } });
  });

  test('are the same for several agents, and the cache distinguishes a client without the workspace', async ({ stage }) => {
    const agents = [stage.agent('a'), stage.agent('b')];
    const first = await bare(stage, agents);
    for (const agent of agents) expect(await capabilitiesOf(agent)).toEqual(ALL);
    await first.close();
    const answers = agents.map((agent) => agent.all('initialize').length);
    // From the cache: the client is initialized before any agent answers.
    for (const agent of agents) agent.on('initialize', () => new Promise(() => {}));
    await bare(stage, agents);
    const off = stage.proxy(agents, { config: { timeouts: { initialize_wait_ms: 1 } } });
    await hello(off, BARE);
    const isBare = ({ clientCapabilities }: Json) => Object.keys(clientCapabilities).length === 0;
    for (const [n, agent] of agents.entries()) {
      await agent.got('initialize', isBare);
      expect(answers[n]).toBe(1);
    }
  });
});

describe('files', () => {
  test('are read and written in the directories of the session, and the client does not see it', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id: sessionId } = await open(client, stage.cwd);
    const file = path.join(stage.cwd, 'new/file.txt');
    expect(await agent.call('fs/write_text_file', { sessionId, path: file, content: 'one\ntwo\nthree\n' })).toEqual({});
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await agent.call('fs/read_text_file', { sessionId, path: file })).toEqual({ content: 'one\ntwo\nthree\n' });
    expect(await agent.call('fs/read_text_file', { sessionId, path: file, line: 2, limit: 1 })).toEqual({ content: 'two\n' });
    const missing = path.join(stage.cwd, 'none.txt');
    expect(await agent.refused('fs/read_text_file', { sessionId, path: missing })).toEqual({
      code: -32002,
      message: 'Resource not found: the file does not exist',
      data: { uri: pathToFileURL(missing).href, reason: 'file_missing', retryable: false },
    });
    expect(client.seen.filter(({ msg }) => msg.method?.startsWith('fs/'))).toEqual([]);
  });

  test('are not read or written anywhere else', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const more = path.join(stage.dir, 'more');
    mkdirSync(more);
    writeFileSync(path.join(more, 'x'), 'more');
    writeFileSync(path.join(stage.dir, 'secret'), 'secret');
    symlinkSync(path.join(stage.dir, 'secret'), path.join(stage.cwd, 'link'));
    const { id: one } = await open(client, stage.cwd);
    const { id: two } = await open(client, stage.cwd, undefined, { additionalDirectories: [more] });
    for (const name of ['secret', 'work/../secret', 'work/link', 'more/x'])
      expect(await agent.refused('fs/read_text_file', { sessionId: one, path: `${stage.dir}/${name}` })).toMatchObject({ code: -32602 });
    expect(await agent.refused('fs/write_text_file', { sessionId: one, path: path.join(stage.cwd, 'link'), content: 'x' })).toMatchObject({
      message: expect.stringContaining('outside the session directories'),
    });
    expect(await agent.call('fs/read_text_file', { sessionId: two, path: path.join(more, 'x') })).toEqual({ content: 'more' });
    expect(contentOf(path.join(stage.dir, 'secret'))).toBe('secret');
  });

  test('requests that the client supports go to it, and only the rest is served', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = stage.proxy([agent], SERVING);
    await hello(client, { clientCapabilities: { fs: { readTextFile: true } } });
    client.on('fs/read_text_file', () => ({ content: 'unsaved' }));
    const { id: sessionId } = await open(client, stage.cwd);
    const file = path.join(stage.cwd, 'f');
    expect(await agent.call('fs/write_text_file', { sessionId, path: file, content: 'saved' })).toEqual({});
    expect(await agent.call('fs/read_text_file', { sessionId, path: file })).toEqual({ content: 'unsaved' });
    expect(readFileSync(file, 'utf8')).toBe('saved');
    expect(client.all('fs/write_text_file')).toEqual([]);
  });

  test('writes keep the order in which they were sent, also without waiting in between', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id: sessionId } = await open(client, stage.cwd);
    const file = path.join(stage.cwd, 'f');
    const sizes = [300_000, 10, 100_000, 1, 50_000, 3];
    const answers = sizes.flatMap((size, n) => [
      agent.call('fs/write_text_file', { sessionId, path: file, content: `${n}`.repeat(size) }),
      agent.call('fs/read_text_file', { sessionId, path: file }).then(({ content }) => content === `${n}`.repeat(size)),
    ]);
    expect(await Promise.all(answers)).toEqual(sizes.flatMap(() => [{}, true]));
  });

  test('each agent has its own sessions, also with equal ids', async ({ stage }) => {
    const mint = () => 'same';
    const [a, b] = [stage.agent('a', { mint }), stage.agent('b', { mint })];
    const client = await bare(stage, [a, b]);
    const [at, bt] = ['at', 'bt'].map((name) => path.join(stage.dir, name)) as [string, string];
    for (const dir of [at, bt]) {
      mkdirSync(dir);
      writeFileSync(path.join(dir, 'f'), dir);
    }
    await open(client, at, 'a');
    await open(client, bt, 'b');
    expect(await a.call('fs/read_text_file', { sessionId: 'same', path: path.join(at, 'f') })).toEqual({ content: at });
    expect(await b.call('fs/read_text_file', { sessionId: 'same', path: path.join(bt, 'f') })).toEqual({ content: bt });
    expect((await a.refused('fs/read_text_file', { sessionId: 'same', path: path.join(bt, 'f') })).code).toBe(-32602);
    const { terminalId } = await a.call('terminal/create', { sessionId: 'same', command: 'true' });
    expect((await b.refused('terminal/output', { sessionId: 'same', terminalId })).message).toContain('This agent did not create');
  });

  test('for an unknown session, and for ambiguous params, nothing is done', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id: sessionId } = await open(client, stage.cwd);
    const file = path.join(stage.cwd, 'f');
    writeFileSync(file, 'x');
    for (const params of [{ sessionId: 'none', path: file }, { path: file }])
      expect((await agent.refused('fs/read_text_file', params)).message).toContain('this session has no directory');
    agent.line(
      `{"jsonrpc":"2.0","id":"twice","method":"fs/read_text_file","params":{"sessionId":"${sessionId}","path":"/x","path":"${file}"}}`,
    );
    expect((await agent.until((msg) => msg.id === 'twice')).msg.error).toMatchObject({ code: -32600 });
    agent.line('{"jsonrpc":"2.0","id":"none","method":"fs/read_text_file"}');
    expect((await agent.until((msg) => msg.id === 'none')).msg.error.code).toBe(-32602);
  });

  test('a loaded session has the directories of its load, already while it is loaded', async ({ stage }) => {
    const agent = stage.agent('a');
    const first = await bare(stage, [agent]);
    const { id: sessionId } = await open(first, stage.cwd);
    await first.close();
    const file = path.join(stage.cwd, 'f');
    writeFileSync(file, 'x');
    let early: Json;
    agent.on('session/load', async () => {
      early = await agent.call('fs/read_text_file', { sessionId, path: file });
      return {};
    });
    const client = await bare(stage, [agent]);
    await client.call('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] });
    expect(early).toEqual({ content: 'x' });
    expect(await agent.call('fs/read_text_file', { sessionId, path: file })).toEqual({ content: 'x' });
  });
});

describe('terminals', () => {
  test('run a command and report its output and exit', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id: sessionId } = await open(client, stage.cwd);
    const script = "process.stdout.write('日'.repeat(10)); process.exitCode = 4";
    const params = { sessionId, command: process.execPath, args: ['-e', script], outputByteLimit: 7, cwd: stage.cwd, env: [] };
    const { terminalId } = await agent.call('terminal/create', params);
    expect(await agent.call('terminal/wait_for_exit', { sessionId, terminalId })).toEqual({ exitCode: 4, signal: null });
    expect(await agent.call('terminal/output', { sessionId, terminalId })).toEqual({
      output: '日日',
      truncated: true,
      exitStatus: { exitCode: 4, signal: null },
    });
    expect(await agent.call('terminal/release', { sessionId, terminalId })).toEqual({});
    expect((await agent.refused('terminal/output', { sessionId, terminalId })).code).toBe(-32602);
    expect(client.seen.filter(({ msg }) => msg.method?.startsWith('terminal/'))).toEqual([]);
  });

  test('a wait can be cancelled, and the command continues', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id: sessionId } = await open(client, stage.cwd);
    const { terminalId, pid } = await stays(agent, sessionId);
    const waiting = agent.refused('terminal/wait_for_exit', { sessionId, terminalId }, 'w');
    agent.notify('$/cancel_request', { requestId: 'w' });
    expect((await waiting).code).toBe(-32800);
    expect(isAlive(pid)).toBe(true);
    expect(await agent.call('terminal/kill', { sessionId, terminalId })).toEqual({});
    expect(isAlive(pid)).toBe(false);
    expect(await agent.call('terminal/wait_for_exit', { sessionId, terminalId })).toEqual({ exitCode: null, signal: 'SIGTERM' });
    expect(agent.answersTo('w')).toHaveLength(1);
  });

  test('end with their session, and pending waits are answered', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const [one, two] = [await open(client, stage.cwd), await open(client, stage.cwd)];
    const [ended, kept] = [await stays(agent, one.id), await stays(agent, two.id)];
    const waiting = agent.request('terminal/wait_for_exit', { sessionId: one.id, terminalId: ended.terminalId });
    await client.call('session/close', { sessionId: one.id });
    expect((await waiting).result).toEqual({ exitCode: null, signal: 'SIGTERM' });
    await eventually(() => expect(isAlive(ended.pid)).toBe(false));
    expect(isAlive(kept.pid)).toBe(true);
    await agent.refused('terminal/output', { sessionId: one.id, terminalId: ended.terminalId });
  });

  test('end with their agent; after its restart, files are served again and the old terminals are gone', async ({ stage }) => {
    const [agent, other] = [stage.agent('a'), stage.agent('b')];
    const client = await bare(stage, [agent, other]);
    const [mine, others] = [await open(client, stage.cwd, 'a'), await open(client, stage.cwd, 'b')];
    const [ended, kept] = [await stays(agent, mine.id), await stays(other, others.id)];
    agent.exit();
    await eventually(() => expect(isAlive(ended.pid)).toBe(false));
    expect(isAlive(kept.pid)).toBe(true);
    expect((await prompt(client, mine.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
    expect(reportedIn(client, mine.id).join()).toContain('was restarted');
    await agent.refused('terminal/output', { sessionId: mine.id, terminalId: ended.terminalId });
    writeFileSync(path.join(stage.cwd, 'f'), 'x');
    expect(await agent.call('fs/read_text_file', { sessionId: mine.id, path: path.join(stage.cwd, 'f') })).toEqual({ content: 'x' });
    await stays(agent, mine.id);
  });

  test('end when the session moves to another agent', async ({ stage }) => {
    const [a, b] = [stage.agent('a'), stage.agent('b')];
    const client = await bare(stage, [a, b]);
    const { id } = await open(client, stage.cwd, 'a');
    const { pid } = await stays(a, id);
    await client.call('session/set_config_option', { sessionId: id, configId: 'agent', value: 'b' });
    await eventually(() => expect(isAlive(pid)).toBe(false));
    const [native = ''] = b.sessions.keys();
    expect((await stays(b, native)).pid).toBeGreaterThan(0);
  });

  test('end with the proxy, when the client disconnects and on a signal', async ({ stage }) => {
    for (const way of ['close', 'SIGTERM'] as const) {
      const agent = stage.agent(way);
      const client = await bare(stage, [agent]);
      const { id } = await open(client, stage.cwd);
      const { pid } = await stays(agent, id);
      if (way === 'close') expect(await client.close()).toBe(0);
      else {
        client.child.kill(way);
        expect(await client.ended).toBe(143);
      }
      expect(isAlive(pid)).toBe(false);
      expect(client.stderr()).not.toContain('left these processes running');
    }
  });

  test('that a killed proxy left behind are ended by the next start', async ({ stage }) => {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent]);
    const { id } = await open(client, stage.cwd);
    const { pid } = await stays(agent, id);
    await client.kill();
    expect(isAlive(pid)).toBe(true);
    const next = await bare(stage, [stage.agent('b')]);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    await noticed(next, 'that an earlier switchboard left behind');
  });
});

test('an agent written with the SDK reads, edits and runs with nothing but the proxy', async ({ stage }) => {
  const demo = path.resolve(import.meta.dirname, '../../dist/demo-agent.js');
  const server = { command: process.execPath, args: [demo, '--name', 'builder', '--state', path.join(stage.dir, 'demo')] };
  const client = stage.proxy({ builder: server }, SERVING);
  client.on('session/request_permission', ({ options }: Json) => ({
    outcome: { outcome: 'selected', optionId: options.find(({ kind }: Json) => kind === 'allow_once').optionId },
  }));
  await hello(client, BARE);
  const { id } = await open(client, stage.cwd);
  for (const message of ['/edit notes.txt', '/edit notes.txt', '/read notes.txt', '/run cat notes.txt'])
    expect((await prompt(client, id, message)).result).toEqual({ stopReason: 'end_turn' });
  const lines = readFileSync(path.join(stage.cwd, 'notes.txt'), 'utf8').trim().split('\n');
  expect(lines).toEqual([expect.stringContaining('was here in turn 1'), expect.stringContaining('was here in turn 2')]);
  expect(JSON.stringify(client.updates(id))).toContain('exit code 0');
  const ours = client.seen.flatMap(({ msg }) => (msg.id !== undefined && msg.method !== undefined ? [msg.method] : []));
  expect(new Set(ours)).toEqual(new Set(['session/request_permission']));
});

describe('under a policy', () => {
  const policy = {
    version: 1,
    deny: [{ id: 'secrets', path: ['**/.env'], reason: 'secrets' }],
    allow: ['read($cwd/**)', 'execute(true)'],
  };

  async function underPolicy(stage: Stage) {
    const agent = stage.agent('a');
    const client = await bare(stage, [agent], { config: { ...SERVING.config, policy } });
    const { id: sessionId } = await open(client, stage.cwd);
    const at = (name: string) => path.join(stage.cwd, name);
    for (const name of ['a', 'b', '.env']) writeFileSync(at(name), name);
    const answer = async (optionId: string, from = 0) =>
      client.reply((await client.got('session/request_permission', () => true, from)).msg, { outcome: { outcome: 'selected', optionId } });
    return { agent, client, sessionId, at, answer };
  }

  test('an allowed request is served, a denied one is not, and one that is asked is served once allowed', async ({ stage }) => {
    const { agent, client, sessionId, at, answer } = await underPolicy(stage);
    expect(await agent.call('fs/read_text_file', { sessionId, path: at('a') })).toEqual({ content: 'a' });
    expect((await agent.refused('fs/read_text_file', { sessionId, path: at('.env') })).message).toContain('denied by policy');
    expect((await agent.call('terminal/create', { sessionId, command: 'true' })).terminalId).toMatch(/^terminal-/);
    const yes = agent.call('fs/write_text_file', { sessionId, path: at('new/c'), content: 'c' });
    await answer('allow');
    expect(await yes).toEqual({});
    expect(readFileSync(at('new/c'), 'utf8')).toBe('c');
    const from = client.seen.length;
    const no = agent.refused('terminal/create', { sessionId, command: 'touch', args: ['made'] });
    await answer('reject', from);
    expect((await no).message).toContain('denied by policy');
    expect(contentOf(at('made'))).toBe('');
    // The directory limit holds whatever the policy and the user say.
    const later = client.seen.length;
    const out = agent.refused('fs/write_text_file', { sessionId, path: path.join(stage.dir, 'out'), content: 'x' });
    await answer('allow', later);
    expect((await out).message).toContain('outside the session directories');
  });

  test('a link that changes while the user decides does not carry the permission to another file', async ({ stage }) => {
    const { agent, client, sessionId, at, answer } = await underPolicy(stage);
    symlinkSync('a', at('link'));
    expect(await agent.call('fs/read_text_file', { sessionId, path: at('link') })).toEqual({ content: 'a' });
    const write = agent.refused('fs/write_text_file', { sessionId, path: at('link'), content: 'x' });
    await client.got('session/request_permission');
    rmSync(at('link'));
    symlinkSync('.env', at('link'));
    await answer('allow');
    expect((await write).message).toContain('denied by policy');
    expect(readFileSync(at('.env'), 'utf8')).toBe('.env');
  });
});
