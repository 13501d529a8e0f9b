// Writing the audit log: content, crashes, failures and concurrent writers.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type AuditOptions, auditFile, createAudit } from '../../src/audit/audit.ts';
import { type AuditEntry, headFile } from '../../src/audit/audit-line.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { createRedactor } from '../../src/redaction/redact.ts';

const ENTRY: AuditEntry = {
  agent: 'claude',
  session: 'session-1',
  method: 'session/request_permission',
  request: '{"jsonrpc":"2.0"}',
  summary: 'execute: git status',
  evidence: 'raw',
  verdict: 'allow',
  why: 'allow by rule git (policy.yaml:7)',
  rule: { id: 'git', file: '/home/user/policy.yaml', line: 7 },
  layer: 'user',
  answeredBy: 'policy',
  outcome: 'allowed',
  option: 'allow_once',
  latencyMs: 0.21349,
  policyHash: 'abc',
  mode: 'enforce',
};

const plain = (text: string) => text;

function folder(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-audit-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function place(options: Partial<AuditOptions> = {}) {
  const state = path.join(folder(), 'state');
  return { state, file: auditFile(state), audit: createAudit(state, { redact: plain, waitMs: 0, ...options }) };
}

const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a line', () => {
  test('has everything that is known about a decision', () => {
    const { file, audit } = place({ now: () => new Date('2026-11-16T05:00:00Z') });
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 1 });
    expect(linesOf(file)).toEqual([
      {
        seq: 1,
        time: '2026-11-16T05:00:00.000Z',
        agent: 'claude',
        session: 'session-1',
        method: 'session/request_permission',
        request: expect.stringMatching(/^[0-9a-f]{64}$/),
        summary: 'execute: git status',
        evidence: 'raw',
        verdict: 'allow',
        why: 'allow by rule git (policy.yaml:7)',
        rule: { id: 'git', at: '/home/user/policy.yaml:7' },
        layer: 'user',
        by: 'policy',
        outcome: 'allowed',
        option: 'allow_once',
        latencyMs: 0.213,
        policy: 'abc',
        mode: 'enforce',
        prev: '0'.repeat(64),
      },
    ]);
  });

  test('is in the file when record returns, and the next one follows it', async () => {
    const { file, audit } = place();
    for (let seq = 1; seq <= 5; seq++) {
      expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq });
      expect(linesOf(file)).toHaveLength(seq);
    }
    expect(await verifyAudit(file)).toMatchObject({ lines: 5, problems: [], notes: [] });
  });

  test('is private to the user, and so are its files and directory', () => {
    const { state, file, audit } = place();
    audit.record(ENTRY);
    const modes = [state, file, headFile(file)].map((name) => (statSync(name).mode & 0o777).toString(8));
    expect(modes).toEqual(['700', '600', '600']);
    expect(readdirSync(state).sort()).toEqual(['audit.head', 'audit.jsonl']);
  });

  test('never contains a secret in any field, even where a field is truncated', () => {
    const canary = 'canary-value-4711';
    const { file, audit } = place({ redact: createRedactor({ TOKEN: canary }) });
    const words = `x ${canary} x`;
    audit.record({
      ...ENTRY,
      agent: words,
      session: words,
      method: words,
      request: words,
      summary: `${'y'.repeat(1990)}${canary}`,
      why: words,
      option: words,
      rule: { id: words, file: words, line: 1 },
    });
    const written = readFileSync(file, 'utf8');
    expect(written).not.toContain('canary');
    expect(written).toContain('[redacted:TOKEN]');
  });

  test('stays short however long its texts are', () => {
    const { file, audit } = place();
    audit.record({ ...ENTRY, summary: 'z'.repeat(1_000_000), why: '\u0000'.repeat(100_000) });
    expect(statSync(file).size).toBeLessThan(10_000);
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
  });

  test('of one process follows that of another', async () => {
    const { state, file, audit } = place();
    audit.record(ENTRY);
    createAudit(state, { redact: plain }).record(ENTRY);
    audit.record(ENTRY);
    expect(linesOf(file).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await verifyAudit(file)).problems).toEqual([]);
  });
});

