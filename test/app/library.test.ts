// Switchboard embedded in another program: this test. The agents are the embedded ones.
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  type ClientHandlers,
  type ClientStreams,
  createClient,
  createSwitchboard,
  type HostFunction,
  type SetupFailure,
  type SwitchboardEvent,
  type SwitchboardOptions,
} from '../../src/index.ts';
import { removeDirectory } from '../remove-directory.ts';

let stateDir: string;
let cwd: string;
beforeEach(() => {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-library-'));
  [stateDir, cwd] = [path.join(root, 'state'), path.join(root, 'work')];
  mkdirSync(cwd);
  onTestFinished(() => removeDirectory(root)); // after the test's switchboards are closed
});

async function embedded(options: SwitchboardOptions = {}) {
  const events: SwitchboardEvent[] = [];
  const switchboard = await createSwitchboard({ stateDir, onEvent: (event) => events.push(event), ...options });
  onTestFinished(() => switchboard.close());
  return { switchboard, events, pids: () => events.flatMap((event) => (event.type === 'agent-started' ? [event.pid] : [])) };
}

/** A client with an open session, and the agent's text in it. */
async function clientOf(connect: (streams: ClientStreams) => unknown, request: ClientHandlers['request'] = () => NO) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection = connect({ input, output });
  let answer = '';
  const client = createClient(output, input, {
    request,
    notification(_, params) {
      const { update } = params as { update?: { sessionUpdate: string; content?: { text?: string } } };
      if (update?.sessionUpdate === 'agent_message_chunk') answer += update.content?.text ?? '';
    },
  });
  await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = (await client.request('session/new', { cwd, mcpServers: [] })) as { sessionId: string };
  const ask = async (text: string) => {
    answer = '';
    await client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    return answer;
  };
  return { client, ask, connection };
}
const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });
const NO = { outcome: { outcome: 'cancelled' } };
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const failureOf = (options: SwitchboardOptions) =>
  createSwitchboard({ stateDir, ...options }).then(
    () => undefined,
    (error: SetupFailure) => error,
  );
const tool = (more: Partial<HostFunction>): HostFunction => ({ name: 'mine', description: 'd', run: () => 'done', ...more });

test('one process serves many clients, each with its own agents and records; a client that leaves does not affect the others', async () => {
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write'));
  const { switchboard, pids } = await embedded();
  const first = await clientOf(switchboard.connect);
  const ofFirst = pids();
  const second = await clientOf(switchboard.connect);
  expect(await first.ask('hello')).toContain('You said: "hello"');
  first.client.close();
  await (first.connection as ReturnType<typeof switchboard.connect>).closed;
  expect(ofFirst.filter(isAlive)).toEqual([]);
  expect(await second.ask('still there')).toContain('You said: "still there"');
  await switchboard.close();
  // The frame log writes later; closing flushes it.
  expect(readdirSync(path.join(stateDir, 'frames')).length).toBe(2);
  expect(pids().length).toBeGreaterThan(ofFirst.length);
  expect(pids().filter(isAlive)).toEqual([]);
  expect(() => switchboard.connect({ input: new PassThrough(), output: new PassThrough() })).toThrow('is closed');
  expect(written.map((spy) => spy.mock.calls)).toEqual([[], []]);
  expect(process.eventNames().map((name) => process.listenerCount(name))).toEqual(listeners);
});

test('web streams can carry a client', async () => {
  const { switchboard } = await embedded();
  const { ask } = await clientOf((streams) => {
    const { input, output } = streams as { input: Readable; output: Writable };
    return switchboard.connect({
      readable: Readable.toWeb(input) as ReadableStream<Uint8Array>,
      writable: Writable.toWeb(output) as WritableStream<Uint8Array>,
    });
  });
  expect(await ask('hello')).toContain('You said: "hello"');
});

test('a host function is a tool: permission is requested first unless it is read-only; its output, failures and outcome are reported', async () => {
  const calls: unknown[] = [];
  const { switchboard, events } = await embedded({
    tools: [
      tool({
        name: 'look',
        effect: 'read',
        inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
        run(args, call) {
          calls.push({ args, agent: call.agent, cwd: call.cwd, sessionId: call.sessionId });
          return 'seen';
        },
      }),
      tool({ name: 'act', run: () => 'acted' }),
      tool({
        name: 'fail',
        effect: 'read',
        run() {
          throw new Error('the printer is on fire');
        },
      }),
      tool({
        name: 'sleep',
        effect: 'read',
        timeoutMs: 20,
        run: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
      }),
    ],
  });
  let answer: unknown = NO;
  const { ask } = await clientOf(switchboard.connect, () => answer);
  expect(await ask('/call switchboard look {"at": "here"}')).toContain('look answered: seen');
  expect(calls).toEqual([{ args: { at: 'here' }, agent: 'sketcher', cwd, sessionId: expect.any(String) }]);
  expect(await ask('/call switchboard look {"at": 1}')).toContain('not valid');
  expect(calls.length).toBe(1);
  expect(await ask('/call switchboard act')).toContain('the user did not allow it');
  answer = { outcome: { outcome: 'selected', optionId: 'once' } };
  expect(await ask('/call switchboard act')).toContain('act answered: acted');
  expect(await ask('/call switchboard fail')).toContain('fail failed: the printer is on fire');
  expect(await ask('/call switchboard sleep')).toContain('it did not finish within 20 ms');
  const outcomes = events.flatMap((event) => (event.type === 'tool' ? [[event.tool, event.outcome]] : []));
  expect(outcomes).toEqual([
    ['look', 'called'],
    ['act', 'denied'],
    ['act', 'called'],
    ['fail', 'failed'],
    ['sleep', 'failed'],
  ]);
});

