// Plants a canary in every place a secret can come from and in every field of every method, lets an agent send them in every way it can,
// then searches everything the proxy has written and every command's output.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { FROM_AGENT, FROM_CLIENT } from '../../src/acp/methods.ts';
import { type Client, fixture, hello, type Json, open, type Stage, SWITCHBOARD, test, text } from './harness.ts';

const canary = () => `cnry${randomBytes(12).toString('hex')}`;

/** Every encoding that would be a leak. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inside = [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, secret.slice(0, 14), secret.slice(-14), bytes.toString('hex'), ...inside];
}
const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file).isFile());

type Place = readonly [place: string, content: string];

/** The places that contain a canary in any encoding. */
const found = (canaries: readonly string[], places: readonly Place[]): string[] => [
  ...new Set(
    canaries.flatMap((secret) =>
      spellings(secret).flatMap((spelling) => places.flatMap(([place, content]) => (content.includes(spelling) ? [place] : []))),
    ),
  ),
];

/** A command's output, stdout and stderr together. */
async function outputOf(stage: Stage, args: readonly string[], env: Readonly<Record<string, string>>, input = ''): Promise<Place> {
  const child = stage.spawn(process.execPath, [SWITCHBOARD, ...args], env);
  const ended = once(child, 'close');
  const output = Promise.all([readAll(child.stdout), readAll(child.stderr as never)]);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  await ended;
  return [args.join(' '), (await output).join('\n')];
}

/** A conversation with each canary in every field of every method, both ways. */
async function useEveryMethod(stage: Stage, { inEnv, inHeader, inLogin, inAnswer, around }: Record<string, string>, client: Client) {
  await hello(client, { _meta: { note: around }, clientInfo: { name: String(around), title: around, version: around } });
  await client.call('authenticate', { methodId: 'key', _meta: { apiKey: inLogin } });
  const { id } = await open(client, stage.cwd, undefined, {
    mcpServers: [
      { name: 'a', command: 'a', args: ['--token', inEnv], env: [{ name: 'WHAT', value: inEnv }] },
      { type: 'http', name: 'b', url: `http://127.0.0.1/?key=${inHeader}`, headers: [{ name: 'X-Key', value: inHeader }] },
    ],
    _meta: { note: inLogin },
  });
  client.on('elicitation/create', () => ({ action: 'accept', content: { password: inAnswer } }));
  client.on('*', () => ({
    ...{ outcome: { outcome: 'selected', optionId: 'x' }, content: inEnv, terminalId: 't', exitCode: 0 },
    ...{ output: `${inEnv?.slice(14)} ${inEnv} ${inEnv?.slice(0, 14)}`, truncated: true },
  }));
  const every = { note: inEnv, modeId: inLogin, modelId: inHeader, configId: around, value: inEnv, title: inLogin, cwd: stage.cwd };
  const used: string[] = ['initialize', 'authenticate', 'session/new', 'session/prompt'];
  for (const [method, { kind }] of Object.entries(FROM_CLIENT)) {
    if (used.includes(method) || ['session/delete', 'session/close'].includes(method)) continue;
    const params = {
      ...every,
      sessionId: id,
      mcpServers: [],
      headers: { X: inHeader },
      requestId: inLogin,
      serverId: around,
      cursor: inEnv,
    };
    if (kind === 'notification') client.notify(method, params);
    else await client.request(method, params, `${method} ${around}`);
  }
  await client.request('_vendor/ask', { sessionId: id, ...every });
  const response = await client.request('session/prompt', { sessionId: id, prompt: text(`tell ${inLogin} ${around}`) });
  expect(response.result.stopReason).toBe('end_turn');
  const crashed = await client.request('session/prompt', { sessionId: id, prompt: text(`crash ${inAnswer}`) });
  expect(crashed.error.data).toMatchObject({ reason: 'agent_exited', stderr: expect.any(Array), lastFrames: expect.any(Array) });
  // Fifty, but for two chunks of a message that arrived together: they are one.
  expect([49, 50]).toContain(crashed.error.data.lastFrames.length);
  for (const method of ['session/close', 'session/delete']) await client.request(method, { sessionId: 'another', ...every });
  expect(await client.close()).toBe(0);
  return { id, crashed };
}

