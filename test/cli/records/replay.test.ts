// `switchboard replay` and `switchboard redact`: bad input, differences and redacted output.
import { expect, test } from 'vitest';
import { createHome } from '../command.ts';

const line = (dir: string, msg: object) => `${JSON.stringify({ t: 0, proc: 1, dir, n: 1, msg })}\n`;
const RECORDING =
  line('client->agent', { id: 0, method: 'initialize', params: { a: 1 } }) +
  line('agent->client', { id: 0, result: { protocolVersion: 1 } });

test.each([
  [['nowhere.jsonl'], 'cannot read the recording nowhere.jsonl (ENOENT)'],
  [['bad.jsonl'], 'is not a recording: line 1'],
  [['good.jsonl', '--run', '7'], 'has no run 7'],
  [['good.jsonl', '--speed', 'fast'], '--speed expects a number above 0'],
])('replay %j is refused', async (args, words) => {
  const home = createHome();
  home.write('bad.jsonl', 'hello\n');
  home.write('good.jsonl', RECORDING);
  const { code, stderr } = await home.run(['replay', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

test('replay --strict exits with 8 and names the first difference', async () => {
  const home = createHome();
  const player = home.start(['replay', home.write('good.jsonl', RECORDING), '--strict']);
  expect(await player.request('initialize', { a: 2 })).toMatchObject({ result: { protocolVersion: 1 } });
  player.child.stdin.end();
  const { code, stderr } = await player.ended;
  expect(code).toBe(8);
  expect(stderr).toContain('another initialize than was recorded');
});

// Built at run time, so that secret scanners do not report this file.
const key = `ghp_${'Z9'.repeat(18)}`;

test('redact removes secrets from a recording, even if they are split across frames, and from any other file', async () => {
  const home = createHome();
  const chunk = (text: string) =>
    line('agent->client', {
      method: 'session/update',
      params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    });
  const recording = await home.run(['redact', home.write('r.jsonl', chunk(key.slice(0, 20)) + chunk(key.slice(20)))]);
  expect(recording.stdout).toContain('[redacted:github]');
  expect(recording.stdout).not.toContain(key.slice(20));
  const log = await home.run(['redact', home.write('x.log', `started with ${key}\n{"password":"hunter2"}\n`)]);
  expect(log.stdout).toBe('started with [redacted:github]\n{"password":"[redacted]"}\n');
});