test('a policy object denies without asking; a listener that throws does not stop the host from being served', async () => {
  const seen: SwitchboardEvent[] = [];
  const { switchboard } = await embedded({
    policy: { version: 1, deny: ['mcp(switchboard:mine)'] },
    tools: [tool({ effect: 'read' })],
    onEvent(event) {
      seen.push(event);
      throw new Error('a bug of the host');
    },
  });
  const asked = vi.fn(() => NO);
  const { ask } = await clientOf(switchboard.connect, asked);
  expect(await ask('/call switchboard mine')).toContain('denied by policy: deny by rule deny[0] (options#policy:4)');
  expect(await ask('/call switchboard session_info')).toContain('session_info answered');
  expect(asked).not.toHaveBeenCalled();
  expect(seen.flatMap((event) => (event.type === 'decision' ? [event.verdict] : []))).toContain('allow');
});

test('an answer of one client does not apply to a session with the same name at another client', async () => {
  const command = [path.resolve(import.meta.dirname, '../fixtures/asks-in-one-session.mjs'), 'one'];
  const { switchboard } = await embedded({
    config: { agent_servers: { one: { command: process.execPath, args: command } } },
    policy: { version: 1, remember: { allow_always: 'session' } },
  });
  const [first, second] = [vi.fn(() => selected('allow_always')), vi.fn(() => selected('reject_once'))];
  const one = await clientOf(switchboard.connect, first);
  const two = await clientOf(switchboard.connect, second);
  expect([await one.ask('make it'), await one.ask('make it')]).toEqual(['allow_once', 'allow_once']);
  expect(first).toHaveBeenCalledOnce();
  expect(await two.ask('make it')).toBe('reject_once');
  expect(second).toHaveBeenCalledOnce();
});

test.each<[string, SwitchboardOptions, string, string]>([
  [
    'a key with a typing error',
    { config: { agent_servers: { one: { command: 'x', comand: 'y' } } } },
    'CONFIG_INVALID',
    'config: agent_servers.one.comand: unknown key "comand"; did you mean "command"?',
  ],
  ['no agent', { config: { agent_servers: {} } }, 'CONFIG_INVALID', 'at least one enabled agent'],
  ['a file that is not there', { configFile: '/nowhere/x.json' }, 'CONFIG_INVALID', '/nowhere/x.json:1:1: file not found'],
  ['two configurations', { config: { agent_servers: {} }, configFile: 'x' }, 'CONFIG_INVALID', 'both config and configFile'],
  ['a broken policy', { policy: { version: 1, alow: [] } }, 'POLICY_INVALID', 'alow'],
  ['a preset that is none', { policy: 'carefull' }, 'POLICY_INVALID', 'the policy carefull cannot be read'],
  ['a tool with a bad name', { tools: [tool({ name: 'My Tool' })] }, 'TOOL_INVALID', 'tool "My Tool": name: '],
  ['the name of a host tool', { tools: [tool({ name: 'read_file' })] }, 'TOOL_INVALID', 'another tool has this name'],
  ['a schema that is none', { tools: [tool({ inputSchema: { type: 'object', properties: 3 } })] }, 'TOOL_INVALID', 'tool "mine": '],
])('%s is rejected with a message', async (_, options, code, words) => {
  expect(await failureOf(options)).toMatchObject({ name: 'SetupFailure', code, message: expect.stringContaining(words) });
});

test('a switchboard that closes at once still removes the record of a daemon that has ended', async () => {
  const daemons = path.join(stateDir, 'daemons');
  mkdirSync(daemons, { recursive: true });
  writeFileSync(path.join(daemons, 'ended.json'), JSON.stringify([{ pid: 4194301, startTime: '1', program: 'node' }]));
  const { switchboard } = await embedded();
  switchboard.connect({ input: new PassThrough(), output: new PassThrough() });
  await switchboard.close();
  expect(readdirSync(daemons)).toEqual([]);
});

test('with frames, every message on both connections is an event, without secrets; notices have a level', async () => {
  const secret = 'canary-5f1d7b9a2c';
  const { switchboard, events } = await embedded({
    frames: true,
    config: {
      agent_servers: {
        demo: {
          command: process.execPath,
          args: [path.resolve(import.meta.dirname, '../fixtures/well-behaved.mjs'), 'demo'],
          env: { API_TOKEN: secret },
        },
      },
      log: { level: 'debug' },
    },
  });
  const { ask, client } = await clientOf(switchboard.connect);
  await ask(`say ${secret}`);
  client.close();
  await switchboard.close();
  const frames = events.flatMap((event) => (event.type === 'frame' ? [event] : []));
  const methods = (peer: string, direction: string) =>
    frames.flatMap((frame) => (frame.peer === peer && frame.direction === direction ? [frame.message.method] : []));
  const requests = ['initialize', 'session/new', 'session/prompt'];
  expect(methods('client', 'received')).toEqual(requests);
  expect(methods('agent', 'sent')).toEqual(expect.arrayContaining(requests));
  expect(methods('agent', 'received')).toContain('session/update');
  expect(methods('client', 'sent')).toContain('session/update');
  expect(new Set(frames.map(({ peer, name }) => `${peer} ${name}`))).toContain('agent demo');
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(events).toContainEqual({ type: 'notice', level: 'debug', text: expect.stringContaining('started agent "demo"') });
});

test('without frames, no message is an event', async () => {
  const { switchboard, events } = await embedded();
  const { ask } = await clientOf(switchboard.connect);
  await ask('hello');
  await switchboard.close();
  expect(events.filter(({ type }) => type === 'frame')).toEqual([]);
  expect(events).toContainEqual({ type: 'notice', level: 'info', text: 'no configuration: using the embedded demo agents' });
});
