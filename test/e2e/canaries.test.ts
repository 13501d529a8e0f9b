// A canary in every place a secret can come from, an agent that says them all in every way it can, and then a search of everything the
// proxy has written or said of its own.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fixture, hello, open, SWITCHBOARD, testAtOnce as test, text } from './harness.ts';

const canary = () => `cnry${randomBytes(12).toString('hex')}`;

/** Every spelling in which one would be a leak. */
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

test('no canary is in any file, on stderr, in an error or in what a command prints', { timeout: 60_000 }, async ({ stage }) => {
  const own = { CANARY_TOKEN: canary(), CANARY_OTHER: canary() };
  const [inEnv, inHeader, inLogin, inAnswer, around] = [canary(), canary(), canary(), canary(), canary()];
  const editor = stage.proxy(
    { tells: { ...fixture('tells-all', 'tells'), env: own } },
    {
      config: { policy: 'standard', log: { frames: 'redacted', level: 'debug', file: 'diagnostics.log' } },
      args: ['--record', path.join(stage.state, 'recording.jsonl')],
      env: { MY_API_TOKEN: around },
    },
  );
  await hello(editor);
  await editor.call('authenticate', { methodId: 'key', _meta: { apiKey: inLogin } });
  const { id } = await open(editor, stage.cwd, undefined, {
    mcpServers: [
      { name: 'a', command: 'a', args: ['--token', inEnv], env: [{ name: 'WHAT', value: inEnv }] },
      { type: 'http', name: 'b', url: 'http://127.0.0.1/', headers: [{ name: 'X-Key', value: inHeader }] },
    ],
  });
  editor.on('elicitation/create', () => ({ action: 'accept', content: { password: inAnswer } }));
  editor.on('*', () => ({ outcome: { outcome: 'selected', optionId: 'x' }, content: inEnv, terminalId: 't' }));
  const said = await editor.request('session/prompt', { sessionId: id, prompt: text(`tell ${inLogin} ${around}`) });
  expect(said.result.stopReason).toBe('end_turn');
  const crashed = await editor.request('session/prompt', { sessionId: id, prompt: text(`crash ${inAnswer}`) });
  expect(crashed.error.data).toMatchObject({ reason: 'agent_exited', stderr: expect.any(Array), lastFrames: expect.any(Array) });
  expect(crashed.error.data.lastFrames.length).toBe(50);
  expect(await editor.close()).toBe(0);

  const canaries = [...Object.values(own), inEnv, inHeader, inLogin, inAnswer, around];
  const passedOn = editor.seen.map(({ line }) => line).join('\n');
  // Were they not passed on untouched, there would be nothing to find.
  for (const secret of [...Object.values(own), inEnv, inHeader, inLogin, inAnswer, around]) expect(passedOn).toContain(secret);

  const printed: string[] = [];
  for (const args of [
    ['logs', '-n', '5000'],
    ['logs', '--json'],
    ['logs', '--last-failure'],
    ['audit', 'tail'],
    ['sessions', 'list'],
    ['sessions', 'show', id],
    ['sessions', 'export', id, '--format', 'html'],
    ['agents', 'list', '--config', stage.writeConfig({ tells: { ...fixture('tells-all', 'tells'), env: own } })],
  ]) {
    const command = stage.run(process.execPath, [SWITCHBOARD, ...args], { MY_API_TOKEN: around });
    const lines: string[] = [];
    command.sift((line) => lines.push(line) > 0);
    await command.close();
    printed.push(lines.join('\n'), command.stderr());
  }
  expect(printed.join('').length).toBeGreaterThan(10_000);
  const written = filesBelow(stage.state).map((file) => [path.relative(stage.state, file), readFileSync(file, 'latin1')] as const);
  expect(written.map(([file]) => file)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^frames\/.*\.jsonl$/),
      `transcripts/${id}.jsonl`,
      'audit.jsonl',
      'diagnostics.log',
      'recording.jsonl',
    ]),
  );
  const places = [
    ...written,
    ['stderr', editor.stderr()],
    ['error', JSON.stringify(crashed.error)],
    ['printed', printed.join('\n')],
  ] as const;
  const found = canaries.flatMap((secret) =>
    spellings(secret).flatMap((spelling) => places.flatMap(([place, content]) => (content.includes(spelling) ? [place] : []))),
  );
  expect(found).toEqual([]);
});
