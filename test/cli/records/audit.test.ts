// `switchboard audit verify` and `audit tail`.
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAudit } from '../../../src/audit/audit.ts';
import { createHome, type Home } from '../command.ts';

const stateOf = (home: Home) => path.join(home.home, '.local', 'state', 'acp-switchboard');

/** A home whose audit log has this many decisions. */
function withDecisions(count: number) {
  const home = createHome();
  const audit = createAudit(stateOf(home), { redact: (text) => text });
  const decide = (number: number) =>
    audit.record({
      agent: 'claude',
      session: 's1',
      method: 'session/request_permission',
      request: '{}',
      summary: `execute: step ${number}`,
      evidence: 'raw',
      verdict: 'allow',
      rule: { id: 'steps', file: '/policy.yaml', line: 3 },
      layer: 'user',
      answeredBy: 'policy',
      outcome: 'allowed',
      latencyMs: 0.1,
      policyHash: 'p',
    });
  for (let number = 1; number <= count; number++) decide(number);
  const change = (edit: (lines: string[]) => string[]) => {
    const lines = readFileSync(audit.file, 'utf8').trimEnd().split('\n');
    writeFileSync(audit.file, `${edit(lines).join('\n')}\n`);
  };
  return { home, file: audit.file, decide, change };
}

describe('audit verify', () => {
  test('reports that a log is intact', async () => {
    const { home, file } = withDecisions(5);
    expect(await home.run(['audit', 'verify'])).toEqual({
      code: 0,
      stdout: `intact: ${file} (5 decisions; no end record: a process still writes to it, or was killed)\n`,
      stderr: '',
    });
    const { code, stdout } = await home.quick(['audit', 'verify', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      data: { file, lines: 5, isEnded: false, problems: [], notes: [], isIntact: true },
      warnings: [],
    });
  });

  test.each<[string, (lines: string[]) => string[], string]>([
    ['edited', (lines) => lines.with(2, (lines[2] ?? '').replace('allow', 'deny')), 'line 3 was changed after it was written'],
    ['missing', (lines) => lines.toSpliced(2, 1), 'before line 3, number 3 is missing'],
    ['reordered', (lines) => lines.with(1, lines[2] ?? '').with(2, lines[1] ?? ''), 'line 2 (number 3) is not where it was written'],
  ])('a line that is %s is reported with exit code 8', async (kind, edit, says) => {
    const { home, file, change } = withDecisions(5);
    change(edit);
    const { code, stdout, stderr } = await home.quick(['audit', 'verify']);
    expect({ code, stderr }).toEqual({ code: 8, stderr: expect.stringContaining(says) });
    expect(stdout).toContain(`not intact: ${file}`);
    const json = await home.quick(['audit', 'verify', '--json']);
    expect(json.code).toBe(8);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      data: { isIntact: false, problems: expect.arrayContaining([expect.objectContaining({ kind })]) },
    });
  });

  test('a line that a crash truncated is a note, not a problem', async () => {
    const { home, file } = withDecisions(2);
    appendFileSync(file, '{"seq":3,');
    const { code, stderr } = await home.quick(['audit', 'verify']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('note: line 3 breaks off') });
  });

  test('another file can be given', async () => {
    const { home, file } = withDecisions(1);
    const copy = home.write('copy.jsonl', readFileSync(file, 'utf8'));
    const { code, stdout, stderr } = await home.quick(['audit', 'verify', '--file', 'copy.jsonl']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `intact: ${copy} (1 decision; no end record: a process still writes to it, or was killed)\n`,
    });
    expect(stderr).toContain('copy.head is not there, so lines missing at the end would not be seen');
  });

  test('a missing log is reported, as text and as JSON', async () => {
    const home = createHome();
    const { code, stdout, stderr } = await home.quick(['audit', 'verify', '--json']);
    expect(code).toBe(4);
    expect(stderr).toContain('no audit log at');
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'AUDIT_UNREADABLE', message: expect.stringContaining('no audit log at') },
    });
  });

  test('an unreadable log is reported as unreadable', async () => {
    const home = createHome();
    mkdirSync(path.join(stateOf(home), 'audit.jsonl'), { recursive: true });
    chmodSync(stateOf(home), 0o700);
    const { code, stderr } = await home.quick(['audit', 'verify']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/cannot read the audit log .* \(EISDIR\)/) });
  });
});

describe('audit tail', () => {
  test('shows the newest decisions, oldest first', async () => {
    const { home } = withDecisions(15);
    const { code, stdout } = await home.quick(['audit', 'tail']);
    const lines = stdout.trimEnd().split('\n');
    expect({ code, count: lines.length }).toEqual({ code: 0, count: 10 });
    expect(lines.at(-1)).toMatch(/Z {2}allow {2}allowed {4}claude {2}execute: step 15 {2}\(policy, steps \/policy\.yaml:3\)$/);
    expect((await home.quick(['audit', 'tail', '-n', '2'])).stdout.trimEnd().split('\n')).toHaveLength(2);
    expect((await home.quick(['audit', 'tail', '-n', '0'])).stdout).toBe('');
    expect((await home.quick(['audit', 'tail', '-n', '100'])).stdout.trimEnd().split('\n')).toHaveLength(15);
  });

  test('prints one JSON envelope', async () => {
    const { home, file } = withDecisions(3);
    const { stdout } = await home.quick(['audit', 'tail', '-n', '2', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: { file, lines: [{ seq: 2 }, { seq: 3, summary: 'execute: step 3' }] } });
  });

  test('follows new decisions until it is interrupted', async () => {
    const { home, decide } = withDecisions(2);
    const { child, printed, ended } = home.start(['audit', 'tail', '-n', '1', '--follow']);
    await printed('step 2');
    decide(3);
    await printed('step 3');
    decide(4);
    await printed('step 4');
    child.kill('SIGINT');
    expect((await ended).stdout).not.toContain('step 1');
  });

  test('prints JSON lines with --json', async () => {
    const { home, decide } = withDecisions(1);
    const { child, printed, ended } = home.start(['audit', 'tail', '-f', '--json']);
    await printed('step 1');
    decide(2);
    await printed('step 2');
    child.kill('SIGINT');
    const lines = (await ended).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test("an agent's text in a line cannot control the terminal", async () => {
    const { home, file } = withDecisions(1);
    appendFileSync(file, `${JSON.stringify({ seq: 2, prev: 'x', summary: '\u001b[2J\u0007' })}\n`);
    const { stdout } = await home.quick(['audit', 'tail']);
    expect(stdout).toContain('[2J');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('\u0007');
  });

  test.each([['-1'], ['many'], ['1.5']])('%s is not a valid number of lines', async (count) => {
    const { code, stderr } = await createHome().quick(['audit', 'tail', `--lines=${count}`]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('expected a whole number') });
  });
});
