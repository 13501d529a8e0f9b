// `policy remembered`, `policy trust` and `policy replay`, run by a person or by a program.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isTrusted } from '../../src/config/trust.ts';
import { createRemembered, type NewAnswer } from '../../src/store/remembered-answers.ts';
import { agentsRecorded, fileOf, readRecording } from '../e2e/recording.ts';
import { createHome, type Home } from './command.ts';

const stateOf = (home: Home) => path.join(home.home, '.local', 'state', 'acp-switchboard');

describe('policy remembered', () => {
  function withAnswers() {
    const home = createHome();
    const store = createRemembered(stateOf(home), { redact: (text) => text });
    const answer: NewAnswer = {
      verdict: 'allow',
      scope: 'workspace',
      agent: 'claude',
      cwd: '/project',
      session: 's1',
      key: 'k1',
      what: 'execute: npm test',
      policy: 'p',
    };
    const ids = [
      answer,
      { ...answer, verdict: 'deny' as const, scope: 'session' as const, key: 'k2', what: 'edit: /project/a\u001b[2J' },
    ].map((each) => {
      const kept = store.remember(each);
      return kept.isKept ? kept.id : '';
    });
    return { home, ids: ids as [string, string] };
  }

  test('lists the answers that apply', async () => {
    const { home, ids } = withAnswers();
    const { code, stdout } = await home.quick(['policy', 'remembered']);
    const [head, first, second] = stdout.split('\n');
    expect(code).toBe(0);
    expect(head).toMatch(/^ID +VERDICT +SCOPE +AGENT +DIRECTORY +SINCE +UNTIL +REQUEST$/);
    expect(first).toMatch(new RegExp(`^${ids[0]} +allow +workspace +claude +/project .* revoked +execute: npm test$`));
    expect(second).toMatch(new RegExp(`^${ids[1]} +deny +session +claude +/project .* session end +edit: /project/a`));
    expect(stdout).not.toContain('\u001b');
    const json = JSON.parse((await home.quick(['policy', 'remembered', '--json'])).stdout);
    expect(json).toMatchObject({
      ok: true,
      data: {
        answers: [
          { id: ids[0], what: 'execute: npm test' },
          { id: ids[1], session: 's1' },
        ],
      },
    });
    expect(JSON.stringify(json)).not.toContain('key');
  });

  test('removes one answer, or all of them', async () => {
    const { home, ids } = withAnswers();
    expect(await home.quick(['policy', 'remembered', '--revoke', ids[0]])).toEqual({ code: 0, stdout: `revoked: ${ids[0]}\n`, stderr: '' });
    expect((await home.quick(['policy', 'remembered'])).stdout).not.toContain(ids[0]);
    const { stdout } = await home.quick(['policy', 'remembered', '--all', '--json']);
    expect(JSON.parse(stdout)).toEqual({ ok: true, data: { revoked: [ids[1]] }, warnings: [] });
    expect(await home.quick(['policy', 'remembered'])).toEqual({ code: 0, stdout: 'no remembered answers\n', stderr: '' });
  });

  test('reports an unknown answer and conflicting options', async () => {
    const home = createHome();
    const missing = await home.quick(['policy', 'remembered', '--revoke', 'deadbeef', '--json']);
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('no remembered answer "deadbeef"') });
    expect(JSON.parse(missing.stdout)).toMatchObject({ ok: false, error: { message: 'no remembered answer "deadbeef"' } });
    const both = await home.quick(['policy', 'remembered', '--revoke', 'deadbeef', '--all']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('use one of them') });
  });

  test('reports a file that cannot be read', async () => {
    const home = createHome();
    mkdirSync(path.join(stateOf(home), 'remembered.jsonl'), { recursive: true });
    const { code, stderr } = await home.quick(['policy', 'remembered']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/cannot read \S*remembered\.jsonl \(EISDIR\)/) });
  });
});

