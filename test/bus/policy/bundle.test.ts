// Bundles: signed, read back, and refused when anything about them is wrong.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { accept } from '../../../src/bus/policy/accept.ts';
import { generateKey, type PolicyBundle, readBundle, signBundle } from '../../../src/bus/policy/bundle.ts';

const ISSUED = Date.UTC(2026, 10, 19, 12);
const HOUR = 3_600_000;
const ours = generateKey();
const theirs = generateKey();
const CONTENT: PolicyBundle = {
  version: 7,
  issuedAtMs: ISSUED,
  maxAgeMs: 24 * HOUR,
  policies: [{ name: 'company.yaml', text: 'version: 1\ndeny: [ "execute(rm ...)" ]\n' }],
};
const signed = (change: Partial<PolicyBundle> = {}, { privateKey } = ours) => signBundle({ ...CONTENT, ...change }, privateKey);
const edited = (text: string, change: (parts: Record<string, string>) => object) =>
  JSON.stringify({ ...JSON.parse(text), ...change(JSON.parse(text)) });

test('a bundle reads back as it was signed', () => {
  expect(readBundle(signed())).toEqual({ ...CONTENT, key: ours.publicKey, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test('a key of openssl signs, and other kinds of keys do not', () => {
  const openssl = execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519'], { encoding: 'utf8' });
  expect(readBundle(signBundle(CONTENT, openssl)).version).toBe(7);
  const other = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (const text of [other, 'no key', '']) expect(() => signBundle(CONTENT, text)).toThrow('no Ed25519 private key');
});

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');
test.each<[string, (text: string) => string, string]>([
  ['a changed policy', (text) => edited(text, () => ({ payload: base64({ ...CONTENT, version: 8 }) })), 'forged or changed'],
  [
    'the signature of another bundle',
    (text) => edited(text, () => ({ signature: JSON.parse(signed({ version: 8 })).signature })),
    'forged or changed',
  ],
  ['the name of another key', (text) => edited(text, () => ({ key: theirs.publicKey })), 'forged or changed'],
  ['no signature', (text) => edited(text, () => ({ signature: '' })), 'forged or changed'],
  ['no key', (text) => edited(text, () => ({ key: 'ed25519:x' })), 'it names no key'],
  ['a later format', (text) => edited(text, () => ({ policyBundle: 2 })), 'no policy bundle'],
  ['text', () => 'version: 1', 'no policy bundle'],
])('%s is refused', (_, change, message) => {
  expect(() => readBundle(change(signed()))).toThrow(message);
});

test('a bundle that no bus carries is not signed', () => {
  expect(() => signed({ policies: [{ name: 'large', text: 'x'.repeat(400_000) }] })).toThrow('a bus carries');
});

describe('a host', () => {
  const pinned = { keys: [ours.publicKey] };
  const take = (
    text: string,
    more: Partial<{ pinned: typeof pinned & { maxAgeMs?: number }; seen: { version: number; sha256: string }; now: number }> = {},
  ) => accept(Buffer.from(text), more.pinned ?? pinned, more.seen, more.now ?? ISSUED + HOUR);
  const { sha256 } = readBundle(signed());

  test('accepts a bundle of a pinned key, until it is too old', () => {
    expect(take(signed())).toMatchObject({ bundle: { version: 7 }, expiresAtMs: ISSUED + 24 * HOUR });
    expect(take(signed(), { pinned: { ...pinned, maxAgeMs: 2 * HOUR } })).toMatchObject({ expiresAtMs: ISSUED + 2 * HOUR });
    expect(take(signed(), { pinned: { ...pinned, maxAgeMs: 48 * HOUR } })).toMatchObject({ expiresAtMs: ISSUED + 24 * HOUR });
    expect(take(signed(), { seen: { version: 6, sha256: 'x' } })).toMatchObject({ bundle: { version: 7 } });
    expect(take(signed(), { seen: { version: 7, sha256 } })).toMatchObject({ bundle: { version: 7 } });
    expect(take(signed(), { now: ISSUED - 60_000 })).toMatchObject({ bundle: { version: 7 } });
    expect(take(signed({}, theirs), { pinned: { keys: [ours.publicKey, theirs.publicKey] } })).toMatchObject({ bundle: { version: 7 } });
  });

  test.each<[string, ReturnType<typeof take>, string]>([
    ['one of another key', take(signed({}, theirs)), `signed by ${theirs.publicKey}, which "bus.policy.key" does not name`],
    ['what is no bundle', take('x'), 'what is on the bus cannot be used: it is no policy bundle'],
    ['an older one than it has used', take(signed(), { seen: { version: 8, sha256: 'x' } }), 'bundle 7 is older than bundle 8'],
    ['another one of the same version', take(signed(), { seen: { version: 7, sha256: 'x' } }), 'not the one of that version'],
    ['one that has expired', take(signed(), { now: ISSUED + 24 * HOUR }), 'bundle 7 expired at 2026-11-20T12:00:00Z'],
    ['one that is too old for it', take(signed(), { pinned: { ...pinned, maxAgeMs: HOUR } }), 'bundle 7 expired at 2026-11-19T13:00:00Z'],
    ['one from the future', take(signed(), { now: ISSUED - HOUR }), 'in the future: compare the clocks'],
  ])('refuses %s', (_, outcome, why) => {
    expect(outcome).toEqual({ why: expect.stringContaining(why) });
  });
});
