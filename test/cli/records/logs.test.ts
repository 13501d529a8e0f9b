// `switchboard logs`: the frame log, as text and as JSON.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, type Home, INITIALIZE } from '../command.ts';

const record = (n: number, more: object = {}) => ({
  t: 1_800_000_000_000 + n,
  leg: 'codex',
  dir: 'fromAgent',
  kind: 'request',
  method: 'x/y',
  id: n,
  bytes: 10,
  ...more,
});
const lines = (...records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('');
function logHome(files: Readonly<Record<string, string>>): Home & { readonly env: { SWITCHBOARD_HOME: string } } {
  const home = createHome();
  const state = path.join(home.home, 'state');
  for (const [name, text] of Object.entries(files)) home.write(path.join(state, 'frames', name), text);
  return { ...home, env: { SWITCHBOARD_HOME: state } };
}
const data = (stdout: string) => JSON.parse(stdout).data.records;

describe('records', () => {
  test('of several processes are shown in order of time, and a truncated line is skipped', async () => {
    const home = logHome({ 'a.jsonl': lines(record(1), record(3)), 'b.jsonl': `${lines(record(2))}{"t":17,"le` });
    const { code, stdout } = await home.quick(['logs', '--json'], home.env);
    expect(code).toBe(0);
    expect(data(stdout).map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
  });

  test('are filtered by all terms and limited to the last N', async () => {
    const home = logHome({
      'a.jsonl': lines(...[1, 2, 3, 4].map((n) => record(n, { ms: n * 100 })), record(5, { leg: 'other', ms: 900 })),
    });
    const { stdout } = await home.quick(['logs', '--json', '-n', '2', 'agent:codex', 'ms>100'], home.env);
    expect(data(stdout).map(({ id }: { id: number }) => id)).toEqual([3, 4]);
  });

  test('are printed one per line, without control characters', async () => {
    const home = logHome({
      'a.jsonl': lines(record(1, { session: 's\u001b[2J', ms: 12, error: -32603 }), { t: 1, event: 'dropped', records: 7 }),
    });
    const { stdout } = await home.quick(['logs'], home.env);
    expect(stdout).toContain('7 records dropped');
    expect(stdout).toMatch(
      /2027-01-15 08:00:00\.001 {2}codex +-> {2}request +x\/y {2}#1 {2}session s\ufffd\[2J {2}12 ms {2}10 B {2}ERROR -32603/,
    );
  });

  test('of the client have the name that the filter has, and a filter that matches nothing is not taken for an empty log', async () => {
    const home = logHome({ 'a.jsonl': lines(record(1, { leg: 'editor' }), { t: 2, leg: 'editor', event: 'down', reason: 'stopped' }) });
    const { stdout } = await home.quick(['logs', 'connection:client'], home.env);
    expect(stdout.match(/\b(?:client|editor)\b/g)).toEqual(['client', 'client']);
    const { stderr } = await home.quick(['logs', 'agent:none'], home.env);
    expect(stderr).toBe('switchboard: no record matches; see: switchboard help records\n');
  });

  test('of the last failure are those of the failed agent, up to the failure', async () => {
    const home = logHome({
      'a.jsonl': lines(
        record(1),
        record(2, { leg: 'other' }),
        { t: record(3).t, leg: 'codex', event: 'down', reason: 'agent_exited' },
        record(4),
        {
          ...{ t: record(5).t, leg: 'other', event: 'down', reason: 'stopped' },
        },
      ),
    });
    const { stdout } = await home.quick(['logs', '--last-failure', '--json'], home.env);
    expect(data(stdout)).toEqual([record(1), { t: record(3).t, leg: 'codex', event: 'down', reason: 'agent_exited' }]);
  });

  test('of the last failure include a failed turn; without a failure, a message says what was searched', async () => {
    const failed = record(3, { dir: 'fromAgent', kind: 'response', method: 'session/prompt', error: -32603 });
    const home = logHome({ 'a.jsonl': lines(record(1), record(2, { leg: 'other' }), failed, record(4)) });
    const { stdout } = await home.quick(['logs', '--last-failure', '--json'], home.env);
    expect(data(stdout)).toEqual([record(1), failed]);
    const well = logHome({ 'a.jsonl': lines(record(1)) });
    const { stderr } = await well.quick(['logs', '--last-failure'], well.env);
    expect(stderr).toContain('the log contains no agent failure and no failed prompt');
  });
});

test('with --follow are printed as they are written', async () => {
  const home = logHome({ 'a.jsonl': lines(record(1)) });
  const following = home.start(['logs', '--follow', '--json'], home.env);
  await following.printed('"id":1');
  const proxy = home.start(['acp'], home.env);
  await proxy.request('initialize', INITIALIZE);
  await following.printed('"method":"initialize"');
  proxy.child.stdin.end();
  await proxy.ended;
});

test.each([
  [['logs', 'codex'], '"codex" is not a filter'],
  [['logs', '-n', 'many'], '--lines expects a whole number'],
])('%j is refused with the correct syntax', async (args, words) => {
  const { code, stderr } = await createHome().quick(args);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

test('are not required: an empty log is no error, and the message names the directory', async () => {
  const { code, stdout, stderr } = await createHome().quick(['logs']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('log.frames');
});
