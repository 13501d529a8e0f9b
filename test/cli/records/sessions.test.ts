// `switchboard sessions`: stored sessions listed, shown, exported, searched and deleted.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome } from '../command.ts';

const lines = (...values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;

function sessionsHome() {
  const home = createHome();
  const state = path.join(home.home, 'state');
  home.write(
    path.join(state, 'sessions.jsonl'),
    lines(
      { sessionId: 'one-1', agent: 'claude', nativeId: 'one-1', cwd: '/w/a', additionalDirectories: ['/more'], at: at(1) },
      { sessionId: 'one-2', agent: 'codex', nativeId: 'one-2', cwd: '/w/ab', at: at(2) },
      { sessionId: 'gone', agent: 'codex', nativeId: 'gone', at: at(1), isGone: true },
    ),
  );
  home.write(
    path.join(state, 'transcripts/index.jsonl'),
    lines(
      { sessionId: 'one-1', t: Date.parse(at(5)), turns: 1, title: 'A <b>title</b>', stopReason: 'end_turn' },
      { sessionId: 'one-1', t: Date.parse(at(6)), turns: 1, stopReason: 'cancelled' },
    ),
  );
  home.write(
    path.join(state, 'transcripts/one-1.jsonl'),
    lines(
      { t: 1, kind: 'prompt', text: 'Where is the Needle?' },
      { t: 2, kind: 'message', role: 'agent', text: 'In the ', more: true },
      { t: 3, kind: 'message', role: 'agent', text: 'hay<script>\u001b[2J' },
      {
        t: 4,
        kind: 'tool',
        toolCallId: 't',
        title: 'Edit',
        toolKind: 'edit',
        status: 'completed',
        content: [{ type: 'diff', path: '/x', oldText: 'a\n', newText: '```\n' }],
      },
      { t: 5, kind: 'permission', title: 'Edit', outcome: 'selected', option: { name: 'Yes' } },
      { t: 6, kind: 'turn', stopReason: 'end_turn' },
    ),
  );
  const run = (...args: readonly string[]) => home.quick(['sessions', ...args], { SWITCHBOARD_HOME: state });
  const ids = async (...args: readonly string[]) => {
    const { stdout } = await run(...args, '--json');
    return JSON.parse(stdout).data.sessions.map(({ sessionId }: { sessionId: string }) => sessionId);
  };
  return { state, run, ids };
}

describe('the list', () => {
  test('shows the sessions that still exist with their details, most recently used first', async () => {
    const { run } = sessionsHome();
    const { sessions } = JSON.parse((await run('list', '--json')).stdout).data;
    expect(sessions).toEqual([
      {
        sessionId: 'one-1',
        agent: 'claude',
        nativeId: 'one-1',
        cwd: '/w/a',
        additionalDirectories: ['/more'],
        created: at(1),
        lastActivity: at(6),
        turns: 2,
        title: 'A <b>title</b>',
        stopReason: 'cancelled',
        stopReasons: { end_turn: 1, cancelled: 1 },
      },
      {
        sessionId: 'one-2',
        agent: 'codex',
        nativeId: 'one-2',
        cwd: '/w/ab',
        created: at(2),
        lastActivity: at(2),
        turns: 0,
        stopReasons: {},
      },
    ]);
    expect((await run('list')).stdout).toMatch(/one-1 +claude +2026-01-06 00:00 +2 +cancelled/);
  });

  test.each([
    [['--agent', 'codex'], ['one-2']],
    [['--cwd', '/w/a'], ['one-1']],
    [['--since', '2026-01-03'], ['one-1']],
    [['--since', '1d'], []],
    [['--limit', '1'], ['one-1']],
  ])('is filtered by %j', async (flags, expected) => {
    expect(await sessionsHome().ids('list', ...flags)).toEqual(expected);
  });
});

describe('a session', () => {
  test('is found as latest', async () => {
    const { run } = sessionsHome();
    expect((await run('show', 'latest')).stdout).toContain('Where is the Needle?');
    expect((await run('export', 'latest')).stdout).toContain('Where is the Needle?');
    const none = await createHome().quick(['sessions', 'show', 'latest']);
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('unknown session "latest"') });
  });

  test('is shown as text without control characters', async () => {
    const { stdout } = await sessionsHome().run('show', 'one-1');
    expect(stdout).toContain('[Prompt]\nWhere is the Needle?');
    expect(stdout).toContain('[Agent]\nIn the hay<script>\ufffd[2J');
    expect(stdout).toContain('[Tool: Edit (edit, completed)]\n/x\n-a\n+```');
    expect(stdout).toContain('[Permission for Edit: Yes]');
    expect(stdout).not.toContain('\u001b');
  });

  test('is exported as Markdown with intact fences, as JSON, and as a page without active content', async () => {
    const { run } = sessionsHome();
    expect((await run('export', 'one-1')).stdout).toContain('````\n/x\n-a\n+```\n\n````');
    expect(JSON.parse((await run('export', 'one-1', '--format', 'json')).stdout).transcript).toHaveLength(6);
    const { stdout } = await run('export', 'one-1', '--format', 'html');
    expect(stdout).toContain('hay&#60;script&#62;');
    expect(stdout).not.toMatch(/<script|<b>/);
    expect(stdout).toContain("default-src 'none'");
  });

  test('is found by words in it, case-insensitively', async () => {
    const { ids, run } = sessionsHome();
    expect(await ids('search', 'needle', 'hay')).toEqual(['one-1']);
    expect(await ids('search', 'needle', 'nowhere')).toEqual([]);
    const { code, stdout, stderr } = await run('search', 'needle', 'nowhere');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('no session contains: needle nowhere');
  });

  test('is deleted with its transcript', async () => {
    const { run, ids, state } = sessionsHome();
    expect((await run('delete', 'one-1')).code).toBe(0);
    expect(existsSync(path.join(state, 'transcripts/one-1.jsonl'))).toBe(false);
    expect(await ids('list')).toEqual(['one-2']);
    expect((await run('delete', 'one-1')).code).toBe(4);
  });

  test.each([
    [['show', 'nobody'], 4, 'unknown session "nobody"'],
    [['queue', 'one-1'], 4, 'no daemon runs'],
    [['queue', 'one-1', 'words'], 2, 'a text needs --edit N'],
    [['queue', 'one-1', '--edit', '1'], 2, '--edit needs the new text'],
    [['queue', 'one-1', '--remove', 'first'], 2, 'invalid number "first"'],
    [['queue', 'one-1', '--edit', '1', '--remove', '2', 'words'], 2, 'exclude each other'],
    [['show', 'one'], 4, 'matches 2 sessions'],
    [['list', '--since', 'once'], 2, 'invalid time "once"'],
    [['list', '--agent', 'cluade'], 4, 'unknown agent "cluade"\n  did you mean "claude"'],
    [['search', 'x', '--agent', 'nobody'], 4, 'unknown agent "nobody"'],
    [['list', '--limit', '0'], 2, '--limit expects a whole number'],
  ])('%j is refused with advice', async (args, code, words) => {
    const ended = await sessionsHome().run(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(words);
  });
});
