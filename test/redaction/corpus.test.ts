// How many secrets the redactor finds, and how much ordinary text it removes by mistake. Prints the figures and checks the documented limits.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createSecrets, type Secrets } from '../../src/redaction/redact.ts';
import { redactJson } from '../../src/redaction/redact-json.ts';
import { createRedactStream } from '../../src/redaction/redact-stream.ts';
import { CARRIERS, type Carried, type Case, cases, DISGUISES, FORMLESS, KINDS } from './corpus.ts';

const figures: string[] = [];
afterAll(() => process.stdout.write(`redaction: ${figures.join('; ')}\n`));

function clean(secrets: Secrets, { text, json, pieces }: Carried): string {
  if (json !== undefined) return JSON.stringify(redactJson(json, secrets.redact));
  if (text !== undefined) return secrets.redact(text);
  const stream = createRedactStream(secrets);
  return (pieces ?? []).map((piece) => stream.push(piece)).join('') + stream.end();
}

/** Twelve consecutive characters of a secret are a leak, in any encoding. */
function leaks(secret: string, output: string): boolean {
  const spelled = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  const bytes = Buffer.from(secret);
  const encoded = [bytes.toString('hex'), bytes.toString('base64').slice(4, -4)];
  return [...spelled, ...encoded].some((text) => {
    const length = Math.min(12, text.length);
    for (let at = 0; at + length <= text.length; at++) {
      const part = text.slice(at, at + length);
      if (
        !part.startsWith('-----') &&
        !/PRIVATE KEY|hooks\.slack|slack\.com|services|BEGIN RSA|END RSA/.test(part) &&
        output.includes(part)
      )
        return true;
    }
    return false;
  });
}

const missed = (all: readonly Case[], secretsFor: (secret: string) => Secrets): Case[] =>
  all.filter(({ secret, carried }) => leaks(secret, clean(secretsFor(secret), carried)));
const named = (some: readonly Case[]): string[] => some.map(({ kind, carrier }) => `${kind} in ${carrier}`);

function knowing(secret: string): Secrets {
  const secrets = createSecrets();
  secrets.add('GIVEN', secret);
  return secrets;
}

describe('secrets of the corpus', () => {
  test('that are known are found in every carrier, split and encoded', () => {
    const all = cases({ ...KINDS, ...FORMLESS }, { ...CARRIERS, ...DISGUISES });
    const left = missed(all, knowing);
    figures.push(`known values ${all.length - left.length} of ${all.length}`);
    expect(named(left)).toEqual([]);
  });

  test('that are unknown are found by their form, nearly all of them', () => {
    expect(Object.keys(KINDS).length).toBeGreaterThanOrEqual(24);
    expect(Object.keys(CARRIERS).length).toBeGreaterThanOrEqual(18);
    const all = cases(KINDS, CARRIERS);
    const left = missed(all, () => createSecrets());
    figures.push(`unknown ones ${all.length - left.length} of ${all.length}`);
    expect(left.length / all.length, named(left).join('\n')).toBeLessThanOrEqual(0.03);
  });

  test('are detected by this test if they are left in', () => {
    const all = cases({ ...KINDS, ...FORMLESS }, CARRIERS);
    const found = all.filter(({ secret, carried: { text, json, pieces } }) =>
      leaks(secret, text ?? pieces?.join('') ?? JSON.stringify(json)),
    );
    expect(found.length).toBe(all.length);
  });

  test('are removed the first time: redacting again changes nothing', () => {
    const secrets = createSecrets();
    for (const { carried } of cases(KINDS, CARRIERS)) {
      const once = clean(secrets, carried);
      expect(carried.json === undefined ? secrets.redact(once) : JSON.stringify(redactJson(JSON.parse(once), secrets.redact))).toBe(once);
    }
  });
});

/** Ordinary text: files of people and programs that are at hand. */
function ordinaryText(maxBytes: number): string[] {
  const root = path.resolve(import.meta.dirname, '../../node_modules');
  const texts: string[] = [];
  let bytes = 0;
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ts|js|mjs|json)$/.test(name))
    .sort();
  // Every nth file, so that not only packages that start with "a" are read.
  const step = Math.max(1, Math.floor(names.length / 6000));
  for (let at = 0; at < names.length && bytes < maxBytes; at += step) {
    try {
      const text = readFileSync(path.join(root, names[at] as string), 'utf8');
      if (text.length > 1 << 20) continue;
      texts.push(text);
      bytes += text.length;
    } catch {
      // a directory with the name of a file
    }
  }
  return texts;
}

test('ordinary text is unchanged, except for at most two places per megabyte', { timeout: 120_000 }, () => {
  const texts = ordinaryText(30_000_000);
  const secrets = createSecrets();
  for (let n = 0; n < 30; n++) secrets.add(`VALUE_${n}`, `${n}-some-value-${n * 7919}-that-is-known`);
  const from = process.cpuUsage();
  const cleaned = texts.map((text) => secrets.redact(text));
  const { user, system } = process.cpuUsage(from);
  const megabytes = texts.reduce((sum, { length }) => sum + length, 0) / 1e6;
  const places = cleaned.flatMap((text, k) =>
    text === texts[k] ? [] : [...text.matchAll(/.{0,40}\[redacted.{0,20}/g)].map(([place]) => place),
  );
  figures.push(`${places.length} false ones in ${megabytes.toFixed(1)} MB, ${((user + system) / 1000 / megabytes).toFixed(1)} ms CPU/MB`);
  expect(megabytes).toBeGreaterThan(10);
  expect(places.length / megabytes, places.slice(0, 100).join('\n')).toBeLessThanOrEqual(2);
});