describe('policy trust', () => {
  const POLICY = 'version: 1\nlayer: project\nallow:\n  - execute(make test)\n';

  test('applies to the content as it is', async () => {
    const home = createHome();
    const file = home.write('policy.yaml', POLICY);
    expect(await isTrusted(stateOf(home), POLICY)).toBe(false);
    const { code, stdout } = await home.quick(['policy', 'trust', 'policy.yaml']);
    expect(code).toBe(0);
    expect(stdout).toContain(`trusted: ${file}\n  may allow: allow[0] (line 4)\n`);
    expect(await isTrusted(stateOf(home), POLICY)).toBe(true);
    expect(await isTrusted(stateOf(home), `${POLICY}# more\n`)).toBe(false);
    const json = JSON.parse((await home.quick(['policy', 'trust', 'policy.yaml', '--json'])).stdout);
    expect(json).toMatchObject({
      ok: true,
      data: { file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), allows: [{ id: 'allow[0]', line: 4 }] },
    });
  });

  test('an invalid policy is not trusted', async () => {
    const home = createHome();
    home.write('policy.yaml', 'version: 1\nalow: []\n');
    const { code, stdout, stderr } = await home.quick(['policy', 'trust', 'policy.yaml', '--json']);
    expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('policy.yaml:2:1') });
    const { message, data } = JSON.parse(stdout).error;
    expect({ message, data }).toEqual({ message: data[0].message, data: [expect.objectContaining({ line: 2, column: 1 })] });
    expect(await isTrusted(stateOf(home), 'version: 1\nalow: []\n')).toBe(false);
  });

  test('a missing policy is not trusted, and neither is a directory', async () => {
    const home = createHome();
    expect(await home.quick(['policy', 'trust', 'policy.yaml'])).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/cannot read .* \(ENOENT\)/),
    });
    expect(await home.quick(['policy', 'trust', '/dev/zero'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('not a regular file'),
    });
  });

  test('a state directory that cannot be written is named', async () => {
    const home = createHome();
    home.write('policy.yaml', POLICY);
    const taken = home.write('taken', '');
    const { code, stderr } = await home.quick(['policy', 'trust', 'policy.yaml'], { SWITCHBOARD_HOME: path.join(taken, 'state') });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('set SWITCHBOARD_HOME') });
  });
});

