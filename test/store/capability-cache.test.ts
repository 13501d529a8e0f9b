// The cache of agents' answers to initialize.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { capabilityKey, createCapabilityCache } from '../../src/store/capability-cache.ts';
import { newStateDir, noProblem } from './state.ts';

const NOW = '2026-01-01T00:00:00Z';
const AGENT = { name: 'codex', command: 'codex-acp', args: ['--fast'], env: { API_KEY: 'canary-value-1', HOME: '/h' } };
const ANSWER = '{ "protocolVersion":1, "agentCapabilities":{"n":1.0} }';
const fileIn = (dir: string) => path.join(dir, 'capabilities.json');
const cacheIn = (dir: string) => createCapabilityCache(dir, () => NOW, noProblem);

describe('a cached answer', () => {
  test('is returned as the agent wrote it, in this process and the next', () => {
    const dir = newStateDir();
    const key = capabilityKey(AGENT, { fs: {} });
    const cache = cacheIn(dir);
    expect(cache.find(key)).toBeUndefined();
    cache.keep(key, { agent: 'codex', version: '1.2.3', text: ANSWER });
    expect(cache.find(key)).toEqual({ text: ANSWER });
    expect(cacheIn(dir).find(key)).toEqual({ text: ANSWER });
    expect(cacheIn(dir).find('another')).toBeUndefined();
  });

  test('that is missing is cached as the baseline until there is one', () => {
    const dir = newStateDir();
    const cache = cacheIn(dir);
    cache.keep('k', { agent: 'codex', version: undefined, text: undefined });
    expect(cacheIn(dir).find('k')).toEqual({ text: undefined });
    cache.keep('k', { agent: 'codex', version: '2', text: ANSWER });
    expect(cacheIn(dir).find('k')).toEqual({ text: ANSWER });
  });

  test('is stored with its agent, version and time', () => {
    const dir = newStateDir();
    cacheIn(dir).keep('k', { agent: 'codex', version: '1.2.3', text: ANSWER });
    expect(JSON.parse(readFileSync(fileIn(dir), 'utf8'))).toEqual({
      version: 1,
      entries: { k: { agent: 'codex', version: '1.2.3', at: NOW, result: ANSWER } },
    });
  });

  test('does not replace entries that another process wrote in the meantime', () => {
    const dir = newStateDir();
    const [one, other] = [cacheIn(dir), cacheIn(dir)];
    one.keep('k1', { agent: 'a', version: undefined, text: '{"a":1}' });
    other.keep('k2', { agent: 'b', version: undefined, text: '{"b":1}' });
    one.keep('k3', { agent: 'c', version: undefined, text: '{"c":1}' });
    const reader = cacheIn(dir);
    expect(['k1', 'k2', 'k3'].map((key) => reader.find(key)?.text)).toEqual(['{"a":1}', '{"b":1}', '{"c":1}']);
  });

  test('that did not change is not written again', () => {
    const dir = newStateDir();
    const cache = cacheIn(dir);
    cache.keep('k', { agent: 'a', version: undefined, text: ANSWER });
    const { ino, mtimeNs } = statSync(fileIn(dir), { bigint: true });
    cache.keep('k', { agent: 'a', version: undefined, text: ANSWER });
    expect(statSync(fileIn(dir), { bigint: true })).toMatchObject({ ino, mtimeNs });
  });

  test('is private: a single file with mode 0600 in a directory with mode 0700', () => {
    const dir = newStateDir();
    cacheIn(dir).keep('k', { agent: 'a', version: undefined, text: ANSWER });
    expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual(['capabilities.json']);
  });

  test('is dropped when there are too many: the newest are kept', () => {
    const dir = newStateDir();
    const entries = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, { agent: 'a', at: NOW, result: '{}' }]));
    mkdirSync(dir, { recursive: true });
    writeFileSync(fileIn(dir), JSON.stringify({ version: 1, entries }));
    cacheIn(dir).keep('new', { agent: 'a', version: undefined, text: '{}' });
    const kept = Object.keys(JSON.parse(readFileSync(fileIn(dir), 'utf8')).entries);
    expect(kept).toHaveLength(200);
    expect(kept.at(-1)).toBe('new');
    expect(kept.at(-2)).toBe('k299');
  });
});

describe('a cache key', () => {
  test("depends on the agent's command and on the client's capabilities", () => {
    const keys = [
      capabilityKey(AGENT, { fs: {} }),
      capabilityKey(AGENT, undefined),
      capabilityKey({ ...AGENT, name: 'codex2' }, { fs: {} }),
      capabilityKey({ ...AGENT, command: 'other' }, { fs: {} }),
      capabilityKey({ ...AGENT, args: [] }, { fs: {} }),
      capabilityKey({ ...AGENT, env: {} }, { fs: {} }),
      capabilityKey(AGENT, { fs: { readTextFile: true } }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(capabilityKey({ ...AGENT }, { fs: {} })).toBe(keys[0]);
  });

  test('includes the names of environment variables but never their values, which may be secrets', () => {
    const dir = newStateDir();
    const key = capabilityKey(AGENT, null);
    expect(capabilityKey({ ...AGENT, env: { API_KEY: 'canary-value-2', HOME: '/x' } }, null)).toBe(key);
    expect(key).not.toContain('canary');
    cacheIn(dir).keep(key, { agent: AGENT.name, version: undefined, text: ANSWER });
    expect(readFileSync(fileIn(dir), 'utf8')).not.toContain('canary');
  });
});

describe('a damaged file', () => {
  function cacheOver(text: string) {
    const dir = newStateDir();
    mkdirSync(dir, { recursive: true });
    writeFileSync(fileIn(dir), text);
    return { dir, cache: cacheIn(dir) };
  }

  test.each([
    '',
    'nonsense',
    '{"version":1',
    '[]',
    'null',
    '7',
    '{"version":2,"entries":{"k":{"result":"{}"}}}',
    '{"version":1,"entries":null}',
  ])('counts as empty: %j', (text) => {
    const { dir, cache } = cacheOver(text);
    expect(cache.find('k')).toBeUndefined();
    cache.keep('k', { agent: 'a', version: undefined, text: ANSWER });
    expect(cacheIn(dir).find('k')).toEqual({ text: ANSWER });
  });

  test.each(['null', '{}', '{"result":7}', '{"result":"no JSON"}'])('an entry of %s in it counts as missing', (entry) => {
    const { cache } = cacheOver(`{"version":1,"entries":{"k":${entry},"good":{"agent":"a","at":"","result":"{}"}}}`);
    expect(cache.find('k')).toBeUndefined();
    expect(cache.find('good')).toEqual({ text: '{}' });
  });

  test('that cannot be read or written is a problem and not an exception; entries in memory stay known', () => {
    const dir = newStateDir();
    mkdirSync(fileIn(dir), { recursive: true });
    const problems: { code: string }[] = [];
    const cache = createCapabilityCache(
      dir,
      () => NOW,
      (error) => problems.push(error as { code: string }),
    );
    expect(cache.find('k')).toBeUndefined();
    cache.keep('k', { agent: 'a', version: undefined, text: ANSWER });
    expect(cache.find('k')).toEqual({ text: ANSWER });
    expect(problems.length).toBeGreaterThanOrEqual(2);
    expect(problems[0]?.code).toBe('EISDIR');
    expect(readdirSync(dir)).toEqual(['capabilities.json']);
  });
});