describe('after a crash in the middle of a line', () => {
  test('the next line follows the last complete one and records the truncated one', async () => {
    const { file, audit } = place();
    audit.record(ENTRY);
    appendFileSync(file, '{"seq":2,"time":"20');
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 3 });
    const report = await verifyAudit(file);
    expect(report.problems).toEqual([]);
    expect(report.notes).toEqual([expect.objectContaining({ kind: 'cut', line: 2 })]);
  });

  test('a truncated line longer than the first read from the end is found', () => {
    const { file, audit } = place();
    audit.record(ENTRY);
    appendFileSync(file, 'x'.repeat(100_000));
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
  });

  test('the lock of a process that died before writing its line is taken over', async () => {
    const { state, file, audit } = place();
    audit.record(ENTRY);
    const { pid } = spawnSync(process.execPath, ['-e', '']); // has exited
    symlinkSync(`${pid}.1.${os.hostname()}`, `${file}.turn.2.1`);
    symlinkSync(`${pid}.2.${os.hostname()}`, `${file}.turn.2.2`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
    expect(readdirSync(state).sort()).toEqual(['audit.head', 'audit.jsonl']);
  });

  test('the lock of a process that died after writing its line has no effect', () => {
    const { state, file, audit } = place();
    audit.record(ENTRY);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    symlinkSync(`${pid}.1.${os.hostname()}`, `${file}.turn.1.1`);
    symlinkSync(`${pid}.1.${os.hostname()}`, `${file}.turn.1.2`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
    expect(createAudit(state, { redact: plain }).record(ENTRY)).toEqual({ isWritten: true, seq: 3 }); // start-up removes it
    expect(readdirSync(state).sort()).toEqual(['audit.head', 'audit.jsonl']);
  });

  test.runIf(process.platform === 'linux')("a process that reused the pid of the lock's owner is not taken for it", () => {
    const { file, audit } = place();
    audit.record(ENTRY);
    symlinkSync(`${process.pid}.1.${os.hostname()}`, `${file}.turn.2.1`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
  });
});

describe('a line that cannot be written', () => {
  test('because another process holds the lock: nothing is written, and the error names the lock', () => {
    const { file, audit } = place();
    audit.record(ENTRY);
    symlinkSync(`1.0.${os.hostname()}`, `${file}.turn.2.1`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: false, problem: expect.stringContaining(`${file}.turn.2.1`) });
    expect(linesOf(file)).toHaveLength(1);
    rmSync(`${file}.turn.2.1`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: true, seq: 2 });
  });

  test('because a process on another host holds the lock: its pid means nothing here, so the lock is not taken over', () => {
    const { file, audit } = place();
    audit.record(ENTRY);
    const { pid } = spawnSync(process.execPath, ['-e', '']); // dead on this host
    symlinkSync(`${pid}.1.${os.hostname()}-other`, `${file}.turn.2.1`);
    expect(audit.record(ENTRY)).toEqual({ isWritten: false, problem: expect.stringContaining(`${file}.turn.2.1`) });
    expect(linesOf(file)).toHaveLength(1);
  });

  test.runIf(process.platform === 'linux')('because the disk is full', () => {
    const { state, file, audit } = place();
    mkdirSync(state, { recursive: true });
    symlinkSync('/dev/full', file);
    expect(audit.record(ENTRY)).toEqual({ isWritten: false, problem: expect.stringContaining('the disk is full (ENOSPC)') });
    expect(readdirSync(state)).toEqual(['audit.jsonl']);
  });

  test('because the state directory is a file', () => {
    const { state, audit } = place();
    writeFileSync(state, '');
    expect(audit.record(ENTRY)).toMatchObject({ isWritten: false });
  });

  test('because its file is a directory', () => {
    const { file, audit } = place();
    mkdirSync(file, { recursive: true });
    expect(audit.record(ENTRY)).toEqual({ isWritten: false, problem: expect.stringContaining('a directory is in its place') });
  });

  test('is reported once, and again after a success in between', () => {
    const reports: string[] = [];
    const { file, audit } = place({ onProblem: (problem) => reports.push(problem) });
    const hold = () => symlinkSync(`1.0.${os.hostname()}`, `${file}.turn.${linesOf(file).length + 1}.1`);
    const free = () => rmSync(`${file}.turn.${linesOf(file).length + 1}.1`);
    audit.record(ENTRY);
    hold();
    audit.record(ENTRY);
    audit.record(ENTRY);
    expect(reports).toHaveLength(1);
    free();
    audit.record(ENTRY);
    hold();
    audit.record(ENTRY);
    expect(reports).toHaveLength(2);
  });
});

