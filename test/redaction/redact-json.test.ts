// Redaction of JSON, where keys and structure reveal secrets.
import { describe, expect, test } from 'vitest';
import { learnSecrets } from '../../src/redaction/learn-secrets.ts';
import { createRedactor, createSecrets } from '../../src/redaction/redact.ts';
import { redactJson, redactJsonText } from '../../src/redaction/redact-json.ts';

const redact = createRedactor({});
const R = '[redacted]';

describe('structure reveals a secret', () => {
  test.each<[string, unknown, unknown]>([
    ['a key', { apiKey: 'x', 'x-auth-token': 'y', password: 'z' }, { apiKey: R, 'x-auth-token': R, password: R }],
    ['all below a key', { credentials: { user: 'u', more: ['v', 1] } }, { credentials: { user: R, more: [R, R] } }],
    ['variables', { env: [{ name: 'A', value: 'v' }] }, { env: [{ name: 'A', value: R }] }],
    ['a table of variables', { env: { A: 'v', B: 'w' } }, { env: { A: R, B: R } }],
    ['headers', { headers: [{ name: 'X', value: 'v' }] }, { headers: [{ name: 'X', value: R }] }],
    ['a word behind an option', { args: ['--token', 'v', '--verbose', 'w'] }, { args: ['--token', R, '--verbose', 'w'] }],
    ['an option with its word', { args: ['--api-key=v'] }, { args: [`--api-key=${R}`] }],
    [
      'a login',
      { method: 'authenticate', params: { methodId: 'm', code: 'v' } },
      { method: 'authenticate', params: { methodId: 'm', code: R } },
    ],
    [
      'an address',
      { mode: 'url', url: 'https://me:pw@host/login?a=1&b&c=#t0ken', note: 'https://host/?page=2' },
      { mode: 'url', url: `https://${R}@host/login?a=${R}&${R}&c=#${R}`, note: 'https://host/?page=2' },
    ],
    ['the fragment of an address', { authUrl: 'wss://host/x#access=1&kind=b' }, { authUrl: `wss://host/x#access=${R}&kind=${R}` }],
    ['an answer', { result: { action: 'accept', content: { a: 'v' } } }, { result: { action: 'accept', content: { a: R } } }],
  ])('%s', (_, given, expected) => {
    expect(redactJson(given, redact)).toEqual(expected);
    expect(redactJson(expected, redact)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['counts of tokens', { usage: { inputTokens: 12, maxTokens: 3, tokens: ['a'] } }],
    ['choices of an option', { options: [{ name: 'Fast', value: 'fast' }] }],
    ['capabilities', { auth: { logout: {} }, authMethods: [{ id: 'key', name: 'API key' }] }],
    ['an empty one', { password: '' }],
    ['an address without values', { url: 'https://host/guide?#usage', other: { url: 'file:///a/b.ts#L10-L20' } }],
    ['a token of progress', { progressToken: 'p' }],
  ])('and does not reveal one: %s', (_, value) => {
    expect(redactJson(value, redact)).toEqual(value);
  });
});

test('a key that is itself a secret is removed', () => {
  expect(redactJson({ map: { 'value-of-mine': 1 } }, createRedactor({ K: 'value-of-mine' }))).toEqual({ map: { '[redacted:K]': 1 } });
});

test('neither value of a duplicate key is left', () => {
  expect(redactJsonText('{"token":"first-one","token":""}', redact)).toBe('{"token":""}');
});

test('values that are nested too deep are left out', () => {
  const deep = `${'[1,'.repeat(20_000)}"some-value"${']'.repeat(20_000)}`;
  expect(redactJsonText(deep, createRedactor({ K: 'some-value' }))).not.toContain('some-value');
});

test('text that is not JSON is redacted as text', () => {
  expect(redactJsonText('{"broken": some-value', createRedactor({ K: 'some-value' }))).toBe('{"broken": [redacted:K]');
});

describe('values in earlier messages are known from then on', () => {
  test.each<[string, unknown, string]>([
    ['variables of MCP servers', { params: { mcpServers: [{ env: [{ name: 'A', value: 'value-of-mine' }] }] } }, '[redacted:A]'],
    ['headers of MCP servers', { params: { mcpServers: [{ headers: [{ name: 'H', value: 'Bearer value-of-mine' }] }] } }, '[redacted:H]'],
    ['variables of a terminal', { method: 'terminal/create', params: { env: [{ name: 'T', value: 'value-of-mine' }] } }, '[redacted:T]'],
    ['the word behind --token', { params: { mcpServers: [{ args: ['-v', '--token', 'value-of-mine'] }] } }, '[redacted:token]'],
    ['and behind its =', { method: 'terminal/create', params: { args: ['--api-key=value-of-mine'] } }, '[redacted:api-key]'],
    ['headers of a provider', { method: 'providers/set', params: { headers: { X: 'value-of-mine' } } }, '[redacted:X]'],
    ['a login', { method: 'authenticate', params: { methodId: 'm', _meta: { key: 'value-of-mine' } } }, '[redacted:key]'],
    ['an answer', { result: { action: 'accept', content: { api_key: 'value-of-mine' } } }, '[redacted:api_key]'],
  ])('%s', (_, message, expected) => {
    const secrets = createSecrets();
    learnSecrets(secrets, message);
    expect(secrets.redact('value-of-mine')).toBe(expected);
  });
});