describe('no canary', () => {
  test("is in any file, on stderr, in an error or in a command's output", { timeout: 180_000 }, async ({ stage }) => {
    const own = { CANARY_TOKEN: canary(), CANARY_OTHER: canary() };
    const given = { inEnv: canary(), inHeader: canary(), inLogin: canary(), inAnswer: canary(), around: canary() };
    const [asArgument, ofServer] = [canary(), canary()];
    const canaries = [...Object.values(own), ...Object.values(given), asArgument, ofServer];
    const agent = fixture('every-update', 'tells', '--api-key', asArgument);
    const servers = [{ name: 'docs', command: 'no-such-server', args: ['--token', ofServer], env: { DOCS: ofServer } }];
    const config = { policy: 'standard', log: { frames: 'redacted', level: 'debug', file: 'diagnostics.log' }, mcp_servers: servers };
    const env = { MY_API_TOKEN: given.around };
    const client = stage.proxy(
      { agent: { ...agent, env: own } },
      { config, args: ['--record', path.join(stage.state, 'recording.jsonl')], env },
    );
    const { id, crashed } = await useEveryMethod(stage, given, client);

    // Forwarded frames are unchanged: the search below finds every canary there, as it would without redaction.
    const wire = client.seen.map(({ line }) => line);
    for (const secret of canaries.filter((one) => one !== asArgument && one !== ofServer))
      expect(found([secret], [['wire', wire.join('\n')]]), secret).toEqual(['wire']);

    const file = stage.writeConfig({ agent: { ...agent, env: own }, other: { ...agent, env: own } }, { ...config, mcp_servers: servers });
    const raw = path.join(stage.dir, 'raw.jsonl');
    const entry = (dir: string, msg: Json) => `${JSON.stringify({ t: 0, proc: 1, dir, n: 1, msg })}\n`;
    writeFileSync(raw, wire.map((line) => entry('agent->client', JSON.parse(line))).join(''));
    const knowing = { ...env, ...Object.fromEntries(canaries.map((secret, n) => [`CANARY_${n}_TOKEN`, secret])) };
    const request = (method: string, params: Json) => `${JSON.stringify({ jsonrpc: '2.0', id: method, method, params })}\n`;
    const opening = request('initialize', {}) + request('session/new', { cwd: stage.cwd, mcpServers: [] });
    const calls = opening + request('session/prompt', { sessionId: id, prompt: [] });
    const mcpHello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const commands: readonly (readonly [args: readonly string[], env?: Readonly<Record<string, string>>, input?: string])[] = [
      [['logs', '-n', '5000']],
      [['logs', '--json']],
      [['logs', '--last-failure']],
      [['audit', 'tail', '-n', '500']],
      [['audit', 'tail', '--json']],
      [['sessions', 'list']],
      [['sessions', 'list', '--json']],
      [['sessions', 'show', id]],
      [['sessions', 'show', id, '--json']],
      ...['md', 'json', 'html'].map((format) => [['sessions', 'export', id, '--format', format]] as const),
      [['sessions', 'search', 'here']],
      [['agents', 'list', '--config', file]],
      [['agents', 'test', '--json', '--config', file]],
      [['config', 'show', '--origin', '--config', file]],
      [['config', 'show', '--json', '--config', file]],
      [['doctor', '--json', '--config', file]],
      [['policy', 'explain', '--agent', 'tells', '--frame', raw], knowing],
      [['policy', 'replay', raw], knowing],
      [['policy', 'remembered', '--json']],
      [['replay', path.join(stage.state, 'recording.jsonl'), '--instant'], env, calls],
      [['redact', raw], knowing],
      ...['text', 'simple', 'jsonl', 'json'].map((form) => [['run', '-o', form, '--config', file, `tell ${given.around}`]] as const),
      [['run', '--config', file, 'crash']],
      [['mcp', '--config', file], env, request('initialize', mcpHello) + request('tools/list', {})],
    ];
    const printed: Place[] = [];
    for (let at = 0; at < commands.length; at += 4)
      printed.push(
        ...(await Promise.all(
          commands.slice(at, at + 4).map(([args, its = env, input]) => outputOf(stage, args, { ...env, ...its }, input)),
        )),
      );
    expect(printed.filter(([, content]) => content.length < 3)).toEqual([]);
    for (const wanted of ['redact', 'run -o jsonl', 'replay', 'sessions show'])
      expect(printed.find(([args]) => args.startsWith(wanted))?.[1].length, wanted).toBeGreaterThan(1000);

    const written = filesBelow(stage.state).map((name): Place => [path.relative(stage.state, name), readFileSync(name, 'latin1')]);
    expect(written.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^frames\/.*\.jsonl$/),
        `transcripts/${id}.jsonl`,
        ...['audit.jsonl', 'diagnostics.log', 'recording.jsonl', 'sessions.jsonl'],
      ]),
    );
    // Every method was used.
    const frames = written.flatMap(([name, content]) => (name.startsWith('frames/') ? [content] : [])).join('');
    const spoken = (dir: string) =>
      new Set([...frames.matchAll(new RegExp(`"dir":"${dir}","kind":"[a-z]+","method":"([^"]+)"`, 'g'))].map(([, method]) => method));
    expect([...spoken('fromEditor')]).toEqual(expect.arrayContaining(Object.keys(FROM_CLIENT)));
    expect([...spoken('fromAgent')]).toEqual(expect.arrayContaining(Object.keys(FROM_AGENT)));
    expect(found(canaries, [...written, ...printed, ['stderr', client.stderr()], ['error', JSON.stringify(crashed.error)]])).toEqual([]);
    // The same command does show them for a raw recording, where nothing is redacted.
    const asItCame = wire.map((line) => entry('agent->client', JSON.parse(line))).join('');
    writeFileSync(raw, entry('client->agent', { id: 0, method: 'initialize', params: {} }) + asItCame);
    const unclean = await outputOf(stage, ['replay', raw, '--instant'], env, request('initialize', {}));
    for (const secret of [...Object.values(own), ...Object.values(given)]) expect(found([secret], [unclean])).toHaveLength(1);
  });
});