describe('several processes at once', () => {
  const bundle = path.join(mkdtempSync(path.join(os.tmpdir(), 'switchboard-audit-')), 'writer.mjs');
  beforeAll(async () => {
    await build({
      stdin: {
        contents: `
          import { createAudit } from './src/audit/audit.ts';
          const [state, count, name] = process.argv.slice(2);
          const audit = createAudit(state, { redact: (text) => text, waitMs: 60_000 });
          const entry = ${JSON.stringify(ENTRY)};
          for (let i = 0; i < Number(count); i++) {
            const written = audit.record({ ...entry, agent: name, summary: String(i) });
            if (!written.isWritten) throw new Error(written.problem);
          }`,
        resolveDir: path.resolve(import.meta.dirname, '../..'),
        loader: 'ts',
      },
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    });
    return () => rmSync(path.dirname(bundle), { recursive: true, force: true });
  });
  const write = (state: string, count: number, name: string) =>
    spawn(process.execPath, [bundle, state, String(count), name], { stdio: ['ignore', 'ignore', 'inherit'] });

  test.runIf(process.platform !== 'win32')('a read-only directory accepts no line, and that is reported', { timeout: 60_000 }, async () => {
    const state = folder();
    chmodSync(state, 0o555);
    chmodSync(path.dirname(bundle), 0o755);
    // Permissions do not apply to root, so another user writes.
    const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const writer = spawn(process.execPath, [bundle, state, '1', 'a'], { stdio: ['ignore', 'ignore', 'pipe'], ...uid });
    const [output] = await Promise.all([text(writer.stderr), once(writer, 'exit')]);
    expect(output).toContain(`the audit log ${auditFile(state)} cannot be written: permission denied (EACCES)`);
  });

  test('lose no line and keep their order, in one chain', { timeout: 120_000 }, async () => {
    const { state, file } = place();
    const writers = ['a', 'b', 'c', 'd'].map((name) => write(state, 200, name));
    expect(await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0]))).toEqual([0, 0, 0, 0]);
    expect(await verifyAudit(file)).toMatchObject({ lines: 800, problems: [], notes: [] });
    for (const name of ['a', 'b', 'c', 'd']) {
      const own = linesOf(file).filter(({ agent }) => agent === name);
      expect(own.map(({ summary }) => Number(summary))).toEqual(Array.from({ length: 200 }, (_, index) => index));
    }
    expect(readdirSync(state).sort()).toEqual(['audit.head', 'audit.jsonl']);
  });

  test('continue when one is killed', { timeout: 120_000 }, async () => {
    const { state, file } = place();
    const victims = [write(state, 1_000_000, 'v'), write(state, 1_000_000, 'w')];
    onTestFinished(() => victims.forEach((victim) => void victim.kill('SIGKILL')));
    const writer = write(state, 100, 'a');
    await once(writer, 'exit');
    const gone = victims.map((victim) => once(victim, 'exit'));
    for (const victim of victims) victim.kill('SIGKILL');
    await Promise.all(gone);
    expect(await once(write(state, 20, 'b'), 'exit')).toEqual([0, null]);
    expect((await verifyAudit(file)).problems).toEqual([]);
    expect(linesOf(file).filter(({ agent }) => agent === 'b')).toHaveLength(20);
  });
});
