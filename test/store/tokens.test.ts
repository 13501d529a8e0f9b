// Access tokens: what is on disk, and which presented token is which.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createToken, createTokenReader, listTokens, revokeToken, type Token } from '../../src/store/tokens.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-tokens-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const about = (name: string, more: Partial<Token> = {}): Token => ({
  name,
  role: 'client',
  createdAt: '2026-01-01T00:00:00Z',
  expiresAt: undefined,
  ...more,
});
const file = (name: string) => path.join(dir, 'tokens', `${name}.json`);

test('the disk has a hash and never the token, readable by the user only', () => {
  const token = createToken(dir, about('laptop')) as string;
  const text = readFileSync(file('laptop'), 'utf8');
  expect(text).not.toContain(token.slice(4));
  expect(statSync(file('laptop')).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(dir, 'tokens')).mode & 0o777).toBe(0o700);
});

test('a name is taken once', () => {
  createToken(dir, about('laptop'));
  expect(createToken(dir, about('laptop'))).toBeUndefined();
  expect(listTokens(dir)).toHaveLength(1);
});

test('the reader knows each token, and no other text', () => {
  const [a, b] = [createToken(dir, about('a')), createToken(dir, about('b', { role: 'owner' }))] as string[];
  const reader = createTokenReader(dir, Date.now);
  expect(reader.verify(a as string)).toMatchObject({ name: 'a', role: 'client' });
  expect(reader.verify(b as string)).toMatchObject({ name: 'b', role: 'owner' });
  for (const wrong of ['', 'swb_', `${a} `, (a as string).slice(0, -1), readFileSync(file('a'), 'utf8')])
    expect(reader.verify(wrong)).toBeUndefined();
});

test('a reader sees tokens that are created, revoked or expire while it runs', () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const reader = createTokenReader(dir, () => now);
  const token = createToken(dir, about('a', { expiresAt: '2026-01-02T00:00:00Z' })) as string;
  const found = reader.verify(token) as Token;
  expect(reader.isValid(found)).toBe(true);
  now = Date.parse('2026-01-02T00:00:00Z');
  expect(reader.verify(token)).toBeUndefined();
  expect(reader.isValid(found)).toBe(false);
  now = Date.parse('2026-01-01T12:00:00Z');
  expect(revokeToken(dir, 'a')).toBe(true);
  expect(reader.isValid(found)).toBe(false);
  expect(revokeToken(dir, 'a')).toBe(false);
  // A new token of the same name does not bring connections of the old one back.
  createToken(dir, about('a', { createdAt: '2026-01-01T13:00:00Z' }));
  expect(reader.isValid(found)).toBe(false);
});

test('a token counts although the timestamp of its directory did not change, and although its content came after its file', () => {
  const reader = createTokenReader(dir, Date.now);
  expect(reader.verify(createToken(dir, about('a')) as string)).toBeDefined();
  const { mtime } = statSync(path.dirname(file('a')));
  const same = createToken(dir, about('b')) as string;
  utimesSync(path.dirname(file('a')), mtime, mtime);
  expect(reader.verify(same)).toBeDefined();

  const late = createToken(dir, about('c')) as string;
  const content = readFileSync(file('c'));
  truncateSync(file('c'));
  expect(reader.verify(late)).toBeUndefined();
  writeFileSync(file('c'), content);
  expect(reader.verify(late)).toBeDefined();
});

test.each([
  '{',
  '{}',
  '{"role":"client","createdAt":"x"}',
  `{"role":"god","createdAt":"x","sha256":"${'0'.repeat(64)}"}`,
  `{"role":"client","createdAt":"x","expiresAt":"soon","sha256":"${'0'.repeat(64)}"}`,
])('a file that is not a token admits nobody: %s', (text) => {
  createToken(dir, about('good'));
  writeFileSync(file('bad'), text);
  expect(listTokens(dir).map(({ name }) => name)).toEqual(['good']);
});

test('a name cannot leave the directory', () => {
  createToken(dir, about('a'));
  writeFileSync(path.join(dir, 'other.json'), '{}');
  expect(revokeToken(dir, '../other')).toBe(false);
  expect(readdirSync(dir).sort()).toEqual(['other.json', 'tokens']);
});
