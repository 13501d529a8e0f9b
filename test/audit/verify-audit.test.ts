// Verifying the audit log: every change is found.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAudit } from '../../src/audit/audit.ts';
import { headFile } from '../../src/audit/audit-line.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import fc from '../generated.ts';

function written(lines: number) {
  const state = mkdtempSync(path.join(os.tmpdir(), 'switchboard-verify-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const audit = createAudit(state, { redact: (text) => text });
  const more = (count: number) => {
    for (let index = 0; index < count; index++)
      audit.record({
        agent: 'claude',
        method: 'fs/read_text_file',
        request: String(index),
        summary: `read: /project/file-${index}`,
        evidence: 'raw',
        verdict: index % 2 === 0 ? 'allow' : 'deny',
        answeredBy: 'policy',
        outcome: 'allowed',
        latencyMs: 1,
        policyHash: 'p',
      });
  };
  more(lines);
  const { file } = audit;
  return {
    file,
    more,
    close: () => audit.close(),
    change(edit: (lines: string[]) => readonly string[]) {
      const before = readFileSync(file, 'utf8').trimEnd().split('\n');
      writeFileSync(
        file,
        edit(before)
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
  };
}

const found = async (file: string) => (await verifyAudit(file)).problems.map(({ kind, line }) => `${kind} ${line}`);
const swap = (lines: string[], a: number, b: number) =>
  lines.map((line, index) => (index === a - 1 ? lines[b - 1] : index === b - 1 ? lines[a - 1] : line) ?? '');
const edit = (at: number, from: string | RegExp, to: string) => (lines: string[]) =>
  lines.map((line, index) => (index === at - 1 ? line.replace(from, to) : line));

test('an unchanged log has no problem', async () => {
  const { file, close, more } = written(20);
  expect(await verifyAudit(file)).toEqual({ file, lines: 20, isEnded: false, problems: [], notes: [] });
  close();
  expect(await verifyAudit(file)).toEqual({ file, lines: 20, isEnded: true, problems: [], notes: [] });
  more(1);
  expect(await verifyAudit(file)).toMatchObject({ lines: 21, isEnded: false, problems: [] });
});

test('a lost end record is missing, as any line is', async () => {
  const { file, close, change } = written(3);
  close();
  change((lines) => lines.slice(0, -1));
  expect(await found(file)).toEqual(['missing 4']);
});

test('a log that is gone while its head is still there is a problem', async () => {
  const { file } = written(3);
  rmSync(file);
  expect((await verifyAudit(file)).problems).toEqual([{ kind: 'missing', line: 1, says: 'at the end, numbers 1 to 3 are missing' }]);
  rmSync(headFile(file));
  await expect(verifyAudit(file)).rejects.toThrow('ENOENT');
});

describe.each<[string, (lines: string[]) => readonly string[], string[]]>([
  ['a verdict turned round', edit(4, '"verdict":"deny"', '"verdict":"allow"'), ['edited 4']],
  ['a line copied behind itself', (lines) => lines.toSpliced(4, 0, lines[3] ?? ''), ['copied 5']],
  ['a line copied to the end', (lines) => [...lines, lines[3] ?? ''], ['copied 10']],
  ['a line copied over the one behind it', (lines) => lines.with(4, lines[3] ?? ''), ['copied 5', 'missing 6']],
  ['the first line changed', edit(1, 'file-0', 'file-x'), ['edited 1']],
  ['the last line changed', edit(9, 'file-8', 'file-x'), ['edited 9']],
  ['a blank more', edit(5, '"agent":"', '"agent": "'), ['edited 5']],
  ['a number changed', edit(5, '"seq":5', '"seq":50'), ['edited 5']],
  ['a hash changed', edit(5, /"prev":"[0-9a-f]{4}/, '"prev":"0000'), ['edited 4', 'edited 5']],
  ['two lines changed', (lines) => edit(7, 'file-6', 'x')(edit(3, 'file-2', 'x')(lines)), ['edited 3', 'edited 7']],
  ['a line changed to something else', edit(5, /.*/, 'nothing'), ['foreign 5', 'missing 6']],
  ['an empty line instead', edit(5, /.*/, ''), ['foreign 5', 'missing 6']],
  ['a line missing', (lines) => lines.toSpliced(3, 1), ['missing 4']],
  ['several lines missing', (lines) => lines.toSpliced(3, 3), ['missing 4']],
  ['the first line missing', (lines) => lines.slice(1), ['missing 1']],
  ['the last line missing', (lines) => lines.slice(0, -1), ['missing 9']],
  ['the last lines missing', (lines) => lines.slice(0, -4), ['missing 6']],
  ['every line missing', () => [], ['missing 1']],
  ['two neighbours exchanged', (lines) => swap(lines, 3, 4), ['reordered 3', 'reordered 4']],
  ['two lines exchanged', (lines) => swap(lines, 3, 7), ['reordered 3', 'reordered 7']],
  ['a line repeated', (lines) => lines.toSpliced(6, 0, lines[2] ?? ''), ['copied 7']],
  ['garbage between', (lines) => lines.toSpliced(4, 0, 'garbage'), ['foreign 5']],
  ['garbage at the end', (lines) => [...lines, 'garbage'], ['foreign 10']],
  ['a forged line at the end', (lines) => [...lines, '{"seq":10,"prev":"x","verdict":"allow"}'], ['edited 9']],
])('%s', (_, change, expected) => {
  test('is found with its line', async () => {
    const log = written(9);
    log.change(change);
    expect(await found(log.file)).toEqual(expected);
  });

  test('is still found after more lines were written', async () => {
    const log = written(9);
    log.change(change);
    log.more(3);
    expect((await found(log.file)).length).toBeGreaterThan(0);
  });
});

test('problems are described in plain text', async () => {
  const log = written(9);
  log.change((lines) => lines.toSpliced(3, 2));
  const { problems } = await verifyAudit(log.file);
  expect(problems.map(({ says }) => says)).toEqual(['before line 4, numbers 4 to 5 are missing']);
});

test('a last line truncated afterwards is distinguished from one that was never complete', async () => {
  const log = written(3);
  truncateSync(log.file, readFileSync(log.file).length - 20);
  expect(await found(log.file)).toEqual(['missing 3', 'cut 3']);

  const crashed = written(3);
  appendFileSync(crashed.file, '{"seq":4,"ti');
  expect(await verifyAudit(crashed.file)).toMatchObject({ problems: [], notes: [{ kind: 'cut', line: 4 }] });
});

test('a truncated line that was changed or removed after the next line recorded it is found', async () => {
  const log = written(3);
  appendFileSync(log.file, '{"seq":4,"ti');
  log.more(2);
  expect(await found(log.file)).toEqual([]);
  log.change(edit(4, 'ti', 'xx'));
  expect(await found(log.file)).toEqual(['foreign 4']);
  log.change((lines) => lines.toSpliced(3, 1));
  expect(await found(log.file)).toEqual(['missing 4']);
});

test('a log without its head file is still verified, with a note', async () => {
  const log = written(5);
  rmSync(headFile(log.file));
  log.change((lines) => lines.slice(0, -1));
  expect(await verifyAudit(log.file)).toMatchObject({ lines: 4, problems: [], notes: [{ kind: 'no-head' }] });
});

test('a head that is one line behind, as after a crash, is no problem', async () => {
  const log = written(5);
  const head = readFileSync(headFile(log.file));
  log.more(1);
  writeFileSync(headFile(log.file), head);
  expect(await found(log.file)).toEqual([]);
});

test('a change of any byte is found', async () => {
  const log = written(6);
  const bytes = readFileSync(log.file);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(((changed[at] ?? 0) + by) % 256, at);
      writeFileSync(log.file, changed);
      expect((await found(log.file)).length).toBeGreaterThan(0);
    }),
  );
});