describe('policy replay', () => {
  const NEW_SESSION = {
    jsonrpc: '2.0',
    id: 1,
    method: 'session/new',
    params: {
      cwd: '/work/project',
      mcpServers: [
        { type: 'acp', name: 'github', serverId: 'srv-1' },
        { name: 'docs', command: 'docs-mcp', args: ['--stdio'] },
      ],
    },
  };
  const frames = (cwd: string) => [
    { jsonrpc: '2.0', id: 0, result: { protocolVersion: 1, agentInfo: { name: '@agentclientprotocol/claude-agent-acp' } } },
    { ...NEW_SESSION, params: { ...NEW_SESSION.params, cwd } },
    { jsonrpc: '2.0', id: 1, result: { sessionId: 's1' } },
    {
      method: 'session/update',
      params: {
        sessionId: 's1',
        update: { sessionUpdate: 'tool_call', toolCallId: 't1', kind: 'execute', rawInput: { command: 'git status' } },
      },
    },
    { id: 5, method: 'session/request_permission', params: { sessionId: 's1', toolCall: { toolCallId: 't1' }, options: [] } },
    { id: 6, method: 'fs/read_text_file', params: { sessionId: 's1', path: `${cwd}/.env` } },
    { id: 7, method: 'terminal/create', params: { sessionId: 's1', command: 'npm', args: ['test'] } },
    { id: 8, method: 'mcp/message', params: { serverId: 'srv-1', method: 'tools/call', params: { name: 'get_issue', arguments: {} } } },
    { id: 9, method: 'mcp/message', params: { serverId: 'srv-1', method: 'tools/list' } },
  ];
  const NEW = 'version: 1\nallow: [ "execute(git status)", "mcp(github:get_*)" ]\ndeny: [ "read(**/.env)" ]\n';
  const OLD = 'version: 1\nallow: [ "execute(git status)", "execute(npm test)" ]\n';

  function prepared(asRecorded: boolean) {
    const home = createHome();
    home.write('new.yaml', NEW);
    home.write('old.yaml', OLD);
    const lines = frames(home.project).map((frame) =>
      JSON.stringify(asRecorded ? { t: 1, proc: 1, dir: 'agent->client', msg: frame } : frame),
    );
    home.write('session.ndjson', `${lines.join('\n')}\n`);
    return home;
  }

  test.each([[false], [true]])('shows the decision on each request, and what changes (recorded: %s)', async (asRecorded) => {
    const home = prepared(asRecorded);
    const { code, stdout } = await home.quick([
      'policy',
      'replay',
      'session.ndjson',
      '--policy',
      'new.yaml',
      '--against',
      'old.yaml',
      '--json',
    ]);
    expect(code).toBe(0);
    const { ok, data } = JSON.parse(stdout);
    expect(ok).toBe(true);
    expect(
      data.requests.map(({ line, agent, method, summary, was, verdict }: Record<string, unknown>) => [
        line,
        agent,
        method,
        summary,
        was,
        verdict,
      ]),
    ).toEqual([
      [2, 'claude', 'session/new', 'execute: docs-mcp --stdio', 'ask', 'ask'],
      [5, 'claude', 'session/request_permission', 'execute: git status', 'allow', 'allow'],
      [6, 'claude', 'fs/read_text_file', `read: ${home.project}/.env`, 'ask', 'deny'],
      [7, 'claude', 'terminal/create', 'execute: npm test', 'allow', 'ask'],
      [8, 'claude', 'tools/call', 'mcp: github:get_issue', 'ask', 'allow'],
    ]);
    expect(data).toMatchObject({ counts: { allow: 2, ask: 2, deny: 1 }, changed: 3 });
  });

  test('prints a summary as text', async () => {
    const home = prepared(false);
    const { stdout } = await home.quick(['policy', 'replay', 'session.ndjson', '--policy', 'new.yaml', '--against', 'old.yaml']);
    expect(stdout).toContain(`session.ndjson:6: ask -> deny  claude  fs/read_text_file  read: ${home.project}/.env  (deny by rule deny[0]`);
    expect(stdout).toContain('5 requests: 2 allow, 2 ask, 1 deny\n3 verdicts would change\n');
    const same = await home.quick(['policy', 'replay', 'session.ndjson', '--policy', 'new.yaml', '--against', 'new.yaml']);
    expect(same.stdout).toContain('no verdict changes');
  });

  test.each(agentsRecorded)('every request in the recording of %s is evaluated, with the rules for that agent', async (agent) => {
    const home = createHome();
    const { stdout } = await home.quick(['policy', 'replay', fileOf(agent), '--json']);
    const { requests } = JSON.parse(stdout).data;
    const evaluatedMethods = ['session/request_permission', 'fs/read_text_file', 'fs/write_text_file'];
    const methods = readRecording(agent).flatMap(({ dir, msg }) =>
      dir === 'agent->client' && evaluatedMethods.includes(msg.method) ? [msg.method] : [],
    );
    expect(methods.length).toBeGreaterThan(3);
    expect(requests.flatMap(({ method }: { method: string }) => (evaluatedMethods.includes(method) ? [method] : []))).toEqual(methods);
    expect(new Set(requests.map((request: { agent: string }) => request.agent))).toEqual(new Set([agent]));
  });

  test('a truncated last line is skipped; any other broken line is reported', async () => {
    const home = prepared(false);
    const file = path.join(home.project, 'session.ndjson');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `${text}{"id":10,"meth`);
    expect(await home.quick(['policy', 'replay', 'session.ndjson'])).toMatchObject({ code: 0 });
    writeFileSync(file, `${text}nonsense\n${text}`);
    const { code, stdout, stderr } = await home.quick(['policy', 'replay', 'session.ndjson', '--json']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('line 10 of the recording is not JSON') });
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'REPLAY' } });
  });

  test('unreadable input is reported', async () => {
    const home = prepared(false);
    expect(await home.quick(['policy', 'replay', 'nowhere.ndjson'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('(ENOENT)'),
    });
    expect(await home.quick(['policy', 'replay', 'session.ndjson', '--against', 'nowhere.yaml'])).toMatchObject({ code: 6 });
    home.write('broken.yaml', 'version: 2\n');
    expect(await home.quick(['policy', 'replay', 'session.ndjson', '--against', 'broken.yaml'])).toMatchObject({ code: 6 });
  });
});
