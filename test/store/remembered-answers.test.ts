// Remembered answers to permission requests: where and how long they apply.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { here } from '../../src/platform/platform.ts';
import { createRedactor } from '../../src/redaction/redact.ts';
import { createRemembered, type NewAnswer, type RememberedOptions } from '../../src/store/remembered-answers.ts';

const ANSWER: NewAnswer = {
  verdict: 'allow',
  scope: 'workspace',
  agent: 'claude',
  cwd: '/project',
  session: 's1',
  key: 'npm test',
  what: 'execute: npm test',
  policy: 'policy-1',
};
const HERE = { cwd: '/project', session: 's1', policy: 'policy-1' };

function place(options: Partial<RememberedOptions> = {}) {
  const root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-remembered-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const state = path.join(root, 'state');
  const another = () => createRemembered(state, { redact: (text) => text, ...options });
  return { state, another, store: another() };
}

test('an answer for a workspace applies there in every session and process until it is revoked', () => {
  const { store, another } = place();
  const kept = store.remember(ANSWER);
  const id = kept.isKept ? kept.id : '';
  const elsewhere = another();
  expect(elsewhere.answersFor({ ...HERE, session: 's2' })).toMatchObject([{ id, verdict: 'allow', scope: 'workspace' }]);
  expect(elsewhere.list()).toHaveLength(1);
  expect(store.revoke(id)).toBe(true);
  expect(elsewhere.answersFor(HERE)).toEqual([]);
  expect(elsewhere.list()).toEqual([]);
  expect(store.revoke(id)).toBe(false);
});

test.each<[string, Partial<typeof HERE>]>([
  ['another directory', { cwd: '/project/sub' }],
  ['another policy', { policy: 'policy-2' }],
])('an answer does not apply in %s', (_, where) => {
  const { store } = place();
  store.remember(ANSWER);
  expect(store.answersFor(HERE)).toHaveLength(1);
  expect(store.answersFor({ ...HERE, ...where })).toEqual([]);
});

describe('an answer for a session', () => {
  test('applies in no other session, and in no other process with a session of the same id', () => {
    const { store, another } = place();
    store.remember({ ...ANSWER, scope: 'session' });
    expect(store.answersFor(HERE)).toHaveLength(1);
    expect(store.answersFor({ ...HERE, session: 's2' })).toEqual([]);
    expect(store.answersFor({ ...HERE, session: undefined })).toEqual([]);
    expect(another().answersFor(HERE)).toEqual([]);
    expect(another().list()).toHaveLength(1);
  });

  test('ends with the session', () => {
    const { store, another } = place();
    store.remember({ ...ANSWER, scope: 'session' });
    store.remember({ ...ANSWER, scope: 'session', session: 's2' });
    store.endSession('s1');
    expect(store.answersFor(HERE)).toEqual([]);
    expect(another().list()).toMatchObject([{ session: 's2' }]);
  });

  test('is no longer listed once its process is gone', () => {
    const { state, store } = place();
    store.remember({ ...ANSWER, scope: 'session' });
    const file = path.join(state, 'remembered.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"keeper":"\d+/, '"keeper":"999999999'));
    expect(store.list()).toEqual([]);
  });

  test('nor is one whose process id another program has by now, where the system tells when a process started', () => {
    const { state, store } = place();
    store.remember({ ...ANSWER, scope: 'session' });
    const file = path.join(state, 'remembered.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"keeper":"(\d+)\.\d+/, '"keeper":"$1.1'));
    expect(store.list()).toHaveLength(here.processes === 'proc' ? 0 : 1);
  });

  test('one of an earlier version, which noted the process id only, is listed while the process runs', () => {
    const { state, store } = place();
    store.remember({ ...ANSWER, scope: 'session' });
    const file = path.join(state, 'remembered.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"keeper":"(\d+)[^"]*/, '"keeper":"$1.0123456789abcdef'));
    expect(store.list()).toHaveLength(1);
  });
});

test('an answer applies for as long as the policy says', () => {
  let time = Date.parse('2026-11-16T05:00:00Z');
  const { store } = place({ now: () => new Date(time) });
  store.remember({ ...ANSWER, ttlMs: 60_000 });
  time += 59_000;
  expect(store.answersFor(HERE)).toHaveLength(1);
  time += 1000;
  expect(store.answersFor(HERE)).toEqual([]);
  expect(store.list()).toEqual([]);
});

test.each<[string, Partial<NewAnswer>]>([
  ['with the scope once', { scope: 'once' }],
  ['to a request with too few details to recognise it again', { key: undefined }],
  ['for a session without one', { scope: 'session', session: undefined }],
])('an answer %s is not stored', (_, change) => {
  const { store } = place();
  expect(store.remember({ ...ANSWER, ...change })).toMatchObject({ isKept: false });
  expect(store.list()).toEqual([]);
});

test('a value derived from the answers can be cached until they change', () => {
  const { store, another } = place();
  store.remember(ANSWER);
  const before = store.answersFor(HERE);
  expect(store.answersFor(HERE)).toBe(before);
  another().remember({ ...ANSWER, key: 'npm run lint' });
  expect(store.answersFor(HERE)).not.toBe(before);
});

test('the file is private and contains neither the request nor a secret', () => {
  const { state, store } = place({ redact: createRedactor({ TOKEN: 'canary-value-4711' }) });
  store.remember({ ...ANSWER, key: 'curl canary-value-4711', what: 'execute: curl canary-value-4711' });
  const file = path.join(state, 'remembered.jsonl');
  expect([state, file].map((name) => statSync(name).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(readFileSync(file, 'utf8')).not.toContain('canary');
});

test('invalid lines are skipped, and a truncated line does not damage the next', () => {
  const { state, store } = place();
  mkdirSync(state, { recursive: true });
  const file = path.join(state, 'remembered.jsonl');
  writeFileSync(file, 'garbage\n{}\nnull\n{"id":"x","verdict":"allow","scope":"everywhere"}\n{"id":"half');
  store.remember(ANSWER);
  expect(store.list()).toHaveLength(1);
  appendFileSync(file, '{"revoked":5}\n');
  expect(store.list()).toHaveLength(1);
});

test('answers of a deleted file are forgotten', () => {
  const { state, store } = place();
  store.remember(ANSWER);
  expect(store.answersFor(HERE)).toHaveLength(1);
  rmSync(path.join(state, 'remembered.jsonl'));
  expect(store.answersFor(HERE)).toEqual([]);
});

test('an answer that cannot be stored applies once', () => {
  const problems: unknown[] = [];
  const { state, store } = place({ onProblem: (error) => problems.push(error) });
  mkdirSync(path.join(state, 'remembered.jsonl'), { recursive: true });
  expect(store.remember(ANSWER)).toEqual({ isKept: false, why: 'it cannot be stored (EISDIR)' });
  expect(problems).toHaveLength(1);
});
