// Redaction of streamed text.
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../src/redaction/redact.ts';
import { createRedactStream } from '../../src/redaction/redact-stream.ts';
import fc from '../generated.ts';

const SECRET = 'a-secret-of-some-length';
function secrets() {
  const known = createSecrets();
  known.add('K', SECRET);
  return known;
}

describe('streamed text', () => {
  test('is redacted like the whole text, however it is split', () => {
    const known = secrets();
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(SECRET, 'ordinary words ', 'a-secret-', `\n${SECRET}\n`), { maxLength: 40 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 50 })),
        (words, lengths) => {
          const text = words.join('');
          const stream = createRedactStream(known, 100);
          let out = '';
          for (let at = 0; at < text.length; ) {
            const length = lengths.next().value as number;
            out += stream.push(text.slice(at, at + length));
            at += length;
          }
          expect(out + stream.end()).toBe(known.redact(text));
        },
      ),
    );
  });

  test('is passed on unless it may be part of a secret', () => {
    const stream = createRedactStream(secrets(), 1000);
    let passed = 0;
    for (let n = 0; n < 1000; n++) passed += stream.push('ordinary words, many of them. ').length;
    expect(passed).toBeGreaterThan(20_000);
    expect(stream.pending().length).toBeLessThan(6000);
  });

  test('with a secret longer than a batch is not split either', () => {
    const long = 'long-secret-'.repeat(2000);
    const known = createSecrets();
    known.add('LONG', long);
    const stream = createRedactStream(known, 100);
    const out = Array.from({ length: 48 }, (_, k) => stream.push(long.slice(k * 500, (k + 1) * 500))).join('') + stream.end();
    expect(out).toBe('[redacted:LONG]');
  });
});
